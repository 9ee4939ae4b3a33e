//! No log: only flushed writes survive a crash of the process.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> =
    Variant::new::<NoWal>("none", "no log: a crash of the process loses what was not flushed", "");

/// The mode has no state.
struct NoWal;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn WalPolicy> for NoWal {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn WalPolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl WalPolicy for NoWal {
    fn mode(&self) -> WalMode {
        WalMode::NONE
    }
}
