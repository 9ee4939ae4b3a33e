//! Injects I/O errors into every storage call of a history, which is a seeded sequence of actions on a store. Checks
//! the error that the caller receives, the writes that the store still accepts, and the content after reopening.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::{Call, DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault, Memory};

use crate::disk::disk_of;
use crate::examine::{judge, read, recover, shown};
use crate::findings::Findings;
use crate::player::{DIRECTORY, Player, Stop};
use crate::script::{Content, Script, ScriptWrite, StoreAction, apply, digest};
use crate::store_kind::StoreKind;
use crate::violation::{Check, Violation};

/// The number of actions, such as writes and flushes, in one history (a seeded sequence of actions).
const ACTIONS: usize = 80;

/// The limits of an exploration of I/O errors: its first seed, and its number of faults.
#[derive(Clone, Copy, Debug)]
pub struct FaultBudget {
    /// The first seed. A seed determines a sequence of actions on a store. Each further sequence has the next higher
    /// seed.
    pub seed: u64,
    /// The number of I/O errors (faults) to inject.
    pub faults: u64,
}

/// The numbers that reproduce one injected I/O error (a fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultPoint {
    /// The seed, which determines the sequence of actions on the store.
    pub seed: u64,
    /// The number of the I/O error among all errors that can be injected into these actions, from 0.
    pub fault: usize,
}

impl fmt::Display for FaultPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seed, self.fault)
    }
}

impl FromStr for FaultPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once(':').and_then(|(seed, fault)| Some((seed.parse().ok()?, fault.parse().ok()?)));
        let (seed, fault) = numbers
            .ok_or_else(|| format!("\"{text}\" does not name a fault; write SEED:NUMBER, such as 7:12"))?;
        Ok(Self { seed, fault })
    }
}

/// The counts and the failed checks of one exploration of I/O errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultSummary {
    /// The number of histories (seeded sequences of actions on a store) with injected I/O errors.
    pub lives: u64,
    /// The number of injected faults that made at least one storage call fail.
    pub faults: u64,
    /// The number of storage calls that failed because of an injected fault.
    pub failed_calls: u64,
    /// The number of faults that the caller received as an error. Each other fault only made the removal of a file
    /// fail, and the next opening of the store removes this file.
    pub reported: u64,
    /// The number of reopened stores. After each fault, the store is reopened twice: after the death of its process,
    /// and after a power failure.
    pub reopened: u64,
    /// The violations (failed checks) that the exploration found.
    pub findings: Findings<FaultPoint>,
}

/// Explores I/O errors of one kind of store within the limits `budget`.
pub fn explore(subject: &StoreKind, budget: FaultBudget) -> FaultSummary {
    let mut tally = FaultSummary::default();
    for seed in budget.seed.. {
        tally.lives += 1;
        let script = Script::new(seed, ACTIONS);
        let faults = match all_faults(subject, &script, seed) {
            Ok(faults) => faults,
            Err(violation) => {
                let place = FaultPoint { seed, fault: 0 };
                tally.findings.add(place, "no fault", violation);
                return tally;
            }
        };
        let mut order: Vec<usize> = (0..faults.len()).collect();
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        for number in order {
            if tally.faults >= budget.faults || tally.findings.are_enough() {
                return tally;
            }
            one(subject, &script, FaultPoint { seed, fault: number }, faults[number], &mut tally);
        }
    }
    tally
}

/// Injects the fault at `place` again, to reproduce a violation.
///
/// # Errors
/// The history of this seed has no such fault, or a check fails without a fault.
pub fn replay(subject: &StoreKind, place: FaultPoint) -> Result<FaultSummary, String> {
    let script = Script::new(place.seed, ACTIONS);
    let faults = all_faults(subject, &script, place.seed).map_err(|violation| violation.to_string())?;
    let Some(fault) = faults.get(place.fault) else {
        return Err(format!(
            "the history of seed {} has {} faults, numbered from 0, so fault {} does not exist",
            place.seed,
            faults.len(),
            place.fault
        ));
    };
    let mut tally = FaultSummary { lives: 1, ..FaultSummary::default() };
    one(subject, &script, place, *fault, &mut tally);
    Ok(tally)
}

/// Returns every fault that can be injected into a history. A fault is a storage call, the error that the call returns,
/// and the effect that the call has nevertheless: none, a part, or all of its effect. The fault makes only this call
/// fail, or also all later calls.
fn all_faults(subject: &StoreKind, script: &Script, seed: u64) -> Result<Vec<InjectedFault>, Violation> {
    let faulty = Arc::new(Faulty::new(Arc::new(disk_of(seed))));
    let mut player = Player::new(subject, Arc::clone(&faulty) as _, &|| 0);
    player.play_undisturbed(script)?;
    let mut all = Vec::new();
    for (at, call) in faulty.calls().iter().enumerate() {
        for error in DiskError::ALL.into_iter().filter(|error| error.hits(call.operation)) {
            for effect in effects(call, error) {
                let extents = [FaultExtent::Once, FaultExtent::Onwards];
                all.extend(extents.map(|extent| InjectedFault { at, extent, error, effect }));
            }
        }
    }
    Ok(all)
}

/// Returns the effects that a storage call may have although it fails with `error`: none, a part, or all of its effect.
fn effects(call: &Call, error: DiskError) -> Vec<FaultEffect> {
    match call.operation {
        FileOperation::Append if error == DiskError::Short => vec![FaultEffect::Prefix(call.bytes / 2)],
        FileOperation::Append => {
            vec![FaultEffect::Nothing, FaultEffect::Prefix(call.bytes / 2), FaultEffect::Whole]
        }
        operation if operation.writes() => vec![FaultEffect::Nothing, FaultEffect::Whole],
        _ => vec![FaultEffect::Nothing],
    }
}

/// Runs the actions of a script with one injected fault, and adds the outcome to the summary.
fn one(
    subject: &StoreKind,
    script: &Script,
    place: FaultPoint,
    fault: InjectedFault,
    tally: &mut FaultSummary,
) {
    let disk = Arc::new(disk_of(place.seed));
    let faulty = Arc::new(Faulty::new(Arc::clone(&disk) as _));
    faulty.inject(fault);
    let trial = Trial { subject, script, fault, disk, faulty };
    let judged = trial.run(place, tally);
    tally.faults += u64::from(trial.faulty.hits() > 0);
    tally.failed_calls += trial.faulty.hits() as u64;
    if let Err(violation) = judged {
        let call = trial
            .faulty
            .calls()
            .get(fault.at)
            .map_or_else(String::new, |call| format!("{:?} of {}", call.operation, call.path.display()));
        let InjectedFault { at, extent, error, effect } = fault;
        let fault = format!(
            "injected error {error:?} ({extent:?}) at storage call {at}, {call}, with effect {effect:?}"
        );
        tally.findings.add(place, fault, violation);
    }
}

/// One run of a history (a seeded sequence of actions on a store) with one injected fault.
struct Trial<'a> {
    subject: &'a StoreKind,
    script: &'a Script,
    fault: InjectedFault,
    disk: Arc<Memory>,
    faulty: Arc<Faulty>,
}

/// The state of a store after a run with an injected fault.
struct Ending {
    /// The numbers of commits that the store may contain: after the death of its process, and after a power failure.
    promises: [RangeInclusive<usize>; 2],
    /// Whether the store acknowledged the write that the test tried after the error.
    taken: bool,
}

/// Returns the write that the test tries after an injected error, to find out whether the store still accepts writes.
fn probe() -> ScriptWrite {
    ScriptWrite { key: b"probe".to_vec(), value: Some(b"behind the error".to_vec()), end: None }
}

impl Trial<'_> {
    fn run(&self, place: FaultPoint, tally: &mut FaultSummary) -> Result<(), Violation> {
        let ending = self.live(tally)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(place.seed ^ (place.fault as u64) << 20);
        let states = self.disk.states();
        let lost = match random.random_range(0..3) {
            0 => states.dropped(),
            _ => random.random_range(0..states.count().unwrap_or(u64::from(u32::MAX))),
        };
        for (state, promise) in [states.kept(), lost].into_iter().zip(&ending.promises) {
            tally.reopened += 1;
            let is_kept = state == states.kept();
            self.reopen(&Arc::new(states.get(state)), promise, ending.taken, is_kept)?;
        }
        Ok(())
    }

    /// Runs the actions of the script until a call fails, and checks the error. Then checks which operations the store
    /// still executes.
    fn live(&self, tally: &mut FaultSummary) -> Result<Ending, Violation> {
        let mut player = Player::new(self.subject, Arc::clone(&self.faulty) as _, &|| 0);
        let mut taken = false;
        match player.play(self.script) {
            Err(Stop::Wrong(violation)) => return Err(violation),
            Ok(()) => self.check_silence()?,
            Err(Stop::Failed(error)) => {
                tally.reported += 1;
                self.check_report(&error)?;
                let after = match player.current {
                    Some(StoreAction::Commit(writes)) => {
                        let mut after = player.content.clone();
                        apply(&mut after, writes);
                        after
                    }
                    _ => player.content.clone(),
                };
                taken = self.check_store(&player, &[&player.content, &after])?;
            }
        }
        self.faulty.heal();
        let promise = |kept| player.marks.promise(self.subject.wal, usize::MAX / 2, kept);
        Ok(Ending { promises: [promise(true), promise(false)], taken })
    }

    /// Checks a run in which no call of the store returned an error. This is allowed only if the injected fault made a
    /// removal of a file fail.
    fn check_silence(&self) -> Result<(), Violation> {
        // A removal may fail without an error, because the next opening removes the file.
        match self.faulty.failed().into_iter().find(|call| call.operation != FileOperation::Remove) {
            Some(call) => {
                let what = format!(
                    "the storage call {:?} of {} failed, but no call of the store returned an error",
                    call.operation,
                    call.path.display()
                );
                Err(Violation::new(Check::Report, what))
            }
            None => Ok(()),
        }
    }

    /// Checks that the error of a call names the file of the failed storage call, and the cause.
    fn check_report(&self, error: &tree::Error) -> Result<(), Violation> {
        let text = error.to_string();
        let names = |call: &Call| {
            let cause = self.fault.error.reported_by(call.operation).to_string();
            let name = call.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            text.contains(&name) && text.contains(&cause)
        };
        match self.faulty.failed().iter().any(names) {
            true => Ok(()),
            false => Err(Violation::new(
                Check::Report,
                format!(
                    "the error must name the file of the failed storage call and the cause, but is: {text}"
                ),
            )),
        }
    }

    /// Checks that the store still executes reads after the error, and also writes unless the error puts durability in
    /// doubt. Returns whether the store acknowledged a write.
    fn check_store(&self, player: &Player<'_>, allowed: &[&Content]) -> Result<bool, Violation> {
        let Some(store) = &player.store else { return Ok(false) };
        // While the disk fails, a reader may get an error, but never a wrong answer.
        for key in Script::keys() {
            if let Ok(found) = store.get(&key)
                && !allowed.iter().any(|content| found.as_ref() == content.get(&key))
            {
                let what = format!(
                    "a get of \"{}\" while the disk fails returned {}, expected {} or an error",
                    String::from_utf8_lossy(&key),
                    shown(found.as_ref()),
                    shown(allowed[0].get(&key))
                );
                return Err(Violation::new(Check::Reads, what));
            }
        }
        self.faulty.heal();
        let found = read(&**store)?;
        if !allowed.contains(&&found) {
            return Err(Violation::new(
                Check::Reads,
                "after the fault, the store has neither its content before the failed call nor its content after a \
                 complete call",
            ));
        }
        let was_read = matches!(player.current, Some(StoreAction::Get(_) | StoreAction::Range(..)));
        match store.write(&[probe()]) {
            Ok(()) if self.sync_failed() => Err(Violation::new(
                Check::Stops,
                "a write was acknowledged after a failed sync; the store must reject writes until it is \
                 reopened",
            )),
            Ok(()) => Ok(true),
            Err(error) if was_read => Err(Violation::new(
                Check::GoesOn,
                format!("a write failed after a failed read, but a read error must not stop writes: {error}"),
            )),
            Err(error) if error.to_string().contains("open the tree again") => Ok(false),
            Err(error) => Err(Violation::new(
                Check::Report,
                format!(
                    "the error of a write after a failed write must contain \"open the tree again\", but \
                     is: {error}"
                ),
            )),
        }
    }

    /// Returns whether the failed storage call was a sync of the store's directory, or of a file in it.
    fn sync_failed(&self) -> bool {
        self.faulty.failed().iter().any(|call| match call.operation {
            FileOperation::Sync => call.path.parent() == Some(Path::new(DIRECTORY)),
            FileOperation::SyncDirectory => &*call.path == Path::new(DIRECTORY),
            _ => false,
        })
    }

    /// Opens the store again, and checks that it contains every write that its WAL mode promises to keep.
    fn reopen(
        &self,
        disk: &Arc<Memory>,
        promise: &RangeInclusive<usize>,
        taken: bool,
        is_kept: bool,
    ) -> Result<(), Violation> {
        let recovered = recover(self.subject, disk, 0)?;
        let wal = self.subject.wal;
        let mut with_probe = promise.clone().map(|commits| {
            let mut content = self.script.content(commits);
            apply(&mut content, &[probe()]);
            digest(&content)
        });
        if taken && with_probe.any(|digest| digest == recovered.digest) {
            return Ok(());
        }
        let is_promised = wal.survives_power_loss() || (is_kept && wal.has_log);
        if taken && is_promised {
            return Err(Violation::new(
                Check::Promise,
                "the write that was acknowledged after the error is missing in the reopened store",
            ));
        }
        let content = || {
            let storage: Arc<dyn storage::Storage> = Arc::clone(disk) as _;
            let store = self.subject.maker.open(&storage, Path::new(DIRECTORY)).ok()?;
            let mut content = read(&*store).ok()?;
            // Remove the entries that the examination wrote.
            ["after", "batch"].iter().for_each(|key| drop(content.remove(key.as_bytes())));
            Some(content)
        };
        judge(self.script, promise, recovered.digest, content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_back() {
        assert_eq!("7:12".parse::<FaultPoint>().unwrap().to_string(), "7:12");
        assert!(["", "7", "7:12:3", "a:1"].iter().all(|text| text.parse::<FaultPoint>().is_err()));
    }
}
