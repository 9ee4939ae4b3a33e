//! Checks a compaction policy against the invariants of the compaction axis. The tests of any crate can call this
//! check.
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

/// The number of random store histories for the check of each invariant.
const HISTORIES: u64 = 40;

/// Checks every invariant of the axis for a policy with its default parameters, over random histories of a small store.
/// For example, jobs are valid and change no lookup result, equal shapes give equal jobs, and the policy stops after
/// a finite number of jobs.
///
/// A policy that drops data on purpose declares [`Limit::DropsData`](catalog::Limit::DropsData).
///
/// # Errors
/// One line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn CompactionPolicy>) -> Result<(), String> {
    let mut broken: Vec<String> = laws::check_variant(CATALOG.axis, variant).err().into_iter().collect();
    for (name, check) in invariants::INVARIANTS {
        // If the default parameters are invalid, `check_variant` has already reported the error.
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
