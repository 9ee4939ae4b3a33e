//! The interface of allocations, and the parts that several allocations share.

/// The bits per key that the filters of a level may spend.
///
/// Invariants:
/// 1. An allocation is a pure function: equal trees have equal answers.
/// 2. If [`keeps_budget`](Self::keeps_budget), all levels together spend as much as `base` bits for every key. No level
///    spends less than 0.
pub trait Allocation: Send + Sync {
    /// The bits per key for the filters of `levels[level]`, with `base` bits on average over all keys. 0 means no
    /// filter, but a variant may build its smallest filter instead.
    ///
    /// # Panics
    /// `level` is out of range.
    fn bits_per_key(&self, base: f64, levels: &[LevelLoad], level: usize) -> f64;

    /// The bits of every SSTable's filter, if they do not depend on the number of keys. These filter bits replace
    /// [`bits_per_key`](Self::bits_per_key).
    fn table_bits(&self) -> Option<f64> {
        None
    }

    /// Whether it only moves memory between levels, without changing the sum.
    fn keeps_budget(&self) -> bool {
        true
    }
}

/// The size of a level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelLoad {
    /// The number of entries in all runs of the level.
    pub entries: f64,
    /// The number of its sorted runs. A lookup may probe each of them.
    pub runs: f64,
}

impl LevelLoad {
    /// The average number of entries of its runs.
    pub(super) fn run_entries(self) -> f64 {
        self.entries / self.runs.max(1.0)
    }
}

/// The largest number of bits of a filter: 128 GiB.
const MAX_BITS: u64 = 1 << 40;

/// Checks a parameter that is a number of bits.
pub(super) fn bits_param(bits: u64) -> Result<f64, String> {
    match (1..=MAX_BITS).contains(&bits) {
        true => Ok(bits as f64),
        false => Err(format!(
            "bits is {bits}; it must be from 1 to {MAX_BITS}, or use bloom = \"none\" for no filter"
        )),
    }
}
