//! Where values live: in the SSTables, next to their keys, or apart from them in blob files.
//!
//! A value policy decides which values leave the SSTables and which blob files are rewritten. The tree writes and reads
//! the files (see `blob`).

mod blob_files;
pub mod conformance;
mod hash_partitioned;
mod inline;
mod params;
mod policy;
mod tiered_by_size;
mod value_log;

use catalog::Catalog;

pub use policy::{BlobFileShape, ValuePolicy, Writing};

/// All value policies. The first policy is the baseline.
pub static CATALOG: Catalog<dyn ValuePolicy> = Catalog::new(
    catalog::origin!(),
    "values",
    "the place of values, in SSTables or apart from their keys in blob files",
    &[
        inline::VARIANT,
        blob_files::VARIANT,
        value_log::VARIANT,
        hash_partitioned::VARIANT,
        tiered_by_size::VARIANT,
    ],
);
