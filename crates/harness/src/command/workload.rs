//! `lsmbench workload`: the operations of an experiment as text.

use std::io::{BufWriter, Write};
use std::path::Path;

use workload::{Extent, write_operations};

use crate::experiment::{Experiment, Overrides};
use crate::problem::{Outcome, Problem};

/// Prints the operations of the base workload, phase after phase.
pub(crate) fn workload(config: &Path, overrides: &Overrides, limit: Option<u64>) -> Outcome<()> {
    let experiment = Experiment::load(config, overrides)?;
    let plan = experiment.plan(&experiment.cells[0])?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut left = limit.unwrap_or(u64::MAX);
    let mut extent = Extent::default();
    for phase in plan.phases() {
        let header = writeln!(out, "# phase {}", phase.phase().name);
        let written = header.and_then(|()| write_operations(phase, extent, left, &mut out));
        match written {
            Ok(operations) => left -= operations,
            // A reader that has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(Problem::doing("write the operations", error)),
        }
        if left == 0 {
            break;
        }
        extent = phase.extent_after(extent);
    }
    match out.flush() {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Problem::doing("write the operations", error))
        }
        _ => Ok(()),
    }
}
