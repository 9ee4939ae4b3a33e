//! A log whose syncs are shared by commits that wait at the same time (group commit).

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> = Variant::new::<Group>(
    "group",
    "commits that wait together, or soon will, share one sync: survives power loss",
    "",
);

/// The mode has no state.
struct Group;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn WalPolicy> for Group {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn WalPolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl WalPolicy for Group {
    fn mode(&self) -> WalMode {
        WalMode::GROUP
    }
}
