//! Runs threads that race on one store, and checks that their reads are consistent.
//!
//! The writers write, read, scan and keep snapshots. A maintenance thread flushes, compacts, syncs, makes checkpoints,
//! and opens copies of the disk in a state after a crash. Every thread records its operations with the times of the
//! call and the return. A race consists of rounds. At the end of each round, the threads stop, and the recorded
//! operations are checked. Every few rounds, the store is closed while a snapshot is still being read, and opened
//! again.
//!
//! A seed determines the operations of each thread, but not their interleaving, so it cannot reproduce a race.

mod check;
mod contestant;
mod families;
mod history;
mod keeper;
mod keys;
mod register;
mod renamed;
mod serial;
mod store;
#[cfg(test)]
mod tests;
mod worker;

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use storage::Storage;

use self::check::check;
pub use self::contestant::Contestant;
use self::history::{Cell, History, Log, OperationKind};
use self::keeper::{Ground, Keeper, Kept};
use self::keys::{Keys, NOTHING, Version};
pub use self::store::{Cursor, Pair, Shared, SharedMaker, TimedMaker, View};
use self::worker::{Arena, End, Worker, everything, failed, read_view};
use crate::disk::disk_of;
use crate::violation::{Check, Violation};

/// The number of operations that each writer executes per round.
const OPERATIONS: usize = 1500;

/// The number of rounds after which the store is closed and reopened.
const ROUNDS_OPEN: u32 = 3;

/// The maximum number of writers of a race.
pub const MOST_WRITERS: usize = 64;

/// The counts of one race: its operations and its checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RaceSummary {
    /// The number of rounds of the race that were checked.
    pub rounds: u64,
    /// The number of operations of all threads of the race.
    pub operations: u64,
    /// The number of operations that were commits.
    pub commits: u64,
    /// The number of keys that reads returned, all of which were checked.
    pub reads: u64,
    /// The number of times that a store was opened: after it was closed, from a checkpoint, or on a copy of the disk.
    pub opened: u64,
}

/// A race: a store, and threads that use the store at the same time.
pub struct Race<'a> {
    contestant: &'a Contestant,
    ground: Ground,
    keys: Keys,
    seed: u64,
    round: u32,
    store: Option<Box<dyn Shared>>,
    /// The version that each key must have in the store after the last round.
    content: Vec<Version>,
    /// The counts of operations and checks in all rounds so far.
    pub tally: RaceSummary,
}

impl<'a> Race<'a> {
    /// Creates a race of `writers` writers on an in-memory disk.
    pub fn in_memory(contestant: &'a Contestant, writers: usize, seed: u64) -> Self {
        let memory = Arc::new(disk_of(seed));
        let storage = Arc::clone(&memory) as Arc<dyn Storage>;
        let (store, copy) = (PathBuf::from("store"), PathBuf::from("copy"));
        Self::on(contestant, Ground { storage, memory: Some(memory), store, copy }, writers, seed)
    }

    /// Creates a race of `writers` writers on a storage. The store is in `store/` and its checkpoint is in `copy/`,
    /// both below `directory`.
    pub fn on_storage(
        contestant: &'a Contestant,
        storage: Arc<dyn Storage>,
        directory: &Path,
        writers: usize,
        seed: u64,
    ) -> Self {
        let (store, copy) = (directory.join("store"), directory.join("copy"));
        Self::on(contestant, Ground { storage, memory: None, store, copy }, writers, seed)
    }

    fn on(contestant: &'a Contestant, ground: Ground, writers: usize, seed: u64) -> Self {
        let keys = Keys { writers: writers.clamp(1, MOST_WRITERS) };
        let content = vec![NOTHING; keys.len()];
        Self { contestant, ground, keys, seed, round: 0, store: None, content, tally: RaceSummary::default() }
    }

    /// Runs a round of the race, and checks its operations.
    ///
    /// # Errors
    /// The first violation that was found. The race must end then.
    pub fn round(&mut self) -> Result<(), Violation> {
        self.round += 1;
        let mut log = Log::default();
        let store = match self.store.take() {
            Some(store) => store,
            None => self.open(&mut log)?,
        };
        let arena = Arena {
            store: &*store,
            keys: self.keys,
            round: self.round,
            clock: AtomicU64::new(2),
            is_over: AtomicBool::new(false),
        };
        let (mut logs, kept) = self.play(&arena)?;
        let open = |low: Bound<&[u8]>, high: Bound<&[u8]>| arena.store.cursor(low, high);
        let (cells, moments) = arena.timed(|| Ok(everything(&open, self.keys)))?;
        let cells = cells?;
        log.add(OperationKind::Cursor, moments, &cells);
        logs.extend([kept.log, log]);
        let history = History { round: self.round, keys: self.keys, initial: self.content.clone(), logs };
        self.count(&history, kept.calls, kept.copies);
        check(&history)?;
        self.content = cells.iter().map(|cell| cell.version).collect();
        if self.round.is_multiple_of(ROUNDS_OPEN) {
            self.close(store)
        } else {
            self.store = Some(store);
            Ok(())
        }
    }

    /// Opens the store, and records its whole content as one read.
    fn open(&mut self, log: &mut Log) -> Result<Box<dyn Shared>, Violation> {
        let store = self.contestant.maker.open(&self.ground.storage, &self.ground.store).map_err(failed)?;
        let open = |low: Bound<&[u8]>, high: Bound<&[u8]>| store.cursor(low, high);
        let cells = everything(&open, self.keys)?;
        log.add(OperationKind::Reopened, (0, 1), &cells);
        self.tally.opened += 1;
        Ok(store)
    }

    /// Runs all threads of a round. Returns the logs of the writers and the result of the maintenance thread.
    fn play(&self, arena: &Arena<'_>) -> Result<(Vec<Log>, Kept), Violation> {
        let seed = |thread: usize| self.seed ^ u64::from(self.round) << 16 ^ (thread as u64) << 56;
        thread::scope(|scope| {
            let write = |number: usize| {
                let worker = Worker::new(arena, number, seed(number));
                move || guarded(arena, || worker.run(OPERATIONS))
            };
            let writers: Vec<_> = (0..self.keys.writers).map(|number| scope.spawn(write(number))).collect();
            let keeper = Keeper::new(arena, self.contestant, &self.ground, seed(self.keys.writers));
            let keeper = scope.spawn(move || guarded(arena, || keeper.run()));
            let logs: Vec<Result<Log, Violation>> = writers.into_iter().map(joined).collect();
            arena.is_over.store(true, Ordering::Relaxed);
            let kept = joined(keeper)?;
            Ok((logs.into_iter().collect::<Result<_, _>>()?, kept))
        })
    }

    fn count(&mut self, history: &History, calls: u64, copies: u64) {
        let tally = &mut self.tally;
        tally.rounds += 1;
        tally.operations += calls;
        tally.opened += copies;
        for at in history.operations() {
            let is_commit = at.operation.kind == OperationKind::Commit;
            tally.operations += 1;
            tally.commits += u64::from(is_commit);
            tally.reads += if is_commit { 0 } else { at.cells().len() as u64 };
        }
    }

    /// Closes the store while another thread still reads a snapshot of it, and checks these reads.
    fn close(&self, store: Box<dyn Shared>) -> Result<(), Violation> {
        let view = store.view();
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                [End::Front, End::Back].into_iter().try_for_each(|end| {
                    let cells = read_view(&*view, end, self.keys)?;
                    self.compare(&cells)
                })
            });
            let closed = store.close().map_err(failed);
            joined(reader).and(closed)
        })
    }

    /// Checks that a snapshot that was taken between two rounds shows the content that the store had then.
    fn compare(&self, cells: &[Cell]) -> Result<(), Violation> {
        match cells.iter().find(|cell| cell.version != self.content[usize::from(cell.key)]) {
            None => Ok(()),
            Some(Cell { key, version }) => {
                let (held, found) = (keys::named(self.content[usize::from(*key)]), keys::named(*version));
                let what = format!(
                    "while the store was being closed, a snapshot showed {found} for key {key}, expected \
                     {held}"
                );
                Err(Violation::new(Check::Moments, what))
            }
        }
    }
}

/// Runs `work` on a thread of a race. A violation or a panic ends the round for all threads.
fn guarded<T>(arena: &Arena<'_>, work: impl FnOnce() -> Result<T, Violation>) -> Result<T, Violation> {
    let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(of_panic(&*panic)));
    if done.is_err() {
        arena.is_over.store(true, Ordering::Relaxed);
    }
    done
}

fn of_panic(panic: &(dyn std::any::Any + Send)) -> Violation {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
    Violation::new(Check::Panic, text)
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Result<T, Violation>>) -> Result<T, Violation> {
    thread.join().unwrap_or_else(|panic| Err(of_panic(&*panic)))
}
