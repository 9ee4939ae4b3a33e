//! The table `[verdict]`: the deciding metric and the baseline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[verdict]`: which number decides, and against what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VerdictSpec {
    /// Column that decides. By default, the `y` column of the first chart if it has a better direction, else
    /// `ops_per_second`.
    pub(crate) metric: Option<String>,
    /// Further columns that are judged.
    pub(crate) also: Vec<String>,
    /// Phase that is compared. By default, the last phase.
    pub(crate) phase: Option<String>,
    /// Kind of operation that is compared. By default, all together.
    pub(crate) operation: Option<String>,
    /// Configuration that the others are compared with: its label, or the swept values that set it apart. By default,
    /// the first one.
    pub(crate) baseline: Option<String>,
    /// Swept paths whose values compared configurations share. By default, all configurations are compared; in a
    /// component experiment, those that differ only in their kind.
    pub(crate) within: Option<Vec<String>>,
}

impl VerdictSpec {
    /// The keys of the table.
    pub(super) const KEYS: [&str; 6] = ["metric", "also", "phase", "operation", "baseline", "within"];
}
