//! Opens an empty store for every configuration of an engine before the first trial, in a separate process. Some
//! engines check their options only when they open a store, so a run with an invalid option then fails at its start.

use std::collections::BTreeSet;
use std::path::Path;

use experiment::{Cell, Experiment, engine, engine_label};
use results::targets::create_folder;
use subject::Task;
use trial::{Configuration, TrialSpec};
use types::{Outcome, Problem};

use super::child::run_trial;
use super::scratch::scratch;
use super::trial_spec::trial_spec;

/// The workload with which an engine is tried before a run. The engine accepts its options if it completes this
/// workload.
const TASK: &str = "[[phase]]\nname = \"rehearsal\"\ninsert = 1\n";

fn task() -> Task {
    let table = TASK.parse().expect("the constant TASK must be valid TOML");
    Task::from_toml(&table).expect("the constant TASK must be a valid workload")
}

/// Checks before the first trial that the engines accept all configurations of an experiment. Opens an empty store for
/// each configuration in a temporary folder inside `out`.
///
/// # Errors
/// An engine cannot run a configuration. The message contains the engine, the configuration and the error of the
/// engine.
pub(super) fn rehearse(experiment: &Experiment, out: &Path, line: fn(&str)) -> Outcome<()> {
    let mut done = BTreeSet::new();
    for cell in experiment.cells.iter().filter(|cell| engine(&cell.engine).may_reject_options()) {
        if done.insert(cell.subject()) {
            rehearse_cell(experiment, cell, out, line)?;
        }
    }
    Ok(())
}

fn rehearse_cell(experiment: &Experiment, cell: &Cell, out: &Path, line: fn(&str)) -> Outcome<()> {
    create_folder(out)?;
    let folder = scratch(Some(out))?;
    let spec = trial_spec(experiment, cell, folder.path().join("tree"));
    let spec =
        TrialSpec { configuration: Configuration { task: task(), ..spec.configuration }, check: 1, ..spec };
    // The run that follows reports an interruption.
    run_trial(&spec, line, |_| ()).map(drop).map_err(|problem| {
        let engine = engine_label(&cell.engine);
        Problem::at(
            &experiment.file,
            None,
            format!("{}: {engine} cannot run this experiment: {problem}", cell.label),
        )
    })
}
