//! The seam of the cache axis: blocks in, blocks out, never more than the capacity.

use types::Bytes;

/// The name of a block: which tree, which table, where in its file. Several trees can share one cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The tree, by a number that is unique in the process.
    pub tree: u64,
    /// The table, by its file number in that tree.
    pub table: u64,
    /// The byte offset of the block in the table's file.
    pub offset: u64,
}

/// A cache of blocks.
///
/// Laws:
/// 1. What [`get`](Self::get) returns, and [`read`](Self::read) shows, is what was last inserted under that
///    name.
/// 2. [`weight_bytes`](Self::weight_bytes) never exceeds the capacity once concurrent calls have returned.
/// 3. A single thread that makes the same calls in the same order gets the same hits: nothing depends on
///    time, addresses or random state.
pub trait Cache: Send + Sync {
    /// The block, if it is held. Counts as a use of it.
    fn get(&self, id: &BlockId) -> Option<Bytes>;

    /// Shows the block to `look`, if it is held, and says whether it was. Counts as a use of it.
    ///
    /// For a look that ends soon: a cache may let go of no memory meanwhile, and spare the reference that
    /// [`get`](Self::get) counts, whose count is a word that all readers of a block write.
    fn read(&self, id: &BlockId, look: &mut dyn FnMut(&[u8])) -> bool {
        self.get(id).inspect(|block| look(block)).is_some()
    }

    /// Offers a block; the cache may decline it, or evict others for it. Its weight is its length in bytes.
    fn insert(&self, id: BlockId, block: Bytes);

    /// Drops every block of a table whose file is gone.
    fn remove_table(&self, tree: u64, table: u64);

    /// Changes the capacity in bytes, evicting at once what no longer fits.
    fn set_capacity(&self, bytes: u64);

    /// The capacity in bytes; `u64::MAX` where there is no bound.
    fn capacity(&self) -> u64;

    /// The sum of the lengths of all blocks held, in bytes.
    fn weight_bytes(&self) -> u64;
}
