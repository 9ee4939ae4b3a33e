//! The facts of an experiment that verdicts depend on, as plain data, without the design, the workload or the engines.

use std::collections::BTreeMap;

use plot::ChartSpec;
use results::{Interleaving, Metric, RunMode};

/// The facts of an experiment that verdicts depend on.
pub struct ExperimentFacts<'a> {
    /// The name of the experiment.
    pub name: String,
    /// The mode, which decides whether time is measured.
    pub mode: RunMode,
    /// Whether baselines run twice in every round, to measure the noise.
    pub measures_noise: bool,
    /// How the trials of a round share the machine.
    pub interleaving: Interleaving,
    /// The swept paths, in the order of their columns.
    pub swept: Vec<String>,
    /// The positions in `swept` of the paths on which compared configurations have equal values.
    pub within: Vec<usize>,
    /// The facts of each configuration, in the order of the sweep.
    pub cells: Vec<CellFacts>,
    /// Returns the difference between the baseline (the first number) and another configuration (the second number).
    pub contrast: Box<dyn Fn(u64, u64) -> Contrast + 'a>,
    /// The phase of the verdict, if the experiment names a phase.
    pub phase: Option<String>,
    /// The kind of operation that is judged, if the experiment names one. If no kind is set, all kinds together are
    /// judged.
    pub operation: Option<String>,
    /// The column that decides the verdict, if the experiment names a column.
    pub metric: Option<String>,
    /// Further columns on which verdicts are given.
    pub also: Vec<String>,
    /// The name of the baseline, if the experiment names one. Otherwise, the first configuration is the baseline.
    pub baseline: Option<String>,
    /// The charts. If the experiment names no phase or no metric for the verdict, the first chart determines the phase
    /// or the metric.
    pub charts: Vec<ChartSpec>,
    /// The last phase. If a whole store is measured, this phase is judged by default.
    pub last_phase: String,
    /// How a component is judged; `None` if a whole store is measured.
    pub component: Option<ComponentFacts>,
    /// Whether the engines of all configurations report the memory of every part of a store.
    pub reports_memory: bool,
    /// Whether all configurations have the same memory budget.
    pub has_equal_memory: bool,
}

/// The facts of one configuration that verdicts depend on.
#[derive(Clone, Debug, Default)]
pub struct CellFacts {
    /// The number of the configuration, which is its position in the order of the sweep.
    pub number: u64,
    /// The label of the configuration.
    pub label: String,
    /// The name of the configuration among the configurations with which it is compared.
    pub name: String,
    /// All names by which an experiment may refer to the configuration as its baseline.
    pub names: Vec<String>,
    /// The value of every swept path. Empty if a path does not apply to the configuration.
    pub swept: Vec<String>,
    /// For each phase with a rate search, the relative width at which the search stops: 0.05 for 5 %.
    pub searches: BTreeMap<String, f64>,
}

/// The difference between a configuration and the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contrast {
    /// The paths of all settings in which the configuration and the baseline differ.
    pub settings: Vec<String>,
    /// The number of settings that only one of the two engines can match. 0 if both configurations run the same
    /// engine.
    pub unequal_terms: usize,
    /// Whether the configuration has an ideal variant on an axis on which the baseline has another variant.
    pub is_oracle: bool,
}

/// How the configurations of a component experiment are judged.
#[derive(Clone, Copy, Debug)]
pub struct ComponentFacts {
    /// The phase that is judged by default.
    pub phase: &'static str,
    /// The default column that decides the verdict.
    pub metric: &'static Metric,
    /// The column with the cost of the component.
    pub price: &'static Metric,
    /// The column with the quality of the component at that cost. `None` if the quality of all variants is equal.
    pub quality: Option<&'static Metric>,
}
