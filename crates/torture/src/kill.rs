//! Stores that lose their process under load: what several writers do and tell, and what a store must hold that
//! was killed in the middle of it.
//!
//! Each writer plays a script of its own on keys of its own, so that what is there of it must be what its first
//! *n* commits left. It tells when a commit begins and, once the store has acknowledged it, that it is done: what
//! was told before the process died is what the store is held to. A store that was killed goes on where it was
//! found to be, so one script reaches over many deaths.

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
use crate::script::{Action, Content, Script, Write, apply, digest};
use crate::subject::{Store, Subject};
use crate::violation::{Check, Violation};

/// The writers of a store.
pub const WRITERS: usize = 3;

/// The actions of each writer: more than it comes to before it is killed for the last time.
const ACTIONS: usize = 6000;

/// Of how many deaths one comes while the store is being opened, and the longest time until then.
const OPENINGS: f64 = 0.2;
const OPENING: Duration = Duration::from_millis(20);

/// The most that is told before a death, and the longest time from then on.
const MOST_EVENTS: f64 = 1500.0;
const LONGEST_WAIT: Duration = Duration::from_micros(300);

/// When a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// How much is told before.
    pub events: usize,
    /// How long after that, or after its start where nothing is told before.
    pub wait: Duration,
}

/// The moments at which the processes of one store die, one after the other.
pub struct Moments(Xoshiro256PlusPlus);

impl Moments {
    /// The moments of a seed.
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
        // Short lives are as frequent as long ones.
        let events = MOST_EVENTS.powf(self.0.random()) as usize;
        Some(Moment { events, wait: LONGEST_WAIT.mul_f64(share) })
    }
}

/// Shares between 0 and 1 of a seed, for whoever has moments of another kind.
pub fn shares(seed: u64) -> impl Iterator<Item = f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    std::iter::repeat_with(move || random.random())
}

/// What a writer tells. Writers count from 0, commits from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A commit is about to be written.
    Begun(usize, usize),
    /// A commit was acknowledged.
    Acknowledged(usize, usize),
    /// A flush or a sync is about to be asked for.
    Settling(usize),
    /// The flush or the sync is done.
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
            _ => Err(format!("\"{text}\" is nothing that a writer tells")),
        }
    }
}

/// How many commits of each writer.
pub type Commits = [usize; WRITERS];

/// What was told of one process, from its start to its death.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// What the store held when the process began.
    from: Commits,
    begun: Commits,
    acknowledged: Commits,
    /// What a flush, a sync or an opening made durable.
    durable: Commits,
    /// What was acknowledged when each writer last asked for a flush or a sync.
    settling: [Commits; WRITERS],
    /// What was acknowledged when each commit began, from the first one of the process on.
    before: [Vec<Commits>; WRITERS],
}

impl Ledger {
    /// The ledger of a process that finds so many commits.
    pub fn new(from: Commits) -> Self {
        let (settling, before) = ([from; WRITERS], Default::default());
        Self { from, begun: from, acknowledged: from, durable: from, settling, before }
    }

    /// Takes down what a writer tells, in the order in which it is told.
    ///
    /// # Errors
    /// A number that is not the next one.
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
            _ => return Err(format!("\"{event}\" is out of turn")),
        }
        Ok(())
    }

    /// How many commits were acknowledged in this process.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged.iter().zip(self.from).map(|(all, before)| all - before).sum()
    }

    /// What the death of the process must leave of a writer: from so many commits to so many.
    fn promise(&self, wal: WalMode, writer: usize) -> std::ops::RangeInclusive<usize> {
        let least = if wal.has_log { self.acknowledged } else { self.durable };
        least[writer].max(self.durable[writer])..=self.begun[writer]
    }

    /// Holds writers to each other: what was acknowledged before a commit began is there if the commit is. Of
    /// each writer at least the `fewest` are there, and it may be the `most`: commits that change nothing leave
    /// it open.
    fn check_order(&self, fewest: Commits, most: Commits) -> Result<(), Violation> {
        for (writer, commits) in fewest.into_iter().enumerate() {
            let newest = commits.checked_sub(self.from[writer] + 1);
            let Some(before) = newest.and_then(|newest| self.before[writer].get(newest)) else { continue };
            if let Some(other) = (0..WRITERS).find(|other| most[*other] < before[*other]) {
                let what = format!(
                    "commit {commits} of writer {writer} is there; before it began, writer {other} had {} \
                     acknowledged, of which {} are there",
                    before[other], most[other]
                );
                return Err(Violation::new(Check::Order, what));
            }
        }
        Ok(())
    }
}

/// The scripts of a store's writers.
pub struct Life {
    scripts: Vec<Script>,
}

impl Life {
    /// The scripts of a seed.
    pub fn new(seed: u64) -> Self {
        let seeds = (0..WRITERS as u64).map(|writer| seed.wrapping_mul(WRITERS as u64).wrapping_add(writer));
        Self { scripts: seeds.map(|seed| Script::new(seed, ACTIONS)).collect() }
    }

    /// Whether every writer has more than a few commits left.
    pub fn goes_on(&self, from: Commits) -> bool {
        self.scripts.iter().zip(from).all(|(script, from)| script.commits().len() > from + ACTIONS / 4)
    }

    /// Lets every writer play its script from where the store is, on a thread each, and tell what it does.
    /// Returns when all scripts are at their ends, or one writer has failed.
    ///
    /// # Errors
    /// A call that failed or an answer that was wrong, in words.
    pub fn play(
        &self,
        store: &(impl Store + Sync),
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
            // All are waited for: who is not would bring its panic here.
            let ended: Vec<_> = writers.into_iter().map(ScopedJoinHandle::join).collect();
            let told = |panic: Box<dyn Any + Send>| Err(format!("a panic: {}", panic_text(&*panic)));
            ended.into_iter().try_for_each(|ended| ended.unwrap_or_else(told))
        })
    }

    /// Opens the store that a killed process left, holds it to what was told, and closes it. Returns how many
    /// commits of each writer are there.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(
        &self,
        subject: &Subject,
        storage: &Arc<dyn Storage>,
        directory: &Path,
        ledger: &Ledger,
    ) -> Result<Commits, Violation> {
        let check = || self.examine(subject, storage, directory, ledger);
        catch_unwind(AssertUnwindSafe(check))
            .unwrap_or_else(|panic| Err(Violation::new(Check::Panic, panic_text(&*panic))))
    }

    fn examine(
        &self,
        subject: &Subject,
        storage: &Arc<dyn Storage>,
        directory: &Path,
        ledger: &Ledger,
    ) -> Result<Commits, Violation> {
        let verify = |check| match subject.maker.verify(storage, directory) {
            Ok(damage) if damage.is_empty() => Ok(()),
            Ok(damage) => Err(Violation::new(check, damage.join("; "))),
            Err(error) => Err(Violation::new(check, error.to_string())),
        };
        // A directory that is not there, or has nothing in it, is that of a process that died before it began.
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

    /// How many commits of each writer a store holds.
    fn find(&self, store: &dyn Store, wal: WalMode, ledger: &Ledger) -> Result<Commits, Violation> {
        let mut contents = read(store)?;
        let (mut fewest, mut most) = ([0; WRITERS], [0; WRITERS]);
        for (writer, script) in self.scripts.iter().enumerate() {
            let (content, promise) = (std::mem::take(&mut contents[writer]), ledger.promise(wal, writer));
            let digest = digest(&content);
            judge(script, &promise, digest, || Some(content)).map_err(|violation| {
                Violation::new(violation.check, format!("writer {writer}: {}", violation.what))
            })?;
            (fewest[writer], most[writer]) =
                script.fewest_and_most(digest, promise).expect("it was judged to be what was promised");
        }
        ledger.check_order(fewest, most)?;
        Ok(fewest)
    }
}

/// What a store holds of each writer, by a range and by points, which must agree.
fn read(store: &dyn Store) -> Result<[Content; WRITERS], Violation> {
    let wrong = |error: tree::Error| Violation::new(Check::Reads, error.to_string());
    let mut contents: [Content; WRITERS] = Default::default();
    for (key, value) in store.range(Bound::Unbounded, Bound::Unbounded).map_err(wrong)? {
        let writer = (0..WRITERS).find(|writer| key.first() == Some(&letter(*writer)));
        let Some(writer) = writer else {
            let what = format!("\"{}\", which is no writer's key", key.escape_ascii());
            return Err(Violation::new(Check::Invention, what));
        };
        contents[writer].insert(key[1..].to_vec(), value);
    }
    for (writer, content) in contents.iter().enumerate() {
        for key in Script::keys() {
            if store.get(&own(writer, &key)).map_err(wrong)?.as_ref() != content.get(&key) {
                let what = format!("writer {writer}: a get of \"{}\" and a range differ", key.escape_ascii());
                return Err(Violation::new(Check::Reads, what));
            }
        }
    }
    Ok(contents)
}

/// The first byte of a writer's keys.
fn letter(writer: usize) -> u8 {
    b'A' + writer as u8
}

/// A key of a script as the key of a writer.
fn own(writer: usize, key: &[u8]) -> Vec<u8> {
    [&[letter(writer)], key].concat()
}

/// One writer at work.
struct Writer<'a, S, T> {
    number: usize,
    script: &'a Script,
    store: &'a S,
    tell: &'a T,
    /// Whether some writer has failed.
    is_over: &'a AtomicBool,
}

impl<S: Store, T: Fn(Event)> Writer<'_, S, T> {
    /// Plays the script behind its first `from` commits.
    fn play(&self, from: usize) -> Result<(), String> {
        let (mut commits, mut content) = (0, self.script.content(from));
        for action in &self.script.actions {
            let is_commit = matches!(action, Action::Commit(_));
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

    fn act(&self, action: &Action, commit: usize, content: &mut Content) -> Result<(), String> {
        let done = match action {
            Action::Commit(writes) => {
                let key = |write: &Write| Write { key: own(self.number, &write.key), ..write.clone() };
                (self.tell)(Event::Begun(self.number, commit));
                let written = self.store.write(&writes.iter().map(key).collect::<Vec<_>>());
                if written.is_ok() {
                    (self.tell)(Event::Acknowledged(self.number, commit));
                    apply(content, writes);
                }
                written
            }
            Action::Get(key) => self.store.get(&own(self.number, key)).and_then(|found| {
                let is_right = found.as_ref() == content.get(key);
                is_right.then_some(()).ok_or_else(|| wrong_answer(self.number, key))
            }),
            Action::Range(low, high) => {
                let [from, to] = [low, high].map(|key| own(self.number, key));
                self.store.range(Bound::Included(&from), Bound::Excluded(&to)).and_then(|found| {
                    let inside = content.iter().filter(|(key, _)| (low..high).contains(key));
                    let expected = inside.map(|(key, value)| (own(self.number, key), value.clone()));
                    (found == expected.collect()).then_some(()).ok_or_else(|| wrong_answer(self.number, low))
                })
            }
            Action::Flush => self.settle(S::flush),
            Action::Sync => self.settle(S::sync),
            Action::Compact => self.store.compact(),
            // Both want the store for themselves; the exploration of crashes has them.
            Action::Checkpoint | Action::Reopen => Ok(()),
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

/// An answer that only this writer's writes could have led to, and did not.
fn wrong_answer(writer: usize, key: &[u8]) -> tree::Error {
    tree::Error::Misuse(format!("wrong answer at \"{}\"", own(writer, key).escape_ascii()))
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
        // Numbers have no gaps, and what was not begun cannot be done.
        for text in ["b 0 9", "b 0 7", "a 1 2", "a 2 1"] {
            assert!(note(text).is_err(), "{text}");
        }
        assert_eq!(ledger.acknowledged(), 3);
        let promises = |wal| [0, 1, 2].map(|writer| ledger.promise(wal, writer));
        assert_eq!(promises(WalMode::BUFFERED), [6..=7, 1..=1, 0..=0]);
        assert_eq!(promises(WalMode::NONE), [5..=7, 0..=1, 0..=0], "the flush began before the sixth");
        // The seventh began when writer 1 had been acknowledged; the sixth did not.
        let check_order = |found| ledger.check_order(found, found);
        assert!(check_order([6, 0, 0]).is_ok());
        assert_eq!(check_order([7, 0, 0]).unwrap_err().check, Check::Order);
        assert!(check_order([7, 1, 0]).is_ok());
        // Where the first of writer 1 changes nothing, it may be there.
        assert!(ledger.check_order([7, 0, 0], [7, 1, 0]).is_ok());
    }
}
