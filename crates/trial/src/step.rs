//! Takes a step on the store between phases of operations, and times it.

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
use super::truth::Truth;

/// The folder of a checkpoint, next to that of the store.
const CHECKPOINT: &str = "checkpoint";

/// The parts of a trial that a step needs, besides the store.
pub(super) struct StepContext<'a> {
    pub(super) mode: RunMode,
    pub(super) clock: &'a Clock,
    /// The folder of the store.
    pub(super) directory: &'a Path,
    /// The expected content, which a checkpoint is compared with.
    pub(super) truth: &'a mut Truth,
}

/// A step that was taken.
pub(super) struct Taken {
    pub(super) store: OpenStore,
    pub(super) driven: Driven,
    /// The readings that the counters of the step are differences to. `None` where the store kept its counters.
    pub(super) restarted: Option<EngineStats>,
    /// The time until a reopened store was closed, in nanoseconds, if time is measured.
    pub(super) close_ns: Option<u64>,
    /// A difference between a checkpoint and the expected content.
    pub(super) wrong: Option<String>,
}

impl StepContext<'_> {
    /// Takes a step on the store, and returns the store with the measurements of the step.
    pub(super) fn take(self, step: StoreStep, store: OpenStore) -> TrialResult<Taken> {
        let (mut restarted, mut close_ns, mut wrong) = (None, None, None);
        let mut start = self.clock.now();
        let store = match step {
            StoreStep::Flush => store.target().flush().map(|()| store)?,
            StoreStep::Settle => store.target().settle().map(|()| store)?,
            StoreStep::Compact => called(step, store.compact()).map(|()| store)?,
            StoreStep::Checkpoint => called(step, store.checkpoint(&self.copy())).map(|()| store)?,
            StoreStep::DropCaches => caches::drop_pages(self.directory).map(|()| store)?,
            StoreStep::Sleep(ns) => {
                std::thread::sleep(Duration::from_nanos(ns));
                store
            }
            StoreStep::Reopen => {
                restarted = Some(store.stats().restarted());
                let closed = store.close()?;
                close_ns = self.ns_since(start);
                start = self.clock.now();
                closed.open()?
            }
        };
        let elapsed_ns = self.ns_since(start);
        if step == StoreStep::Checkpoint {
            wrong = self.check_copy(&store)?;
        }
        let operations = vec![(step.name(), KindTotals::one(elapsed_ns))];
        let (roles, records, intervals) = (Vec::new(), Vec::new(), Vec::new());
        let driven = Driven { operations, roles, records, start, elapsed_ns, intervals };
        Ok(Taken { store, driven, restarted, close_ns, wrong })
    }

    fn copy(&self) -> std::path::PathBuf {
        self.directory.with_file_name(CHECKPOINT)
    }

    /// The time since `start` in nanoseconds, if time is measured.
    fn ns_since(&self, start: Stamp) -> Option<u64> {
        (self.mode == RunMode::Timed).then(|| self.clock.ns_between(start, self.clock.now()))
    }

    /// Opens a checkpoint, compares its content with the expected one, and removes it. Returns the first difference.
    fn check_copy(self, store: &OpenStore) -> TrialResult<Option<String>> {
        let directory = self.copy();
        let copy = store.open_copy(&directory)?;
        let wrong = self.truth.verify(&*copy)?;
        copy.end()?;
        fs::remove_dir_all(&directory)?;
        Ok(wrong.map(|wrong| format!("checkpoint: {wrong}")))
    }
}

/// The outcome of a call that an engine may lack. Experiments are checked before they run, so that this is an error of a
/// library that lacks a function of its engine.
fn called(step: StoreStep, outcome: Option<TrialResult<()>>) -> TrialResult<()> {
    outcome.unwrap_or_else(|| {
        Err(format!("this version of the engine has no call for step = \"{}\"", step.name()).into())
    })
}
