//! `moka`, a Rust implementation of Caffeine's design. `moka` is W-TinyLFU with a frequency sketch, and updates its
//! queues asynchronously.
//!
//! Callers record their operations in channels. At intervals, one caller applies the recorded operations to the queues.
//! This module applies the recorded operations at each insertion. Otherwise, the cached blocks could exceed the
//! capacity while no call is in progress, which invariant 2 of [`Cache`](crate::Cache) forbids. Recorded hits wait in
//! the channel until the next insertion. With one thread, the order of operations is therefore equal in every run. The
//! crate `moka` cannot change the capacity of a cache. This module therefore creates a new cache for the new capacity,
//! and moves the blocks to the new cache. Every call takes a read-write lock for reading, and a change of the capacity
//! takes this lock for writing.
//!
//! Memory per block: about 200 bytes. These bytes are an entry and a name (each with a reference count), a queue node,
//! and a share of the hash table. A hit reads about ten cache lines, and writes into a channel. Sources: the
//! documentation of the crate; Einziger, Friedman and Manes (ACM TOS 13(4), 2017), see `w-tinylfu`.

use std::hash::BuildHasher;

use catalog::Variant;
use moka::sync::Cache as MokaCache;
use parking_lot::RwLock;
use types::Bytes;

use crate::cache::{BlockId, Cache};
use crate::sized::{self, SizedCache};

pub(crate) const VARIANT: Variant<dyn Cache> = sized::variant::<MokaCaches>(
    "moka",
    "the Rust crate moka, modeled on Caffeine (W-TinyLFU with queued updates); few misses, slow hits",
);

/// Builds `moka` caches from a capacity and a hash function.
struct MokaCaches;

impl SizedCache for MokaCaches {
    fn build<S: BuildHasher + Clone + Send + Sync + 'static>(capacity: u64, hasher: S) -> Box<dyn Cache> {
        let blocks = sized(capacity, hasher.clone());
        Box::new(Moka { sized: RwLock::new(Sized { blocks, capacity }), hasher })
    }
}

/// Builds a `moka` cache in which the weight of a block is the block's length.
fn sized<S>(capacity: u64, hasher: S) -> MokaCache<BlockId, Bytes, S>
where
    S: BuildHasher + Clone + Send + Sync + 'static,
{
    MokaCache::builder()
        .max_capacity(capacity)
        .weigher(|_, block: &Bytes| u32::try_from(block.len()).unwrap_or(u32::MAX))
        .build_with_hasher(hasher)
}

/// A `moka` cache. A change of the capacity replaces the inner cache.
struct Moka<S> {
    sized: RwLock<Sized<S>>,
    hasher: S,
}

struct Sized<S> {
    blocks: MokaCache<BlockId, Bytes, S>,
    capacity: u64,
}

impl<S: BuildHasher + Clone + Send + Sync + 'static> Cache for Moka<S> {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        self.sized.read().blocks.get(id)
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        let Sized { blocks, capacity } = &*self.sized.read();
        // An empty block weighs nothing, so the number of empty blocks would be unbounded.
        if block.is_empty() || block.len() as u64 > *capacity {
            blocks.invalidate(&id);
        } else {
            blocks.insert(id, block);
        }
        blocks.run_pending_tasks();
    }

    fn remove_table(&self, tree: u64, table: u64) {
        let blocks = &self.sized.read().blocks;
        for (id, _) in blocks.iter().filter(|(id, _)| (id.tree, id.table) == (tree, table)) {
            blocks.invalidate(&*id);
        }
        blocks.run_pending_tasks();
    }

    fn set_capacity(&self, bytes: u64) {
        let mut old = self.sized.write();
        let blocks = sized(bytes, self.hasher.clone());
        for (id, block) in old.blocks.iter().filter(|(_, block)| block.len() as u64 <= bytes) {
            blocks.insert(*id, block);
        }
        blocks.run_pending_tasks();
        *old = Sized { blocks, capacity: bytes };
    }

    fn capacity(&self) -> u64 {
        self.sized.read().capacity
    }

    fn weight_bytes(&self) -> u64 {
        let blocks = &self.sized.read().blocks;
        blocks.run_pending_tasks();
        blocks.weighted_size()
    }
}
