//! The trait that each allocation implements, and code that several allocations share.

/// A rule that gives the filters of each level a number of bits per key.
///
/// Invariants:
/// 1. The result depends only on the arguments, so equal trees give equal results.
/// 2. If [`keeps_budget`](Self::keeps_budget) is true, all levels together take `base` bits per key. No level takes
///    less than 0 bits.
pub trait Allocation: Send + Sync {
    /// Returns the bits per key for the filters of `levels[level]`. The average over all keys of the tree is `base`
    /// bits. If the result is 0, the filter variant builds its smallest filter.
    ///
    /// # Panics
    /// Panics if `level` is not an index of `levels`.
    fn bits_per_key(&self, base: f64, levels: &[LevelLoad], level: usize) -> f64;

    /// Returns the size in bits of the filter of each SSTable, if all filters have one fixed size. Otherwise returns
    /// `None`, and [`bits_per_key`](Self::bits_per_key) determines the size.
    fn table_bits(&self) -> Option<f64> {
        None
    }

    /// Whether all levels together take the budget `base`, an argument of [`bits_per_key`](Self::bits_per_key). If so,
    /// the allocation only moves memory from one level to another.
    fn keeps_budget(&self) -> bool {
        true
    }
}

/// The size of a level of a tree, from which an allocation computes the bits per key of its filters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelLoad {
    /// The number of entries in all runs of the level.
    pub entries: f64,
    /// The number of sorted runs of the level. A lookup may probe each run.
    pub runs: f64,
}

impl LevelLoad {
    /// Returns the average number of entries of a sorted run of the level.
    pub(super) fn run_entries(self) -> f64 {
        self.entries / self.runs.max(1.0)
    }
}

/// The largest size of a filter in bits: 2^40 bits, which are 128 GiB.
const MAX_BITS: u64 = 1 << 40;

/// Checks a parameter that is a number of bits, from 1 to `MAX_BITS`.
pub(super) fn bits_param(bits: u64) -> Result<f64, String> {
    match (1..=MAX_BITS).contains(&bits) {
        true => Ok(bits as f64),
        false => Err(format!(
            "bits is {bits}; it must be from 1 to {MAX_BITS}, or use bloom = \"none\" for no filter"
        )),
    }
}
