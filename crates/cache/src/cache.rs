//! The interface of block caches: insertions and lookups of blocks within a capacity in bytes.

use types::Bytes;

/// The name of a block: its tree, its table, and its offset in the file of the table. Several trees can share one
/// cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The number of the tree, unique in the process.
    pub tree: u64,
    /// The file number of the table in that tree.
    pub table: u64,
    /// The byte offset of the block in the table's file.
    pub offset: u64,
}

/// A cache of data blocks.
///
/// Invariants:
/// 1. [`get`](Self::get) returns, and [`read`](Self::read) shows, the block that was last inserted under that name.
/// 2. [`weight_bytes`](Self::weight_bytes) never exceeds the capacity once concurrent calls have returned.
/// 3. A single thread that repeats its calls in the same order gets equal hits. Nothing depends on time, addresses or
///    random state.
pub trait Cache: Send + Sync {
    /// Returns the block if it is cached. Counts as a use of the block.
    fn get(&self, id: &BlockId) -> Option<Bytes>;

    /// If the block is cached, calls `look` with its bytes. Returns whether the block was cached. The call counts as a
    /// use of the block.
    ///
    /// `look` must be short, because a cache may defer freeing memory until `look` returns. In exchange, the cache may
    /// skip the reference count that [`get`](Self::get) increments. All readers of a block write that word.
    fn read(&self, id: &BlockId, look: &mut dyn FnMut(&[u8])) -> bool {
        self.get(id).inspect(|block| look(block)).is_some()
    }

    /// Offers a block. The cache may decline the block, or evict other blocks for it. The weight of a block is its
    /// length in bytes.
    fn insert(&self, id: BlockId, block: Bytes);

    /// Drops every block of a table whose file is gone.
    fn remove_table(&self, tree: u64, table: u64);

    /// Changes the capacity in bytes. Blocks are evicted immediately until the remaining blocks fit.
    fn set_capacity(&self, bytes: u64);

    /// The capacity in bytes; `u64::MAX` if the cache is unbounded.
    fn capacity(&self) -> u64;

    /// The sum of the lengths of all cached blocks, in bytes.
    fn weight_bytes(&self) -> u64;
}
