//! A WAL that is synced for every commit: acknowledged writes survive power loss.

use catalog::Variant;

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> =
    Variant::plain("sync", "one sync per commit, so that each commit survives a power loss", || {
        Box::new(Sync)
    });

/// The mode has no state.
struct Sync;

impl WalPolicy for Sync {
    fn mode(&self) -> WalMode {
        WalMode::SYNC
    }
}
