//! The state of an open tree, shared by everyone who works on it: callers, the flusher, the compactor.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use compaction::CompactionPolicy;
use crossbeam_utils::CachePadded;
use memtable::MemtablePolicy;
use parking_lot::{Condvar, Mutex};
use storage::Storage;
use types::{HashedKey, SequenceNumber};

use crate::design::Design;
use crate::error::{Error, Result};
use crate::hash::KeyHasher;
use crate::manifest::Manifest;
use crate::memory::Slot;
use crate::recovered::Recovery;
use crate::stats::AllCounters;
use crate::table::TableContext;
use crate::version::View;
use crate::visible::Visible;
use crate::wal::{HEADER_BYTES, LogFile, WalMode};

/// How a tree does its background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Flushes and compactions run on threads of their own, as soon as there is work.
    Timed,
    /// Flushes and compactions run inside the write that makes them due, to their end: with one thread of
    /// operations every counter is the same on every machine and every run.
    Counted,
}

/// The state of an open tree.
///
/// Locks are taken in the order of their fields: `flushing`, `compacting`, `log`, `pending`, `manifest`,
/// the state of `signals`, `view_lock`; `merges_for_ranges` behind `compacting` and before `log`. Readers take none of
/// them, but for a range now and then that looks whether ranges have paid for a merge.
pub(crate) struct Inner {
    pub(crate) directory: PathBuf,
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) design: Design,
    pub(crate) mode: Mode,
    /// Reads a clock in nanoseconds, for the time that writers wait and that merges take; the tree has none of its own.
    pub(crate) clock: fn() -> u64,
    pub(crate) context: Arc<TableContext>,
    pub(crate) memtables: Box<dyn MemtablePolicy>,
    pub(crate) policy: Box<dyn CompactionPolicy>,
    pub(crate) hasher: Arc<dyn KeyHasher>,
    pub(crate) wal_mode: WalMode,
    /// What the tree consists of now. Swapped whole.
    pub(crate) view: ArcSwap<View>,
    /// Every write up to this number can be read.
    pub(crate) visible: CachePadded<Visible>,
    /// Held by the one flush that runs.
    pub(crate) flushing: Mutex<()>,
    /// Held by the one compaction that runs.
    pub(crate) compacting: Mutex<()>,
    /// The log being written.
    pub(crate) log: CachePadded<Mutex<Log>>,
    /// Every record up to this sequence number is with the log, as far as its mode demands. Whoever has the log raises it.
    pub(crate) logged: CachePadded<AtomicU64>,
    /// Writes that have a number and wait for the log.
    pub(crate) pending: CachePadded<Mutex<WriteQueue>>,
    /// The durable truth; whoever holds it decides on the next version.
    pub(crate) manifest: Mutex<Manifest>,
    /// Held while the view is swapped.
    pub(crate) view_lock: Mutex<()>,
    pub(crate) next_file: AtomicU64,
    pub(crate) next_run: AtomicU64,
    /// Whether merges that ranges have paid for may begin: not once the tree is being closed, or one met damage.
    pub(crate) merges_for_ranges: Mutex<bool>,
    pub(crate) failure: Failure,
    pub(crate) signals: Signals,
    pub(crate) counters: AllCounters,
    /// What opening the tree found and did.
    pub(crate) recovery: Recovery,
    /// Keeps other processes out of the directory.
    pub(crate) _lock: Box<dyn Send + Sync>,
}

/// The log being written.
pub(crate) struct Log {
    pub(crate) file: LogFile,
    /// Records on their way to the file.
    pub(crate) records: Vec<u8>,
    /// The commits that share syncs.
    pub(crate) commit_group: CommitGroup,
}

/// The group of commits that share a sync, as the last sync found it.
#[derive(Default)]
pub(crate) struct CommitGroup {
    /// The number of commits that the last sync was for, and of those queued during it.
    pub(crate) commits: u64,
    /// The duration of the last sync.
    pub(crate) sync_time: Duration,
    /// The number of waits without followers since the last wait with some.
    pub(crate) backoff: u32,
    /// The number of syncs before the next wait.
    pub(crate) until_wait: u32,
}

impl Log {
    /// A new log.
    pub(crate) fn new(file: LogFile) -> Self {
        Self { file, records: Vec::new(), commit_group: CommitGroup::default() }
    }

    /// Takes all records that are queued.
    #[inline]
    pub(crate) fn take(&mut self, pending: &mut WriteQueue) -> Drained {
        std::mem::swap(&mut self.records, &mut pending.records);
        pending.log_offset += self.records.len() as u64;
        let commits = std::mem::take(&mut pending.commits);
        Drained { last: pending.next_sequence - 1, end: pending.log_offset, commits }
    }
}

/// The records that the log took from the queue.
#[derive(Clone, Copy)]
pub(crate) struct Drained {
    /// The sequence number that they end with.
    pub(crate) last: SequenceNumber,
    /// The offset in the log that they end at.
    pub(crate) end: u64,
    /// The commits that they are of.
    pub(crate) commits: u64,
}

/// Writes that have a number and wait for the log, and where writes go.
pub(crate) struct WriteQueue {
    pub(crate) next_sequence: SequenceNumber,
    pub(crate) active: Arc<Slot>,
    /// The seal of the log of the active memtable.
    pub(crate) log_seal: u64,
    /// What was written to the active memtable, as its capacity is counted.
    pub(crate) charged_bytes: u64,
    /// The sequence number from which on the active memtable is full, whatever its bytes.
    pub(crate) full_from: SequenceNumber,
    /// Framed records that the log does not have yet.
    pub(crate) records: Vec<u8>,
    /// The commits that these are of.
    pub(crate) commits: u64,
    /// The offset in the log at which `records` begins.
    pub(crate) log_offset: u64,
    /// The length of the log that is known to be durable.
    pub(crate) synced_offset: u64,
}

impl WriteQueue {
    /// Nothing pending, after the writes up to `written`, before a new log under `log_seal` of which
    /// `synced_offset` is durable.
    pub(crate) fn new(
        design: &Design,
        written: SequenceNumber,
        active: Arc<Slot>,
        log_seal: u64,
        synced_offset: u64,
    ) -> Self {
        Self {
            next_sequence: written + 1,
            active,
            log_seal,
            charged_bytes: 0,
            full_from: design.full_from(written + 1),
            records: Vec::new(),
            commits: 0,
            log_offset: HEADER_BYTES as u64,
            synced_offset,
        }
    }
}

/// The first error after which nothing more is written.
#[derive(Default)]
pub(crate) struct Failure {
    is_set: AtomicBool,
    message: Mutex<Option<String>>,
}

/// What background threads and those who wait for them tell each other.
#[derive(Default)]
pub(crate) struct Signals {
    pub(crate) state: Mutex<SignalState>,
    pub(crate) changed: Condvar,
    /// The tree is being closed: background work ends at the next occasion.
    pub(crate) stop: AtomicBool,
}

/// What the compactor has to do.
#[derive(Default)]
pub(crate) struct SignalState {
    /// The shape has changed since the compactor looked.
    pub(crate) shape_changed: bool,
    /// A compaction runs.
    pub(crate) compacting: bool,
}

impl Failure {
    /// Whether the tree has failed.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// An error if the tree has failed.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_set() { Err(self.error()) } else { Ok(()) }
    }

    fn error(&self) -> Error {
        Error::Failed(self.message.lock().clone().unwrap_or_default())
    }

    fn set(&self, error: &Error) {
        self.message.lock().get_or_insert_with(|| error.to_string());
        self.is_set.store(true, Ordering::Release);
    }
}

impl Signals {
    /// Wakes everyone who waits for a change.
    pub(crate) fn notify(&self) {
        let _state = self.state.lock();
        self.changed.notify_all();
    }

    /// Whether the tree is being closed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

impl Inner {
    /// The key with its hash.
    #[inline]
    pub(crate) fn hashed<'a>(&self, key: &'a [u8]) -> HashedKey<'a> {
        HashedKey { bytes: key, hash: self.hasher.hash(key) }
    }

    /// Notes an error after which nothing more may be written, wakes everyone, and hands the error on.
    pub(crate) fn fail(&self, error: Error) -> Error {
        self.failure.set(&error);
        self.signals.notify();
        error
    }

    /// A file number that was never used.
    pub(crate) fn new_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    /// A run number that was never used.
    pub(crate) fn new_run(&self) -> u64 {
        self.next_run.fetch_add(1, Ordering::Relaxed)
    }

    /// Swaps the view for what `next` makes of the current one.
    pub(crate) fn swap_view(&self, next: impl FnOnce(&View) -> View) {
        let _guard = self.view_lock.lock();
        let current = self.view.load();
        self.view.store(Arc::new(next(&current)));
    }

    /// Gives the cache what memtables, filters and fences leave of the memory limit, if there is one.
    pub(crate) fn balance_memory(&self) {
        if let Some(memory) = self.design.options.memory {
            let (filters, fences) = self.view.load().version.filter_and_fence_bytes();
            let others = 2 * self.design.memtable_capacity.0 + filters + fences;
            self.context.cache.set_capacity(memory.0.saturating_sub(others));
        }
    }
}
