//! A WAL with a sync for every commit. Acknowledged writes survive a power loss.

use catalog::Variant;

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> =
    Variant::plain("sync", "one sync per commit, so that each commit survives a power loss", || {
        Box::new(Sync)
    });

/// The WAL mode `sync`, which has no parameters.
struct Sync;

impl WalPolicy for Sync {
    fn mode(&self) -> WalMode {
        WalMode::SYNC
    }
}
