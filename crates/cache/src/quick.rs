//! `quick_cache`: a new block is cold, and a second use makes the block hot. The cache remembers the names of
//! recently evicted blocks. If such a block is inserted again, the block is hot at once.
//!
//! The policy is related to CLOCK-Pro (Jiang, Chen, Zhang, USENIX ATC 2005) and S3-FIFO (Yang et al., SOSP 2023). If
//! a scan uses each block once, the scan evicts only cold blocks, which take a small part of the capacity. A hit
//! takes a read lock, sets a counter, and moves no block.

use std::hash::BuildHasher;

use catalog::Variant;
use parking_lot::Mutex;
use quick_cache::sync::{Cache as QuickCache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use types::Bytes;

use crate::cache::{BlockId, Cache};
use crate::sized::{self, SizedCache};

pub(crate) const VARIANT: Variant<dyn Cache> = sized::variant::<QuickCaches>(
    "quick",
    "the Rust crate quick_cache, a scan-resistant CLOCK with a list of evicted blocks; few misses and \
     cheap hits",
);

/// Maximum number of shards of a `quick_cache` cache. Each shard has a lock. The default of the crate depends on the
/// number of CPUs, so the number of hits would differ between machines. If a shard would have fewer than 32 blocks, the
/// crate creates fewer shards.
const SHARDS: u64 = 16;

/// The assumed size of a block in bytes. The crate `quick_cache` needs an estimate of the number of blocks, which is
/// the capacity divided by this size.
const BLOCK_BYTES: u64 = 4096;

/// Builds `quick_cache` caches from a capacity and a hash function.
struct QuickCaches;

impl SizedCache for QuickCaches {
    fn build<S: BuildHasher + Clone + Send + Sync + 'static>(capacity: u64, hasher: S) -> Box<dyn Cache> {
        Box::new(Quick::new(capacity, hasher))
    }
}

/// Returns the capacity, rounded down to a multiple of the number of shards, so that all shards get equal shares.
fn dealt(capacity: u64) -> u64 {
    capacity - capacity % SHARDS
}

/// Computes the weight of a block, which is its length in bytes.
#[derive(Clone)]
struct ByLength;

impl Weighter<BlockId, Bytes> for ByLength {
    fn weight(&self, _: &BlockId, block: &Bytes) -> u64 {
        block.len() as u64
    }
}

/// A `quick_cache` cache, with the capacity that was requested.
struct Quick<S> {
    blocks: QuickCache<BlockId, Bytes, ByLength, S>,
    /// The capacity in bytes. A thread locks this value while it changes the capacity, so two changes never happen at
    /// the same time.
    capacity: Mutex<u64>,
}

impl<S: BuildHasher + Clone> Quick<S> {
    fn new(capacity: u64, hasher: S) -> Self {
        let options = OptionsBuilder::new()
            .shards(SHARDS as usize)
            .estimated_items_capacity((capacity / BLOCK_BYTES) as usize)
            .weight_capacity(dealt(capacity))
            .build()
            .expect("the options of a quick_cache cache must have a number of blocks and a weight");
        let blocks = QuickCache::with_options(options, ByLength, hasher, DefaultLifecycle::default());
        Self { blocks, capacity: Mutex::new(capacity) }
    }
}

impl<S: BuildHasher + Clone + Send + Sync> Cache for Quick<S> {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        self.blocks.get(id)
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        if block.is_empty() {
            // A block without weight is never evicted, so the number of empty blocks would be unbounded.
            self.blocks.remove(&id);
        } else {
            self.blocks.insert(id, block);
        }
    }

    fn remove_table(&self, tree: u64, table: u64) {
        self.blocks.retain(|id, _| (id.tree, id.table) != (tree, table));
    }

    fn set_capacity(&self, bytes: u64) {
        let mut capacity = self.capacity.lock();
        *capacity = bytes;
        self.blocks.set_capacity(dealt(bytes));
    }

    fn capacity(&self) -> u64 {
        *self.capacity.lock()
    }

    fn weight_bytes(&self) -> u64 {
        self.blocks.weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_shards_does_not_depend_on_the_machine() {
        for (capacity, shards) in [(64 << 20, 16), (1 << 20, 8), (4096, 1)] {
            let cache = Quick::new(capacity, foldhash::fast::FixedState::default());
            assert_eq!(cache.blocks.num_shards(), shards);
        }
    }

    #[test]
    fn the_shards_together_never_get_more_than_was_asked_for() {
        for asked in [0, 15, 4097, (1 << 20) + 9, (64 << 20) + 1] {
            let cache = Quick::new(asked, foldhash::fast::FixedState::default());
            assert!((asked.saturating_sub(SHARDS)..=asked).contains(&cache.blocks.capacity()));
            cache.set_capacity(asked * 3 + 1);
            assert!(cache.blocks.capacity() <= asked * 3 + 1);
        }
    }
}
