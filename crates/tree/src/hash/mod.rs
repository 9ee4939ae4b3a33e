//! The hash axis: the function from a key to the 64-bit hash that filters and sharded structures share.
//!
//! All functions give the same result on every machine and in every version, because filters on disk depend on them.

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

/// All hash functions. Filters on disk depend on the function, so each table names its own.
pub static CATALOG: Catalog<dyn KeyHasher> = Catalog::new(
    catalog::origin!(),
    "hash",
    "the 64-bit hash of a key, shared by filters and sharded structures",
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
