//! The disk that a life is played on.

use storage::Memory;

/// An empty disk in memory for the life of a seed: for every other one its files are mapped, and blocks are used where
/// they lie; for the others blocks go through the cache.
pub(crate) fn disk_of(seed: u64) -> Memory {
    if seed.is_multiple_of(2) { Memory::mapped() } else { Memory::default() }
}
