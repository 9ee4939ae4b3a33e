//! The table `[tune]` with the objective and the limits of `lsmbench tune`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table `[tune]` sets the objective and the limits of a design. `lsmbench tune` searches all designs of the
/// sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TuneSpec {
    /// Metric to minimize: a column of `runs.csv`, `memory` or `io_per_op`, such as `"p99_ns of get in lookup"`. If the
    /// text names no operation or no phase, lsmbench uses the operation or the phase of the verdict. `memory` is the
    /// memory budget of the design. Without a budget, `memory` is the size of two memtables, the filters and the fence
    /// pointers, plus the capacity of the cache. `io_per_op` is the number of blocks read and written per operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimise: Option<String>,
    /// Metric to maximize. Use this key instead of `minimise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximise: Option<String>,
    /// Second metric of the Pareto set. Smaller values of this metric must be better. The default is `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also: Option<String>,
    /// Limits that a design must meet, such as `["write_amp <= 8", "memory <= 64MiB"]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subject_to: Vec<String>,
    /// Maximum drift of the operation mix, measured as Kullback-Leibler divergence from the expected mix. With
    /// `drift`, `lsmbench tune` judges each design by the worst mix within this drift. Only valid with
    /// `minimise = "io_per_op"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<f64>,
    /// Number of designs that the simulator evaluates. lsmbench selects the designs for which the theory predicts the
    /// best results.
    pub simulate: u64,
    /// Number of designs that run in counted mode after the simulation. With 0, the search ends after the simulation.
    pub count: u64,
    /// Number of designs that run in timed mode. Designs run in timed mode only if the metric is a time. With 0, no
    /// design runs in timed mode.
    pub measure: u64,
    /// Whether a final run compares the best design with the default design and a textbook design.
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
    /// The keys of the table `[tune]`.
    pub(super) const KEYS: [&str; 9] =
        ["minimise", "maximise", "also", "subject_to", "drift", "simulate", "count", "measure", "confirm"];
}
