//! The facts of an experiment that verdicts depend on. These facts are plain data, so that this crate does not depend
//! on the design, the workload or the engines.

use std::collections::BTreeMap;

use plot::ChartSpec;
use results::{Interleaving, Metric, RunMode};

/// The facts of an experiment that verdicts depend on.
pub struct ExperimentFacts<'a> {
    /// The name of the experiment.
    pub name: String,
    /// The mode of the run, which states whether it measures times.
    pub mode: RunMode,
    /// Whether each baseline runs twice in every round, to measure the noise.
    pub measures_noise: bool,
    /// How the trials of a round share the machine.
    pub interleaving: Interleaving,
    /// The swept paths, in the order of their columns in `runs.csv`.
    pub swept: Vec<String>,
    /// The indexes of the swept paths whose values must be equal in configurations that are compared.
    pub within: Vec<usize>,
    /// The facts of each configuration, in the order of the sweep.
    pub cells: Vec<CellFacts>,
    /// Returns the difference between two configurations: the first argument is the number of the baseline, and the
    /// second is the number of the other configuration.
    pub contrast: Box<dyn Fn(u64, u64) -> Contrast + 'a>,
    /// The phase of the verdict, if the experiment names a phase.
    pub phase: Option<String>,
    /// The kind of operation that the verdict is about. `None` for all kinds together.
    pub operation: Option<String>,
    /// The column that decides the verdict, if the experiment names a column.
    pub metric: Option<String>,
    /// Further columns that get a verdict.
    pub also: Vec<String>,
    /// The smallest relative difference that counts as a change, if the experiment sets one: 0.01 means 1 %.
    pub threshold: Option<f64>,
    /// The name of the baseline, if the experiment names one. Otherwise, the first configuration is the baseline.
    pub baseline: Option<String>,
    /// The charts of the experiment. If the experiment names no phase or no metric for the verdict, the first chart
    /// determines it.
    pub charts: Vec<ChartSpec>,
    /// The name of the last phase, which is the default phase of a verdict on a whole store.
    pub last_phase: String,
    /// The default phase, metric and costs of a verdict on a component; `None` if the experiment measures a whole
    /// store.
    pub component: Option<ComponentFacts>,
    /// Whether all configurations report the memory of every part of the store: memtable, filters, fences and caches.
    pub reports_memory: bool,
    /// Whether all configurations have the same memory budget.
    pub has_equal_memory: bool,
}

/// The facts of one configuration that verdicts depend on.
#[derive(Clone, Debug, Default)]
pub struct CellFacts {
    /// The number of the configuration, from 0 in the order of the sweep.
    pub number: u64,
    /// The label of the configuration.
    pub label: String,
    /// A short name of the configuration that is unique among the compared configurations.
    pub name: String,
    /// All names by which an experiment may refer to the configuration as its baseline.
    pub names: Vec<String>,
    /// The value of every swept path, in the order of the swept paths. A value is empty if its path does not apply to
    /// the configuration.
    pub swept: Vec<String>,
    /// The relative precision of each rate search, by the name of its phase: 0.05 means 5 %. A rate search stops when
    /// it knows its rate to this precision (key `within`).
    pub searches: BTreeMap<String, f64>,
}

/// The difference between a configuration and the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contrast {
    /// The paths of all settings in which the configuration and the baseline differ.
    pub settings: Vec<String>,
    /// The number of settings of the design that only one of the two compared engines supports. 0 if both
    /// configurations run the same engine.
    pub unequal_terms: usize,
    /// Whether the configuration has an ideal variant of a component, and the baseline has an ordinary variant. The
    /// result of such a configuration is only a bound.
    pub is_oracle: bool,
}

/// The phase, the metric and the costs by which verdicts compare components, such as filters, unless the experiment
/// names others.
#[derive(Clone, Copy, Debug)]
pub struct ComponentFacts {
    /// The phase that the verdict is about, if the experiment names no phase.
    pub phase: &'static str,
    /// The column that decides the verdict, if the experiment names no column.
    pub metric: &'static Metric,
    /// The column with the cost of a component, such as its memory.
    pub price: &'static Metric,
    /// The column with the quality that a component reaches at this cost, such as the false-positive rate of a filter.
    /// `None` if all variants have equal quality.
    pub quality: Option<&'static Metric>,
}
