//! Sorted views. A sorted view stores the key order of the entries of all sorted runs. Scans follow this order instead
//! of merging the runs.

mod build;
pub mod conformance;
mod cursor;
mod entry_reader;
mod none;
mod policy;
mod remix;
mod view;

use catalog::Catalog;

pub(crate) use build::build;
pub(crate) use cursor::ViewCursor;
pub use policy::{MOST_SEGMENT_ENTRIES, SortedViewPolicy};
pub(crate) use view::SortedView;

/// The catalog of all sorted views. The first variant is the baseline.
pub static CATALOG: Catalog<dyn SortedViewPolicy> = Catalog::new(
    catalog::origin!(),
    "sorted_view",
    "the order in which scans read several sorted runs: a merge, or a precomputed sorted view",
    &[none::VARIANT, remix::VARIANT],
);
