//! Variants that the five source documents describe and that no current engine would choose.
//!
//! The report on published systems needs these variants, so that each claim is tested on the component that its
//! document describes. The variants are registered from outside, like the components of any other crate. The program
//! `lsmbench` adds them through its `Workbench`, and the crates of the axes do not depend on them.

use catalog::AdditionError;

mod fixed_pairs;
mod inverse;
mod plain;
mod string_lru;

pub use fixed_pairs::VARIANT as FIXED_PAIRS;
pub use inverse::VARIANT as INVERSE;
pub use plain::VARIANT as PLAIN;
pub use string_lru::VARIANT as STRING_LRU;

/// Adds all variants of this crate to the catalogs of their axes, for a program without a `Workbench`.
///
/// # Errors
/// The errors of [`Catalog::add`](catalog::Catalog::add): a lookup has already happened, or the variants are already
/// added.
pub fn register() -> Result<(), AdditionError> {
    bloom::ALLOCATIONS.add(&INVERSE)?;
    cache::CATALOG.add(&STRING_LRU)?;
    tree::block::CATALOG.add(&PLAIN)?;
    tree::block::CATALOG.add(&FIXED_PAIRS)
}
