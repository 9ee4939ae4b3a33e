//! Creates the settings of one trial of a configuration.

use std::path::PathBuf;

use experiment::{Cell, Experiment};
use trial::{Configuration, TrialSpec};

/// Returns the settings for the first trial of a configuration. The trial stores its data in `directory`, and writes no
/// results. All optional settings are off.
pub(super) fn trial_spec(experiment: &Experiment, cell: &Cell, directory: PathBuf) -> TrialSpec {
    let trials = &experiment.trials;
    TrialSpec {
        configuration: Configuration {
            engine: cell.engine.clone(),
            design: cell.design.clone(),
            task: cell.task.clone(),
        },
        base: experiment.base.clone(),
        seed: trials.seed,
        mode: trials.mode,
        sampling: trials.sampling,
        check: trials.check_stride(),
        interval_ns: trials.interval_ns(),
        directory,
        results: None,
        cell: cell.number,
        trial: 0,
        memory_limit: None,
        warm_memory: None,
        fixture: None,
        turns: None,
        recording: None,
        observed: None,
    }
}
