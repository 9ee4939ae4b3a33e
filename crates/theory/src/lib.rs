//! The expected values of a tree according to theory, in closed form. Each formula is a small pure function. The
//! documentation or the code of a function contains the source and the derivation of its formula.
//!
//! * [`Growth`]: the write amplification, the levels and the runs of a compaction policy after a number of flushes. The
//!   values are exact. They come from a closed form, or from the compaction simulator if no closed form is known.
//! * [`separated_growth`] and [`separated_write_amp`]: the writes of a load with values in blob files. [`collection`]:
//!   the cost of garbage collection of blob files under random overwrites.
//! * [`least_writes`]: the smallest number of bytes that any schedule of compactions can write, for a maximum number of
//!   runs.
//! * [`Fluid`]: the textbook cost model of a tree with a size ratio and a maximum number of runs per level: levels,
//!   writes, lookups, space.
//! * [`KLsm`]: a tree with different numbers of runs per level and a partly filled last level: writes, lookups, scans.
//! * [`allocate`]: Monkey's filter bits for levels of any size. [`split_memory`]: the split of a budget between
//!   memtable, filters and cache.
//! * [`best_ratios`]: the size ratios and runs per level that Moose proposes. [`UcsScaling`]: the scaling parameters
//!   with which Cassandra describes a tree.
//! * [`robust_cost`]: the cost of the worst mix of operations that differs from the expected mix by at most a given
//!   drift.
//! * [`RunView`]: the data blocks that a lookup reads, computed from the existing runs and their filters.
//! * [`Popularity`]: the fraction of requests for each key or block. [`Eviction`] and
//!   [`best_static_share`](Popularity::best_static_share): the resulting hit rate of a cache.
//!
//! Two expected values are not in this crate. A filter computes its expected false-positive rate, and the cache
//! simulator computes the best hit rate for a recorded trace (Belady).
//!
//! The crate depends on no tree and no workload. Trials, simulations, the search for the best design and the report use
//! these formulas.
//!
//! ```
//! use lsmbench_theory::Fluid;
//!
//! let (leveled, tiered) = (Fluid::leveled(10.0), Fluid::tiered(10.0));
//! let levels = leveled.levels(999.0);
//! assert_eq!(levels, 3, "999 full memtables must fill three levels");
//! // Each write amplification is a pair of a lower and a higher estimate.
//! let (low, _) = leveled.write_amp(levels);
//! let (_, high) = tiered.write_amp(levels);
//! assert!(high < low, "tiering must write less than leveling");
//! // With tiering, a lookup may search nine times as many runs.
//! assert_eq!((leveled.most_runs(levels), tiered.most_runs(levels)), (3.0, 27.0));
//! ```

mod fluid;
mod forms;
mod growth;
mod hit_rate;
mod horizontal;
mod klsm;
mod lookup;
mod memory;
mod monkey;
mod moose;
mod popularity;
mod robust;
mod ucs;
mod values;

pub use fluid::Fluid;
pub use forms::{
    flushes_per_merge, levels_and_runs, most_space_amp, picks_tables, textbook_write_amp, write_amp,
};
pub use growth::{Growth, GrowthError, growth, has_form, mean_runs, separated_growth};
pub use hit_rate::Eviction;
pub use horizontal::least_writes;
pub use klsm::KLsm;
pub use lookup::{RunView, blocks_per_absent_get, blocks_per_present_get};
pub use memory::{MemorySplit, MemoryUse, split_memory};
pub use monkey::{FilterLevel, allocate, fpr};
pub use moose::{best_ratios, best_runs, level_cost};
pub use popularity::{PopularKeyOrder, Popularity};
pub use robust::robust_cost;
pub use ucs::UcsScaling;
pub use values::{Collection, Overwrites, collection, separated_write_amp};
