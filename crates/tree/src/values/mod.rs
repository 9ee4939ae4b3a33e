//! Value policies, which decide where values are stored: in SSTables next to their keys, or in blob files.
//!
//! A value policy also decides which blob files are rewritten. The tree itself writes and reads the blob files (see
//! `blob`).

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

/// The catalog of all value policies. The first policy is the baseline.
pub static CATALOG: Catalog<dyn ValuePolicy> = Catalog::new(
    catalog::origin!(),
    "values",
    "where values are stored: in SSTables next to their keys, or in separate blob files",
    &[
        inline::VARIANT,
        blob_files::VARIANT,
        value_log::VARIANT,
        hash_partitioned::VARIANT,
        tiered_by_size::VARIANT,
    ],
);
