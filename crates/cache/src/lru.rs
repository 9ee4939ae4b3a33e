//! LRU (least recently used): evicts the block whose last use is the oldest.
//!
//! LRU is the usual textbook policy. The document cs265 also uses LRU (section 2.6: `RwLock<LruCache>` in shards,
//! with an optional time to live). Memory per block: 16 bytes of links and 8 bytes for the request number at
//! insertion. A hit moves the block to the newest end, which writes four list nodes. The nodes that a hit changes are
//! in three or four cache lines. In addition, a hit reads the cache lines of the sharded cache.
//!
//! The parameter `ttl` limits the age of a cached block. The age is a number of requests, not a time. Each shard
//! counts its own hits and insertions, and applies its share of `ttl`. The same requests therefore give the same hits
//! in every run. An age in seconds would depend on the speed of the machine, and violate invariant 3 of
//! [`Cache`](crate::Cache). A block of a tree never changes, so a cached block is never outdated. The parameter
//! exists because the document has this parameter, and because you can measure the cost of expiry.

use catalog::{Count, Variant};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::{Links, PerSlot, Queue};
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Lru>>(
    "lru",
    "evicts the least recently used block; each shard has its own lock",
    sharded_reference!(
        "# Number of requests after its insertion at which a block expires; 0 means never. The next get of an\n\
         # expired block is a miss, even if the block is often used.\n\
         ttl = 0\n"
    ),
);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    ttl: Count,
}

impl Default for Params {
    fn default() -> Self {
        Self { ttl: Count(0) }
    }
}

/// The eviction policy LRU of a shard: its blocks in the order of their last uses, and the request number at which each
/// block was inserted.
pub(crate) struct Lru {
    links: Links,
    uses: Queue,
    /// The number of the request that inserted the block in each slot.
    births: PerSlot<u64>,
    /// The number of hits and insertions of the shard so far.
    requests: u64,
    /// The age at which a block expires: the number of requests of the shard since the insertion of the block.
    /// `u64::MAX` if blocks never expire.
    life: u64,
}

impl Policy for Lru {
    type Params = Params;

    fn new(params: &Params, shards: usize) -> Result<Self, String> {
        let life = match params.ttl.0 {
            0 => u64::MAX,
            ttl => ttl.div_ceil(shards as u64),
        };
        let (links, uses, births) = Default::default();
        Ok(Self { links, uses, births, requests: 0, life })
    }

    fn is_expired(&self, slot: Slot) -> bool {
        self.requests - self.births.get(slot) >= self.life
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        self.requests += 1;
        self.links.renew(&mut self.uses, slot);
    }

    fn victim(&mut self, _: &[u64]) -> Slot {
        self.links
            .pop(&mut self.uses)
            .expect("a cache that requests a victim from LRU must contain a block")
            .0
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.requests += 1;
        self.births.set(slot, self.requests);
        self.links.push(&mut self.uses, slot, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        self.links.remove(&mut self.uses, slot);
    }
}

#[cfg(test)]
mod tests {
    use catalog::{Build, ByteSize};
    use types::Bytes;

    use super::*;
    use crate::cache::BlockId;

    fn id(offset: u64) -> BlockId {
        BlockId { tree: 0, table: 0, offset }
    }

    #[test]
    fn a_block_lives_as_many_requests_as_its_ttl_says() {
        let params = Sharded::<Lru> {
            capacity: ByteSize(1000),
            shards: 1,
            policy: Params { ttl: Count(5) },
            ..Sharded::default()
        };
        let cache = Sharded::build(params).unwrap();
        let block = || Bytes::copy_from(&[1; 100]);
        cache.insert(id(0), block());
        cache.insert(id(1), block());
        let hits: Vec<bool> = (0..6).map(|_| cache.get(&id(0)).is_some()).collect();
        assert_eq!(hits, [true, true, true, true, false, false]);
        assert_eq!(cache.weight_bytes(), 100, "what is too old is removed when it is met");
        cache.insert(id(0), block());
        assert!(cache.get(&id(0)).is_some(), "what is read anew lives anew");
    }
}
