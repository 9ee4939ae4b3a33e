//! Checks whether a compaction policy keeps the invariants that all policies must keep. Tests of other crates can
//! call this check for their own policies.
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

/// The number of random store histories with which each invariant is checked.
const HISTORIES: u64 = 40;

/// Checks every invariant of compaction policies for a policy with its default parameters, over random histories of a
/// small store. For example, jobs are valid and change no lookup result, and the policy stops after a finite number of
/// jobs.
///
/// A policy that drops data on purpose declares [`Limit::DropsData`](catalog::Limit::DropsData).
///
/// # Errors
/// One line per broken invariant. The line contains the name of the policy, the name of the invariant, the seed of the
/// random history and the violation.
pub fn check(variant: &'static Variant<dyn CompactionPolicy>) -> Result<(), String> {
    let mut broken: Vec<String> = laws::check_variant(CATALOG.axis, variant).err().into_iter().collect();
    for (name, check) in invariants::INVARIANTS {
        // If the default parameters are invalid, `check_variant` has already reported the error.
        let Ok(policy) = variant.build_of(CATALOG.axis, &variant.default_choice()) else { break };
        let subject = invariants::Subject { policy, limits: variant.limits };
        let found = (0..HISTORIES).find_map(|seed| {
            let history = invariants::History::random(&mut SplitMix64::new(seed));
            let what = check(&subject, &history).err()?;
            Some(format!(
                "{}: invariant \"{name}\" is broken by the random history with seed {seed}: {what}",
                variant.kind
            ))
        });
        broken.extend(found);
    }
    laws::all_kept(&broken)
}
