//! The filters of the workbench. A filter is a small summary of the keys of an SSTable. With a filter, most lookups of
//! absent keys skip the SSTable.
//!
//! A [`FilterPolicy`] builds the bytes of a filter from the hashes of an SSTable's keys. From these bytes, the policy
//! opens a [`Filter`], which answers lookups. [`CATALOG`] lists all filters. [`ALLOCATIONS`] lists the rules that
//! divide the filter memory between the levels of a tree. This crate reads and writes no files. The crate `tree` stores
//! the bytes in SSTables.
//!
//! ```
//! use lsmbench_bloom::{CATALOG, FilterInput};
//! use types::{Bytes, KeyHash, avalanche};
//!
//! let policy = CATALOG.build(&CATALOG.choose(&"ribbon(bits_per_key=10)".into())?)?;
//! let hashes: Vec<KeyHash> = (0..2000).map(|key| KeyHash(avalanche(key))).collect();
//! let (added, absent) = hashes.split_at(1000);
//! let stored = policy.build(&FilterInput { hashes: added, bits_per_key: None, keys: None });
//!
//! let filter = policy.open(Bytes::copy_from(&stored))?;
//! assert!(added.iter().all(|hash| filter.may_contain(*hash)));
//! let false_positives = absent.iter().filter(|hash| filter.may_contain(**hash)).count();
//! assert!(false_positives < 10, "fewer than 1 % of the absent keys");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod allocation;
mod alphabet;
mod banding;
mod batch;
mod binary_fuse;
mod bits;
mod blocked;
mod budget;
mod codes;
pub mod conformance;
mod corrupt;
mod cuckoo;
mod diva;
mod double_probe;
mod dynamic;
mod elias_fano;
mod fastbloom;
mod filter;
mod filter_builder;
mod grafite;
mod library;
mod memento;
mod no_keys;
mod none;
mod number_set;
mod packed;
mod peel;
mod perfect;
mod position;
mod prefix;
mod probed;
mod processor;
mod proteus;
mod quotient;
mod rank;
mod register;
mod ribbon;
mod rosetta;
mod slots;
mod snarf;
mod split_block;
mod standard;
mod stored;
mod surf;
#[cfg(test)]
mod testing;
mod theory;
mod universe;
mod vector_quotient;
mod xor;

use catalog::Catalog;

pub use allocation::{ALLOCATIONS, Allocation, LevelLoad, logarithmic};
pub use corrupt::CorruptFilter;
pub use filter::{Filter, FilterInput, FilterPolicy};
pub use filter_builder::FilterBuilder;
pub use library::seam;

/// All filter variants. The first filter is the baseline, and the last filter is the ideal bound.
#[rustfmt::skip] // Each variant has its own line.
pub static CATALOG: Catalog<dyn FilterPolicy> = Catalog::new(
    catalog::origin!(),
    "bloom",
    "the filter with which a lookup skips sorted runs that do not contain its key",
    &[
        none::VARIANT,
        standard::VARIANT,
        blocked::VARIANT,
        split_block::VARIANT,
        register::VARIANT,
        double_probe::VARIANT,
        fastbloom::VARIANT,
        adaptive::VARIANT,
        ribbon::VARIANT,
        xor::VARIANT,
        binary_fuse::VARIANT,
        cuckoo::VARIANT,
        quotient::VARIANT,
        vector_quotient::VARIANT,
        dynamic::VARIANT,
        prefix::VARIANT,
        grafite::VARIANT,
        rosetta::VARIANT,
        proteus::VARIANT,
        snarf::VARIANT,
        memento::VARIANT,
        diva::VARIANT,
        surf::VARIANT,
        library::VARIANT,
        perfect::VARIANT,
    ],
);
