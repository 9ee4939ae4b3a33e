//! Records the operations of one phase as a trace, by running one trial that ends after this phase.

use std::path::Path;

use experiment::{Cell, Experiment};
use trial::{Recorded, RecordingSpec, TrialReport, TrialSpec};
use types::{Outcome, Problem, valid_names};
use workload::Rate;

use super::child::run_trial;
use super::scratch::scratch;
use super::trial_spec::trial_spec;

/// Runs a configuration up to the phase of `recording`, and records the operations of this phase. `line` prints the
/// output of libraries. Returns `None` if the user interrupted the run.
///
/// # Errors
/// Returns an error if the experiment has no phase with this name, if the phase has no operations, if the trace file
/// already exists, or if the store returned a wrong answer. After an error, the incomplete trace is deleted.
pub fn record(
    experiment: &Experiment,
    cell: &Cell,
    recording: RecordingSpec,
    line: fn(&str),
) -> Outcome<Option<Recorded>> {
    check_phase(experiment, cell, &recording.phase)?;
    let file = recording.file.clone();
    if file.exists() {
        return Err(Problem::new(format!(
            "the trace file {} already exists; name another file, or delete this file",
            file.display()
        )));
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = scratch(Some(folder.unwrap_or(Path::new("."))))?;
    let spec =
        TrialSpec { recording: Some(recording), ..trial_spec(experiment, cell, folder.path().join("tree")) };
    let recorded = recorded(run_trial(&spec, line, |_| ()), &cell.label);
    if !matches!(recorded, Ok(Some(_))) {
        // The file is missing if the trial failed before the phase.
        let _ = std::fs::remove_file(&file);
    }
    recorded
}

fn recorded(trial: Outcome<Option<TrialReport>>, label: &str) -> Outcome<Option<Recorded>> {
    let Some(report) = trial? else { return Ok(None) };
    match report.wrong.first() {
        Some(wrong) => Err(Problem::new(format!("{label}: the store gave a wrong answer: {wrong}"))),
        None => Ok(report.recorded),
    }
}

fn check_phase(experiment: &Experiment, cell: &Cell, name: &str) -> Outcome<()> {
    let failed = |message: String| Problem::at(&experiment.file, None, message);
    let workload = cell.task.workload();
    let workload =
        workload.ok_or_else(|| failed("a component experiment has no operations to record".to_owned()))?;
    let phases = || workload.phases.iter().filter(|phase| phase.step().is_none());
    let valid = valid_names(phases().map(|phase| &phase.name));
    let phase = phases().find(|phase| phase.name == name);
    let phase = phase
        .ok_or_else(|| failed(format!("the experiment has no phase \"{name}\" with operations. {valid}")))?;
    match phase.rate {
        Rate::Sustained(_) => Err(failed(format!(
            "phase \"{name}\" searches for a rate and runs at several rates, but a trace needs one rate; \
             set rate to a number"
        ))),
        _ => Ok(()),
    }
}
