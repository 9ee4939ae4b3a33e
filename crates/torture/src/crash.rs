//! Explores crashes deterministically. A seed determines a sequence of actions on a store, a history. The power may
//! fail after every storage call of a history, and recovery runs on the disk states that such a power failure can
//! leave.

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

/// The number of actions, such as writes and flushes, in one history (a seeded sequence of actions).
const ACTIONS: usize = 160;

/// For one out of this number of disk states, a second power failure also interrupts the recovery.
const RECOVERIES: u128 = 16;

/// The number of second power failures that are tried during one recovery.
const RECOVERY_CUTS: usize = 4;
/// The number of second power failures that are tried during the operations after one recovery.
const NEXT_LIFE_CUTS: usize = 2;
/// The number of disk states that are tried per second power failure.
const RECOVERY_STATES: u64 = 3;

/// The maximum number of disk states that are tried per power failure.
const MOST_STATES: u64 = 64;

/// The minimum number of disk states that are tried per history, because it is expensive to generate a history.
const LEAST_STATES: u64 = 64;

/// The text that a report contains instead of the last storage step, if a check failed before any power failure.
const WHILE_ALIVE: &str = "before any power failure";

/// The limits of an exploration of crashes: its first seed, and its number of disk states.
#[derive(Clone, Copy, Debug)]
pub struct CrashBudget {
    /// The first seed. A seed determines a sequence of actions on a store. Each further sequence has the next higher
    /// seed.
    pub seed: u64,
    /// The number of disk states to try. The exploration ends during the history (sequence of actions) that reaches
    /// this number.
    pub states: u64,
}

/// The numbers that reproduce one explored crash: its seed, its power failures, and the disk states that they left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashPoint {
    /// The seed, which determines the sequence of actions on the store.
    pub seed: u64,
    /// The number of storage calls before the power failure, and the number of the disk state after it.
    pub cut: (usize, u64),
    /// The number of storage calls between the start of the recovery and a second power failure, and the number of the
    /// disk state after it. `None` without a second power failure.
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
                "\"{text}\" does not name a crash; write SEED:STEP:STATE, or SEED:STEP:STATE:STEP:STATE \
                 with a second power failure"
            )),
        }
    }
}

/// The counts and the failed checks of one exploration of crashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CrashSummary {
    /// The number of histories, which are seeded sequences of actions on a store.
    pub lives: u64,
    /// The number of simulated power failures.
    pub cuts: u64,
    /// The number of disk states after power failures that were tried, including duplicates.
    pub states: u64,
    /// The number of disk states on which recovery ran, without duplicates.
    pub recovered: u64,
    /// The number of disk states on which recovery ran after a second power failure.
    pub second: u64,
    /// The violations (failed checks) that the exploration found.
    pub findings: Findings<CrashPoint>,
}

/// Explores crashes of one kind of store within the limits `budget`.
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

/// Explores the crash at `place` again, to reproduce a violation.
///
/// # Errors
/// The seed and the numbers in `place` do not lead to a crash.
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
            "the history of seed {} has {steps} storage steps, so step {} does not exist",
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
        return Err(format!(
            "no disk state after a power failure at step {1} has the number {0}",
            place.cut.1, place.cut.0
        ));
    }
    exploration.state(place.cut.0, &states, place.cut.1);
    Ok(tally)
}

/// A completed history (a seeded sequence of actions on a store): its storage calls, and the times of its commits. The
/// times determine how many commits must survive a crash.
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

/// The result of recovery on one disk state: the digest of the store's content and the states of its checkpoints, or a
/// violation.
type Outcome = Result<(u128, Vec<Copy>), Violation>;

/// The exploration of all crashes during one history, which is a seeded sequence of actions on a store.
struct Exploration<'a> {
    subject: &'a StoreKind,
    life: &'a Life,
    tally: &'a mut CrashSummary,
    outcomes: HashMap<u128, Outcome>,
    /// The only crash to explore, if the user reproduces a violation. `None` for all crashes of the history.
    only: Option<CrashPoint>,
}

impl<'a> Exploration<'a> {
    fn new(subject: &'a StoreKind, life: &'a Life, tally: &'a mut CrashSummary) -> Self {
        Self { subject, life, tally, outcomes: HashMap::new(), only: None }
    }

    /// Explores a power failure after each storage call of the history, or after evenly spaced calls if there would be
    /// more than `most` disk states in total.
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
                .expect("the disk must accept the recorded storage calls of a history again");
            self.tally.cuts += 1;
            let states = disk.states();
            for number in numbers(&states, per_cut, self.life.seed ^ cut << 32) {
                self.state(cut as usize, &states, number);
            }
            drop(states);
            cut += stride;
        }
    }

    /// Runs recovery on one disk state, and checks the content of the store. `number` selects the state among the
    /// states that a power failure after storage call `cut` can leave.
    fn state(&mut self, cut: usize, states: &States<'_>, number: u64) {
        let disk = Arc::new(states.get(number));
        let fingerprint = disk.fingerprint();
        self.tally.states += 1;
        let place = CrashPoint { seed: self.life.seed, cut: (cut, number), recovery: None };
        let promise = self.life.marks.promise(self.subject.wal, cut, number == states.kept());
        let copies = self.life.marks.copies.len();
        if let Some(outcome) = self.outcomes.get(&fingerprint) {
            // An earlier power failure left an equal disk state, so its violations are already reported. Only the
            // commits that must survive may differ.
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

    /// Explores second power failures after the power failure at `place`. They occur during the recovery, or during the
    /// operations after it. `recovered` contains the storage calls of both.
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
                .expect("the disk must accept the recorded storage calls of a recovery again");
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

    /// Runs recovery on one disk state after a second power failure, and checks the content of the store. `number`
    /// selects the state, and `cut` is the last storage call before this power failure.
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
                    "the checkpoints were {:?} before the second power failure and are {copies:?} after \
                     it, but a power failure must not change a checkpoint (\"Whole\" is a complete \
                     checkpoint with a digest of its content)",
                    first.copies
                )
            } else if first.digests[promise.clone()].contains(&digest) {
                return Ok(());
            } else {
                let commits = |digest| self.life.script.commits_with(digest, 0..=0);
                let (before, after) = (shown_commits(commits(first.digest)), shown_commits(commits(digest)));
                format!(
                    "the store contained {before} before the second power failure, and contains {after} \
                     after it. It must contain these commits, followed by {} to {} of the commits after the first \
                     recovery",
                    promise.start(),
                    promise.end()
                )
            };
            Err(Violation::new(Check::Recovery, what))
        });
        self.note(CrashPoint { recovery: Some((cut, number)), ..place }, judged);
    }

    /// Checks the checkpoints of a store after a power failure at storage call `cut`. A completed checkpoint must open
    /// as a store, and every checkpoint that opens must have the content of the store at the time of the checkpoint.
    fn judge_copies(&self, cut: usize, found: &[Copy]) -> Result<(), Violation> {
        for (number, (copy, (_, done, commits))) in found.iter().zip(&self.life.marks.copies).enumerate() {
            let is_done = done.is_some_and(|done| done <= cut);
            let what = match copy {
                Copy::Whole(digest) => match self.life.script.commits_with(*digest, *commits..=*commits) {
                    Some(found) if found == *commits => continue,
                    found => {
                        let found = shown_commits(found);
                        format!("checkpoint {number} contains {found}, expected the first {commits} commits")
                    }
                },
                Copy::Absent if is_done => {
                    format!("checkpoint {number} was completed before the power failure, but is missing")
                }
                Copy::Refused(error) if is_done => {
                    format!(
                        "checkpoint {number} was completed before the power failure, but cannot be opened: \
                         {error}"
                    )
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
        let step = last.map_or_else(|| "before the first storage step".to_owned(), described);
        self.tally.findings.add(place, step, violation);
    }
}

/// Returns the storage calls after which a second power failure occurs: evenly spaced during the recovery, and random
/// during the operations after it.
fn second_cuts(recovered: &Recovered, place: CrashPoint) -> Vec<usize> {
    let (opening, steps) = (recovered.opening, recovered.steps.len());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(place.seed ^ (place.cut.0 as u64) << 32 ^ place.cut.1);
    let within = (1..=RECOVERY_CUTS).map(|part| opening * part / RECOVERY_CUTS);
    let mut cuts: Vec<usize> = within.collect();
    cuts.extend((0..NEXT_LIFE_CUTS).map(|_| random.random_range(opening..=steps)));
    cuts.sort_unstable();
    cuts
}

/// Returns the numbers of at most `most` disk states to try: the state without unsynced data, the state with all data,
/// and random states.
fn numbers(states: &States<'_>, most: u64, seed: u64) -> Vec<u64> {
    let all = states.count().unwrap_or(u64::from(u32::MAX));
    if all <= most {
        return (0..all).collect();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let others = (2..most).map(|_| random.random_range(0..all));
    [states.dropped(), states.kept()].into_iter().chain(others).collect()
}

/// Formats a number of commits for messages. `None` means that the content of the store does not result from the first
/// n commits for any n.
fn shown_commits(commits: Option<usize>) -> String {
    let none = || "content that does not result from the first n commits for any n".to_owned();
    commits.map_or_else(none, |commits| format!("the first {commits} commits"))
}

/// Describes a storage call for messages, without the bytes that it writes.
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
