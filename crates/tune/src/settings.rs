//! The settings of a search.

use experiment::{Experiment, TuneSpec};
use run::RunOptions;

/// The settings of a search for the best design.
pub struct Settings<'a> {
    /// The experiment. The configurations of its sweep are the candidates of the search.
    pub experiment: &'a Experiment,
    /// The table `[tune]` of the experiment.
    pub spec: &'a TuneSpec,
    /// The device class that the simulation uses.
    pub device: &'a str,
    /// The options of the runs. The results of the runs are stored below `out`.
    pub run: RunOptions,
}
