//! `lsmbench workload` prints the operations of an experiment as text.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use experiment::{Experiment, Overrides};
use types::{Outcome, Problem};
use workload::{AnswerCounts as Answer, Due, Extents, PhasePlan, ReplayPlan, write_operations};

use crate::output::answered;

/// Prints the operations of the first configuration, phase by phase. `limit` is the maximum number of printed
/// operations.
///
/// # Errors
/// The experiment has no workload, or a phase has no fixed number of operations and `limit` is `None`.
pub(crate) fn workload(config: &Path, overrides: &Overrides, limit: Option<u64>) -> Outcome<()> {
    let experiment = Experiment::load(config, overrides)?;
    let plan = experiment.plan(&experiment.cells[0])?.ok_or_else(|| {
        Problem::new(format!(
            "{config} is a component experiment without a workload, so there are no operations to print",
            config = config.display()
        ))
    })?;
    let limit = limit.unwrap_or(u64::MAX);
    if let Some(endless) =
        plan.phases().iter().find(|phase| phase.replay().is_none() && phase.operations().is_none())
        && limit == u64::MAX
    {
        let name = &endless.phase().name;
        return Err(Problem::new(format!(
            "phase {name} has a duration instead of a number of operations; limit the printed operations with \
             --limit N"
        )));
    }
    let mut out = BufWriter::new(io::stdout().lock());
    answered(write_phases(plan.phases(), limit, &mut out).and_then(|()| out.flush()))
}

fn write_phases(phases: &[Arc<PhasePlan>], limit: u64, out: &mut impl Write) -> io::Result<()> {
    let mut left = limit;
    let mut extents = Extents::default();
    for phase in phases {
        let step = phase.step().map_or_else(String::new, |step| format!(": step {}", step.name()));
        writeln!(out, "# phase {}{step}", phase.phase().name)?;
        for part in phase.parts() {
            let family = part.family.as_deref();
            if let Some(family) = family {
                writeln!(out, "# family {family}")?;
            }
            left -= match part.plan.replay() {
                Some(replay) => write_requests(replay, left, out)?,
                None => write_operations(&part.plan, extents.of(family), left, out)?,
            };
        }
        if left == 0 {
            break;
        }
        extents = phase.extents_after(&extents);
    }
    Ok(())
}

/// Writes at most `limit` operations of a replayed trace, and returns the number of written operations.
///
/// # Errors
/// The replay cannot be read, or the text format cannot express an operation, such as a scan with a number of entries.
fn write_requests(plan: &ReplayPlan, limit: u64, out: &mut impl Write) -> io::Result<u64> {
    let mut replay = plan.open().map_err(io::Error::other)?;
    let mut written = 0;
    while written < limit
        && let Some(Due { request, .. }) = replay.next().map_err(io::Error::other)?
    {
        let commands = request.commands().ok_or_else(|| {
            let message =
                "the text format has no range deletes and no scans of a given number of entries; to write \
                 these operations to a file, use `lsmbench trace convert`";
            io::Error::other(format!("operation {number} of the replay: {message}", number = written + 1))
        })?;
        for command in commands {
            writeln!(out, "{command}")?;
        }
        written += 1;
        // Without a store, every key counts as found.
        replay.answer(Answer::default());
    }
    Ok(written)
}
