//! The filter axis: a small summary of a run's keys that lets most lookups of absent keys skip the run.

mod filter;
mod none;

use catalog::Catalog;

pub use filter::{DamagedFilter, Filter, FilterInput, FilterPolicy};

/// All filters. The first is the baseline, the last the oracle.
pub static CATALOG: Catalog<dyn FilterPolicy> = Catalog {
    axis: "bloom",
    summary: "the filter that lets a lookup skip runs without its key",
    variants: &[none::VARIANT],
};
