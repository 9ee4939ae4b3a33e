//! The plan of a round: how its trials share the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the trials of a round share the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Interleaving {
    /// The trials run one after the other, each from its start to its end.
    #[default]
    Rounds,
    /// The trials of a round run in turn. In each turn, the process of a trial executes a slice of operations, which
    /// takes tens of milliseconds, while the processes of all other trials are stopped.
    Slices,
    /// All trials of a round run at the same time, each on its own core.
    Duet,
}

impl Interleaving {
    /// Returns the name of the plan in TOML files and in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Slices => "slices",
            Self::Duet => "duet",
        }
    }
}
