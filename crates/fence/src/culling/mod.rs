//! Culling: methods that select the files of a sorted run that can contain a key, or keys between two bounds.

mod binary;
mod by_overlap;
pub mod conformance;
mod linear;
mod policy;
mod ranges;

use catalog::Catalog;

pub use policy::{Culling, LevelForm, RunIndex};
pub use ranges::FileRanges;

/// All culling methods. The first method is the baseline.
pub static CATALOG: Catalog<dyn Culling> = Catalog::new(
    catalog::origin!(),
    "culling",
    "the search for the files of a sorted run that can contain a key or a key range",
    &[linear::VARIANT, binary::VARIANT, by_overlap::VARIANT],
);
