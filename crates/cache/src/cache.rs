//! The trait of block caches. A block cache keeps blocks up to a capacity in bytes.

use types::Bytes;

/// The name of a block: its tree, its SSTable, and its offset in the file of the SSTable. Several trees can share
/// one cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The number of the tree, which is unique in the process.
    pub tree: u64,
    /// The file number of the SSTable within its tree.
    pub table: u64,
    /// The byte offset of the block in the file of the SSTable.
    pub offset: u64,
}

/// A cache of data blocks.
///
/// Invariants:
/// 1. A hit of [`get`](Self::get) or [`read`](Self::read) gives the block that was last inserted with the requested
///    name.
/// 2. Whenever no call is in progress, [`weight_bytes`](Self::weight_bytes) is at most the capacity.
/// 3. If a single thread makes the same calls in the same order again, it gets the same hits. Results do not depend
///    on time, memory addresses or random numbers.
pub trait Cache: Send + Sync {
    /// Returns the block if it is cached, and `None` otherwise. The call counts as a use of the block.
    fn get(&self, id: &BlockId) -> Option<Bytes>;

    /// If the block is cached, calls `look` with the block's bytes. Returns whether the block was cached. The call
    /// counts as a use of the block.
    ///
    /// `look` must be short, because some caches can free memory only after `look` has returned. In return, such caches
    /// skip the reference count that [`get`](Self::get) increments. Updates of this count are slow if several threads
    /// read the same block.
    fn read(&self, id: &BlockId, look: &mut dyn FnMut(&[u8])) -> bool {
        self.get(id).inspect(|block| look(block)).is_some()
    }

    /// Offers a block to the cache. The cache may decline the block, or evict other blocks to make room. The weight
    /// of a block is its length in bytes.
    fn insert(&self, id: BlockId, block: Bytes);

    /// Removes every block of the SSTable `table` of a tree from the cache, because the file of the SSTable was
    /// deleted.
    fn remove_table(&self, tree: u64, table: u64);

    /// Changes the capacity in bytes. The cache immediately evicts blocks until the remaining blocks fit. A cache that
    /// is not [resizable](Self::is_resizable) ignores the call.
    fn set_capacity(&self, bytes: u64);

    /// Returns whether [`set_capacity`](Self::set_capacity) changes the capacity.
    fn is_resizable(&self) -> bool {
        true
    }

    /// Returns the capacity in bytes; `u64::MAX` if the cache is unbounded.
    fn capacity(&self) -> u64;

    /// Returns the sum of the lengths of all cached blocks, in bytes.
    fn weight_bytes(&self) -> u64;
}
