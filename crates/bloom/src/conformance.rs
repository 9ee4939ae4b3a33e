//! The invariants of the filter axis as a check that any crate's tests can call.
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

/// Checks that a filter with its default parameters keeps every invariant of the axis: no key is lost, the false
/// positive rate is the expected one, corruption is an error, and so on. Takes some seconds without optimization.
///
/// # Errors
/// One line per broken invariant: `kind: "invariant": what broke`.
pub fn check(variant: &'static Variant<dyn FilterPolicy>) -> Result<(), String> {
    let subject = |policy| invariants::Subject {
        policy,
        spends_bits: variant.defaults().contains_key("bits_per_key"),
        oracle: variant.oracle,
    };
    laws::check_component(CATALOG.axis, variant, subject, invariants::INVARIANTS)
}

/// Checks that an allocation with its default parameters keeps every invariant of the axis: bits per key are finite
/// and not negative, and a budget is kept where the allocation promises to keep it.
///
/// # Errors
/// As [`check`].
pub fn check_allocation(variant: &'static Variant<dyn Allocation>) -> Result<(), String> {
    laws::check_component(ALLOCATIONS.axis, variant, allocation::Subject, allocation::INVARIANTS)
}
