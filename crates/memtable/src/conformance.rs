//! The invariants of the memtable axis as a check that any crate's tests can call.
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

/// Checks every invariant of the axis for a memtable with its default parameters. For example, it answers like an
/// ordered map of all versions, threads see complete writes in order, and memory is reported.
///
/// # Errors
/// One line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn MemtablePolicy>) -> Result<(), String> {
    laws::check_component(CATALOG.axis, variant, invariants::Subject, invariants::INVARIANTS)
}
