//! Variants that the five source documents describe and that no current engine would choose.
//!
//! The report on published systems needs these variants, so that each claim is tested on the component that its
//! document describes. The variants are registered from outside, like the components of any other crate. The program
//! `lsmbench` adds them through its `Workbench`, and the crates of the axes do not depend on them.

use catalog::AdditionError;

mod by_access;
mod by_load;
mod fixed_pairs;
mod growing_shards;
mod inverse;
mod min_max;
mod plain;
mod sentinel_pairs;
mod string_lru;
mod system_load;
#[cfg(test)]
mod testing;

pub use by_access::VARIANT as BY_ACCESS;
pub use by_load::VARIANT as BY_LOAD;
pub use fixed_pairs::VARIANT as FIXED_PAIRS;
pub use growing_shards::VARIANT as GROWING_SHARDS;
pub use inverse::VARIANT as INVERSE;
pub use min_max::VARIANT as MIN_MAX;
pub use plain::VARIANT as PLAIN;
pub use sentinel_pairs::VARIANT as SENTINEL_PAIRS;
pub use string_lru::VARIANT as STRING_LRU;

/// Adds all variants of this crate to the catalogs of their axes, for a program without a `Workbench`.
///
/// # Errors
/// The errors of [`Catalog::add`](catalog::Catalog::add): a lookup has already happened, or the variants are already
/// added.
pub fn register() -> Result<(), AdditionError> {
    bloom::ALLOCATIONS.add(&INVERSE)?;
    cache::CATALOG.add(&STRING_LRU)?;
    compression::CATALOG.add(&BY_LOAD)?;
    fence::CATALOG.add(&MIN_MAX)?;
    fence::CATALOG.add(&BY_ACCESS)?;
    memtable::CATALOG.add(&GROWING_SHARDS)?;
    tree::block::CATALOG.add(&PLAIN)?;
    tree::block::CATALOG.add(&FIXED_PAIRS)?;
    tree::block::CATALOG.add(&SENTINEL_PAIRS)
}
