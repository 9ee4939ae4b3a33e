//! The memory limit that all column families of a store share.

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::Cache;
use parking_lot::Mutex;

/// The memory limit that all column families of a store share. The shared block cache gets the part of the limit that
/// the memtables, filters and fences of all families leave.
pub(crate) struct MemoryShare {
    /// The memory for the filters and fences of all families and for the block cache, in bytes: the limit of the store
    /// minus the memory of two memtables.
    limit: u64,
    cache: Arc<dyn Cache>,
    /// For each tree, the memory of its filters and fences, in bytes. The key is the number of the tree in the block
    /// cache.
    used: Mutex<BTreeMap<u64, u64>>,
}

impl MemoryShare {
    /// Creates the memory limit of a store whose column families share `cache`. `limit` is the memory for the filters
    /// and fences of all families and for the cache, without the memtables.
    pub(super) fn new(limit: u64, cache: Arc<dyn Cache>) -> Self {
        Self { limit, cache, used: Mutex::default() }
    }

    /// Records that the filters and fences of the tree number `tree` use `bytes` bytes. Then sets the capacity of the
    /// block cache to the part of the limit that the filters and fences of all trees leave.
    pub(crate) fn balance(&self, tree: u64, bytes: u64) {
        let mut used = self.used.lock();
        used.insert(tree, bytes);
        self.cache.set_capacity(self.limit.saturating_sub(used.values().sum()));
    }
}
