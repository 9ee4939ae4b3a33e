//! Kills the process of a store under load, and checks the store afterwards.
//!
//! Each writer thread runs its own script on its own keys, and reports the start and the acknowledgement of each
//! commit. After a kill, the data of each writer must result from its first *n* commits for some *n*, which must agree
//! with the reports. The scripts then continue from this state of the store, so one script covers many kills.

use std::any::Any;
use std::fmt;
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::Storage;
use tree::wal::WalMode;

use crate::examine::{judge, panic_text};
use crate::script::{CommitLimits, Content, Script, ScriptWrite, StoreAction, apply, digest};
use crate::store_kind::StoreKind;
use crate::subject::StoreUnderTest;
use crate::violation::{Check, Violation};

/// The number of writer threads of a store in a kill test.
pub const WRITERS: usize = 3;

/// The number of actions in the script of one writer thread. It is larger than a writer can complete before the last
/// kill.
const ACTIONS: usize = 6000;

/// The fraction of kills that happen while the process opens the store.
const OPENINGS: f64 = 0.2;
/// The longest time between the start of a process and its kill, for kills while the process opens the store.
const OPENING: Duration = Duration::from_millis(20);

/// The maximum number of reports of writers before a process is killed.
const MOST_EVENTS: f64 = 1500.0;
/// The longest delay between the last awaited report of a writer and the kill.
const LONGEST_WAIT: Duration = Duration::from_micros(300);

/// The time at which a process is killed: some time after a number of reports of its writers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The number of reports before the kill. 0 means that the process is killed while it opens the store.
    pub events: usize,
    /// The delay between the last of these reports and the kill. If `events` is 0, the delay since the start of the
    /// process.
    pub wait: Duration,
}

/// An endless sequence of random times at which the processes of a kill test are killed.
pub struct Moments(Xoshiro256PlusPlus);

impl Moments {
    /// Creates the sequence of kill times that a seed determines.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
}

impl Iterator for Moments {
    type Item = Moment;

    fn next(&mut self) -> Option<Moment> {
        let (is_opening, share) = (self.0.random_bool(OPENINGS), self.0.random());
        if is_opening {
            return Some(Moment { events: 0, wait: OPENING.mul_f64(share) });
        }
        // Short and long runs are equally frequent, because the exponent is uniform.
        let events = MOST_EVENTS.powf(self.0.random()) as usize;
        Some(Moment { events, wait: LONGEST_WAIT.mul_f64(share) })
    }
}

/// Returns an endless sequence of random numbers from 0 to 1 that a seed determines. Callers derive kill times from
/// them.
pub fn shares(seed: u64) -> impl Iterator<Item = f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    std::iter::repeat_with(move || random.random())
}

/// A report of a writer thread. The first number is the writer, from 0. The second number is the commit, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The writer begins a commit.
    Begun(usize, usize),
    /// The store has acknowledged a commit of the writer.
    Acknowledged(usize, usize),
    /// The writer calls a flush or a sync.
    Settling(usize),
    /// The flush or the sync that the writer called has returned.
    Settled(usize),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun(writer, commit) => write!(f, "b {writer} {commit}"),
            Self::Acknowledged(writer, commit) => write!(f, "a {writer} {commit}"),
            Self::Settling(writer) => write!(f, "f {writer}"),
            Self::Settled(writer) => write!(f, "s {writer}"),
        }
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split(' ');
        let kind = words.next();
        let numbers = words.map(str::parse).collect::<Result<Vec<usize>, _>>();
        let writer = |writer: usize| writer < WRITERS;
        match (kind, numbers.as_deref()) {
            (Some("b"), Ok(&[by, commit])) if writer(by) => Ok(Self::Begun(by, commit)),
            (Some("a"), Ok(&[by, commit])) if writer(by) => Ok(Self::Acknowledged(by, commit)),
            (Some("f"), Ok(&[by])) if writer(by) => Ok(Self::Settling(by)),
            (Some("s"), Ok(&[by])) if writer(by) => Ok(Self::Settled(by)),
            _ => Err(format!(
                "\"{text}\" is not a report of a writer; expected \"b WRITER COMMIT\", \"a WRITER COMMIT\", \
                 \"f WRITER\" or \"s WRITER\""
            )),
        }
    }
}

/// A number of commits for each writer, indexed by the number of the writer.
pub type Commits = [usize; WRITERS];

/// The commits of each writer that a store contains after its process was killed. There may be several possible
/// numbers, because the last commits of a writer may change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptCommits {
    /// The smallest possible number of commits of each writer.
    pub fewest: Commits,
    /// The largest possible number of commits of each writer.
    pub most: Commits,
}

/// The reports of the writers in one process, and the numbers of commits that follow from them.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// The number of commits of each writer that the store contained when the process started.
    from: Commits,
    begun: Commits,
    acknowledged: Commits,
    /// The number of commits of each writer that a flush, a sync or an opening has made durable.
    durable: Commits,
    /// For each writer, the numbers of commits that were acknowledged when it last called a flush or a sync. These
    /// commits are durable when this call returns.
    settling: [Commits; WRITERS],
    /// For each commit, the numbers of commits that were acknowledged when it began. The outer index is the writer of
    /// the commit. A store that contains the commit must also contain these commits.
    before: [Vec<Commits>; WRITERS],
}

impl Ledger {
    /// Creates an empty list of reports for a process. `from` is the number of commits of each writer in the store at
    /// the start of the process.
    pub fn new(from: Commits) -> Self {
        let (settling, before) = ([from; WRITERS], Default::default());
        Self { from, begun: from, acknowledged: from, durable: from, settling, before }
    }

    /// Records a report of a writer. Reports must be recorded in the order of their arrival.
    ///
    /// # Errors
    /// A begun commit is not the next commit of its writer, or an acknowledged commit is not the last begun commit.
    pub fn note(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Begun(writer, commit) if commit == self.begun[writer] + 1 => {
                self.begun[writer] = commit;
                self.before[writer].push(self.acknowledged);
            }
            Event::Acknowledged(writer, commit) if commit == self.begun[writer] => {
                self.acknowledged[writer] = commit;
            }
            Event::Settling(writer) => self.settling[writer] = self.acknowledged,
            Event::Settled(writer) => {
                for (durable, settled) in self.durable.iter_mut().zip(self.settling[writer]) {
                    *durable = settled.max(*durable);
                }
            }
            _ => {
                return Err(format!(
                    "the report \"{event}\" contradicts the previous reports of the same writer"
                ));
            }
        }
        Ok(())
    }

    /// Returns the number of commits that were acknowledged in this process.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.iter().zip(self.from).map(|(all, before)| all - before).sum()
    }

    /// Returns the number of commits that this process acknowledged but that the store does not contain.
    pub fn lost(&self, kept: &KeptCommits) -> usize {
        self.acknowledged.iter().zip(kept.most).map(|(all, kept)| all.saturating_sub(kept)).sum()
    }

    /// Returns the numbers of commits of a writer that the store may contain after its process was killed.
    fn promise(&self, wal: WalMode, writer: usize) -> std::ops::RangeInclusive<usize> {
        let least = if wal.has_log { self.acknowledged } else { self.durable };
        least[writer].max(self.durable[writer])..=self.begun[writer]
    }

    /// Checks the order of commits of different writers: a store that contains a commit must contain all commits that
    /// were acknowledged before it began. `fewest` and `most` limit the number of commits of each writer in the store.
    fn check_order(&self, fewest: Commits, most: Commits) -> Result<(), Violation> {
        for (writer, commits) in fewest.into_iter().enumerate() {
            let newest = commits.checked_sub(self.from[writer] + 1);
            let Some(before) = newest.and_then(|newest| self.before[writer].get(newest)) else { continue };
            if let Some(other) = (0..WRITERS).find(|other| most[*other] < before[*other]) {
                let what = format!(
                    "commit {commits} of writer {writer} is present, but the store contains only {1} of the {0} \
                     commits that writer {other} had acknowledged before",
                    before[other], most[other]
                );
                return Err(Violation::new(Check::Order, what));
            }
        }
        Ok(())
    }
}

/// The scripts that the writers of a kill test execute.
pub struct Life {
    scripts: Vec<Script>,
}

impl Life {
    /// Creates the scripts of all writers that a seed determines.
    pub fn new(seed: u64) -> Self {
        Self::within(seed, CommitLimits::default())
    }

    /// Creates the scripts of all writers that a seed determines, with commits that a store with the limits `limits`
    /// accepts.
    pub fn within(seed: u64, limits: CommitLimits) -> Self {
        let seeds = (0..WRITERS as u64).map(|writer| seed.wrapping_mul(WRITERS as u64).wrapping_add(writer));
        Self { scripts: seeds.map(|seed| Script::within(seed, ACTIONS, limits)).collect() }
    }

    /// Returns whether the script of every writer has enough commits left for another kill. `from` is the number of
    /// commits that each writer has completed.
    pub fn goes_on(&self, from: Commits) -> bool {
        self.scripts.iter().zip(from).all(|(script, from)| script.commits().len() > from + ACTIONS / 4)
    }

    /// Runs the script of every writer after its first `from` commits, with one thread per writer. Passes the reports
    /// of the writers to `tell`. Returns when all scripts have ended, or after a failure.
    ///
    /// # Errors
    /// A failed call or a wrong answer, as text.
    pub fn play(
        &self,
        store: &(impl StoreUnderTest + Sync),
        from: Commits,
        tell: &(impl Fn(Event) + Sync),
    ) -> Result<(), String> {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers = self.scripts.iter().zip(from).enumerate().map(|(number, (script, from))| {
                let writer = Writer { number, script, store, tell, is_over: &is_over };
                scope.spawn(move || writer.play(from))
            });
            let writers: Vec<_> = writers.collect();
            // Join all threads, because an unjoined panic would propagate here.
            let ended: Vec<_> = writers.into_iter().map(ScopedJoinHandle::join).collect();
            let told = |panic: Box<dyn Any + Send>| Err(format!("a panic: {}", panic_text(&*panic)));
            ended.into_iter().try_for_each(|ended| ended.unwrap_or_else(told))
        })
    }

    /// Opens the store of a killed process, checks its content against the reports of the writers, and closes it.
    /// Returns the commits that the store contains.
    ///
    /// # Errors
    /// The violation that was found.
    pub fn check(
        &self,
        subject: &StoreKind,
        storage: &Arc<dyn Storage>,
        directory: &Path,
        ledger: &Ledger,
    ) -> Result<KeptCommits, Violation> {
        let check = || self.examine(subject, storage, directory, ledger);
        catch_unwind(AssertUnwindSafe(check))
            .unwrap_or_else(|panic| Err(Violation::new(Check::Panic, panic_text(&*panic))))
    }

    fn examine(
        &self,
        subject: &StoreKind,
        storage: &Arc<dyn Storage>,
        directory: &Path,
        ledger: &Ledger,
    ) -> Result<KeptCommits, Violation> {
        let verify = |check| match subject.maker.verify(storage, directory) {
            Ok(damage) if damage.is_empty() => Ok(()),
            Ok(damage) => Err(Violation::new(check, damage.join("; "))),
            Err(error) => Err(Violation::new(check, error.to_string())),
        };
        // A missing or empty directory means that the process died before it created the store.
        if storage.list(directory).is_ok_and(|names| !names.is_empty()) {
            verify(Check::CleanBefore)?;
        }
        let failed = |check| move |error: tree::Error| Violation::new(check, error.to_string());
        let store = subject.maker.open(storage, directory).map_err(failed(Check::Opens))?;
        let found = self.find(&*store, subject.wal, ledger)?;
        store.close().map_err(failed(Check::GoesOn))?;
        verify(Check::CleanAfter)?;
        Ok(found)
    }

    /// Returns the number of commits of each writer that explains the content of the store.
    fn find(
        &self,
        store: &dyn StoreUnderTest,
        wal: WalMode,
        ledger: &Ledger,
    ) -> Result<KeptCommits, Violation> {
        let mut contents = read(store)?;
        let (mut fewest, mut most) = ([0; WRITERS], [0; WRITERS]);
        for (writer, script) in self.scripts.iter().enumerate() {
            let (content, promise) = (std::mem::take(&mut contents[writer]), ledger.promise(wal, writer));
            let digest = digest(&content);
            judge(script, &promise, digest, || Some(content)).map_err(|violation| {
                Violation::new(violation.check, format!("writer {writer}: {}", violation.what))
            })?;
            (fewest[writer], most[writer]) = script
                .fewest_and_most(digest, promise)
                .expect("the content of the store must result from an allowed number of commits");
        }
        ledger.check_order(fewest, most)?;
        Ok(KeptCommits { fewest, most })
    }
}

/// Reads the whole store by a scan and by gets, and checks that both return the same entries. Returns the content of
/// each writer.
fn read(store: &dyn StoreUnderTest) -> Result<[Content; WRITERS], Violation> {
    let wrong = |error: tree::Error| Violation::new(Check::Reads, error.to_string());
    let mut contents: [Content; WRITERS] = Default::default();
    for (key, value) in store.range(Bound::Unbounded, Bound::Unbounded).map_err(wrong)? {
        let writer = (0..WRITERS).find(|writer| key.first() == Some(&letter(*writer)));
        let Some(writer) = writer else {
            let what =
                format!("the store contains \"{}\", which is not a key of any writer", key.escape_ascii());
            return Err(Violation::new(Check::Invention, what));
        };
        contents[writer].insert(key[1..].to_vec(), value);
    }
    for (writer, content) in contents.iter().enumerate() {
        for key in Script::keys() {
            if store.get(&own(writer, &key)).map_err(wrong)?.as_ref() != content.get(&key) {
                let what = format!(
                    "writer {writer}: a get of key \"{}\" returned another value than a scan",
                    key.escape_ascii()
                );
                return Err(Violation::new(Check::Reads, what));
            }
        }
    }
    Ok(contents)
}

/// Returns the byte with which all keys of a writer begin.
fn letter(writer: usize) -> u8 {
    b'A' + writer as u8
}

/// Converts a key of a script to the key in the store, which begins with a byte for the writer.
fn own(writer: usize, key: &[u8]) -> Vec<u8> {
    [&[letter(writer)], key].concat()
}

/// A writer thread of a kill test, which runs its script on the store.
struct Writer<'a, S, T> {
    number: usize,
    script: &'a Script,
    store: &'a S,
    tell: &'a T,
    /// Whether a writer has failed, so that all writers must stop.
    is_over: &'a AtomicBool,
}

impl<S: StoreUnderTest, T: Fn(Event)> Writer<'_, S, T> {
    /// Runs the actions of the writer's script after its first `from` commits.
    fn play(&self, from: usize) -> Result<(), String> {
        let (mut commits, mut content) = (0, self.script.content(from));
        for action in &self.script.actions {
            let is_commit = matches!(action, StoreAction::Commit(_));
            if self.is_over.load(Ordering::Relaxed) {
                break;
            }
            if commits >= from {
                let done = self.act(action, commits + 1, &mut content);
                done.inspect_err(|_| self.is_over.store(true, Ordering::Relaxed))?;
            }
            commits += usize::from(is_commit);
        }
        Ok(())
    }

    fn act(&self, action: &StoreAction, commit: usize, content: &mut Content) -> Result<(), String> {
        let done = match action {
            StoreAction::Commit(writes) => {
                let key = |write: &ScriptWrite| ScriptWrite {
                    key: own(self.number, &write.key),
                    end: write.end.as_deref().map(|end| own(self.number, end)),
                    ..write.clone()
                };
                (self.tell)(Event::Begun(self.number, commit));
                let written = self.store.write(&writes.iter().map(key).collect::<Vec<_>>());
                if written.is_ok() {
                    (self.tell)(Event::Acknowledged(self.number, commit));
                    apply(content, writes);
                }
                written
            }
            StoreAction::Get(key) => self.store.get(&own(self.number, key)).and_then(|found| {
                let is_right = found.as_ref() == content.get(key);
                is_right.then_some(()).ok_or_else(|| wrong_answer(self.number, key))
            }),
            StoreAction::Range(low, high) => {
                let [from, to] = [low, high].map(|key| own(self.number, key));
                self.store.range(Bound::Included(&from), Bound::Excluded(&to)).and_then(|found| {
                    let inside = content.iter().filter(|(key, _)| (low..high).contains(key));
                    let expected = inside.map(|(key, value)| (own(self.number, key), value.clone()));
                    (found == expected.collect()).then_some(()).ok_or_else(|| wrong_answer(self.number, low))
                })
            }
            StoreAction::Flush => self.settle(S::flush),
            StoreAction::Sync => self.settle(S::sync),
            StoreAction::Compact => self.store.compact(),
            // Both actions need exclusive access to the store. The exploration of crashes covers them.
            StoreAction::Checkpoint | StoreAction::Reopen => Ok(()),
        };
        done.map_err(|error| format!("writer {}, {action:?}: {error}", self.number))
    }

    fn settle(&self, settle: impl FnOnce(&S) -> tree::Result<()>) -> tree::Result<()> {
        (self.tell)(Event::Settling(self.number));
        settle(self.store)?;
        (self.tell)(Event::Settled(self.number));
        Ok(())
    }
}

/// Returns the error of a read whose answer contradicts the acknowledged writes of its writer.
fn wrong_answer(writer: usize, key: &[u8]) -> tree::Error {
    tree::Error::Misuse(format!(
        "a read of key \"{}\" contradicts the acknowledged writes of this writer",
        own(writer, key).escape_ascii()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_writers_tell_reads_back() {
        for event in [Event::Begun(2, 17), Event::Acknowledged(0, 1), Event::Settling(1), Event::Settled(2)] {
            assert_eq!(event.to_string().parse(), Ok(event));
        }
        for text in ["", "b 1", "a 0 1 2", "s", "b 3 1", "x 0", "b 0 -1"] {
            assert!(text.parse::<Event>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_promise_follows_from_what_was_told() {
        let mut ledger = Ledger::new([4, 0, 0]);
        let mut note = |text: &str| ledger.note(text.parse().unwrap());
        for text in ["b 0 5", "b 1 1", "a 0 5", "f 2", "b 0 6", "a 1 1", "a 0 6", "s 2", "b 0 7"] {
            note(text).unwrap();
        }
        // Numbers must have no gaps, and a commit cannot end before it began.
        for text in ["b 0 9", "b 0 7", "a 1 2", "a 2 1"] {
            assert!(note(text).is_err(), "{text}");
        }
        assert_eq!(ledger.acknowledged(), 3);
        let lost = |most| ledger.lost(&KeptCommits { fewest: [0; WRITERS], most });
        assert_eq!([lost([6, 1, 0]), lost([7, 1, 0]), lost([5, 0, 0]), lost([4, 0, 0])], [0, 0, 2, 3]);
        let promises = |wal| [0, 1, 2].map(|writer| ledger.promise(wal, writer));
        assert_eq!(promises(WalMode::BUFFERED), [6..=7, 1..=1, 0..=0]);
        assert_eq!(promises(WalMode::NONE), [5..=7, 0..=1, 0..=0], "the flush began before the sixth");
        // The seventh commit began after writer 1's commit was acknowledged; the sixth began earlier.
        let check_order = |found| ledger.check_order(found, found);
        assert!(check_order([6, 0, 0]).is_ok());
        assert_eq!(check_order([7, 0, 0]).unwrap_err().check, Check::Order);
        assert!(check_order([7, 1, 0]).is_ok());
        // If the first commit of writer 1 changes nothing, it may be present.
        assert!(ledger.check_order([7, 0, 0], [7, 1, 0]).is_ok());
    }
}
