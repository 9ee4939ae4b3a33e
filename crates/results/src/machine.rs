//! The machine on which a run measured, and the sources of timing noise that were found on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine on which a run measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineInfo {
    /// CPU model.
    pub cpu: Option<String>,
    /// Number of CPUs that the run may use.
    pub cores: Option<u64>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Kernel with its version.
    pub kernel: Option<String>,
    /// The file system of the data folder.
    pub file_system: Option<String>,
    /// The device of the data folder's file system.
    pub device: Option<String>,
    /// Free bytes on the file system of the data folder at the start of the run.
    pub free_bytes: Option<u64>,
    /// Load averages over 1, 5 and 15 minutes at the start of the run.
    pub load_average: Option<[f64; 3]>,
    /// Load averages at the end of the run.
    pub load_average_end: Option<[f64; 3]>,
    /// Results of the checks for sources of timing noise. The checks run before the trials.
    #[serde(default)]
    pub findings: Vec<MachineFinding>,
}

/// One possible source of timing noise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MachineFinding {
    /// Name of the check that looked for this source.
    pub check: String,
    /// Result of the check; `null` if the operating system does not report the necessary information.
    pub value: Option<String>,
    /// Advice to fix the problem, if the check found a problem.
    pub advice: Option<String>,
}
