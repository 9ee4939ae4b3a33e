//! The table `[tune]`: what `lsmbench tune` searches for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[tune]`: the objective and the limits of a design. The space is the sweep of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TuneSpec {
    /// Metric that is to be small: a column of `runs.csv`, `memory` or `io_per_op`, as in `"p99_ns of get in lookup"`. The
    /// operation and the phase are those of the verdict unless they are named. `memory` is two memtables, filters, fences
    /// and the capacity of the cache. `io_per_op` is blocks read and written per operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimise: Option<String>,
    /// Metric that is to be large, instead of `minimise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximise: Option<String>,
    /// Second axis of the Pareto set, smaller is better. By default, `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also: Option<String>,
    /// Limits, as `["write_amp <= 8", "memory <= 64MiB"]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subject_to: Vec<String>,
    /// How far the mix may drift, as Kullback-Leibler divergence. Designs are then judged by the worst such mix; only for
    /// `minimise = "io_per_op"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
    /// Number of designs that are simulated after theory has ranked all.
    pub simulate: u64,
    /// Number of designs that run in counted mode after the simulation; 0 ends the search there.
    pub count: u64,
    /// Number of designs that race in timed runs, if the metric is a time; 0 races none.
    pub measure: u64,
    /// Whether the winner runs beside the default and a textbook design at the end.
    pub confirm: bool,
}

impl Default for TuneSpec {
    fn default() -> Self {
        Self {
            minimise: None,
            maximise: None,
            also: None,
            subject_to: Vec::new(),
            drift: None,
            simulate: 200,
            count: 24,
            measure: 8,
            confirm: true,
        }
    }
}

impl TuneSpec {
    /// The keys of the table.
    pub(super) const KEYS: [&str; 9] =
        ["minimise", "maximise", "also", "subject_to", "drift", "simulate", "count", "measure", "confirm"];
}
