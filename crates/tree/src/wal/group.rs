//! A WAL with group commit: commits that wait at the same time share one sync.

use catalog::Variant;

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> = Variant::plain(
    "group",
    "commits that arrive close together share one sync (group commit) and survive a power loss",
    || Box::new(Group),
);

/// The WAL mode `group` (group commit), which has no parameters.
struct Group;

impl WalPolicy for Group {
    fn mode(&self) -> WalMode {
        WalMode::GROUP
    }
}
