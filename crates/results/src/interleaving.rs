//! How the trials of a round share the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the trials of a round share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interleaving {
    /// One trial after the other, each from its start to its end.
    #[default]
    Rounds,
    /// All trials of a round are alive at once and run in turn, in slices of tens of milliseconds with the same operations.
    /// The processes that wait are stopped.
    Slices,
    /// All trials of a round run at the same time, each on a core of its own.
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
