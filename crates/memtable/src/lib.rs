//! The memtable axis: where writes wait, in order, until they are flushed.

mod memtable;

use catalog::Catalog;

pub use memtable::{Memtable, MemtablePolicy};

/// All memtables. The first is the baseline.
pub static CATALOG: Catalog<dyn MemtablePolicy> = Catalog {
    axis: "memtable",
    summary: "the structure in which writes wait until they are flushed",
    variants: &[],
};
