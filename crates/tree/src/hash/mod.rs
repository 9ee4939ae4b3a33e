//! The hash axis: the function that turns a key into the 64 bits that filters and sharded structures share.
//!
//! Only functions that are the same on every machine and for good: filters on disk depend on them.

#[macro_use]
mod hasher;
mod city;
pub mod conformance;
mod farm;
mod metro;
mod murmur3;
mod rapidhash;
mod siphash;
mod wyhash;
mod xxh3;
mod xxh3_128;
mod xxh64;

use catalog::Catalog;

pub use hasher::KeyHasher;

/// All hash functions. The choice changes filters on disk, so each table names the one it was written with.
pub static CATALOG: Catalog<dyn KeyHasher> = Catalog::new(
    catalog::origin!(),
    "hash",
    "the 64-bit hash of a key that filters and sharded structures share",
    &[
        xxh3::VARIANT,
        xxh3_128::VARIANT,
        rapidhash::VARIANT,
        wyhash::VARIANT,
        xxh64::VARIANT,
        metro::VARIANT,
        farm::VARIANT,
        city::VARIANT,
        murmur3::VARIANT,
        siphash::VARIANT,
    ],
);
