//! Memory arbiters, which split the memory of a tree between memtables, filters and cache.
//!
//! An arbiter decides how large the next memtable is and how many bits per key new filters have. The cache gets the
//! rest of the memory. The tree observes its operations, and asks the arbiter for a decision at intervals (see the
//! module `arbitration`).

pub mod conformance;
mod marginal;
mod memory_arbiter;
mod static_sizes;

use catalog::Catalog;

pub use memory_arbiter::{DecisionPeriod, MemoryArbiter, MemoryObservation, MemorySizes};

/// The catalog of all memory arbiters. The first arbiter is the baseline.
pub static CATALOG: Catalog<dyn MemoryArbiter> = Catalog::new(
    catalog::origin!(),
    "arbiter",
    "the split of memory between memtables, filters and cache while the tree is open",
    &[static_sizes::VARIANT, marginal::VARIANT],
);
