//! Block caches. A block cache keeps recently read data blocks in memory, up to a capacity in bytes.
//!
//! Every variant in [`CATALOG`] implements the trait [`Cache`], and a [`BlockId`] names each block. The variants differ
//! in the blocks that they evict, and in their locks. [`replay`] counts the hits of a cache for a trace of requests,
//! and [`belady`] computes the ideal bound for the same trace. This crate reads no files. The crate `tree` reads a
//! block from storage after a miss, and then inserts the block into the cache.
//!
//! ```
//! use lsmbench_cache::{BlockId, CATALOG};
//! use types::Bytes;
//!
//! let cache = CATALOG.build(&CATALOG.choose(&"lru(capacity=8KiB)".into())?)?;
//! let id = |number: u64| BlockId { tree: 0, table: 1, offset: number * 4096 };
//! for number in 0..3 {
//!     cache.insert(id(number), Bytes::copy_from(&[0; 4096]));
//! }
//! assert!(cache.get(&id(0)).is_none(), "the cache has room for two blocks");
//! assert!(cache.get(&id(1)).is_some() && cache.get(&id(2)).is_some());
//! assert_eq!(cache.weight_bytes(), 8192);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
