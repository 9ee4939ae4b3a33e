//! The table `[verdict]`, with the metric that decides the verdict and the baseline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The valid values of `verdict.threshold`, as fractions. Verdicts print percentages with one decimal, so they cannot
/// show a smaller threshold.
pub const THRESHOLDS: std::ops::RangeInclusive<f64> = 0.001..=0.5;

/// The table `[verdict]` sets the metric that decides the verdict, and the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VerdictSpec {
    /// Column that decides the verdict. The default is the first `y` column of the charts for which higher or lower
    /// values count as better. Without such a column, the default is the metric of the component, `ops_per_second` in
    /// timed mode, or `write_amp` in counted mode. If the phase has no value of this column, lsmbench selects another
    /// default.
    pub(crate) metric: Option<String>,
    /// Further columns that lsmbench compares with the baseline.
    pub(crate) also: Vec<String>,
    /// Phase whose rows are compared. The default is the phase in the filter of the first chart. Without such a filter,
    /// the default is the last phase, or the phase by which lsmbench judges the component.
    pub(crate) phase: Option<String>,
    /// Kind of operation whose rows are compared. The default is the row for all kinds of operations together.
    pub(crate) operation: Option<String>,
    /// Baseline of the comparison. The value is the label of a configuration, with or without default values, or the
    /// swept values of a configuration. The default is the first configuration.
    pub(crate) baseline: Option<String>,
    /// Swept paths that must have equal values in all compared configurations. The default is an empty list, so
    /// lsmbench compares all configurations. In a component experiment, the default is a list of all swept paths
    /// except the kind of the component. In a comparison of engines, the default is a list of all swept paths of the
    /// workload.
    pub(crate) within: Option<Vec<String>>,
    /// Smallest relative difference that counts as a change, from 0.001 to 0.5: `0.01` means 1 %. A verdict ignores
    /// smaller differences. The default is 0.02. If the noise floor or the precision of a rate search is larger, the
    /// verdict uses the larger value. `lsmbench compare`, `lsmbench check` and `lsmbench tune` always use 0.02.
    pub(crate) threshold: Option<f64>,
}

impl VerdictSpec {
    /// The keys of the table `[verdict]`.
    pub(super) const KEYS: [&str; 7] =
        ["metric", "also", "phase", "operation", "baseline", "within", "threshold"];
}
