//! Checks the invariants of sorted views. The tests of any crate can call this check.
//!
//! ```
//! use lsmbench_tree::sorted_view;
//!
//! sorted_view::conformance::check(sorted_view::CATALOG.variant("remix")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use catalog::Variant;
use catalog::laws::{self, Invariant, ensure};

use super::CATALOG;
use super::policy::{MOST_SEGMENT_ENTRIES, SortedViewPolicy};
use crate::conformance::check_in_tree;

/// The sorted-view policy under test.
struct Subject(Box<dyn SortedViewPolicy>);

/// The names and the checks of all invariants of sorted-view policies.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("a segment of a sorted view must have 1 to 1024 entries", |subject| {
        let entries = subject.0.segment_entries();
        let is_valid = entries.is_none_or(|entries| (1..=MOST_SEGMENT_ENTRIES).contains(&entries));
        ensure(is_valid, || {
            let entries = entries.unwrap_or_default();
            format!("segment_entries() returns {entries}; the valid numbers are 1 to {MOST_SEGMENT_ENTRIES}")
        })
    }),
    ("every call of segment_entries() must return the same value", |subject| {
        let [once, again] = [(); 2].map(|()| subject.0.segment_entries());
        ensure(once == again, || {
            format!("the first call returns {once:?}, and the second call returns {again:?}")
        })
    }),
];

/// Checks every invariant of sorted-view policies for one policy, with its default parameters. Also checks that a tree
/// with this policy gives the same answers as a `BTreeMap`, even after the tree was closed and opened again.
///
/// The function adds the policy to the catalog if the catalog lacks it, because a design refers to a policy by name.
///
/// # Errors
/// If the policy cannot be added to the catalog, or if an invariant is broken. The error has one line per broken
/// invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn SortedViewPolicy>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    let by_itself = laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS);
    let broken = [by_itself.err(), check_in_tree(CATALOG.axis, variant.kind).err()];
    laws::all_kept(&broken.into_iter().flatten().collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy that breaks both invariants: the number of entries is 0 or grows with each call.
    struct Canary(std::sync::atomic::AtomicUsize);

    impl SortedViewPolicy for Canary {
        fn segment_entries(&self) -> Option<usize> {
            Some(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        }
    }

    #[test]
    fn every_invariant_catches_the_canary() {
        for (name, check) in INVARIANTS {
            let canary = Subject(Box::new(Canary(0.into())));
            assert!(check(&canary).is_err(), "\"{name}\" did not see it");
        }
    }
}
