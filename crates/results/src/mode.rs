//! The mode of a run: `timed`, or `counted`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a run measures time or only counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunMode {
    /// Runs real threads in real time.
    #[default]
    Timed,
    /// Runs one thread and measures no times. In this mode, each counter has the same value on every machine and in
    /// every run.
    Counted,
}

impl RunMode {
    /// Returns the name of the mode in TOML files and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Counted => "counted",
        }
    }
}
