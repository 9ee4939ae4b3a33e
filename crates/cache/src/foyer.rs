//! `foyer`, the in-memory part of the cache of `RisingWave`. `foyer` keeps a reference-counted record per block, in
//! the queues of one of five policies.
//!
//! A hit increments the reference count of a record, and decrements the count when the read ends. Each shard has a
//! lock, and the kind of lock of a hit depends on the policy. `s3-fifo`, `sieve` and `fifo` take a read lock, and
//! `lru` and `lfu` take a write lock. The crate `foyer` cannot list its blocks. To remove the blocks of an SSTable,
//! this module records the offset of each inserted block. These offsets take eight bytes per block plus the overhead
//! of a hash set, and each insertion takes one more lock.
//!
//! The feature `foyer` must be enabled for this cache, because the crate `foyer` adds about forty other crates.
//! Source: the documentation of the crate.

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
    "the Rust crate foyer of RisingWave, with reference-counted records and a choice of five policies",
    concat!(
        "# Capacity in bytes of cached blocks. A larger cache gives more hits.\ncapacity = \"64MiB\"\n",
        "# Eviction policy: \"lru\", \"lfu\", \"s3-fifo\", \"sieve\" or \"fifo\".\neviction = \"lru\"\n",
        hasher_reference!()
    ),
);

/// Maximum number of shards of a `foyer` cache. Each shard has a lock. If a block is larger than its shard, the block
/// is not cached.
const SHARDS: u64 = 16;
/// Minimum capacity of a shard of a `foyer` cache in bytes: 32 blocks of 4 KiB.
const SHARD_BYTES: u64 = 32 << 12;

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    capacity: ByteSize,
    eviction: Eviction,
    hasher: HasherKind,
}

/// An eviction policy of the crate `foyer`.
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
    /// Returns the configuration of the eviction policy, with the default values of the crate `foyer`.
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

/// The cache of the crate `foyer`, with the requested capacity and a list of the inserted blocks.
struct Foyer<S: BuildHasher + Send + Sync + 'static> {
    blocks: FoyerCache<BlockId, Bytes, S>,
    shards: u64,
    /// The capacity in bytes. A thread locks this value while it changes the capacity, so two changes never happen at
    /// the same time.
    capacity: Mutex<u64>,
    /// The offsets of the inserted blocks, by tree and SSTable. The cache may have evicted some of these blocks.
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
        // The crate would cache a block that is larger than a shard. An empty block weighs nothing, so the number of
        // empty blocks would be unbounded.
        if block.is_empty() || block.len() as u64 > self.capacity() / self.shards {
            self.blocks.remove(&id);
            return;
        }
        self.blocks.insert(id, block);
        // The offset is recorded after the insertion. In the other order, a concurrent removal of the SSTable could
        // take the offset before the block is inserted, and the block would have no recorded offset.
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
        self.blocks.resize(size(bytes)).expect(
            "foyer must accept each capacity, because no eviction policy has a parameter that limits it",
        );
        *capacity = bytes;
    }

    fn capacity(&self) -> u64 {
        *self.capacity.lock()
    }

    fn weight_bytes(&self) -> u64 {
        self.blocks.usage() as u64
    }
}
