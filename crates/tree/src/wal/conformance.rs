//! Checks the invariants of WAL modes. The tests of any crate can call this check.
//!
//! ```
//! use lsmbench_tree::wal;
//!
//! wal::conformance::check(wal::CATALOG.variant("group")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use catalog::Variant;
use catalog::laws::{self, Invariant, ensure};

use super::{CATALOG, WalPolicy};
use crate::conformance::check_in_tree;

/// A WAL mode under test.
struct Subject(Box<dyn WalPolicy>);

/// The invariants of WAL modes: the name and the check of each invariant.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("a mode without a WAL must not sync, and the period between syncs must be above 0", |subject| {
        subject.0.mode().check()
    }),
    ("every call of mode() must return equal decisions", |subject| {
        let [once, again] = [(); 2].map(|()| subject.0.mode());
        ensure(once == again, || {
            format!("the first call of mode() returns {once:?}, and the second call returns {again:?}")
        })
    }),
];

/// Checks every invariant of WAL modes for one mode, with its default parameters. Also checks that a tree with this
/// mode gives the same answers as a `BTreeMap`, even after the tree was closed and opened again.
///
/// The function adds the mode to the catalog if the catalog lacks it, because a design refers to a mode by name.
///
/// # Errors
/// If the mode cannot be added to the catalog, or if an invariant is broken. The error has one line per broken
/// invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn WalPolicy>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    let by_itself = laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS);
    let broken = [by_itself.err(), check_in_tree(CATALOG.axis, variant.kind).err()];
    laws::all_kept(&broken.into_iter().flatten().collect::<Vec<_>>())
}
