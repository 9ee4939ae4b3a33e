//! Simulates an experiment without data. The compaction policies make their decisions for a model of the tree (a
//! picture) instead of a real tree.
//!
//! * [`Picture::Exact`]: the keys of the operation stream, without values. Flushes, compactions, runs, levels, SSTables
//!   and found keys equal the results of a real run in `counted` mode, which uses one thread.
//! * [`Picture::Expected`]: key ranges with expected numbers of entries, for trees of any size. Skewed overwrites and
//!   deletes are classes of keys that are written equally often.
//!
//! The sizes of files and filters, and the device time, are measured on two sample SSTables of the design with real
//! entries (see [`Costs`]).

mod costs;
mod exact;
mod expected;
mod phases;
mod readings;
mod simulate;

pub use costs::Costs;
pub use exact::SimulatedTree;
pub use phases::{Rates, added_keys, rates, scaled, scans};
pub use simulate::{MOST_EXACT_WRITES, PhaseRow, Picture, Simulation, check, simulate};
