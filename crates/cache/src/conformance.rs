//! Checks that a block cache keeps the invariants of all caches. The tests of any crate can call this check.
//!
//! ```
//! let sieve = lsmbench_cache::CATALOG.variant("sieve")?;
//! lsmbench_cache::conformance::check(sieve)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod invariants;
#[cfg(test)]
mod tests;

use catalog::{Choice, Variant, laws};

use crate::{CATALOG, Cache};

/// The capacities with which a cache is checked, in addition to its default capacity.
const CAPACITIES: [&str; 4] = ["0B", "48KiB", "600KiB", "2MiB"];

/// Checks that a cache variant keeps every invariant of [`Cache`]. For example, a get returns the inserted bytes, the
/// weight stays within the capacity, and equal calls give equal hits.
///
/// The check uses the default parameters of the cache. If the cache has the parameter `capacity`, the check also
/// uses several capacities.
///
/// # Errors
/// Returns one line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn Cache>) -> Result<(), String> {
    let defaults = |_| caches(variant, variant.default_choice());
    let checked = laws::check_component(CATALOG.axis, variant, defaults, invariants::INVARIANTS);
    let mut broken: Vec<String> = checked.err().into_iter().collect();
    for choice in CAPACITIES.iter().filter_map(|capacity| with_capacity(variant, capacity)) {
        let label = choice.label();
        broken.extend(laws::check_invariants(&label, &caches(variant, choice), invariants::INVARIANTS).err());
    }
    laws::all_kept(&broken)
}

/// Returns the parameters of a cache variant with this capacity. Returns `None` if the variant has no parameter
/// `capacity`.
fn with_capacity(variant: &Variant<dyn Cache>, capacity: &str) -> Option<Choice> {
    let given = [("capacity".to_owned(), capacity.into())].into_iter().collect();
    variant.choose(CATALOG.axis, given, &[]).ok()
}

/// Returns a function that builds caches of a variant with the parameters of `choice`, which must be valid.
fn caches(variant: &'static Variant<dyn Cache>, choice: Choice) -> invariants::Subject {
    let build = move || {
        variant.build_of(CATALOG.axis, &choice).expect("a cache with valid parameters must be buildable")
    };
    invariants::Subject(Box::new(build))
}
