//! A log that the operating system holds: acknowledged writes survive a crash of the process.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> = Variant::new::<Buffered>(
    "buffered",
    "logged to the operating system: survives a crash of the process",
    "",
);

/// The mode has no state.
struct Buffered;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn WalPolicy> for Buffered {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn WalPolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl WalPolicy for Buffered {
    fn mode(&self) -> WalMode {
        WalMode::BUFFERED
    }
}
