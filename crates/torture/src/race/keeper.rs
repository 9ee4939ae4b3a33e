//! Implements the maintenance thread of a race. It runs flushes, compactions, syncs and checkpoints, and opens copies
//! of the store's disk while other threads use the store.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::{Memory, Storage, Unsynced};

use super::contestant::Contestant;
use super::history::{Cell, Log, OperationKind};
use super::worker::{Arena, everything, failed};
use crate::violation::Violation;

/// The minimum number of logical timestamps between two maintenance actions, such as flushes.
const PAUSE: u64 = 400;

/// The interval at which the maintenance thread checks whether its next action is due.
const NAP: Duration = Duration::from_micros(200);

/// The storage of a race, with the directories of its store and its checkpoint.
pub(crate) struct Ground {
    pub(crate) storage: Arc<dyn Storage>,
    /// The in-memory disk of the race, which can be copied. `None` for other storage.
    pub(crate) memory: Option<Arc<Memory>>,
    pub(crate) store: PathBuf,
    /// The directory of the checkpoint. Only one checkpoint exists at a time.
    pub(crate) copy: PathBuf,
}

/// The results of the maintenance thread in one round of a race: its log, and the numbers of its actions.
pub(crate) struct Kept {
    pub(crate) log: Log,
    /// The number of maintenance calls such as flushes, and (in `copies`) the number of copies of the store's disk that
    /// were opened.
    pub(crate) calls: u64,
    pub(crate) copies: u64,
}

/// The maintenance thread of a round of a race, which flushes, compacts, syncs and makes checkpoints.
pub(crate) struct Keeper<'a> {
    arena: &'a Arena<'a>,
    contestant: &'a Contestant,
    ground: &'a Ground,
    random: Xoshiro256PlusPlus,
    kept: Kept,
}

impl<'a> Keeper<'a> {
    pub(crate) fn new(
        arena: &'a Arena<'a>,
        contestant: &'a Contestant,
        ground: &'a Ground,
        seed: u64,
    ) -> Self {
        let kept = Kept { log: Log::default(), calls: 0, copies: 0 };
        Self { arena, contestant, ground, random: Xoshiro256PlusPlus::seed_from_u64(seed), kept }
    }

    /// Runs maintenance actions, such as flushes and checkpoints, until the round has ended.
    pub(crate) fn run(mut self) -> Result<Kept, Violation> {
        let mut next = self.arena.clock.load(Ordering::Relaxed);
        while !self.arena.is_over.load(Ordering::Relaxed) {
            if self.arena.clock.load(Ordering::Relaxed) < next {
                thread::sleep(NAP);
                continue;
            }
            self.act()?;
            next = self.arena.clock.load(Ordering::Relaxed) + PAUSE;
        }
        Ok(self.kept)
    }

    fn act(&mut self) -> Result<(), Violation> {
        self.kept.calls += 1;
        let store = self.arena.store;
        match self.random.random_range(0..100) {
            0..45 => store.flush().map_err(failed),
            45..60 => store.sync().map_err(failed),
            60..75 => store.compact().map_err(failed),
            75..88 => self.checkpoint(),
            _ => self.crash(),
        }
    }

    /// Makes a checkpoint of the store, and records its content as one read.
    fn checkpoint(&mut self) -> Result<(), Violation> {
        let ((), moments) = self.arena.timed(|| self.arena.store.checkpoint(&self.ground.copy))?;
        let cells = self.read(&self.ground.storage, &self.ground.copy)?;
        self.kept.log.add(OperationKind::Checkpoint, moments, &cells);
        tree::destroy(&self.ground.storage, &self.ground.copy).map_err(failed)
    }

    /// Opens the store on a copy of the disk in a state that a crash could leave, and records its content as one read.
    /// The crash is the death of the process. If acknowledged writes survive a power failure, the crash can also be a
    /// power failure.
    fn crash(&mut self) -> Result<(), Violation> {
        let Some(memory) = &self.ground.memory else { return Ok(()) };
        let wal = self.contestant.wal;
        if !wal.has_log {
            return Ok(());
        }
        let unsynced = match wal.survives_power_loss() && self.random.random_bool(0.5) {
            true => Unsynced::Torn { seed: self.random.random() },
            false => Unsynced::Kept,
        };
        let (disk, moments) = self.arena.timed(|| Ok(memory.after_crash(unsynced)))?;
        let disk: Arc<dyn Storage> = Arc::new(disk);
        let cells = self.read(&disk, &self.ground.store)?;
        self.kept.log.add(OperationKind::Crashed, moments, &cells);
        Ok(())
    }

    /// Opens a store, reads all its entries, and closes it. Returns every key with its version.
    fn read(&mut self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Vec<Cell>, Violation> {
        self.kept.copies += 1;
        let store = self.contestant.maker.open(storage, directory).map_err(failed)?;
        let open = |low: Bound<&[u8]>, high: Bound<&[u8]>| store.cursor(low, high);
        let cells = everything(&open, self.arena.keys)?;
        store.close().map_err(failed)?;
        Ok(cells)
    }
}
