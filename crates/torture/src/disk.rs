//! Creates the disk in memory on which a history, a seeded sequence of actions on a store, runs.

use storage::Memory;

/// Returns an empty disk in memory for the history of a seed. For even seeds, the store maps its files and reads blocks
/// in place. For odd seeds, the store reads blocks through the cache.
pub(crate) fn disk_of(seed: u64) -> Memory {
    if seed.is_multiple_of(2) { Memory::mapped() } else { Memory::default() }
}
