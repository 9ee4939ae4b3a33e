//! The axis `hash`, the hash functions of keys. A hash function maps a key to a 64-bit hash. Filters, and data
//! structures that are divided into shards, use this hash.
//!
//! Every function gives equal results on every machine and in every version, because filters on disk depend on the
//! hashes.

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

/// The catalog of all hash functions. Each SSTable stores the name of its hash function, because its filter depends
/// on this function.
pub static CATALOG: Catalog<dyn KeyHasher> = Catalog::new(
    catalog::origin!(),
    "hash",
    "the 64-bit hash function of keys, which filters and sharded structures share",
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
