//! The cache axis: blocks that were read once and may be read again, within a budget of bytes.

mod cache;
mod hasher;
mod lru;
mod none;
mod quick;
mod unbounded;

use catalog::Catalog;

pub use cache::{BlockId, Cache};

/// All caches. The first is the baseline, the last the oracle.
pub static CATALOG: Catalog<dyn Cache> = Catalog {
    axis: "cache",
    summary: "which blocks stay in memory, within a budget of bytes",
    variants: &[none::VARIANT, lru::VARIANT, quick::VARIANT, unbounded::VARIANT],
};
