//! The table `[verdict]`: the deciding metric and the baseline.

use serde::{Deserialize, Serialize};

/// `[verdict]`: the deciding metric and the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VerdictSpec {
    /// The column; by default that of the first chart if one side of it is better, else the throughput.
    pub(crate) metric: Option<String>,
    /// Further columns that are judged too.
    pub(crate) also: Vec<String>,
    /// The phase; the last one by default.
    pub(crate) phase: Option<String>,
    /// The kind of operation; all by default.
    pub(crate) operation: Option<String>,
    /// The configuration that the others are compared with, by its label or a swept value; the first one by default.
    pub(crate) baseline: Option<String>,
    /// The swept paths in whose values cells that are compared agree; by default all are compared, and components
    /// where all but their kind is the same.
    pub(crate) within: Option<Vec<String>>,
}

impl VerdictSpec {
    /// The keys of the table.
    pub(super) const KEYS: [&str; 6] = ["metric", "also", "phase", "operation", "baseline", "within"];
}
