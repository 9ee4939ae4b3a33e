//! `lsmbench describe`: what would run, resolved.

use std::fmt::Write as _;
use std::path::Path;

use crate::experiment::{Estimate, Experiment, Overrides};
use crate::problem::Outcome;

/// Prints the resolved experiment, its cells, and an estimate.
pub(crate) fn describe(config: &Path, overrides: &Overrides) -> Outcome<()> {
    let experiment = Experiment::load(config, overrides)?;
    let mut text = format!("# {}: {}\n", experiment.name, experiment.question);
    let mut total_seconds = 0.0;
    let mut worst = Estimate::default();
    let _ = writeln!(text, "#\n# cells");
    for cell in &experiment.cells {
        let estimate = Estimate::of(cell, &experiment.plan(cell)?);
        total_seconds += estimate.seconds * experiment.trials.count as f64;
        worst.storage_bytes = worst.storage_bytes.max(estimate.storage_bytes);
        worst.memory_bytes = worst.memory_bytes.max(estimate.memory_bytes);
        let _ = writeln!(text, "#   {} {}", cell.number, cell.label);
    }
    for left in &experiment.left_out {
        let _ = writeln!(text, "#   left out: {}: {}", left.label, left.reason);
    }
    let _ = writeln!(
        text,
        "#\n# estimate: {} cells × {} trials, about {}; at most {} of storage and {} of memory at a time\n",
        experiment.cells.len(),
        experiment.trials.count,
        duration(total_seconds),
        plot::format_value(worst.storage_bytes, results::Unit::Bytes),
        plot::format_value(worst.memory_bytes, results::Unit::Bytes),
    );
    text.push_str(&experiment.resolved());
    crate::print(&text);
    Ok(())
}

/// A guess of a time, as coarse as it is.
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{:.0} s", seconds.max(1.0)),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}
