//! Handles kills before the first acknowledged commit. Such a kill proves nothing, because the process has no
//! acknowledged commit that the store could lose. A test therefore continues until a process has acknowledged a commit.

use torture::{Check, Violation};

/// The maximum number of kills of the processes of one store.
const KILLS_PER_STORE: u64 = 4;

/// The maximum number of kills of a test beyond the requested number. A test needs additional kills while no killed
/// process has acknowledged a commit.
pub(super) const MOST_EARLY_KILLS: u64 = 40;

/// Returns whether a test is complete after `kills` kills. A test needs at least `wanted` kills, and at least one
/// acknowledged commit or violation (`results`).
pub(super) fn is_enough(wanted: u64, kills: u64, results: u64) -> bool {
    kills >= wanted && results > 0
}

/// Returns the maximum number of kills for the next store. The test needs `wanted` kills in total and has had `kills`
/// kills.
pub(super) fn kills_of_store(wanted: u64, kills: u64) -> u64 {
    wanted.saturating_sub(kills).clamp(1, KILLS_PER_STORE)
}

/// Returns the violation of a test in which no process acknowledged a commit.
pub(super) fn never_acknowledged() -> Violation {
    Violation::new(
        Check::GoesOn,
        "no writer process acknowledged a commit before its kill, so the test checked no commit",
    )
}
