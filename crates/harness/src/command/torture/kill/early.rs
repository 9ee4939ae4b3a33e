//! Kills before the first acknowledgment. A test without an acknowledged commit proves nothing, so the test continues.

use torture::{Check, Violation};

/// The number of kills per store.
const KILLS_PER_STORE: u64 = 4;

/// The number of additional kills, if no process has acknowledged a commit before its kill.
pub(super) const MOST_EARLY_KILLS: u64 = 40;

/// Returns whether a test with `kills` kills is complete. `results` is the number of acknowledged commits and
/// violations.
pub(super) fn is_enough(wanted: u64, kills: u64, results: u64) -> bool {
    kills >= wanted && results > 0
}

/// Returns the maximum number of kills of the next store, after `kills` kills of other stores.
pub(super) fn kills_of_store(wanted: u64, kills: u64) -> u64 {
    wanted.saturating_sub(kills).clamp(1, KILLS_PER_STORE)
}

/// Returns the violation for a test in which no process has acknowledged a commit.
pub(super) fn never_acknowledged() -> Violation {
    Violation::new(Check::GoesOn, "no process acknowledged a commit before its kill")
}
