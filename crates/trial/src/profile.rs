//! The intended and the executed operations of a phase, for the manifest.

use std::sync::Arc;

use workload::{AnswerDigests, Extent, PhasePlan, Profile};

use super::drive::Driven;

/// Returns the profile of the operations that a phase executed. For a replay of recorded operations, only the number
/// of operations and the mix are known.
pub(super) fn realised(phase: &Arc<PhasePlan>, from: Extent, driven: &Driven) -> Profile {
    if phase.replay().is_none() {
        let performed: Vec<u64> = driven.records.iter().map(AnswerDigests::operations).collect();
        return Profile::realised(phase, from, Some(&performed));
    }
    let operations: u64 = driven.operations.iter().map(|(_, totals)| totals.operations).sum();
    let share = |part: u64| part as f64 / operations as f64;
    let mix = driven.operations.iter().map(|(kind, totals)| (*kind, share(totals.operations)));
    Profile { operations: Some(operations), mix: mix.collect(), ..Profile::default() }
}

/// Converts a profile to its manifest entry.
pub(crate) fn as_result(profile: &Profile) -> results::ProfileRecord {
    results::ProfileRecord {
        operations: profile.operations,
        mix: profile.mix.iter().map(|(kind, share)| ((*kind).to_owned(), *share)).collect(),
        absent: profile.absent,
        hottest_key: profile.hottest_key,
        hottest_1_percent: profile.hottest_1_percent,
        hottest_10_percent: profile.hottest_10_percent,
        key_bytes: profile.key_bytes,
        value_bytes: profile.value_bytes,
        range_entries: profile.range_entries,
    }
}
