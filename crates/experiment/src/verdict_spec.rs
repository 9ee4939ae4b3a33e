//! The table `[verdict]`: which number decides, and against what.

use serde::{Deserialize, Serialize};

/// `[verdict]`: which number decides, and against what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VerdictSpec {
    /// The column; by default that of the first chart if one side of it is better, else the throughput.
    pub(crate) metric: Option<String>,
    /// Further columns that are judged beside it.
    pub(crate) also: Vec<String>,
    /// The phase; the last one by default.
    pub(crate) phase: Option<String>,
    /// The kind of operation; all by default.
    pub(crate) operation: Option<String>,
    /// The cell that the others are compared with, by its label or by what sets it apart; the first one by default.
    pub(crate) baseline: Option<String>,
    /// The swept paths in whose values cells that are compared agree; by default all are compared, and components
    /// where all but their kind is the same.
    pub(crate) within: Option<Vec<String>>,
}

impl VerdictSpec {
    /// The keys of the table.
    pub(super) const KEYS: [&str; 6] = ["metric", "also", "phase", "operation", "baseline", "within"];
}
