//! Runs a script of actions on a store, and records how many commits the store must contain at each time.

use std::ops::{Bound, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;

use storage::Storage;
use tree::wal::WalMode;

use crate::script::{Content, Script, StoreAction, apply};
use crate::store_kind::StoreKind;
use crate::subject::StoreUnderTest;
use crate::violation::{Check, Violation};

/// The directory of the store on the disk under test.
pub(crate) const DIRECTORY: &str = "store";

/// Returns the directory of the checkpoint with the number `number`.
pub(crate) fn copy_directory(number: usize) -> PathBuf {
    PathBuf::from(format!("copy-{number}"))
}

/// The times of the commits and checkpoints of a script, as values of the player's clock. They determine how many
/// commits the store must contain after a crash.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// The time at which each commit of the script began.
    pub(crate) begun: Vec<usize>,
    /// The time at which the store acknowledged each commit of the script.
    pub(crate) acknowledged: Vec<usize>,
    /// Pairs of a time and a number of commits. In every WAL mode, this number of commits survives a power failure
    /// after this time.
    pub(crate) durable: Vec<(usize, usize)>,
    /// The start time, the end time (`None` if it failed) and the number of commits of each checkpoint.
    pub(crate) copies: Vec<(usize, Option<usize>, usize)>,
}

impl Marks {
    /// Returns the numbers of commits that a store may contain after a crash at time `moment`. If `kept` is true, all
    /// completed storage calls survive, as when only the process dies.
    pub(crate) fn promise(&self, wal: WalMode, moment: usize, kept: bool) -> RangeInclusive<usize> {
        let before = |moments: &[usize], limit: usize| moments.partition_point(|moment| *moment < limit);
        let acknowledged = before(&self.acknowledged, moment + 1);
        let promised = wal.survives_power_loss() || (kept && wal.has_log);
        let durable = self.durable[..self.durable.partition_point(|(since, _)| *since <= moment)].last();
        let durable = durable.map_or(0, |(_, commits)| *commits);
        let least = if promised { acknowledged } else { durable };
        least..=before(&self.begun, moment).max(acknowledged)
    }
}

/// The reason why a script ended before its last action.
pub(crate) enum Stop {
    /// A call of the store returned an error.
    Failed(tree::Error),
    /// The store gave a wrong answer.
    Wrong(Violation),
}

impl From<tree::Error> for Stop {
    fn from(error: tree::Error) -> Self {
        Self::Failed(error)
    }
}

/// A player: it runs a script of actions on a store, and records the times of the commits.
pub(crate) struct Player<'a> {
    subject: &'a StoreKind,
    storage: Arc<dyn Storage>,
    clock: &'a dyn Fn() -> usize,
    /// The directory of the store.
    pub(crate) directory: PathBuf,
    /// The open store. `None` if it could not be opened.
    pub(crate) store: Option<Box<dyn StoreUnderTest>>,
    pub(crate) marks: Marks,
    /// The content that the store must have after all acknowledged commits.
    pub(crate) content: Content,
    /// The action of the script that runs now, or that failed. `None` before the first and after the last action.
    pub(crate) current: Option<&'a StoreAction>,
}

impl<'a> Player<'a> {
    pub(crate) fn new(
        subject: &'a StoreKind,
        storage: Arc<dyn Storage>,
        clock: &'a dyn Fn() -> usize,
    ) -> Self {
        let (marks, content) = (Marks::default(), Content::new());
        let directory = PathBuf::from(DIRECTORY);
        Self { subject, storage, clock, directory, store: None, marks, content, current: None }
    }

    /// Opens the store, and runs the actions of a script up to the first failure.
    pub(crate) fn play(&mut self, script: &'a Script) -> Result<(), Stop> {
        self.open()?;
        for action in &script.actions {
            self.current = Some(action);
            self.act(action)?;
        }
        self.current = None;
        Ok(())
    }

    /// Runs all actions of a script on a disk without faults, where no action may fail.
    ///
    /// # Errors
    /// A call failed, or the store gave a wrong answer.
    pub(crate) fn play_undisturbed(&mut self, script: &'a Script) -> Result<(), Violation> {
        self.play(script).map_err(|stop| match stop {
            Stop::Wrong(violation) => violation,
            Stop::Failed(error) => {
                Violation::new(Check::GoesOn, format!("a call failed on a disk without faults: {error}"))
            }
        })
    }

    fn act(&mut self, action: &StoreAction) -> Result<(), Stop> {
        let store = self.store.as_ref().expect("the store must be open before each action of the script");
        match action {
            StoreAction::Commit(writes) => {
                self.marks.begun.push((self.clock)());
                store.write(writes)?;
                apply(&mut self.content, writes);
                self.marks.acknowledged.push((self.clock)());
            }
            StoreAction::Get(key) => {
                let (found, expected) = (store.get(key)?, self.content.get(key));
                agree(&found.as_ref(), &expected)?;
            }
            StoreAction::Range(low, high) => {
                let found = store.range(Bound::Included(low), Bound::Excluded(high))?;
                let inside = self.content.iter().filter(|(key, _)| (low..high).contains(key));
                agree(&found, &inside.map(|(key, value)| (key.clone(), value.clone())).collect())?;
            }
            StoreAction::Flush => store.flush()?,
            StoreAction::Compact => store.compact()?,
            StoreAction::Sync => store.sync()?,
            StoreAction::Checkpoint => {
                let directory = copy_directory(self.marks.copies.len());
                self.marks.copies.push(((self.clock)(), None, self.marks.acknowledged.len()));
                store.checkpoint(&directory)?;
                let last = self
                    .marks
                    .copies
                    .last_mut()
                    .expect("the recorded times must include the checkpoint that has just started");
                last.1 = Some((self.clock)());
            }
            StoreAction::Reopen => {
                self.store.take().expect("the store must be open before it is closed").close()?;
                self.open()?;
            }
        }
        match action {
            StoreAction::Commit(_) | StoreAction::Get(_) | StoreAction::Range(..) => {}
            StoreAction::Flush
            | StoreAction::Compact
            | StoreAction::Sync
            | StoreAction::Checkpoint
            | StoreAction::Reopen => {
                self.marks.durable.push(((self.clock)(), self.marks.acknowledged.len()));
            }
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), Stop> {
        self.store = Some(self.subject.maker.open(&self.storage, &self.directory)?);
        Ok(())
    }
}

fn agree<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), Stop> {
    if found == expected {
        return Ok(());
    }
    let what = format!("a read on a disk without faults returned {found:?}, expected {expected:?}");
    Err(Stop::Wrong(Violation::new(Check::Reads, what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_follows_from_the_log_mode_and_the_moment() {
        let marks = Marks {
            begun: vec![1, 3, 5],
            acknowledged: vec![3, 5, 8],
            durable: vec![(4, 1)],
            copies: Vec::new(),
        };
        assert_eq!(marks.promise(WalMode::SYNC, 0, false), 0..=0);
        assert_eq!(marks.promise(WalMode::SYNC, 2, false), 0..=1);
        assert_eq!(marks.promise(WalMode::SYNC, 3, false), 1..=1);
        assert_eq!(marks.promise(WalMode::GROUP, 7, false), 2..=3);
        assert_eq!(marks.promise(WalMode::BUFFERED, 3, false), 0..=1);
        assert_eq!(marks.promise(WalMode::BUFFERED, 7, false), 1..=3);
        assert_eq!(marks.promise(WalMode::interval(std::time::Duration::from_nanos(1)), 7, true), 2..=3);
        assert_eq!(marks.promise(WalMode::NONE, 9, true), 1..=3);
    }
}
