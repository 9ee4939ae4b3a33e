//! Block caches. A block cache keeps recently read data blocks in memory, up to a capacity in bytes.

mod arc;
mod cache;
mod clock;
pub mod conformance;
mod epochs;
mod fifo;
#[cfg(feature = "foyer")]
mod foyer;
mod ghosts;
pub mod hasher;
mod index;
mod lfu;
mod library;
mod lirs;
mod lockfree_clock;
mod lru;
mod moka;
mod none;
mod policy;
mod queue;
mod quick;
mod reuse;
mod s3_fifo;
mod sampled_cache;
mod sharded;
mod sieve;
mod simulate;
pub mod sized;
mod sketch;
mod sync;
mod two_q;
mod unbounded;
mod w_tiny_lfu;

use catalog::Catalog;

pub use cache::{BlockId, Cache};
pub use library::seam;
pub use reuse::ReuseCurve;
pub use sampled_cache::SampledCache;
pub use simulate::{BlockRequest, Score, belady, replay};

/// All cache variants. The first variant is the baseline, and the last variant is the ideal bound.
pub static CATALOG: Catalog<dyn Cache> = Catalog::new(
    catalog::origin!(),
    "cache",
    "the block cache, which keeps blocks in memory within a capacity in bytes",
    &[
        none::VARIANT,
        lru::VARIANT,
        fifo::VARIANT,
        clock::VARIANT,
        sieve::VARIANT,
        s3_fifo::VARIANT,
        two_q::VARIANT,
        arc::VARIANT,
        lfu::VARIANT,
        lirs::VARIANT,
        w_tiny_lfu::VARIANT,
        lockfree_clock::VARIANT,
        quick::VARIANT,
        moka::VARIANT,
        #[cfg(feature = "foyer")]
        foyer::VARIANT,
        library::VARIANT,
        unbounded::VARIANT,
    ],
);
