//! The table `[verdict]`: the deciding metric and the baseline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[verdict]`: the metric that decides the verdict, and the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VerdictSpec {
    /// Column that decides the verdict. Default: the `y` column of the first chart if it has a better direction, else
    /// `ops_per_second`.
    pub(crate) metric: Option<String>,
    /// Further columns that get a verdict.
    pub(crate) also: Vec<String>,
    /// Phase whose values are compared. Default: the last phase.
    pub(crate) phase: Option<String>,
    /// Kind of operation that is compared. Default: all kinds together.
    pub(crate) operation: Option<String>,
    /// Baseline of the comparison: the label of a configuration, or the swept values of a configuration. Default: the
    /// first configuration.
    pub(crate) baseline: Option<String>,
    /// Swept paths with fixed values: lsmbench compares only configurations with equal values on these paths. By
    /// default, lsmbench compares all configurations. In a component experiment, lsmbench compares only configurations
    /// of different variants.
    pub(crate) within: Option<Vec<String>>,
}

impl VerdictSpec {
    /// The keys of the table.
    pub(super) const KEYS: [&str; 6] = ["metric", "also", "phase", "operation", "baseline", "within"];
}
