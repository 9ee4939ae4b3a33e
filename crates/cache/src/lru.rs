//! Least recently used: the block that was not asked for the longest goes first. Split into shards, each
//! with its lock, its own order and its share of the capacity.
//!
//! This is the textbook block cache, and that of the cs265 document (section 2.6). With one shard it is
//! exact; with more, each shard evicts its own oldest. A block that weighs more than a shard's share is
//! declined.

use std::hash::BuildHasher;

use catalog::{Build, ByteSize, Variant};
use lru::LruCache;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::cache::{BlockId, Cache};
use crate::hasher::{HasherKind, WithHasher, hasher_reference, shard};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Params>(
    "lru",
    "evicts the least recently used block, in shards with a lock each",
    concat!(
        "# Bytes of blocks to hold.\n\
         capacity = \"64MiB\"\n\
         # Parts with a lock each, 1 to 256; fewer are made where one would get less than 64KiB.\n\
         shards = 16\n",
        hasher_reference!()
    ),
);

/// The largest number of shards.
const MAX_SHARDS: usize = 256;

/// The least share of a shard in bytes: one block of the largest size.
const MIN_SHARE_BYTES: u64 = 64 << 10;

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    capacity: ByteSize,
    shards: usize,
    hasher: HasherKind,
}

impl Default for Params {
    fn default() -> Self {
        Self { capacity: ByteSize(64 << 20), shards: 16, hasher: HasherKind::default() }
    }
}

impl Build<dyn Cache> for Params {
    type Params = Self;

    fn build(params: Self) -> Result<Box<dyn Cache>, String> {
        if !(1..=MAX_SHARDS).contains(&params.shards) {
            return Err(format!("shards is {}; it must be 1 to {MAX_SHARDS}", params.shards));
        }
        Ok(params.hasher.build(params))
    }
}

impl WithHasher for Params {
    fn with_hasher<S: BuildHasher + Clone + Send + Sync + 'static>(self, hasher: S) -> Box<dyn Cache> {
        let affordable = usize::try_from(self.capacity.0 / MIN_SHARE_BYTES).unwrap_or(usize::MAX).max(1);
        let shard = || {
            let blocks = LruCache::unbounded_with_hasher(hasher.clone());
            Mutex::new(Shard { blocks, weight_bytes: 0, share_bytes: 0 })
        };
        let shards = (0..self.shards.min(affordable)).map(|_| shard()).collect();
        let cache = Lru { shards, hasher, capacity: Mutex::new(0) };
        cache.set_capacity(self.capacity.0);
        Box::new(cache)
    }
}

/// All shards, and the capacity they share.
struct Lru<S> {
    shards: Vec<Mutex<Shard<S>>>,
    hasher: S,
    /// Locked while it changes, so that two changes at once leave the shards agreed.
    capacity: Mutex<u64>,
}

/// Blocks in the order of their last use.
struct Shard<S> {
    blocks: LruCache<BlockId, Bytes, S>,
    weight_bytes: u64,
    share_bytes: u64,
}

impl<S: BuildHasher> Lru<S> {
    fn shard_of(&self, id: &BlockId) -> &Mutex<Shard<S>> {
        &self.shards[shard(self.hasher.hash_one(id), self.shards.len())]
    }
}

impl<S: BuildHasher> Shard<S> {
    fn insert(&mut self, id: BlockId, block: Bytes) {
        let weight = block.len() as u64;
        // An empty block weighs nothing, so that nothing would bound the number of them.
        let replaced = if weight == 0 || weight > self.share_bytes {
            self.blocks.pop(&id)
        } else {
            self.weight_bytes += weight;
            self.blocks.put(id, block)
        };
        self.weight_bytes -= replaced.map_or(0, |block| block.len() as u64);
        self.evict();
    }

    fn evict(&mut self) {
        while self.weight_bytes > self.share_bytes
            && let Some((_, oldest)) = self.blocks.pop_lru()
        {
            self.weight_bytes -= oldest.len() as u64;
        }
    }
}

impl<S: BuildHasher + Send + Sync> Cache for Lru<S> {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        self.shard_of(id).lock().blocks.get(id).cloned()
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        self.shard_of(&id).lock().insert(id, block);
    }

    fn remove_table(&self, tree: u64, table: u64) {
        for shard in &self.shards {
            let Shard { blocks, weight_bytes, .. } = &mut *shard.lock();
            blocks.retain(|id, block| {
                let is_kept = (id.tree, id.table) != (tree, table);
                if !is_kept {
                    *weight_bytes -= block.len() as u64;
                }
                is_kept
            });
        }
    }

    fn set_capacity(&self, bytes: u64) {
        let mut capacity = self.capacity.lock();
        *capacity = bytes;
        for shard in &self.shards {
            let mut shard = shard.lock();
            shard.share_bytes = bytes / self.shards.len() as u64;
            shard.evict();
        }
    }

    fn capacity(&self) -> u64 {
        *self.capacity.lock()
    }

    fn weight_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().weight_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(bytes: usize) -> Bytes {
        Bytes::copy_from(&vec![1; bytes])
    }

    fn id(offset: u64) -> BlockId {
        BlockId { tree: 0, table: 0, offset }
    }

    fn lru(capacity: u64, shards: usize) -> Box<dyn Cache> {
        Params::build(Params { capacity: ByteSize(capacity), shards, ..Params::default() }).unwrap()
    }

    #[test]
    fn a_use_saves_a_block_from_eviction() {
        let cache = lru(300, 1);
        (0..3).for_each(|offset| cache.insert(id(offset), block(100)));
        assert!(cache.get(&id(0)).is_some());
        cache.insert(id(3), block(100));
        let held: Vec<bool> = (0..4).map(|offset| cache.get(&id(offset)).is_some()).collect();
        assert_eq!(held, [true, false, true, true]);
    }

    #[test]
    fn a_block_that_cannot_be_held_takes_its_older_self_along() {
        let cache = lru(300, 1);
        for too_much in [301, 0] {
            cache.insert(id(1), block(100));
            cache.insert(id(1), block(too_much));
            assert!(cache.get(&id(1)).is_none());
            assert_eq!(cache.weight_bytes(), 0);
        }
    }

    #[test]
    fn a_small_cache_is_not_split_into_useless_shards() {
        let cache = lru(100 << 10, 16);
        cache.insert(id(1), block(64 << 10));
        assert!(cache.get(&id(1)).is_some());
    }

    #[test]
    fn impossible_shards_are_refused() {
        for shards in [0, 257] {
            assert!(
                Params::build(Params { shards, ..Params::default() }).err().unwrap().contains("1 to 256")
            );
        }
    }
}
