//! The invariants of the compaction axis as a check that any crate's tests can call.
//!
//! ```
//! let tiered = lsmbench_compaction::CATALOG.variant("tiered")?;
//! lsmbench_compaction::conformance::check(tiered)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod invariants;
mod store;
#[cfg(test)]
mod tests;

use catalog::{Variant, laws};
use types::SplitMix64;

use crate::{CATALOG, CompactionPolicy};

/// Number of random store histories for each invariant.
const HISTORIES: u64 = 40;

/// Checks every invariant of the axis for a policy with its default parameters, over random histories of a small store.
/// For example, jobs are valid and change no answer, equal shapes give equal jobs, and the policy comes to rest.
///
/// A policy that drops data by rule declares [`Limit::DropsData`](catalog::Limit::DropsData).
///
/// # Errors
/// One line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn CompactionPolicy>) -> Result<(), String> {
    let mut broken: Vec<String> = laws::check_variant(CATALOG.axis, variant).err().into_iter().collect();
    for (name, check) in invariants::INVARIANTS {
        // If the default parameters do not build, `check_variant` has already reported the error.
        let Ok(policy) = variant.build_of(CATALOG.axis, &variant.default_choice()) else { break };
        let subject = invariants::Subject { policy, limits: variant.limits };
        let found = (0..HISTORIES).find_map(|seed| {
            let history = invariants::History::random(&mut SplitMix64::new(seed));
            let what = check(&subject, &history).err()?;
            Some(format!("{}: \"{name}\": history {seed}: {what}", variant.kind))
        });
        broken.extend(found);
    }
    laws::all_kept(&broken)
}
