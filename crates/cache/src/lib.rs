//! The cache axis: blocks that were read once and may be read again, within a budget of bytes.

mod cache;

use catalog::Catalog;

pub use cache::{BlockId, Cache};

/// All caches. The first is the baseline, the last the oracle.
pub static CATALOG: Catalog<dyn Cache> = Catalog {
    axis: "cache",
    summary: "which blocks stay in memory, within a budget of bytes",
    variants: &[],
};
