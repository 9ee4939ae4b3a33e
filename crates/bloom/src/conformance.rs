//! Checks that a filter keeps the invariants of all filters. The tests of any crate can call these checks.
//!
//! ```
//! let ribbon = lsmbench_bloom::CATALOG.variant("ribbon")?;
//! lsmbench_bloom::conformance::check(ribbon)?;
//! let monkey = lsmbench_bloom::ALLOCATIONS.variant("monkey")?;
//! lsmbench_bloom::conformance::check_allocation(monkey)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocation;
mod invariants;
#[cfg(test)]
mod tests;

use catalog::{Variant, laws};

use crate::{ALLOCATIONS, Allocation, CATALOG, FilterPolicy};

/// Checks that a filter with its default parameters keeps all invariants of filters. For example, the filter reports
/// every added key present, and the false-positive rate is as expected. A check takes some seconds in a build without
/// optimization.
///
/// # Errors
/// Returns one line per broken invariant, in the form `kind: "invariant": violation`.
pub fn check(variant: &'static Variant<dyn FilterPolicy>) -> Result<(), String> {
    let subject = |policy| invariants::Subject {
        policy,
        spends_bits: variant.defaults().contains_key("bits_per_key"),
        oracle: variant.oracle,
    };
    laws::check_component(CATALOG.axis, variant, subject, invariants::INVARIANTS)
}

/// Checks that an allocation with its default parameters keeps all invariants of allocations. For example, the bits per
/// key are finite and not negative. If the allocation declares that it keeps the memory budget, the function checks
/// this declaration.
///
/// # Errors
/// Returns one line per broken invariant, as [`check`] does.
pub fn check_allocation(variant: &'static Variant<dyn Allocation>) -> Result<(), String> {
    laws::check_component(ALLOCATIONS.axis, variant, allocation::Subject, allocation::INVARIANTS)
}
