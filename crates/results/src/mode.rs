//! The mode of a run: timed, or counters only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether time is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunMode {
    /// Real threads and real time.
    #[default]
    Timed,
    /// One thread and no times: every counter is the same on every machine and in every run.
    Counted,
}

impl RunMode {
    /// The name in TOML and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Counted => "counted",
        }
    }
}
