//! The rules of single deletes in a workload.
//!
//! A store may delete a key by a single delete only if the key was written once. The single deletes of a workload
//! remove the keys in the order of their indexes, each key once. Until the last single delete, all other writes must be
//! inserts.

use std::collections::BTreeSet;

use catalog::ChoiceError;

use crate::mixed::Mixed;
use crate::operation::Kind;
use crate::phase::{Phase, Work};

/// A safety margin for the check that enough keys exist for single deletes. The unit is the standard deviation of the
/// number of needed keys.
const DEVIATIONS: f64 = 6.0;

/// An error of a workload: a phase may write a key more than once before a single delete removes the key.
pub(crate) struct Breach<'a> {
    pub(crate) phase: &'a Phase,
    /// The TOML key of the phase that causes the repeated writes.
    pub(crate) key: &'static str,
    pub(crate) message: String,
}

/// Checks that each key is written once before a single delete can remove it. Each column family has its own keys.
pub(crate) fn check_phases(phases: &[Phase]) -> Result<(), Breach<'_>> {
    let of_phase = |phase| families(phase).into_iter();
    let families: BTreeSet<Option<&str>> = phases.iter().flat_map(of_phase).collect();
    families.into_iter().try_for_each(|family| check_family(phases, family))
}

fn check_family<'a>(phases: &'a [Phase], family: Option<&str>) -> Result<(), Breach<'a>> {
    let Some(last) = phases.iter().rposition(|phase| mixes(phase, family, Kind::SingleDelete)) else {
        return Ok(());
    };
    let deleting = &phases[last].name;
    for phase in &phases[..=last] {
        // The members of a batch count by their own kinds.
        let single = [Kind::Insert, Kind::SingleDelete, Kind::Batch];
        let other = |kind: &Kind| kind.writes() && !single.contains(kind);
        let (key, writes) = match &phase.work {
            Work::Replay(_) if phase.family.as_deref() == family => {
                ("replay", "replays operations".to_owned())
            }
            _ => match Kind::ALL.into_iter().filter(other).find(|kind| mixes(phase, family, *kind)) {
                Some(kind) => ("mix", format!("has {kind} in its mix")),
                None => continue,
            },
        };
        let message = format!(
            "phase \"{}\" {writes}, so a key may be written more than once before phase \"{deleting}\" deletes it by a \
             single delete; use `insert` as the only other write, or use `delete` instead of `single_delete`",
            phase.name
        );
        return Err(Breach { phase, key, message });
    }
    Ok(())
}

/// Returns the column families that a phase and its roles use.
fn families(phase: &Phase) -> Vec<Option<&str>> {
    match &phase.work {
        Work::Roles(roles) => roles.iter().map(|role| role.family.as_deref()).collect(),
        _ => vec![phase.family.as_deref()],
    }
}

/// Returns whether the mix of a phase, or the mix of one of its roles, contains operations of the kind `kind` in the
/// column family `family`.
fn mixes(phase: &Phase, family: Option<&str>, kind: Kind) -> bool {
    match &phase.work {
        Work::Mixed(mixed) => phase.family.as_deref() == family && mixed.has(kind),
        Work::Roles(roles) => {
            roles.iter().any(|role| role.family.as_deref() == family && role.mixed.has(kind))
        }
        Work::Load(_) | Work::Replay(_) | Work::Step(_) => false,
    }
}

/// Checks that enough keys exist for the single deletes of one thread, which executes `operations` operations of the
/// mix. If `operations` is `None`, the mix ends when no key remains. `left` is the number of loaded keys that single
/// deletes may still remove. Returns how many of these keys the mix may remove.
pub(crate) fn check_queue(mixed: &Mixed, operations: Option<f64>, left: u64) -> Result<u64, ChoiceError> {
    let (Some(operations), true) = (operations, mixed.has(Kind::SingleDelete)) else { return Ok(0) };
    let (deletes, inserts) = (mixed.rate(Kind::SingleDelete), mixed.rate(Kind::Insert));
    // The keys that single deletes can remove form a queue: inserts add keys, and single deletes remove keys. The
    // length of the queue is a random walk, in which all members of a batch together are one step.
    let drift = deletes - inserts;
    let (members, batches) = (f64::from(mixed.batch), mixed.mix.share(Kind::Batch));
    let of_member = mixed.batch_mix.share(Kind::SingleDelete) - mixed.batch_mix.share(Kind::Insert);
    let together = batches * members * (members - 1.0) * of_member * of_member;
    let deviation = (operations * (deletes + inserts + together - drift * drift)).max(0.0).sqrt();
    let needed = (operations * drift).max(0.0) + DEVIATIONS * deviation;
    if needed.ceil() > left as f64 {
        let message = format!(
            "a thread may delete {needed:.0} keys more than it inserts, but only {left} loaded keys remain \
             for its single deletes; load more keys, or lower `operations`"
        );
        return Err(ChoiceError::at("operations", message));
    }
    Ok(needed.ceil() as u64)
}
