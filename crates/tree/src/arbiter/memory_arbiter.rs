//! The interface of memory arbiters.

use cache::ReuseCurve;

/// Decides the sizes of memtables and filters from the observed operations.
///
/// Invariants:
/// 1. Two calls of [`decide`](Self::decide) with equal arguments return equal sizes. The result does not depend on time
///    or on the machine.
/// 2. After a decision, two memtables and the expected filters fit into the budget if they did so before the decision.
///    A memtable is not smaller than [`least_memtable_bytes`](MemoryObservation::least_memtable_bytes).
/// 3. If no operations were observed, [`decide`](Self::decide) returns the current sizes.
/// 4. A decision changes the memory of two memtables by at most a quarter of the budget. The cost of a change, such as
///    the flush of a memtable or the eviction of a part of the cache, is therefore limited.
pub trait MemoryArbiter: Send + Sync {
    /// Returns the interval between two decisions of the arbiter. Returns `None` if the sizes never change; the tree
    /// then observes no operations for the arbiter.
    fn period(&self) -> Option<DecisionPeriod>;

    /// Decides the new sizes of memtables and filters from the observed I/O. `now` contains the current sizes.
    fn decide(&self, observed: &MemoryObservation<'_>, now: MemorySizes) -> MemorySizes;
}

/// The interval between two decisions of an arbiter, and the size of its sample of block requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecisionPeriod {
    /// The number of bytes between two decisions of the arbiter, as a multiple of the memory budget. The tree counts
    /// the bytes of flushes, compactions and requested blocks. The interval therefore depends only on the operations,
    /// and not on the time.
    pub budgets: f64,
    /// The largest number of data blocks in the sample from which the tree computes reuse distances.
    pub sampled_blocks: usize,
}

/// The sizes that a memory arbiter decides: the size of the next memtable, and the size of new filters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemorySizes {
    /// The size, in bytes, at which a new memtable becomes immutable.
    pub memtable_bytes: u64,
    /// The bits per key of new filters. `None` if the memory of filters is not part of the budget.
    pub filter_bits_per_key: Option<f64>,
}

/// The data from which a memory arbiter decides: the sizes of a tree, and the I/O of its recent decision periods. Each
/// period counts half as much as the period after it.
#[derive(Clone, Copy, Debug)]
pub struct MemoryObservation<'a> {
    /// The memory budget in bytes, for two memtables, the filters and the cache together.
    pub budget_bytes: u64,
    /// The smallest valid size of a memtable, in bytes.
    pub least_memtable_bytes: u64,
    /// The memory of all filters, in bytes. 0 if filters are not part of the budget.
    pub filter_bytes: u64,
    /// The number of keys in the filters of the tree.
    pub filter_keys: u64,
    /// The total size of the SSTables of the tree, in bytes.
    pub table_bytes: u64,
    /// The bytes that flushes wrote in the observed decision periods.
    pub flush_bytes: f64,
    /// The bytes that compactions read and wrote in the observed decision periods.
    pub compaction_bytes: f64,
    /// The bytes that gets and scans read from storage in the observed decision periods.
    pub fetched_bytes: f64,
    /// The bytes that point lookups read from storage because a filter had a false positive, in the observed decision
    /// periods.
    pub false_positive_bytes: f64,
    /// The reuse distances of the requested blocks, from which the hits of a cache of any size follow.
    pub reuse: &'a ReuseCurve,
}

impl MemoryObservation<'_> {
    /// Returns the memory, in bytes, that all filters would use with `bits_per_key` bits per key. With `None`, returns
    /// the current memory of the filters.
    pub fn expected_filter_bytes(&self, bits_per_key: Option<f64>) -> u64 {
        bits_per_key.map_or(self.filter_bytes, |bits| (self.filter_keys as f64 * bits / 8.0) as u64)
    }

    /// Returns the memory that the budget leaves for the cache, in bytes, if memtables and filters have these sizes.
    pub fn expected_cache_bytes(&self, sizes: MemorySizes) -> u64 {
        let filters = self.expected_filter_bytes(sizes.filter_bits_per_key);
        self.budget_bytes.saturating_sub(2 * sizes.memtable_bytes + filters)
    }
}
