//! No WAL: only flushed writes survive a crash of the process.

use catalog::Variant;

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> =
    Variant::plain("none", "no WAL; a crash of the process loses all unflushed writes", || Box::new(NoWal));

/// The WAL mode "none", which has no parameters.
struct NoWal;

impl WalPolicy for NoWal {
    fn mode(&self) -> WalMode {
        WalMode::NONE
    }
}
