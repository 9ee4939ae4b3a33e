//! The state of an open tree, shared by callers and background threads.

use std::collections::HashSet;
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
use types::{HashedKey, MergeOperator, SequenceNumber};

use crate::design::Design;
use crate::error::{Error, Result};
use crate::hash::KeyHasher;
use crate::log_shelf::LogShelf;
use crate::manifest::Manifest;
use crate::memory::Slot;
use crate::pacing::{Pacer, Payment};
use crate::recovered::Recovery;
use crate::stats::AllCounters;
use crate::table::TableContext;
use crate::values::ValuePolicy;
use crate::version::View;
use crate::visible::Visible;
use crate::wal::{HEADER_BYTES, LogFile, WalMode};

/// The mode of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Flushes and compactions run on background threads, as soon as work is due.
    Timed,
    /// Flushes and compactions run to completion inside the write that makes them due. With a single thread, every
    /// counter is equal on every machine and in every run.
    Counted,
}

/// The state of an open tree.
///
/// Locks are taken in this order: `flushing`, `compacting`, `collected_blobs`, `merges_for_ranges`, `log`, `shelf`,
/// `pending`, `manifest`, the state of `signals`, `view_lock`, the rule of `pacer`. Readers take no locks, except that a
/// scan occasionally checks whether a read-triggered compaction is due.
pub(crate) struct Inner {
    pub(crate) directory: PathBuf,
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) design: Design,
    pub(crate) mode: Mode,
    /// Reads a clock in nanoseconds, for the times of write stalls and compactions. The tree itself reads no clock for
    /// them.
    pub(crate) clock: fn() -> u64,
    pub(crate) context: Arc<TableContext>,
    pub(crate) memtables: Box<dyn MemtablePolicy>,
    pub(crate) policy: Box<dyn CompactionPolicy>,
    /// Decides which values live in blob files.
    pub(crate) values: Box<dyn ValuePolicy>,
    /// The blob files that are being collected: their live values move to other files.
    pub(crate) collected_blobs: Mutex<HashSet<u64>>,
    pub(crate) hasher: Arc<dyn KeyHasher>,
    pub(crate) wal_mode: WalMode,
    /// The current memtables and SSTables, like RocksDB's superversion. The view is replaced as a whole.
    pub(crate) view: ArcSwap<View>,
    /// The sequence number up to which every write is visible.
    pub(crate) visible: CachePadded<Visible>,
    /// The running flush holds this lock, because only one flush runs at a time.
    pub(crate) flushing: Mutex<()>,
    /// The running compaction holds this lock, because only one compaction runs at a time.
    pub(crate) compacting: Mutex<()>,
    /// The WAL that is being written.
    pub(crate) log: CachePadded<Mutex<Log>>,
    /// The WALs that no memtable writes to.
    pub(crate) shelf: Mutex<LogShelf>,
    /// The sequence number up to which every record is in the WAL, and is synced if the mode requires it. The holder of
    /// the WAL raises it.
    pub(crate) logged: CachePadded<AtomicU64>,
    /// Commits that have sequence numbers and wait for the WAL.
    pub(crate) pending: CachePadded<Mutex<WriteQueue>>,
    /// The durable state. Only the holder of this lock creates the next version.
    pub(crate) manifest: Mutex<Manifest>,
    /// Held while the view is replaced.
    pub(crate) view_lock: Mutex<()>,
    pub(crate) next_file: AtomicU64,
    pub(crate) next_run: AtomicU64,
    /// Whether read-triggered compactions may begin. `false` when the tree is being closed, or after one met
    /// corruption.
    pub(crate) merges_for_ranges: Mutex<bool>,
    pub(crate) failure: Failure,
    pub(crate) signals: Signals,
    /// The delays of writes, if the design has any.
    pub(crate) pacer: Option<Pacer>,
    pub(crate) counters: AllCounters,
    /// The report of recovery.
    pub(crate) recovery: Recovery,
    /// The lock that keeps other processes out of the directory.
    pub(crate) _lock: Box<dyn Send + Sync>,
}

/// The WAL that is being written.
pub(crate) struct Log {
    pub(crate) file: LogFile,
    /// Records that are taken from the queue and not yet written.
    pub(crate) records: Vec<u8>,
    /// The group of commits that share a sync.
    pub(crate) commit_group: CommitGroup,
}

/// The group of commits that share a sync, as of the last sync.
#[derive(Default)]
pub(crate) struct CommitGroup {
    /// The number of commits in the last sync, plus the commits that were queued during that sync.
    pub(crate) commits: u64,
    /// The duration of the last sync.
    pub(crate) sync_time: Duration,
    /// The number of waits without followers since the last wait with some.
    pub(crate) backoff: u32,
    /// The number of syncs before the next wait.
    pub(crate) until_wait: u32,
}

impl Log {
    /// Wraps a new WAL file.
    pub(crate) fn new(file: LogFile) -> Self {
        Self { file, records: Vec::new(), commit_group: CommitGroup::default() }
    }

    /// Takes all queued records.
    #[inline]
    pub(crate) fn take(&mut self, pending: &mut WriteQueue) -> Drained {
        std::mem::swap(&mut self.records, &mut pending.records);
        pending.log_offset += self.records.len() as u64;
        let commits = std::mem::take(&mut pending.commits);
        Drained { last: pending.next_sequence - 1, end: pending.log_offset, commits }
    }
}

/// The position of records that were taken from the queue.
#[derive(Clone, Copy)]
pub(crate) struct Drained {
    /// The last sequence number of the records.
    pub(crate) last: SequenceNumber,
    /// The offset in the WAL at which the records end.
    pub(crate) end: u64,
    /// The number of commits in the records.
    pub(crate) commits: u64,
}

/// Commits that have sequence numbers and wait for the WAL, and the memtable that they go to.
pub(crate) struct WriteQueue {
    pub(crate) next_sequence: SequenceNumber,
    pub(crate) active: Arc<Slot>,
    /// The seal of the WAL of the active memtable.
    pub(crate) log_seal: u64,
    /// The size of the active memtable: the written bytes, counted as for its capacity.
    pub(crate) charged_bytes: u64,
    /// The sequence number from which the active memtable is full, independent of its bytes.
    pub(crate) full_from: SequenceNumber,
    /// The next payment of a writer, if the design delays writes.
    pub(crate) payment: Payment,
    /// Framed records that are not in the WAL yet.
    pub(crate) records: Vec<u8>,
    /// The number of commits in `records`.
    pub(crate) commits: u64,
    /// The offset in the WAL at which `records` begins.
    pub(crate) log_offset: u64,
    /// The length of the WAL that is known to be durable.
    pub(crate) synced_offset: u64,
}

impl WriteQueue {
    /// Creates an empty queue that continues after the write `written`. The new WAL has the seal `log_seal`, and its
    /// first `synced_offset` bytes are durable.
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
            payment: Payment::FREE,
            records: Vec::new(),
            commits: 0,
            log_offset: HEADER_BYTES as u64,
            synced_offset,
        }
    }
}

/// The first error after which the tree accepts no writes.
#[derive(Default)]
pub(crate) struct Failure {
    is_set: AtomicBool,
    message: Mutex<Option<String>>,
}

/// Signals between background threads and the threads that wait for them.
#[derive(Default)]
pub(crate) struct Signals {
    pub(crate) state: Mutex<SignalState>,
    pub(crate) changed: Condvar,
    /// Set when the tree is being closed. Background work then ends at its next check.
    pub(crate) stop: AtomicBool,
}

/// The state of the compactor.
#[derive(Default)]
pub(crate) struct SignalState {
    /// Whether the shape has changed since the compactor last picked a job.
    pub(crate) shape_changed: bool,
    /// Whether a compaction is running.
    pub(crate) compacting: bool,
}

impl Failure {
    /// Whether the tree has failed.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Acquire)
    }

    /// Returns the error if the tree has failed.
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
    /// Wakes all threads that wait for a change.
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
    /// Hashes a key.
    #[inline]
    pub(crate) fn hashed<'a>(&self, key: &'a [u8]) -> HashedKey<'a> {
        HashedKey { bytes: key, hash: self.hasher.hash(key) }
    }

    /// Returns the merge operator of the design, if it has one.
    #[inline]
    pub(crate) fn merge_operator(&self) -> Option<MergeOperator> {
        self.design.options.merge_operator
    }

    /// Records an error after which the tree accepts no writes, wakes all waiting threads, and returns the error.
    pub(crate) fn fail(&self, error: Error) -> Error {
        self.failure.set(&error);
        self.signals.notify();
        error
    }

    /// Returns an unused file number.
    pub(crate) fn new_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns an unused run number.
    pub(crate) fn new_run(&self) -> u64 {
        self.next_run.fetch_add(1, Ordering::Relaxed)
    }

    /// Replaces the view with the result of `next` for the current view.
    pub(crate) fn swap_view(&self, next: impl FnOnce(&View) -> View) {
        let _guard = self.view_lock.lock();
        let current = self.view.load();
        self.view.store(Arc::new(next(&current)));
    }

    /// Gives the cache the share of the memory limit that memtables, filters and fences leave, if there is a limit.
    pub(crate) fn balance_memory(&self) {
        if let Some(memory) = self.design.options.memory {
            let (filters, fences) = self.view.load().version.filter_and_fence_bytes();
            let others = 2 * self.design.memtable_capacity.0 + filters + fences;
            self.context.cache.set_capacity(memory.0.saturating_sub(others));
        }
    }
}
