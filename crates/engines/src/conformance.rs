//! Checks whether engines keep the contracts of [`Engine`] and [`Store`](crate::Store). The tests of any crate can call
//! these checks.
//!
//! ```
//! let ours = lsmbench_engines::CATALOG.variant("lsmbench")?;
//! lsmbench_engines::conformance::check(ours)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checks;
mod stores;
#[cfg(test)]
mod tests;

use catalog::{Variant, laws};

pub use checks::Kept;

use crate::{CATALOG, Engine};

/// The outcome of one check of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The name of the check.
    pub name: &'static str,
    /// The result of the check: how completely the engine keeps the invariant, or a description of the violation.
    pub outcome: Result<Kept, String>,
}

/// Checks that an engine with its default parameters keeps every invariant of engines. For example, its stores answer
/// like an ordered map, batches are atomic, and stores survive closing and reopening.
///
/// Stores are in temporary folders, which are removed. For an engine that is a C++ library, call this function in a
/// separate process, because two such libraries may define equal symbols.
///
/// # Errors
/// The engine is not on this machine or not in this build. Otherwise, one line per broken invariant, in the form `kind:
/// "invariant": failure`.
pub fn check(variant: &'static Variant<dyn Engine>) -> Result<(), String> {
    let mut broken: Vec<String> = laws::check_variant(CATALOG.axis, variant).err().into_iter().collect();
    // If the default parameters do not build, `check_variant` has already reported the error.
    if let Ok(engine) = variant.build_of(CATALOG.axis, &variant.default_choice()) {
        engine.identify().map_err(|missing| format!("{}: {missing}", variant.kind))?;
        let all = check_each(&|| default_engine(variant));
        let lines = all.into_iter().filter_map(|Checked { name, outcome }| {
            Some(format!("{}: \"{name}\": {}", variant.kind, outcome.err()?))
        });
        broken.extend(lines);
    }
    laws::all_kept(&broken)
}

/// Runs every check on engines that `make` builds, and returns each outcome in the order of [`names`].
pub fn check_each(make: &dyn Fn() -> Box<dyn Engine>) -> Vec<Checked> {
    checks::CHECKS.iter().map(|(name, check)| Checked { name, outcome: check(make) }).collect()
}

/// Returns the names of all checks of engines, in the order in which they run.
pub fn names() -> impl Iterator<Item = &'static str> {
    checks::CHECKS.iter().map(|(name, _)| *name)
}

/// Builds an engine with its default parameters. The caller has already built such an engine, so a failure is a bug.
///
/// # Panics
/// The engine cannot be built.
fn default_engine(variant: &Variant<dyn Engine>) -> Box<dyn Engine> {
    variant
        .build_of(CATALOG.axis, &variant.default_choice())
        .expect("building an engine with its default parameters must succeed again")
}
