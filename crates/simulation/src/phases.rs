//! Counts the operations of a workload, and scales a workload to another size.

use catalog::Choice;
use workload::{KeySource, Kind, Mixed, Phase, Work, Workload};

/// Returns the number of operations of a phase.
pub(crate) fn operations(phase: &Phase) -> f64 {
    match &phase.work {
        Work::Load(load) => load.keys.unwrap_or(0) as f64,
        Work::Mixed(mixed) => mixed.operations.unwrap_or(0) as f64,
        Work::Roles(_) | Work::Replay(_) | Work::Step(_) => 0.0,
    }
}

/// Returns the number of keys that a workload adds.
pub fn added_keys(workload: &Workload) -> f64 {
    workload.phases.iter().map(added).sum()
}

/// Returns the number of keys that a phase adds.
pub(crate) fn added(phase: &Phase) -> f64 {
    match &phase.work {
        Work::Load(_) => operations(phase),
        Work::Mixed(mixed) => operations(phase) * mixed.rate(Kind::Insert),
        Work::Roles(_) | Work::Replay(_) | Work::Step(_) => 0.0,
    }
}

/// Returns a smaller or larger workload: all numbers of operations are multiplied by `share`.
pub fn scaled(workload: &Workload, share: f64) -> Workload {
    let mut scaled = workload.clone();
    let count = |number: u64| ((number as f64 * share).round() as u64).max(1);
    for phase in &mut scaled.phases {
        match &mut phase.work {
            Work::Load(load) => load.keys = load.keys.map(count),
            Work::Mixed(mixed) => mixed.operations = mixed.operations.map(count),
            Work::Roles(_) | Work::Replay(_) | Work::Step(_) => {}
        }
    }
    scaled
}

/// Returns whether the operations of a phase include scans.
pub fn scans(phase: &Phase) -> bool {
    matches!(&phase.work, Work::Mixed(mixed) if mixed.mix.has(Kind::Range))
}

/// The numbers of operations of a phase, by their effect on the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// The number of all operations of the phase. A batch counts as one operation.
    pub operations: f64,
    /// The number of entries that the phase writes, including tombstones.
    pub writes: f64,
    /// The number of keys that the lookups of the phase request.
    pub gets: f64,
    /// The fraction of the lookups that request absent keys, which never existed.
    pub absent: f64,
    /// The number of scans in the phase.
    pub scans: f64,
}

/// Returns the numbers of operations of a phase, by their effect on the tree.
pub fn rates(phase: &Phase) -> Rates {
    let all = operations(phase);
    match &phase.work {
        Work::Load(_) => Rates { operations: all, writes: all, ..Rates::default() },
        Work::Mixed(mixed) => {
            let share = |kind| mixed.mix.share(kind);
            let (members, both) = (f64::from(mixed.batch), share(Kind::ReadModifyWrite));
            let writes: f64 =
                [Kind::Put, Kind::Insert, Kind::Delete].into_iter().map(|kind| mixed.rate(kind)).sum();
            Rates {
                operations: all,
                writes: all * (writes + both),
                gets: all * (share(Kind::Get) + both + share(Kind::MultiGet) * members),
                absent: mixed.absent,
                scans: all * share(Kind::Range),
            }
        }
        Work::Roles(_) | Work::Replay(_) | Work::Step(_) => Rates::default(),
    }
}

/// Returns the distribution of the keys of a mix of operations. Returns `None` if the keys do not come from a
/// distribution.
pub(crate) fn key_distribution(mixed: &Mixed) -> Option<&Choice> {
    match &mixed.keys {
        KeySource::Drawn(keys) => Some(keys),
        KeySource::Recorded(_) => None,
    }
}
