//! A cache that never evicts. No other cache can have a higher hit rate, because this cache misses a block only at
//! the first read of the block. This cache is therefore the ideal bound.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use catalog::{Build, Variant};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::cache::{BlockId, Cache};
use crate::hasher::{HasherKind, WithHasher, hasher_reference, shard};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Params>(
    "unbounded",
    "a cache that never evicts, as the upper bound for the hit rate of any cache",
    hasher_reference!(),
)
.oracle();

/// The number of shards of the cache, each with its own lock. With only one shard, threads would wait for this lock,
/// and this cache could be slower than caches with several shards.
const SHARDS: usize = 16;

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    hasher: HasherKind,
}

impl Build<dyn Cache> for Params {
    type Params = Self;

    fn build(params: Self) -> Result<Box<dyn Cache>, String> {
        Ok(params.hasher.build(params))
    }
}

impl WithHasher for Params {
    fn with_hasher<S: BuildHasher + Clone + Send + Sync + 'static>(self, hasher: S) -> Box<dyn Cache> {
        let shards = (0..SHARDS).map(|_| RwLock::new(HashMap::with_hasher(hasher.clone()))).collect();
        Box::new(Unbounded { shards, hasher, weight_bytes: AtomicU64::new(0) })
    }
}

/// A cache of all blocks that were inserted and not removed.
struct Unbounded<S> {
    shards: Vec<RwLock<HashMap<BlockId, Bytes, S>>>,
    hasher: S,
    weight_bytes: AtomicU64,
}

impl<S: BuildHasher> Unbounded<S> {
    fn shard_of(&self, id: &BlockId) -> &RwLock<HashMap<BlockId, Bytes, S>> {
        &self.shards[shard(self.hasher.hash_one(id), SHARDS)]
    }
}

impl<S: BuildHasher + Send + Sync> Cache for Unbounded<S> {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        self.shard_of(id).read().get(id).cloned()
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        // The sum changes while the lock is held, so that the sum never counts the removal of a block before its
        // insertion.
        let mut shard = self.shard_of(&id).write();
        self.weight_bytes.fetch_add(block.len() as u64, Ordering::Relaxed);
        if let Some(replaced) = shard.insert(id, block) {
            self.weight_bytes.fetch_sub(replaced.len() as u64, Ordering::Relaxed);
        }
    }

    fn remove_table(&self, tree: u64, table: u64) {
        for shard in &self.shards {
            shard.write().retain(|id, block| {
                let is_kept = (id.tree, id.table) != (tree, table);
                if !is_kept {
                    self.weight_bytes.fetch_sub(block.len() as u64, Ordering::Relaxed);
                }
                is_kept
            });
        }
    }

    fn set_capacity(&self, _: u64) {}

    fn is_resizable(&self) -> bool {
        false
    }

    fn capacity(&self) -> u64 {
        u64::MAX
    }

    fn weight_bytes(&self) -> u64 {
        self.weight_bytes.load(Ordering::Relaxed)
    }
}
