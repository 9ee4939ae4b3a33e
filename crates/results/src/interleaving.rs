//! How the trials of a round share the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the trials of a round share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interleaving {
    /// One trial runs after the other, each from start to end.
    #[default]
    Rounds,
    /// The processes of all trials of a round are alive at the same time and run in turn. A turn is a slice of tens of
    /// milliseconds, and all trials run the same operations in a slice. Waiting processes are stopped.
    Slices,
    /// All trials of a round run at the same time, each on its own core.
    Duet,
}

impl Interleaving {
    /// The name in TOML and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Slices => "slices",
            Self::Duet => "duet",
        }
    }
}
