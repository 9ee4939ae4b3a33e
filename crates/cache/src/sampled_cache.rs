//! A cache that samples the reuse distances of its requests.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use types::Bytes;

use crate::cache::{BlockId, Cache};
use crate::hasher::Xxh3;
use crate::reuse::{ReuseCurve, ReuseSampler};

/// A cache wrapper that forwards all calls to another cache, and counts the bytes of the requests by their reuse
/// distance. From these counts, a tree predicts the misses of the cache at other capacities. Only sampled requests take
/// a lock.
pub struct SampledCache {
    cache: Arc<dyn Cache>,
    sampler: Mutex<ReuseSampler>,
    /// The number of times that the sampling rate was halved. The rate is 2^-`halvings`.
    halvings: AtomicU32,
}

impl SampledCache {
    /// Samples the requests to `cache`: at most `most_blocks` blocks, for capacities up to `most_bytes`.
    pub fn new(cache: Arc<dyn Cache>, most_blocks: usize, most_bytes: u64) -> Self {
        let sampler = Mutex::new(ReuseSampler::new(most_blocks, most_bytes));
        Self { cache, sampler, halvings: AtomicU32::new(0) }
    }

    /// Returns the reuse curve of the requests since the last call of this function.
    pub fn take_curve(&self) -> ReuseCurve {
        self.sampler.lock().take_curve()
    }

    /// Returns the memory in bytes that the sample of requests takes.
    pub fn sample_bytes(&self) -> u64 {
        self.sampler.lock().memory_bytes()
    }

    /// Calls `count` with the sampler and the hash of the block, if the block is in the sample.
    fn sample(&self, id: &BlockId, count: impl FnOnce(&mut ReuseSampler, u64)) {
        let hash = BuildHasherDefault::<Xxh3>::default().hash_one(id);
        if ReuseSampler::is_sampled(hash, self.halvings.load(Ordering::Relaxed)) {
            let sampler = &mut *self.sampler.lock();
            count(sampler, hash);
            self.halvings.store(sampler.halvings(), Ordering::Relaxed);
        }
    }
}

impl Cache for SampledCache {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        let found = self.cache.get(id);
        let bytes = found.as_ref().map(|block| block.len() as u64);
        self.sample(id, |sampler, hash| sampler.request(*id, hash, bytes));
        found
    }

    fn read(&self, id: &BlockId, look: &mut dyn FnMut(&[u8])) -> bool {
        let mut bytes = None;
        let is_found = self.cache.read(id, &mut |block| {
            bytes = Some(block.len() as u64);
            look(block);
        });
        self.sample(id, |sampler, hash| sampler.request(*id, hash, bytes));
        is_found
    }

    fn insert(&self, id: BlockId, block: Bytes) {
        let bytes = block.len() as u64;
        self.cache.insert(id, block);
        self.sample(&id, |sampler, hash| sampler.renew(id, hash, bytes));
    }

    fn remove_table(&self, tree: u64, table: u64) {
        self.cache.remove_table(tree, table);
        self.sampler.lock().forget_table(tree, table);
    }

    fn set_capacity(&self, bytes: u64) {
        self.cache.set_capacity(bytes);
    }

    fn is_resizable(&self) -> bool {
        self.cache.is_resizable()
    }

    fn capacity(&self) -> u64 {
        self.cache.capacity()
    }

    fn weight_bytes(&self) -> u64 {
        self.cache.weight_bytes()
    }
}
