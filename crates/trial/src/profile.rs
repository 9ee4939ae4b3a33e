//! Describes the intended and the executed operations of a phase, for the manifest.

use workload::{Extent, PhasePart, Profile};

use super::drive::Driven;

/// Returns the statistics of the operations that a phase executed in one column family. For a replay of recorded
/// operations, only the number of operations and the mix are known.
pub(super) fn realised(part: &PhasePart, from: Extent, driven: &Driven) -> Profile {
    if part.plan.replay().is_none() {
        let records = part.threads.iter().filter_map(|thread| driven.records.get(*thread as usize));
        let performed: Vec<u64> = records.map(workload::AnswerDigests::operations).collect();
        return Profile::realised(&part.plan, from, Some(&performed));
    }
    let operations: u64 = driven.operations.iter().map(|(_, totals)| totals.operations).sum();
    let share = |part: u64| part as f64 / operations as f64;
    let mix = driven.operations.iter().map(|(kind, totals)| (*kind, share(totals.operations)));
    Profile { operations: Some(operations), mix: mix.collect(), ..Profile::default() }
}

/// Converts the statistics of the operations of a phase to their form in `manifest.json`.
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
