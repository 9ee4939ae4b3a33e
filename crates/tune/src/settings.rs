//! The settings of a search.

use experiment::{Experiment, TuneSpec};
use run::RunOptions;

/// The settings of a search for the best design.
pub struct Settings<'a> {
    /// The experiment. Each configuration of its sweep is a candidate of the search.
    pub experiment: &'a Experiment,
    /// The table `[tune]` of the experiment.
    pub spec: &'a TuneSpec,
    /// The device model, such as `nvme`, with which the simulation estimates times.
    pub device: &'a str,
    /// The options of the runs. The results of the search are stored in folders below `out`.
    pub run: RunOptions,
}
