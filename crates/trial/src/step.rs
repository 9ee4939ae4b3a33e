//! Executes a step on the store between phases of operations, and times the step. Examples of steps are a flush, a
//! compaction and a checkpoint.

use std::fs;
use std::path::Path;
use std::time::Duration;

use engines::{EngineStats, OpenStore};
use measure::{Clock, Stamp};
use results::RunMode;
use workload::StoreStep;

use super::caches;
use super::drive::{Driven, KindTotals};
use super::failure::TrialResult;
use super::key_spaces::KeySpaces;
use super::turn::{self, Turns};

/// The name of the folder for a checkpoint. The folder is next to the folder of the store.
const CHECKPOINT: &str = "checkpoint";

/// The data of the trial that a step on the store, such as a flush, needs: for example, the clock and the folder of the
/// store.
pub(super) struct StepContext<'a> {
    pub(super) mode: RunMode,
    pub(super) clock: &'a Clock,
    /// The connection to the parent process, which starts the turns of this process. `None` if the process runs without
    /// pauses.
    pub(super) turns: Option<&'a Turns>,
    /// The folder of the store.
    pub(super) directory: &'a Path,
    /// The expected content of the store, with which a checkpoint is compared.
    pub(super) spaces: &'a mut KeySpaces,
}

/// The results of a step on the store, such as a flush.
pub(super) struct Taken {
    pub(super) store: OpenStore,
    pub(super) driven: Driven,
    /// The statistics of the store after a step that resets its counters, such as a reopening. `None` for any other
    /// step.
    pub(super) restarted: Option<EngineStats>,
    /// The time that closing the store took before it was reopened, in nanoseconds. `None` if the store was not
    /// reopened or time is not measured.
    pub(super) close_ns: Option<u64>,
    /// The differences between a checkpoint (a copy of the store) and the expected content.
    pub(super) wrong: Vec<String>,
}

impl StepContext<'_> {
    /// Executes a step on the store, and returns the store with the measurements of the step.
    pub(super) fn take(self, step: StoreStep, store: OpenStore) -> TrialResult<Taken> {
        let (mut restarted, mut close_ns, mut wrong) = (None, None, Vec::new());
        let mut start = turn::now(self.clock);
        let store = match step {
            StoreStep::Reopen => {
                restarted = Some(store.stats().restarted());
                let closed = self.call(|| store.close())?;
                close_ns = self.ns_since(start);
                start = turn::now(self.clock);
                self.call(|| closed.open())?
            }
            _ => self.call(|| self.work(step, &store)).map(|()| store)?,
        };
        let idle = if step == StoreStep::Settle { store.settle_margin() } else { Duration::ZERO };
        let elapsed_ns = self.ns_since(start).map(|ns| ns.saturating_sub(idle.as_nanos() as u64));
        if step == StoreStep::Checkpoint {
            wrong = self.check_copy(&store)?;
        }
        let operations = vec![(step.name(), KindTotals::one(elapsed_ns))];
        let driven = Driven {
            operations,
            roles: Vec::new(),
            records: Vec::new(),
            start,
            elapsed_ns,
            intervals: Vec::new(),
            run_queue_ns: None,
        };
        Ok(Taken { store, driven, restarted, close_ns, wrong })
    }

    /// Executes the call of the store that belongs to a step, for all steps except `reopen`.
    fn work(&self, step: StoreStep, store: &OpenStore) -> TrialResult<()> {
        match step {
            StoreStep::Flush => store.target().flush(),
            StoreStep::Settle => store.target().settle(),
            StoreStep::Compact => called(step, store.compact()),
            StoreStep::Checkpoint => called(step, store.checkpoint(&self.copy())),
            StoreStep::DropCaches => Ok(caches::drop_pages(self.directory)?),
            StoreStep::Sleep(ns) => {
                std::thread::sleep(Duration::from_nanos(ns));
                Ok(())
            }
            StoreStep::Reopen => {
                unreachable!(
                    "the caller must execute the step `reopen`, because this step replaces the store"
                )
            }
        }
    }

    /// Executes a call of the store. In a process that runs in turns, the parent process may pause and continue this
    /// process during the call.
    fn call<T>(&self, work: impl FnOnce() -> T) -> T {
        turn::call(self.turns, self.clock, work)
    }

    fn copy(&self) -> std::path::PathBuf {
        self.directory.with_file_name(CHECKPOINT)
    }

    /// Returns the time since `start` in nanoseconds, if time is measured.
    fn ns_since(&self, start: Stamp) -> Option<u64> {
        (self.mode == RunMode::Timed).then(|| self.clock.ns_between(start, turn::now(self.clock)))
    }

    /// Checks a checkpoint: opens the copy of the store, compares its content with the expected content, and removes
    /// the copy. Returns the first difference of each column family.
    fn check_copy(self, store: &OpenStore) -> TrialResult<Vec<String>> {
        let directory = self.copy();
        let copy = store.open_copy(&directory)?;
        let wrong = self.spaces.verify(|family| store.family_of(&*copy, family))?;
        copy.end()?;
        fs::remove_dir_all(&directory)?;
        Ok(wrong.into_iter().map(|wrong| format!("checkpoint: {wrong}")).collect())
    }
}

/// Returns the outcome of a call, or an error if the engine does not support the call. lsmbench checks before a run
/// which steps the engine supports. The error therefore means that the library of the engine lacks a function.
fn called(step: StoreStep, outcome: Option<TrialResult<()>>) -> TrialResult<()> {
    outcome.unwrap_or_else(|| {
        Err(format!("this version of the engine cannot execute step = \"{}\"", step.name()).into())
    })
}
