//! The memory arbiter of an open tree: the I/O that the arbiter observes, and the memory sizes that it has decided.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cache::{Cache, ReuseCurve, SampledCache};
use parking_lot::Mutex;

use crate::arbiter::{CATALOG, DecisionPeriod, MemoryArbiter, MemoryObservation, MemorySizes};
use crate::assemble::misuse;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::stats::Counts;

/// The memory arbiter of an open tree, which changes the sizes of memtables, filters and cache. Also records the
/// observed I/O.
pub(crate) struct Arbitration {
    arbiter: Box<dyn MemoryArbiter>,
    period: DecisionPeriod,
    /// The cache of the tree, which also samples the block requests for the arbiter.
    cache: Arc<SampledCache>,
    /// The memory that the arbiter divides, in bytes: the memory limit of the design. Without a limit, the size of two
    /// memtables plus the capacity of the cache.
    limit_bytes: u64,
    sizes: Mutex<MemorySizes>,
    /// The number of decisions of the memory arbiter that changed a size.
    moves: AtomicU64,
    observed: Mutex<Observed>,
}

impl Arbitration {
    /// Builds the memory arbiter of the design for a tree with this cache. Returns `None` if the arbiter never changes
    /// sizes.
    ///
    /// # Errors
    /// If the arbiter cannot be built, or if the arbiter changes sizes and the cache cannot be resized.
    pub(crate) fn new(design: &Design, cache: &Arc<dyn Cache>) -> Result<Option<Self>> {
        let arbiter = CATALOG.build(design.choice("arbiter")).map_err(misuse)?;
        let Some(period) = arbiter.period() else { return Ok(None) };
        if !cache.is_resizable() {
            let arbiter = design.choice("arbiter");
            return Err(Error::Misuse(format!(
                "the arbiter \"{arbiter}\" resizes the cache, but the given cache has a fixed capacity; set \
                 arbiter = \"static\", or give a cache that can be resized"
            )));
        }
        let memtables = 2 * design.memtable_capacity.0;
        let limit_bytes =
            design.options.memory.map_or(memtables.saturating_add(cache.capacity()), |memory| memory.0);
        let cache = SampledCache::new(Arc::clone(cache), period.sampled_blocks, limit_bytes);
        // Without a memory limit, the budget does not include the memory of filters.
        let allocation = bloom::ALLOCATIONS.build(design.choice("allocation")).map_err(misuse)?;
        let has_own_size = design.options.memory.is_some() && allocation.table_bits().is_none();
        let filter_bits_per_key = design.filter_bits_per_key().filter(|_| has_own_size);
        let sizes = MemorySizes { memtable_bytes: design.memtable_capacity.0, filter_bits_per_key };
        Ok(Some(Self {
            arbiter,
            period,
            cache: Arc::new(cache),
            limit_bytes,
            sizes: Mutex::new(sizes),
            moves: AtomicU64::new(0),
            observed: Mutex::new(Observed::new(limit_bytes)),
        }))
    }

    /// Returns the cache of the tree. The returned cache samples the block requests for the arbiter.
    pub(crate) fn cache(&self) -> Arc<dyn Cache> {
        Arc::clone(&self.cache) as Arc<dyn Cache>
    }

    /// Returns the memory that the sample of block requests uses, in bytes.
    pub(crate) fn sample_bytes(&self) -> u64 {
        self.cache.sample_bytes()
    }

    /// Returns the memory that the arbiter divides, in bytes: the memory limit of the design. Without a limit, returns
    /// the size of two memtables plus the capacity of the cache.
    pub(crate) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// Returns the sizes of memtables and filters that the arbiter decided last.
    pub(crate) fn sizes(&self) -> MemorySizes {
        *self.sizes.lock()
    }

    /// Returns the number of decisions of the memory arbiter that changed a size.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Lets the memory arbiter choose new sizes if its next decision is due. Returns whether a size changed. `counts`
    /// returns the current counters of the tree, `tree` returns its current sizes, and `block_bytes` is the size of its
    /// data blocks in bytes.
    pub(crate) fn decide(
        &self,
        counts: impl FnOnce() -> Counts,
        block_bytes: u64,
        tree: impl FnOnce() -> TreeSizes,
    ) -> bool {
        let mut observed = self.observed.lock();
        // This thread holds the lock, so these counts are not older than the counts of the previous decision.
        let counts = counts();
        let period = counts.since(&observed.last);
        let io = ObservedIo::of(&period, block_bytes);
        let cached_bytes = (period.data_blocks_from_cache + period.fence_pages_from_cache) * block_bytes;
        if io.total_bytes() + cached_bytes as f64 <= self.period.budgets * self.limit_bytes as f64 {
            return false;
        }
        observed.last = counts;
        observed.io.age(&io);
        observed.reuse.age(&self.cache.take_curve());
        let (tree, now) = (tree(), self.sizes());
        let next = self.arbiter.decide(
            &MemoryObservation {
                budget_bytes: tree.budget_bytes,
                least_memtable_bytes: tree.least_memtable_bytes,
                filter_bytes: tree.filter_bytes,
                filter_keys: tree.filter_keys,
                table_bytes: tree.table_bytes,
                flush_bytes: observed.io.flushed,
                compaction_bytes: observed.io.compacted,
                fetched_bytes: observed.io.fetched,
                false_positive_bytes: observed.io.false_positives,
                reuse: &observed.reuse,
            },
            now,
        );
        *self.sizes.lock() = next;
        self.moves.fetch_add(u64::from(next != now), Ordering::Relaxed);
        next != now
    }
}

/// The sizes of a tree, in bytes, from which the memory arbiter decides.
pub(crate) struct TreeSizes {
    /// The memory budget, in bytes, which the arbiter divides between two memtables, the filters and the cache.
    pub(crate) budget_bytes: u64,
    /// The smallest valid size of a memtable, in bytes.
    pub(crate) least_memtable_bytes: u64,
    /// The memory of all filters, in bytes. 0 if filters are not part of the budget.
    pub(crate) filter_bytes: u64,
    /// The number of keys in the filters of the tree.
    pub(crate) filter_keys: u64,
    /// The total size of the SSTables of the tree, in bytes.
    pub(crate) table_bytes: u64,
}

/// The I/O and the reuse distances that the memory arbiter observes, and the counters of the tree at its last decision.
/// Each decision period counts half as much as the period after it.
struct Observed {
    /// The counters of the tree at the last decision of the memory arbiter.
    last: Counts,
    io: ObservedIo,
    reuse: ReuseCurve,
}

impl Observed {
    fn new(limit_bytes: u64) -> Self {
        Self { last: Counts::default(), io: ObservedIo::default(), reuse: ReuseCurve::new(limit_bytes) }
    }
}

/// The bytes that the flushes, compactions and reads of a tree have transferred.
#[derive(Clone, Copy, Default)]
struct ObservedIo {
    flushed: f64,
    compacted: f64,
    fetched: f64,
    /// The bytes that point lookups fetched from storage because a filter had a false positive.
    false_positives: f64,
}

impl ObservedIo {
    /// Computes the transferred bytes from the counters `counts` of a tree whose data blocks have `block_bytes` bytes.
    fn of(counts: &Counts, block_bytes: u64) -> Self {
        let read = counts.data_blocks_read + counts.fence_pages_read;
        let cached = counts.data_blocks_from_cache + counts.fence_pages_from_cache;
        // No counter shows which blocks were cached when a filter had a false positive. The code assumes that the cache
        // held the same share of these blocks as of all requested blocks.
        let read_share = read as f64 / (read + cached).max(1) as f64;
        let fetched = counts.data_block_bytes_read + counts.fence_page_bytes_read + counts.blob_read_bytes;
        Self {
            flushed: counts.flush_bytes as f64,
            compacted: (counts.compaction_bytes_read + counts.compaction_bytes_written) as f64,
            fetched: fetched as f64,
            false_positives: (counts.filter_false_positives * block_bytes) as f64 * read_share,
        }
    }

    fn total_bytes(&self) -> f64 {
        self.flushed + self.compacted + self.fetched
    }

    /// Adds the bytes of a decision period that has ended, `newer`, to the bytes of all earlier periods. Before that,
    /// halves the bytes of the earlier periods, so that recent periods count more.
    fn age(&mut self, newer: &Self) {
        let aged = |old: f64, new: f64| old / 2.0 + new;
        self.flushed = aged(self.flushed, newer.flushed);
        self.compacted = aged(self.compacted, newer.compacted);
        self.fetched = aged(self.fetched, newer.fetched);
        self.false_positives = aged(self.false_positives, newer.false_positives);
    }
}
