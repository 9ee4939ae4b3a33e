//! The rules of single deletes in a workload.
//!
//! A store may delete a key by a single delete only if the key was written once. The single deletes of a workload take
//! the keys in the order of their indexes, as from the head of a queue. No two single deletes take the same key. All
//! other writes up to the last single delete are inserts.

use catalog::ChoiceError;

use crate::operation::Kind;
use crate::phase::{Phase, Work};
use crate::plan::{Extent, PlannedMix};
use crate::workload::path;

/// The number of standard deviations by which single deletes may outnumber the expected single deletes.
const DEVIATIONS: f64 = 6.0;

/// Checks that each key is written once before a single delete can take it.
pub(crate) fn check_phases(phases: &[Phase]) -> Result<(), ChoiceError> {
    let Some(last) = phases.iter().rposition(|phase| mixes(phase, Kind::SingleDelete)) else {
        return Ok(());
    };
    let single = &phases[last].name;
    for phase in &phases[..=last] {
        let other = |kind: &Kind| kind.writes() && ![Kind::Insert, Kind::SingleDelete].contains(kind);
        let (key, writes) = match &phase.work {
            Work::Replay(_) => ("replay", "replays operations".to_owned()),
            _ => match Kind::ALL.into_iter().filter(other).find(|kind| mixes(phase, *kind)) {
                Some(kind) => ("mix", format!("has {kind} in its mix")),
                None => continue,
            },
        };
        let message = format!(
            "phase \"{}\" {writes}, so a key may be written more than once before phase \"{single}\" deletes it by a \
             single delete; use insert as the only other write, or use delete instead of single_delete",
            phase.name
        );
        return Err(ChoiceError::at(path(&phase.name, key), message));
    }
    Ok(())
}

/// Returns whether the mix of a phase, or of one of its roles, has operations of a kind.
fn mixes(phase: &Phase, kind: Kind) -> bool {
    match &phase.work {
        Work::Mixed(mixed) => mixed.mix.has(kind),
        Work::Roles(roles) => roles.iter().any(|role| role.mixed.mix.has(kind)),
        Work::Load(_) | Work::Replay(_) | Work::Step(_) => false,
    }
}

/// Checks that the single deletes of a mix find keys until its last operation. The mix has `threads` threads, which
/// begin with the keys of `from`. Returns the expected number of single deletes.
pub(crate) fn check_queue(mixed: &PlannedMix, from: Extent, threads: u32) -> Result<u64, ChoiceError> {
    let mix = &mixed.spec.mix;
    let (Some(operations), true) = (mixed.operations(), mix.has(Kind::SingleDelete)) else { return Ok(0) };
    let (deletes, inserts) = (mix.share(Kind::SingleDelete), mix.share(Kind::Insert));
    // Each thread has a queue of its own. The length of the queue is a random walk.
    let of_thread = operations as f64 / f64::from(threads);
    let drift = deletes - inserts;
    let deviation = (of_thread * (deletes + inserts - drift * drift)).max(0.0).sqrt();
    let taken = (of_thread * drift).max(0.0) + DEVIATIONS * deviation;
    let needed = (taken * f64::from(threads)).ceil() as u64;
    let queue = from.keys.saturating_sub(from.retired);
    if needed > queue {
        let message = format!(
            "the single deletes may need {needed} keys more than the phase inserts, but only {queue} keys are left; \
             load more keys, or lower operations"
        );
        return Err(ChoiceError::at("operations", message));
    }
    Ok((operations as f64 * deletes).ceil() as u64)
}
