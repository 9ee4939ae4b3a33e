//! The key distributions of a workload. A distribution selects a key for each operation.

mod distribution;
mod exponential;
mod hotspot;
mod latest;
mod mixgraph;
mod normal;
mod permuted;
mod power;
mod sequential;
mod uniform;
mod ycsb_core;
mod ycsb_scrambled;
mod zipf;
mod zipfian;

use catalog::Catalog;

pub use distribution::{KeyDistribution, KeySampler, PopularKeys, Scope};
pub(crate) use zipf::check_theta;

/// All key distributions, which select the keys that operations access. The first distribution is the default.
pub static CATALOG: Catalog<dyn KeyDistribution> = Catalog::new(
    catalog::origin!(),
    "keys",
    "the distribution of the keys that operations access",
    &[
        uniform::VARIANT,
        zipfian::VARIANT,
        ycsb_scrambled::VARIANT,
        latest::VARIANT,
        hotspot::VARIANT,
        exponential::VARIANT,
        mixgraph::VARIANT,
        normal::VARIANT,
        sequential::VARIANT,
        ycsb_core::VARIANT,
    ],
);
