//! A log that is synced for every commit: acknowledged writes survive power loss.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> =
    Variant::new::<Sync>("sync", "every commit is synced by itself: survives power loss", "");

/// The mode has no state.
struct Sync;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn WalPolicy> for Sync {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn WalPolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl WalPolicy for Sync {
    fn mode(&self) -> WalMode {
        WalMode::SYNC
    }
}
