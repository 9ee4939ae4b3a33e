//! The disk on which a history runs.

use storage::Memory;

/// An empty disk in memory for the history of a seed. Half of the seeds map files and read blocks in place. The other
/// half read blocks through the cache.
pub(crate) fn disk_of(seed: u64) -> Memory {
    if seed.is_multiple_of(2) { Memory::mapped() } else { Memory::default() }
}
