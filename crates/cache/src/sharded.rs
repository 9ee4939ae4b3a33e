//! A sharded cache for any textbook eviction policy. Each shard has a lock, a hash table, a share of the capacity, and
//! a policy that decides which blocks are evicted.
//!
//! With one shard, the cache follows its policy exactly. With several shards, each shard evicts only its own blocks. If
//! a block is empty, or larger than the capacity of a shard, the block is not cached. An insertion replaces a cached
//! block with the same name. If the new block replaces a block of equal length, the insertion counts as a hit. If the
//! lengths differ, the replacement counts as a removal and an insertion.
//!
//! Memory per cached block: 24 bytes of name, 40 bytes of handle, 8 bytes of hash, 4 to 10 bytes of hash table, and the
//! data of the policy. A hit takes one lock. A hit reads the cache line of the lock, two cache lines of the hash table
//! and its slot, two cache lines of the list of cached blocks, the reference count of the block, and the cache lines
//! that the policy writes.

use std::fmt::Debug;
use std::hash::BuildHasher;

use catalog::{Build, ByteSize};
use hashbrown::HashTable;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::cache::{BlockId, Cache};
use crate::hasher::{HasherKind, WithHasher, shard};
use crate::policy::{Incoming, Policy, Slot};

/// Documents a cache variant for the reference pages: the parameters of every sharded cache, and then the parameters of
/// the policy.
macro_rules! sharded_reference {
    ($policy:expr) => {
        concat!(
            "# Capacity in bytes of cached blocks. A larger cache gives more hits.\n\
             capacity = \"64MiB\"\n\
             # Number of shards, 1 to 256, each with its own lock. With more shards, threads wait less often.\n\
             # The cache uses fewer shards if a shard would have less than 64 KiB.\n\
             shards = 16\n",
            $crate::hasher::hasher_reference!(),
            $policy
        )
    };
}
pub(crate) use sharded_reference;

/// Maximum number of shards of a cache.
const MAX_SHARDS: usize = 256;

/// Minimum capacity of a shard in bytes, which is the size of the largest block.
const MIN_SHARE_BYTES: u64 = 64 << 10;

/// The parameters of a sharded cache with policy `P`. The catalog rejects unknown parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Sharded<P: Policy> {
    pub(crate) capacity: ByteSize,
    pub(crate) shards: usize,
    pub(crate) hasher: HasherKind,
    #[serde(flatten)]
    pub(crate) policy: P::Params,
}

impl<P: Policy> Default for Sharded<P> {
    fn default() -> Self {
        Self {
            capacity: ByteSize(64 << 20),
            shards: 16,
            hasher: HasherKind::default(),
            policy: P::Params::default(),
        }
    }
}

impl<P: Policy> Build<dyn Cache> for Sharded<P> {
    type Params = Self;

    fn build(params: Self) -> Result<Box<dyn Cache>, String> {
        check_shards(params.shards)?;
        let count = affordable_shards(params.shards, params.capacity.0);
        let policies: Result<Vec<P>, String> = (0..count).map(|_| P::new(&params.policy, count)).collect();
        Ok(params.hasher.build(WithPolicies { capacity: params.capacity.0, policies: policies? }))
    }
}

/// Returns an error if the parameter `shards` is not from 1 to 256.
pub(crate) fn check_shards(shards: usize) -> Result<(), String> {
    if (1..=MAX_SHARDS).contains(&shards) {
        Ok(())
    } else {
        Err(format!("shards is {shards}; it must be 1 to {MAX_SHARDS}"))
    }
}

/// Returns the number of shards that a cache of `capacity` bytes gets if `shards` are requested. The result is smaller
/// if a shard would be too small for a block of the largest size, but at least 1.
pub(crate) fn affordable_shards(shards: usize, capacity: u64) -> usize {
    shards.min(usize::try_from(capacity / MIN_SHARE_BYTES).unwrap_or(usize::MAX).max(1))
}

/// A sharded cache before its hash function is selected: the policies of its shards, and its capacity.
struct WithPolicies<P> {
    capacity: u64,
    policies: Vec<P>,
}

impl<P: Policy> WithHasher for WithPolicies<P> {
    fn with_hasher<S: BuildHasher + Clone + Send + Sync + 'static>(self, hasher: S) -> Box<dyn Cache> {
        let shards = self.policies.into_iter().map(|policy| Mutex::new(Shard::new(policy))).collect();
        let cache = Shell { shards, hasher, capacity: Mutex::new(0) };
        cache.set_capacity(self.capacity);
        Box::new(cache)
    }
}

/// A sharded cache: all its shards, and its total capacity.
struct Shell<P, S> {
    shards: Vec<Mutex<Shard<P>>>,
    hasher: S,
    /// The capacity in bytes. A thread locks this value while it changes the capacity, so all shards get the same
    /// capacity.
    capacity: Mutex<u64>,
}

/// A cached block, together with its name.
struct Held {
    id: BlockId,
    block: Bytes,
}

/// One shard of a cache. A shard has a hash table from block names to slots, the blocks of all slots, and the
/// eviction policy.
struct Shard<P> {
    index: HashTable<Slot>,
    held: Vec<Option<Held>>,
    hashes: Vec<u64>,
    vacant: Vec<Slot>,
    policy: P,
    weight_bytes: u64,
    share_bytes: u64,
}

impl<P: Policy> Shard<P> {
    fn new(policy: P) -> Self {
        Self {
            index: HashTable::new(),
            held: Vec::new(),
            hashes: Vec::new(),
            vacant: Vec::new(),
            policy,
            weight_bytes: 0,
            share_bytes: 0,
        }
    }

    #[inline]
    fn find(&self, hash: u64, id: &BlockId) -> Option<Slot> {
        let is_meant = |slot: &Slot| self.held[*slot as usize].as_ref().is_some_and(|held| held.id == *id);
        self.index.find(hash, is_meant).copied()
    }

    fn get(&mut self, hash: u64, id: &BlockId) -> Option<Bytes> {
        let slot = self.find(hash, id)?;
        if self.policy.is_expired(slot) {
            self.policy.remove(slot);
            self.vacate(slot);
            return None;
        }
        self.policy.hit(slot, hash);
        self.held[slot as usize].as_ref().map(|held| held.block.clone())
    }

    fn insert(&mut self, hash: u64, id: BlockId, block: Bytes) {
        let incoming = Incoming { hash, weight: block.len() as u64 };
        if let Some(slot) = self.find(hash, &id) {
            let held = self.held[slot as usize]
                .as_mut()
                .expect("the hash table of a cache must refer only to slots with a block");
            if held.block.len() == block.len() {
                held.block = block;
                self.policy.hit(slot, hash);
                return;
            }
            self.policy.remove(slot);
            self.vacate(slot);
        }
        // An empty block weighs nothing, so the number of empty blocks would be unbounded.
        if incoming.weight == 0 || incoming.weight > self.share_bytes {
            return;
        }
        self.policy.announce(incoming);
        self.evict(incoming.weight);
        let slot = self.occupy(hash, Held { id, block });
        self.policy.admit(slot, incoming);
    }

    /// Evicts blocks of this shard until `more` additional bytes fit into the shard.
    fn evict(&mut self, more: u64) {
        while self.weight_bytes + more > self.share_bytes && !self.index.is_empty() {
            let victim = self.policy.victim(&self.hashes);
            self.vacate(victim);
        }
    }

    fn occupy(&mut self, hash: u64, held: Held) -> Slot {
        self.weight_bytes += held.block.len() as u64;
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.held.push(None);
            self.hashes.push(0);
            Slot::try_from(self.held.len() - 1).expect("a cache must have fewer than 2^32 blocks")
        });
        self.held[slot as usize] = Some(held);
        self.hashes[slot as usize] = hash;
        let hashes = &self.hashes;
        self.index.insert_unique(hash, slot, |slot| hashes[*slot as usize]);
        slot
    }

    fn vacate(&mut self, slot: Slot) {
        let entry = self.index.find_entry(self.hashes[slot as usize], |held| *held == slot);
        entry.expect("each slot with a block must be in the hash table of the cache").remove();
        let held = self.held[slot as usize]
            .take()
            .expect("the hash table of a cache must refer only to slots with a block");
        self.weight_bytes -= held.block.len() as u64;
        self.vacant.push(slot);
    }

    fn remove_table(&mut self, tree: u64, table: u64) {
        for slot in 0..self.held.len() {
            let is_meant = |held: &Held| (held.id.tree, held.id.table) == (tree, table);
            if self.held[slot].as_ref().is_some_and(is_meant) {
                self.policy.remove(slot as Slot);
                self.vacate(slot as Slot);
            }
        }
    }
}

impl<P: Policy, S: BuildHasher + Send + Sync> Cache for Shell<P, S> {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        let hash = self.hasher.hash_one(id);
        self.shards[shard(hash, self.shards.len())].lock().get(hash, id)
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        let hash = self.hasher.hash_one(id);
        self.shards[shard(hash, self.shards.len())].lock().insert(hash, id, block);
    }

    fn remove_table(&self, tree: u64, table: u64) {
        self.shards.iter().for_each(|shard| shard.lock().remove_table(tree, table));
    }

    fn set_capacity(&self, bytes: u64) {
        let mut capacity = self.capacity.lock();
        *capacity = bytes;
        for shard in &self.shards {
            let shard = &mut *shard.lock();
            shard.share_bytes = bytes / self.shards.len() as u64;
            shard.policy.set_share(shard.share_bytes);
            shard.evict(0);
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
    use crate::lru::Lru;

    fn block(bytes: usize) -> Bytes {
        Bytes::copy_from(&vec![1; bytes])
    }

    fn id(offset: u64) -> BlockId {
        BlockId { tree: 0, table: 0, offset }
    }

    fn lru(capacity: u64, shards: usize) -> Box<dyn Cache> {
        Sharded::<Lru>::build(Sharded { capacity: ByteSize(capacity), shards, ..Sharded::default() }).unwrap()
    }

    #[test]
    fn a_slot_costs_what_the_docs_say() {
        assert_eq!((size_of::<Option<Held>>(), size_of::<Slot>()), (64, 4));
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
            let refused = Sharded::<Lru>::build(Sharded { shards, ..Sharded::default() }).err().unwrap();
            assert!(refused.contains("1 to 256"));
        }
    }
}
