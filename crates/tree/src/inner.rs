//! The state of an open tree, shared by callers and background threads.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use compaction::{CompactionPolicy, OperationWindow};
use crossbeam_utils::CachePadded;
use memtable::MemtablePolicy;
use parking_lot::{Condvar, Mutex};
use storage::Storage;
use types::{HashedKey, MergeOperator, SequenceNumber};

use crate::arbitration::Arbitration;
use crate::design::Design;
use crate::error::Error;
use crate::failure::Failure;
use crate::families::Membership;
use crate::hash::KeyHasher;
use crate::log_shelf::LogShelf;
use crate::lookup_pool::LookupPool;
use crate::manifest::Manifest;
use crate::memory::Slot;
use crate::obsolete_files::ObsoleteFiles;
use crate::pacing::{Pacer, Payment};
use crate::recovered::Recovery;
use crate::schedule::Scheduler;
use crate::stats::AllCounters;
use crate::table::{Table, TableContext};
use crate::values::ValuePolicy;
use crate::version::View;
use crate::visible::Visible;
use crate::wal::{HEADER_BYTES, LogFile, WalMode};

/// Where flushes and compactions run: on background threads, or inside the writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Flushes and compactions run on background threads as soon as they are due, except the work that the option
    /// `threads.inline` assigns to writes.
    Timed,
    /// Before a write returns, it runs all flushes and compactions that are due. If a single thread uses the tree,
    /// every counter has an equal value on every machine and in every run.
    Counted,
}

/// The state of an open tree, which callers and background threads share.
///
/// A thread that needs several locks takes them in this order, so that no two threads wait for each other:
///
/// 1. Background work: `flushing`, `compacting`, `checked` of `scheduler`, `collected_blobs`, `merges_for_ranges`.
/// 2. Writes: the locks of the WAL that the families of a store share, `log`, `creating_log`, `shelf`, `pending`.
/// 3. Changes of the SSTables: `manifest`, `observed`, the locks of `arbitration`, the locks of levels from level 0
///    down, the state of `signals`, `view_lock`, the rule of `pacer`, `obsolete`, `stale_tables`.
///
/// Readers take no locks, with four exceptions:
///
/// - A scan occasionally takes a lock to check whether a read-triggered compaction is due.
/// - A get occasionally takes locks if the compaction policy or the arbiter observes reads.
/// - The threads that search together for one get store their result under a lock.
/// - Gets and scans take the locks of levels in shared mode if the design sets `threads.level_locks`.
pub(crate) struct Inner {
    pub(crate) directory: PathBuf,
    pub(crate) storage: Arc<dyn Storage>,
    pub(crate) design: Design,
    pub(crate) mode: Mode,
    /// The clock of the tree, which returns nanoseconds. The tree measures write stalls and compactions with this
    /// clock.
    pub(crate) clock: fn() -> u64,
    pub(crate) context: Arc<TableContext>,
    pub(crate) memtables: Box<dyn MemtablePolicy>,
    pub(crate) policy: Box<dyn CompactionPolicy>,
    /// The recent operations of the tree. The compaction policy adapts the structure of the tree to these operations.
    pub(crate) observed: Mutex<OperationWindow>,
    /// Whether the compaction policy needs the recent operations of the tree for its decisions.
    pub(crate) observes_operations: bool,
    /// Whether the compaction policy or the memory arbiter needs the recent gets and scans for its decisions.
    pub(crate) observes_reads: bool,
    /// The arbiter that moves memory between memtables, filters and cache. `None` if the sizes never change.
    pub(crate) arbitration: Option<Arbitration>,
    /// The policy that decides which values are stored in blob files, outside of SSTables.
    pub(crate) values: Box<dyn ValuePolicy>,
    /// The numbers of the blob files whose live values garbage collection is moving to other files.
    pub(crate) collected_blobs: Mutex<HashSet<u64>>,
    pub(crate) hasher: Arc<dyn KeyHasher>,
    pub(crate) wal_mode: WalMode,
    /// The current memtables and SSTables, like the superversion of RocksDB. A change replaces the whole view.
    pub(crate) view: ArcSwap<View>,
    /// The threads that help the callers of gets to search sorted runs. `None` if only the caller of a get searches the
    /// runs.
    pub(crate) lookup_pool: Option<LookupPool>,
    /// The sequence number up to which every write is visible to readers.
    pub(crate) visible: CachePadded<Visible>,
    /// The running flush holds this lock, so only one flush runs at a time.
    pub(crate) flushing: Mutex<()>,
    /// The running compaction holds this lock, so only one compaction runs at a time.
    pub(crate) compacting: Mutex<()>,
    /// The obsolete files that are not removed yet.
    pub(crate) obsolete: Mutex<ObsoleteFiles>,
    /// The input SSTables of the last compaction, if the design keeps these SSTables open until the next compaction.
    pub(crate) stale_tables: Mutex<Vec<Arc<Table>>>,
    /// The WAL to which writers currently append.
    pub(crate) log: CachePadded<Mutex<Log>>,
    /// The thread that creates a WAL holds this lock, so WALs are created in the order of their numbers.
    pub(crate) creating_log: Mutex<()>,
    /// The WALs that receive no more records: the WALs of immutable memtables, and the WALs created for the next
    /// memtables.
    pub(crate) shelf: Mutex<LogShelf>,
    /// The sequence number up to which every record is in the WAL. If the WAL mode requires a sync before
    /// acknowledgment, these records are also synced. Only the thread that holds the lock of the WAL increases this
    /// number.
    pub(crate) logged: CachePadded<AtomicU64>,
    /// The queue of commits that have sequence numbers and wait for the WAL.
    pub(crate) pending: CachePadded<Mutex<WriteQueue>>,
    /// The manifest, which contains the durable state of the tree. A thread must hold this lock while it changes the
    /// SSTables of the tree.
    pub(crate) manifest: Mutex<Manifest>,
    /// A thread holds this lock while it replaces the view of the tree, that is the current memtables and SSTables.
    pub(crate) view_lock: Mutex<()>,
    pub(crate) next_file: AtomicU64,
    pub(crate) next_run: AtomicU64,
    /// Whether read-triggered compactions, which reduce the cost of scans, may begin. The value is `false` while the
    /// tree is being closed, and after a read-triggered compaction has found corruption.
    pub(crate) merges_for_ranges: Mutex<bool>,
    pub(crate) failure: Failure,
    pub(crate) signals: Signals,
    /// Computes how long writes wait. `None` if the design does not delay writes.
    pub(crate) pacer: Option<Pacer>,
    /// The schedule that gives priority to clients and to compactions of level 0. `None` if compactions run one after
    /// another as the policy picks them.
    pub(crate) scheduler: Option<Scheduler>,
    /// The family number of the tree, and the WAL and memory limit of its store. `None` if the tree is not a family of
    /// a store.
    pub(crate) membership: Option<Membership>,
    pub(crate) counters: AllCounters,
    /// The report of the recovery that opened the tree.
    pub(crate) recovery: Recovery,
    /// The lock on the directory, which keeps other processes out.
    pub(crate) _lock: Box<dyn Send + Sync>,
}

/// The WAL to which writers currently append, with the records that are not written yet.
pub(crate) struct Log {
    pub(crate) file: LogFile,
    /// The records that were moved from the write queue to this buffer, and are not written to the WAL yet.
    pub(crate) records: Vec<u8>,
    /// The statistics of group commit, from which a leader decides whether to wait for followers.
    pub(crate) commit_group: CommitGroup,
}

/// The statistics of group commit at the last sync, from which the leader decides whether to wait for followers.
#[derive(Default)]
pub(crate) struct CommitGroup {
    /// The number of commits for which the next leader waits: the commits in the last sync, plus the commits that
    /// entered the write queue during this sync.
    pub(crate) commits: u64,
    /// The duration of the last sync of the WAL.
    pub(crate) sync_time: Duration,
    /// The number of consecutive times that the leader waited and no other thread joined its group commit.
    pub(crate) backoff: u32,
    /// The number of syncs that must pass before a leader waits for other threads again.
    pub(crate) until_wait: u32,
}

impl Log {
    /// Creates the state of a new WAL file without records.
    pub(crate) fn new(file: LogFile) -> Self {
        Self { file, records: Vec::new(), commit_group: CommitGroup::default() }
    }

    /// Moves all records in the write queue to the buffer of the WAL.
    #[inline]
    pub(crate) fn take(&mut self, pending: &mut WriteQueue) -> Drained {
        std::mem::swap(&mut self.records, &mut pending.records);
        pending.log_offset += self.records.len() as u64;
        let commits = std::mem::take(&mut pending.commits);
        Drained { last: pending.next_sequence - 1, end: pending.log_offset, commits }
    }
}

/// Describes the records that were moved from the write queue to the buffer of the WAL.
#[derive(Clone, Copy)]
pub(crate) struct Drained {
    /// The sequence number of the last operation in the records that were taken from the write queue.
    pub(crate) last: SequenceNumber,
    /// The offset in the WAL at which the records from the write queue end.
    pub(crate) end: u64,
    /// The number of commits in the records that were taken from the write queue.
    pub(crate) commits: u64,
}

/// The queue of commits that have sequence numbers and wait for the WAL, and the memtable of these commits.
pub(crate) struct WriteQueue {
    pub(crate) next_sequence: SequenceNumber,
    pub(crate) active: Arc<Slot>,
    /// The seal of the current WAL: a number that identifies the file and its store, and that each checksum of the file
    /// covers.
    pub(crate) log_seal: u64,
    /// The size of the active memtable: the sum of the bytes of its writes. The memtable is full if this size reaches
    /// `memtable_bytes`.
    pub(crate) charged_bytes: u64,
    /// The size of the active memtable, in bytes, at which the memtable is full.
    pub(crate) memtable_bytes: u64,
    /// The sequence number at which the active memtable reaches its limit of entries. The memtable is then full, even
    /// if it has room for more bytes.
    pub(crate) full_from: SequenceNumber,
    /// The delay state of the active memtable: the size at which the next writer waits, if the design delays writes.
    pub(crate) payment: Payment,
    /// The encoded records of the queued commits, which are not in the WAL yet.
    pub(crate) records: Vec<u8>,
    /// The number of queued commits, whose records are not in the WAL yet.
    pub(crate) commits: u64,
    /// The offset in the WAL at which the first queued record will begin.
    pub(crate) log_offset: u64,
    /// The number of bytes at the front of the WAL that are known to be durable.
    pub(crate) synced_offset: u64,
}

impl WriteQueue {
    /// Creates an empty write queue for a new WAL. The next write gets the sequence number after `written`. `log_seal`
    /// is a number that identifies the WAL file and its store, and that each checksum of the WAL covers. The first
    /// `synced_offset` bytes of the WAL are durable.
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
            memtable_bytes: design.memtable_capacity.0,
            full_from: design.full_from(written + 1),
            payment: Payment::FREE,
            records: Vec::new(),
            commits: 0,
            log_offset: HEADER_BYTES as u64,
            synced_offset,
        }
    }
}

/// The signals that wake background threads and the threads that wait for background work.
#[derive(Default)]
pub(crate) struct Signals {
    pub(crate) state: Mutex<SignalState>,
    pub(crate) changed: Condvar,
    /// Set while the tree is being closed. Background work ends when it next checks this flag.
    pub(crate) stop: AtomicBool,
}

/// The state from which background threads learn whether a compaction may be due.
#[derive(Default)]
pub(crate) struct SignalState {
    /// Whether the compaction thread must check if a compaction is due, because the levels have changed or a read has
    /// requested the check.
    pub(crate) shape_changed: bool,
    /// Whether a compaction is running.
    pub(crate) compacting: bool,
}

impl Signals {
    /// Wakes all background threads, and all threads that wait for background work.
    pub(crate) fn notify(&self) {
        let _state = self.state.lock();
        self.changed.notify_all();
    }

    /// Returns whether the tree is being closed.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }
}

impl Inner {
    /// Returns a key with its hash, computed by the hash function of the tree.
    #[inline]
    pub(crate) fn hashed<'a>(&self, key: &'a [u8]) -> HashedKey<'a> {
        HashedKey { bytes: key, hash: self.hasher.hash(key) }
    }

    /// Returns the merge operator of the design, or `None` if the design has no merge operator.
    #[inline]
    pub(crate) fn merge_operator(&self) -> Option<MergeOperator> {
        self.design.options.merge_operator
    }

    /// Records a write error, wakes all waiting threads, and returns the error. The tree accepts no writes after this
    /// error.
    pub(crate) fn fail(&self, error: Error) -> Error {
        self.failure.set(&error);
        self.signals.notify();
        error
    }

    /// Returns an unused file number.
    pub(crate) fn new_file(&self) -> u64 {
        self.next_file.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns an unused number for a sorted run.
    pub(crate) fn new_run(&self) -> u64 {
        self.next_run.fetch_add(1, Ordering::Relaxed)
    }

    /// Replaces the view of the tree, that is its memtables and SSTables, with the view that `next` creates from the
    /// current view.
    pub(crate) fn swap_view(&self, next: impl FnOnce(&View) -> View) {
        let _guard = self.view_lock.lock();
        let current = self.view.load();
        self.view.store(Arc::new(next(&current)));
    }
}
