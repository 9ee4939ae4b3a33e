//! Checks that a memtable keeps the invariants of all memtables. The tests of any crate can call this check.
//!
//! ```
//! let skiplist = lsmbench_memtable::CATALOG.variant("skiplist")?;
//! lsmbench_memtable::conformance::check(skiplist)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod invariants;
mod model;
mod stress;
#[cfg(test)]
mod tests;

use catalog::{Variant, laws};

use crate::{CATALOG, MemtablePolicy};

/// Checks that a memtable with its default parameters keeps every invariant of memtables. For example, lookups and
/// scans must return the results of an ordered map of all versions, and other threads must never see a part of a write.
///
/// # Errors
/// Returns one line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn MemtablePolicy>) -> Result<(), String> {
    laws::check_component(CATALOG.axis, variant, invariants::Subject, invariants::INVARIANTS)
}
