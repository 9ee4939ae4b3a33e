//! A WAL in the page cache of the operating system. Acknowledged writes survive a crash of the process.

use catalog::Variant;

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> = Variant::plain(
    "buffered",
    "writes go to the page cache of the operating system and survive a crash of the process",
    || Box::new(Buffered),
);

/// The WAL mode `buffered`, which has no parameters.
struct Buffered;

impl WalPolicy for Buffered {
    fn mode(&self) -> WalMode {
        WalMode::BUFFERED
    }
}
