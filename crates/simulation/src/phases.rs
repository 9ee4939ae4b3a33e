//! The size of a workload: its operations, and the same workload in another size.

use catalog::Choice;
use workload::{KeySource, Kind, Mixed, Phase, Work, Workload};

/// The operations of a phase.
pub(crate) fn operations(phase: &Phase) -> f64 {
    match &phase.work {
        Work::Load(load) => load.keys.unwrap_or(0) as f64,
        Work::Mixed(mixed) => mixed.operations.unwrap_or(0) as f64,
        Work::Replay(_) | Work::Step(_) => 0.0,
    }
}

/// The keys that a workload adds.
pub fn added_keys(workload: &Workload) -> f64 {
    workload.phases.iter().map(added).sum()
}

/// The keys that a phase adds.
pub(crate) fn added(phase: &Phase) -> f64 {
    match &phase.work {
        Work::Load(_) => operations(phase),
        Work::Mixed(mixed) => operations(phase) * mixed.mix.share(Kind::Insert),
        Work::Replay(_) | Work::Step(_) => 0.0,
    }
}

/// The same workload with all numbers of operations multiplied by `share`.
pub fn scaled(workload: &Workload, share: f64) -> Workload {
    let mut scaled = workload.clone();
    let count = |number: u64| ((number as f64 * share).round() as u64).max(1);
    for phase in &mut scaled.phases {
        match &mut phase.work {
            Work::Load(load) => load.keys = load.keys.map(count),
            Work::Mixed(mixed) => mixed.operations = mixed.operations.map(count),
            Work::Replay(_) | Work::Step(_) => {}
        }
    }
    scaled
}

/// Whether a phase scans.
pub fn scans(phase: &Phase) -> bool {
    matches!(&phase.work, Work::Mixed(mixed) if mixed.mix.has(Kind::Range))
}

/// The distribution of the keys of a mix, if they are drawn.
pub(crate) fn law(mixed: &Mixed) -> Option<&Choice> {
    match &mixed.keys {
        KeySource::Drawn(law) => Some(law),
        KeySource::Recorded(_) => None,
    }
}
