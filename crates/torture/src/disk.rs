//! Creates the in-memory disk on which a store under test runs.

use storage::Memory;

/// Returns an empty in-memory disk. With an even seed, the store maps its files. With an odd seed, the store reads
/// blocks through its cache.
pub(crate) fn disk_of(seed: u64) -> Memory {
    if seed.is_multiple_of(2) { Memory::mapped() } else { Memory::default() }
}
