//! The hash axis: the function that turns a key into the 64 bits that filters and sharded structures share.

mod hasher;
mod xxh3;
mod xxh64;

use catalog::Catalog;

pub use hasher::KeyHasher;

/// All hash functions. The choice changes filters on disk, so each table names the one it was written with.
pub static CATALOG: Catalog<dyn KeyHasher> = Catalog {
    axis: "hash",
    summary: "the 64-bit hash of a key that filters and sharded structures share",
    variants: &[xxh3::VARIANT, xxh64::VARIANT],
};
