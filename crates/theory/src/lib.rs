//! The theoretical expectations for a tree, in closed form. Each formula is a small pure function. Its documentation
//! contains the source and the derivation.
//!
//! * [`Growth`]: the write amplification, levels and runs of a compaction policy after a number of flushes.
//!   Exact where a form is known, otherwise from the compaction simulator.
//! * [`least_writes`]: the fewest bytes that any schedule with a number of runs writes.
//! * [`Fluid`]: the textbook's cost model of a tree with T, K and Z: levels, writes, lookups, space.
//! * [`KLsm`]: a tree with runs per level and a last level that is filled in part: writes, lookups, scans.
//! * [`allocate`]: Monkey's filter bits over levels of any size. [`split_memory`]: a budget over memtable, filters, cache.
//! * [`best_ratios`]: Moose's ratios and runs. [`UcsScaling`]: Cassandra's spelling of a tree.
//! * [`robust_cost`]: the worst mix within a drift.
//! * [`RunView`]: the data blocks that a lookup reads, from the existing runs and their filters.
//! * [`Popularity`]: the fraction of requests for each key or block; [`Eviction`] and
//!   [`best_static_share`](Popularity::best_static_share): the resulting hit rate of a cache.
//!
//! The expected false positives of a filter come from the filter itself. The best hit rate on a recorded trace comes
//! from the simulator of caches (Belady).

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

pub use fluid::Fluid;
pub use forms::{levels_and_runs, most_space_amp, picks_tables, textbook_write_amp, write_amp};
pub use growth::{Growth, GrowthError, growth, has_form, mean_runs};
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
