//! Settings of `SurrealKV` that both its store and its mapping lines need.

use crate::options::EngineOptions;

/// The number of background threads of `SurrealKV`. One thread flushes, and the other thread compacts.
pub(super) const BACKGROUND_THREADS: u32 = 2;

/// Returns the number of immutable memtables at which `SurrealKV` stops writers. `SurrealKV` compares the number when a
/// write begins, and not when the active memtable is full. The number is therefore one more than the number of
/// memtables that may wait for their flush.
pub(super) fn stall_threshold(settings: &EngineOptions) -> u64 {
    settings.frozen_memtables.saturating_add(1)
}
