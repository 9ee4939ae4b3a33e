//! Culling: methods that select the files that can contain a key, or keys between two bounds.

mod binary;
mod by_overlap;
mod chucky;
pub mod conformance;
mod key_index;
mod linear;
mod policy;
mod ranges;

use catalog::Catalog;

pub use key_index::{FileKeys, KeyIndex};
pub use policy::{Culling, LevelForm, RunIndex};
pub use ranges::FileRanges;

/// All culling methods, which select the files that a read must search. The first method is the baseline.
pub static CATALOG: Catalog<dyn Culling> = Catalog::new(
    catalog::origin!(),
    "culling",
    "the search for the SSTables that can contain a key or a key range",
    &[linear::VARIANT, binary::VARIANT, by_overlap::VARIANT, chucky::VARIANT],
);
