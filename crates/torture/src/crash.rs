//! Deterministic exploration of crashes. A history is a seeded sequence of actions on a store. The power may fail
//! after every storage call of a history. Recovery runs on every disk state that such a power failure can leave.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::{RecordingStorage, States, StorageChange, StorageReplay};

use crate::disk::disk_of;
use crate::examine::{Copy, Recovered, judge, read, recover};
use crate::findings::Findings;
use crate::player::{DIRECTORY, Marks, Player};
use crate::script::Script;
use crate::store_kind::StoreKind;
use crate::violation::{Check, Violation};

/// Number of actions in one history.
const ACTIONS: usize = 160;

/// The test also interrupts the recovery of one disk state out of this number of disk states.
const RECOVERIES: u128 = 16;

/// Number of crash points within a recovery.
const RECOVERY_CUTS: usize = 4;
/// Number of crash points in the operations after a recovery.
const NEXT_LIFE_CUTS: usize = 2;
/// Number of disk states per crash point of a second power failure.
const RECOVERY_STATES: u64 = 3;

/// Maximum number of disk states that are tried per power failure of one history.
const MOST_STATES: u64 = 64;

/// Minimum number of disk states for one history, because generating a history is expensive.
const LEAST_STATES: u64 = 64;

/// The text that replaces the last step, for a violation that was found before any power failure.
const WHILE_ALIVE: &str = "before any power failure";

/// Limits of an exploration of crashes: the seed of its first history, and the number of its disk states.
#[derive(Clone, Copy, Debug)]
pub struct CrashBudget {
    /// Seed of the first history; later histories use the next numbers.
    pub seed: u64,
    /// Number of disk states from which the exploration recovers. The exploration ends with the first history that
    /// reaches this number.
    pub states: u64,
}

/// A crash point: the coordinates that reproduce one explored crash state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashPoint {
    /// Seed of the history to which the crash point belongs.
    pub seed: u64,
    /// The number of storage steps before the power failure, and the number of the disk state after the power
    /// failure.
    pub cut: (usize, u64),
    /// Step and disk state of a second power failure during or after the recovery; `None` without a second failure.
    pub recovery: Option<(usize, u64)>,
}

impl fmt::Display for CrashPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.seed, self.cut.0, self.cut.1)?;
        match self.recovery {
            Some((cut, state)) => write!(f, ":{cut}:{state}"),
            None => Ok(()),
        }
    }
}

impl FromStr for CrashPoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u64>, _> = text.split(':').map(str::parse).collect();
        let place = |seed, cut, state| Self { seed, cut: (cut as usize, state), recovery: None };
        match numbers.as_deref() {
            Ok(&[seed, cut, state]) => Ok(place(seed, cut, state)),
            Ok(&[seed, cut, state, second, second_state]) => {
                Ok(Self { recovery: Some((second as usize, second_state)), ..place(seed, cut, state) })
            }
            _ => Err(format!(
                "\"{text}\" is not a valid place; write SEED:CUT:STATE, or SEED:CUT:STATE:CUT:STATE"
            )),
        }
    }
}

/// Counts and findings of one exploration of crashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashSummary {
    /// Number of histories.
    pub lives: u64,
    /// Number of power failures.
    pub cuts: u64,
    /// Number of disk states that were derived from the power failures, including duplicates.
    pub states: u64,
    /// Number of disk states on which recovery ran. Duplicates of earlier disk states are not recovered again.
    pub recovered: u64,
    /// Number of disk states in `recovered` that come from a crash during a recovery, or during the operations after
    /// the recovery.
    pub second: u64,
    /// The violations that the exploration found.
    pub findings: Findings<CrashPoint>,
}

/// Explores crashes of a store within the limits `budget`.
pub fn explore(subject: &StoreKind, budget: CrashBudget) -> CrashSummary {
    let mut tally = CrashSummary::default();
    let mut seed = budget.seed;
    while tally.recovered < budget.states && !tally.findings.are_enough() {
        tally.lives += 1;
        match Life::play(subject, seed) {
            Ok(life) => Exploration::new(subject, &life, &mut tally).run(budget.states),
            Err(violation) => {
                let place = CrashPoint { seed, cut: (0, 0), recovery: None };
                tally.findings.add(place, WHILE_ALIVE, violation);
                return tally;
            }
        }
        seed = seed.wrapping_add(1);
    }
    tally
}

/// Repeats the exploration of one crash point.
///
/// # Errors
/// Returns an error if the history of this seed has no such crash point.
pub fn replay(subject: &StoreKind, place: CrashPoint) -> Result<CrashSummary, String> {
    let mut tally = CrashSummary { lives: 1, ..CrashSummary::default() };
    let life = match Life::play(subject, place.seed) {
        Ok(life) => life,
        Err(violation) => {
            tally.findings.add(place, WHILE_ALIVE, violation);
            return Ok(tally);
        }
    };
    let steps = life.steps.len();
    if place.cut.0 > steps {
        return Err(format!(
            "the history of seed {} has only {steps} steps, so step {} does not exist",
            place.seed, place.cut.0
        ));
    }
    let disk = disk_of(place.seed);
    let mut leader = StorageReplay::new(&life.steps, &disk);
    leader.advance_to(place.cut.0).map_err(|error| error.to_string())?;
    let mut exploration = Exploration::new(subject, &life, &mut tally);
    exploration.only = Some(place);
    let states = disk.states();
    if states.count().is_some_and(|count| place.cut.1 >= count) {
        return Err(format!("no state {} exists at step {}", place.cut.1, place.cut.0));
    }
    exploration.state(place.cut.0, &states, place.cut.1);
    Ok(tally)
}

/// A completed history on a disk without faults, with its storage steps and promises.
struct Life {
    seed: u64,
    script: Script,
    steps: Vec<StorageChange>,
    marks: Marks,
}

impl Life {
    fn play(subject: &StoreKind, seed: u64) -> Result<Self, Violation> {
        let script = Script::new(seed, ACTIONS);
        let recording = Arc::new(RecordingStorage::new(Arc::new(disk_of(seed))));
        let clock = || recording.position();
        let mut player = Player::new(subject, Arc::clone(&recording) as _, &clock);
        player.play_undisturbed(&script)?;
        let marks = std::mem::take(&mut player.marks);
        drop(player);
        Ok(Self { seed, script, steps: recording.steps(), marks })
    }
}

/// The cached result for one disk state, so that each disk state is recovered only once.
type Outcome = Result<(u128, Vec<Copy>), Violation>;

/// The exploration of all crash points of one history.
struct Exploration<'a> {
    subject: &'a StoreKind,
    life: &'a Life,
    tally: &'a mut CrashSummary,
    outcomes: HashMap<u128, Outcome>,
    /// The only crash point to explore, if one finding is replayed; `None` explores all crash points.
    only: Option<CrashPoint>,
}

impl<'a> Exploration<'a> {
    fn new(subject: &'a StoreKind, life: &'a Life, tally: &'a mut CrashSummary) -> Self {
        Self { subject, life, tally, outcomes: HashMap::new(), only: None }
    }

    /// Fails the power after each storage step of the history. If the budget is smaller, fails the power at evenly
    /// spaced steps.
    fn run(&mut self, most: u64) {
        let steps = self.life.steps.len() as u64;
        let left = (most - self.tally.recovered).max(LEAST_STATES);
        let stride = (steps * 4 / left).max(1);
        let per_cut = (left * 2 / steps.max(1)).clamp(4, MOST_STATES);
        let disk = disk_of(self.life.seed);
        let mut leader = StorageReplay::new(&self.life.steps, &disk);
        let mut cut = self.life.seed % stride;
        while cut <= steps && self.tally.recovered < most && !self.tally.findings.are_enough() {
            leader
                .advance_to(cut as usize)
                .expect("the replay begins with the disk on which the steps were recorded");
            self.tally.cuts += 1;
            let states = disk.states();
            for number in numbers(&states, per_cut, self.life.seed ^ cut << 32) {
                self.state(cut as usize, &states, number);
            }
            drop(states);
            cut += stride;
        }
    }

    /// Recovers from disk state `number` of the states that a power failure after step `cut` can leave. Checks the
    /// recovered content.
    fn state(&mut self, cut: usize, states: &States<'_>, number: u64) {
        let disk = Arc::new(states.get(number));
        let fingerprint = disk.fingerprint();
        self.tally.states += 1;
        let place = CrashPoint { seed: self.life.seed, cut: (cut, number), recovery: None };
        let promise = self.life.marks.promise(self.subject.wal, cut, number == states.kept());
        let copies = self.life.marks.copies.len();
        if let Some(outcome) = self.outcomes.get(&fingerprint) {
            // Violations that do not depend on promises were already reported when the state was first seen.
            if let Ok((digest, found)) = outcome.clone() {
                let judged = judge(&self.life.script, &promise, digest, || None);
                self.note(place, judged.and_then(|()| self.judge_copies(cut, &found)));
            }
            return;
        }
        self.tally.recovered += 1;
        let recovered = recover(self.subject, &disk, copies);
        let content = || {
            let storage: Arc<dyn storage::Storage> = Arc::new(states.get(number));
            let store = self.subject.maker.open(&storage, std::path::Path::new(DIRECTORY)).ok()?;
            read(&*store).ok()
        };
        let judged = recovered.as_ref().map_err(Clone::clone).and_then(|recovered| {
            judge(&self.life.script, &promise, recovered.digest, content)?;
            self.judge_copies(cut, &recovered.copies)
        });
        let violation = judged.as_ref().err().cloned();
        self.note(place, judged);
        if let (None, Ok(recovered)) = (&violation, &recovered) {
            let is_chosen = match self.only {
                Some(place) => place.recovery.is_some(),
                None => fingerprint.is_multiple_of(RECOVERIES),
            };
            if is_chosen {
                self.stop_recovery(place, states, recovered);
            }
        }
        let is_known = |digest| self.life.script.commits_with(digest, promise.clone()).is_some();
        let outcome = recovered.and_then(|recovered| match (is_known(recovered.digest), violation) {
            (false, Some(violation)) => Err(violation),
            _ => Ok((recovered.digest, recovered.copies)),
        });
        self.outcomes.insert(fingerprint, outcome);
    }

    /// Lets the power fail a second time: during the recovery that led to `recovered`, and during the operations after
    /// this recovery.
    fn stop_recovery(&mut self, place: CrashPoint, states: &States<'_>, recovered: &Recovered) {
        let cuts = match self.only.and_then(|place| place.recovery) {
            Some((cut, _)) => vec![cut.min(recovered.steps.len())],
            None => second_cuts(recovered, place),
        };
        let disk = states.get(place.cut.1);
        let mut leader = StorageReplay::new(&recovered.steps, &disk);
        for cut in cuts {
            leader
                .advance_to(cut)
                .expect("the replay begins with the disk on which the recovery was recorded");
            let second = disk.states();
            let numbers = match self.only.and_then(|place| place.recovery) {
                Some((_, number)) => vec![number],
                None => numbers(&second, RECOVERY_STATES, place.seed ^ (place.cut.0 + cut) as u64),
            };
            for number in numbers {
                self.second_state(place, recovered, cut, &second, number);
            }
        }
    }

    /// Recovers from disk state `number` of the states that a second power failure can leave. Step `cut` is the last
    /// step before the second failure, counted from the start of the recovery.
    fn second_state(
        &mut self,
        place: CrashPoint,
        first: &Recovered,
        cut: usize,
        states: &States<'_>,
        number: u64,
    ) {
        let disk = Arc::new(states.get(number));
        let fingerprint = disk.fingerprint();
        self.tally.states += 1;
        if !self.outcomes.contains_key(&fingerprint) {
            self.tally.recovered += 1;
            self.tally.second += 1;
            let outcome = recover(self.subject, &disk, first.copies.len());
            self.outcomes.insert(fingerprint, outcome.map(|recovered| (recovered.digest, recovered.copies)));
        }
        let promise = first.marks.promise(self.subject.wal, cut, number == states.kept());
        let judged = self.outcomes[&fingerprint].clone().and_then(|(digest, copies)| {
            let what = if copies != first.copies {
                format!(
                    "the checkpoints were {:?} before the second crash, but are {copies:?} after it",
                    first.copies
                )
            } else if first.digests[promise.clone()].contains(&digest) {
                return Ok(());
            } else {
                let commits = |digest| self.life.script.commits_with(digest, 0..=0);
                let (before, after) = (commits(first.digest), commits(digest));
                format!(
                    "the store had {before:?} commits before the second crash and has {after:?} after it; \
                     {promise:?} of the later commits were promised"
                )
            };
            Err(Violation::new(Check::Recovery, what))
        });
        self.note(CrashPoint { recovery: Some((cut, number)), ..place }, judged);
    }

    /// Checks the states of checkpoints against the promises for a power failure after step `cut`.
    fn judge_copies(&self, cut: usize, found: &[Copy]) -> Result<(), Violation> {
        for (number, (copy, (_, done, commits))) in found.iter().zip(&self.life.marks.copies).enumerate() {
            let is_done = done.is_some_and(|done| done <= cut);
            let what = match copy {
                Copy::Whole(digest) => match self.life.script.commits_with(*digest, *commits..=*commits) {
                    Some(found) if found == *commits => continue,
                    found => format!("checkpoint {number} has {found:?} commits, expected {commits}"),
                },
                Copy::Absent if is_done => format!("checkpoint {number} was completed, but is missing"),
                Copy::Refused(error) if is_done => {
                    format!("checkpoint {number} was completed, but cannot be opened: {error}")
                }
                Copy::Absent | Copy::Refused(_) => continue,
            };
            return Err(Violation::new(Check::Checkpoint, what));
        }
        Ok(())
    }

    fn note(&mut self, place: CrashPoint, judged: Result<(), Violation>) {
        let Err(violation) = judged else { return };
        let last = place.cut.0.checked_sub(1).map(|last| &self.life.steps[last]);
        let step = last.map_or_else(|| "before the first step".to_owned(), described);
        self.tally.findings.add(place, step, violation);
    }
}

/// Returns the steps at which a second crash stops the recovery or the operations after the recovery. The steps are
/// evenly spaced within the recovery, and random within the operations.
fn second_cuts(recovered: &Recovered, place: CrashPoint) -> Vec<usize> {
    let (opening, steps) = (recovered.opening, recovered.steps.len());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(place.seed ^ (place.cut.0 as u64) << 32 ^ place.cut.1);
    let within = (1..=RECOVERY_CUTS).map(|part| opening * part / RECOVERY_CUTS);
    let mut cuts: Vec<usize> = within.collect();
    cuts.extend((0..NEXT_LIFE_CUTS).map(|_| random.random_range(opening..=steps)));
    cuts.sort_unstable();
    cuts
}

/// Returns the numbers of the disk states to check. If there are at most `most` states, returns all states. If there
/// are more states, returns the first state, the last state and a sample.
fn numbers(states: &States<'_>, most: u64, seed: u64) -> Vec<u64> {
    let all = states.count().unwrap_or(u64::from(u32::MAX));
    if all <= most {
        return (0..all).collect();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let others = (2..most).map(|_| random.random_range(0..all));
    [states.dropped(), states.kept()].into_iter().chain(others).collect()
}

/// Describes a storage step without its bytes, for messages.
fn described(step: &StorageChange) -> String {
    match step {
        StorageChange::Create(path, _) => format!("create {}", path.display()),
        StorageChange::Append(file, bytes) => {
            format!("append {} bytes to the file created by step {file}", bytes.len())
        }
        StorageChange::Sync(file) => format!("sync the file created by step {file}"),
        StorageChange::Rename(from, to) => format!("rename {} to {}", from.display(), to.display()),
        StorageChange::Remove(path) => format!("remove {}", path.display()),
        StorageChange::Link(_, path) => format!("link {}", path.display()),
        StorageChange::CreateDirectory(path) => format!("create directory {}", path.display()),
        StorageChange::SyncDirectory(path) => format!("sync directory {}", path.display()),
        StorageChange::Lock(path) => format!("lock {}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_back() {
        for text in ["7:12:3", "7:12:3:4:5"] {
            assert_eq!(text.parse::<CrashPoint>().unwrap().to_string(), text);
        }
        for text in ["", "1:2", "1:2:3:4", "a:b:c", "1:2:3:4:5:6"] {
            assert!(text.parse::<CrashPoint>().is_err(), "{text}");
        }
    }
}
