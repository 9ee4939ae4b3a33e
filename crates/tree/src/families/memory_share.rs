//! The memory limit that all families of a store share.

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::Cache;
use parking_lot::Mutex;

/// The memory limit that all families share. The shared cache gets the part of the limit that the memtables, filters
/// and fences of all families leave.
pub(crate) struct MemoryShare {
    /// The memory for filters, fences and the cache, in bytes: the limit of the store minus the memory of two
    /// memtables.
    limit: u64,
    cache: Arc<dyn Cache>,
    /// The bytes of the filters and fences of each tree. The key is the number that identifies the tree in the shared
    /// cache.
    used: Mutex<BTreeMap<u64, u64>>,
}

impl MemoryShare {
    /// Creates the limit of `limit` bytes for the filters and fences of all families and for `cache`. `limit` excludes
    /// the memory of the memtables.
    pub(super) fn new(limit: u64, cache: Arc<dyn Cache>) -> Self {
        Self { limit, cache, used: Mutex::default() }
    }

    /// Records that the filters and fences of the tree with the number `tree` use `bytes` bytes. Then sets the capacity
    /// of the cache to the part of the limit that the filters and fences of all trees leave.
    pub(crate) fn balance(&self, tree: u64, bytes: u64) {
        let mut used = self.used.lock();
        used.insert(tree, bytes);
        self.cache.set_capacity(self.limit.saturating_sub(used.values().sum()));
    }
}
