//! `foyer`: the cache of `RisingWave`, its part in memory: a record per block with a count of its users, in the
//! queues of one of five policies.
//!
//! A hit hands out a record that it counts, and counts it back when it is done; whether it takes a read or a write
//! lock of its shard is up to the policy: `s3-fifo`, `sieve` and `fifo` take the first, `lru` and `lfu` the second.
//! The crate cannot say what it holds, so that the offsets of each table that were offered are noted beside it
//! until the table goes: eight bytes and what a hash set takes per block, and a lock at each insertion.
//!
//! Only with the feature `foyer`: the crate brings some forty others. Source: the crate's documents.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use catalog::{Build, ByteSize, Variant};
use foyer_memory::{
    Cache as FoyerCache, CacheBuilder, EvictionConfig, FifoConfig, LfuConfig, LruConfig, S3FifoConfig,
    SieveConfig,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::cache::{BlockId, Cache};
use crate::hasher::{HasherKind, WithHasher, hasher_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Params>(
    "foyer",
    "the crate behind RisingWave: counted records in the queues of a policy to choose",
    concat!(
        "# Bytes of blocks to hold.\ncapacity = \"64MiB\"\n",
        "# Which block goes: \"lru\", \"lfu\", \"s3-fifo\", \"sieve\" or \"fifo\".\neviction = \"lru\"\n",
        hasher_reference!()
    ),
);

/// The most parts with a lock each, and the blocks of 4 KiB that each has room for at least: a block that does not
/// fit its part is not held.
const SHARDS: u64 = 16;
const SHARD_BYTES: u64 = 32 << 12;

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    capacity: ByteSize,
    eviction: Eviction,
    hasher: HasherKind,
}

/// The policies of the crate.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Eviction {
    #[default]
    Lru,
    Lfu,
    S3Fifo,
    Sieve,
    Fifo,
}

impl Eviction {
    /// The policy as the crate sets it up itself.
    fn config(self) -> EvictionConfig {
        match self {
            Self::Lru => LruConfig::default().into(),
            Self::Lfu => LfuConfig::default().into(),
            Self::S3Fifo => S3FifoConfig::default().into(),
            Self::Sieve => SieveConfig.into(),
            Self::Fifo => FifoConfig::default().into(),
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self { capacity: ByteSize(64 << 20), eviction: Eviction::default(), hasher: HasherKind::default() }
    }
}

impl Build<dyn Cache> for Params {
    type Params = Self;

    fn build(params: Self) -> Result<Box<dyn Cache>, String> {
        Ok(params.hasher.build(params))
    }
}

impl WithHasher for Params {
    fn with_hasher<S: BuildHasher + Clone + Send + Sync + 'static>(self, hasher: S) -> Box<dyn Cache> {
        let shards = (self.capacity.0 / SHARD_BYTES).clamp(1, SHARDS);
        let blocks = CacheBuilder::new(size(self.capacity.0))
            .with_shards(size(shards))
            .with_eviction_config(self.eviction.config())
            .with_hash_builder(hasher)
            .with_weighter(|_: &BlockId, block: &Bytes| block.len())
            .build();
        Box::new(Foyer {
            blocks,
            shards,
            capacity: Mutex::new(self.capacity.0),
            offered: Mutex::new(HashMap::new()),
        })
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// The crate's cache, the capacity that was asked for, and what was offered.
struct Foyer<S: BuildHasher + Send + Sync + 'static> {
    blocks: FoyerCache<BlockId, Bytes, S>,
    shards: u64,
    /// Locked while it changes, so that two changes at once leave the crate's cache agreed.
    capacity: Mutex<u64>,
    /// By tree and table the offsets of blocks that may be held.
    offered: Mutex<HashMap<(u64, u64), HashSet<u64>>>,
}

impl<S: BuildHasher + Send + Sync + 'static> Cache for Foyer<S> {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        self.blocks.get(id).map(|record| record.value().clone())
    }

    fn read(&self, id: &BlockId, look: &mut dyn FnMut(&[u8])) -> bool {
        self.blocks.get(id).inspect(|record| look(record.value())).is_some()
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        // The crate holds what is larger than a shard, and an empty block weighs nothing, so that nothing would bound
        // the number of them.
        if block.is_empty() || block.len() as u64 > self.capacity() / self.shards {
            self.blocks.remove(&id);
            return;
        }
        self.blocks.insert(id, block);
        // Afterwards, so that whoever removes the table meanwhile leaves nothing that is not noted.
        self.offered.lock().entry((id.tree, id.table)).or_default().insert(id.offset);
    }

    fn remove_table(&self, tree: u64, table: u64) {
        let offered = self.offered.lock().remove(&(tree, table)).unwrap_or_default();
        for offset in offered {
            self.blocks.remove(&BlockId { tree, table, offset });
        }
    }

    fn set_capacity(&self, bytes: u64) {
        let mut capacity = self.capacity.lock();
        self.blocks.resize(size(bytes)).expect("a policy has no share that a capacity does not fit");
        *capacity = bytes;
    }

    fn capacity(&self) -> u64 {
        *self.capacity.lock()
    }

    fn weight_bytes(&self) -> u64 {
        self.blocks.usage() as u64
    }
}
