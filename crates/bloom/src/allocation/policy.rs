//! The trait of allocations, and the parts that several of them share.

/// How many bits per key the filters of a level may spend.
///
/// Laws:
/// 1. An allocation is a pure function: the same tree has the same answer.
/// 2. Where [`keeps_budget`](Self::keeps_budget), all levels together spend what `base` bits for every key
///    would, and no level spends less than nothing.
pub trait Allocation: Send + Sync {
    /// The bits per key for filters of `levels[level]`, where every key has `base` on average; 0 is no filter
    /// worth the name, and may stand for the smallest one that a variant can build.
    ///
    /// # Panics
    /// If there is no such level.
    fn bits_per_key(&self, base: f64, levels: &[LevelLoad], level: usize) -> f64;

    /// The bits of the filter of every table, where they do not depend on its keys; they are spent then, and not what
    /// [`bits_per_key`](Self::bits_per_key) says.
    fn table_bits(&self) -> Option<f64> {
        None
    }

    /// Whether it only moves memory between levels.
    fn keeps_budget(&self) -> bool {
        true
    }
}

/// What a level holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LevelLoad {
    /// The entries of all its runs.
    pub entries: f64,
    /// Its sorted runs, each of which a lookup may probe.
    pub runs: f64,
}

impl LevelLoad {
    /// The entries of one of its runs, on average.
    pub(super) fn run_entries(self) -> f64 {
        self.entries / self.runs.max(1.0)
    }
}

/// The most bits that a filter may be given: 128 GiB.
const MAX_BITS: u64 = 1 << 40;

/// Takes a parameter that is a number of bits.
pub(super) fn bits_param(bits: u64) -> Result<f64, String> {
    match (1..=MAX_BITS).contains(&bits) {
        true => Ok(bits as f64),
        false => {
            Err(format!("bits is {bits}; it must be from 1 to {MAX_BITS}, and bloom = \"none\" spends none"))
        }
    }
}
