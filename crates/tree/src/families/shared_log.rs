//! The WAL that all column families of a store share. It consists of segments (files), to which the commits of all
//! families are appended in one order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use storage::Storage;
use types::SequenceNumber;

use super::retired::{Retired, RetiredSegment};
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::failure::Failure;
use crate::seals::Seals;
use crate::wal::{CommitSync, HEADER_BYTES, LogFile, LogPlace, WalMode, frame};

/// The WAL that all column families of a store share.
///
/// Threads take its locks in this order: `segment`, `queue`, `retired`. Some functions take locks of a tree while they
/// hold locks of the shared WAL. No thread waits for locks of the shared WAL while it holds the write queue or the
/// manifest of a tree.
pub(crate) struct SharedLog {
    storage: Arc<dyn Storage>,
    directory: PathBuf,
    mode: WalMode,
    seals: Seals,
    segment: Mutex<Segment>,
    queue: Mutex<Queue>,
    /// The number of the last operation that the WAL contains. These numbers count the operations of all column
    /// families together. If the WAL mode requires a sync before acknowledgment, this operation is also synced.
    logged: AtomicU64,
    retired: Mutex<Retired>,
    failure: Failure,
    written_bytes: AtomicU64,
    syncs: AtomicU64,
}

/// The WAL segment to which writers append.
struct Segment {
    file: LogFile,
    /// The records of commits that were taken from the queue and are not written to the WAL segment yet.
    records: Vec<u8>,
}

/// The records of commits that are not written to the shared WAL yet, and the position at which they will be written.
struct Queue {
    /// The number that the next operation gets. These numbers count the operations of all column families together.
    next_operation: SequenceNumber,
    /// The file number of the WAL segment to which writers append, and the number that identifies this file and its
    /// store.
    segment: (u64, u64),
    records: Vec<u8>,
    /// The offset in the WAL segment at which the queued `records` will begin.
    offset: u64,
    /// The number of bytes at the start of the WAL segment that are known to be durable.
    synced: u64,
    tally: Tally,
}

impl Queue {
    /// Returns whether all queued records have been written to the WAL segment. If `sync` is set, they must also be
    /// durable. The caller must hold the lock of the segment.
    fn is_written(&self, sync: bool) -> bool {
        self.records.is_empty() && (!sync || self.synced == self.offset)
    }
}

impl SharedLog {
    /// Creates the shared WAL of a store that is being opened, with the new segment `number` for new commits. `last` is
    /// the number of the last operation in older segments.
    pub(super) fn create(
        storage: &Arc<dyn Storage>,
        directory: &Path,
        mode: WalMode,
        (seals, number): (Seals, u64),
        (last, retired): (SequenceNumber, Retired),
    ) -> Result<Self> {
        let seal = seals.of(number);
        let file = LogFile::create(&**storage, directory, number, seal, mode)?;
        let queue = Queue {
            next_operation: last + 1,
            segment: (number, seal),
            records: Vec::new(),
            offset: HEADER_BYTES as u64,
            synced: HEADER_BYTES as u64,
            tally: Tally::new(&[]),
        };
        Ok(Self {
            storage: Arc::clone(storage),
            directory: directory.to_owned(),
            mode,
            seals,
            written_bytes: AtomicU64::new(file.len()),
            syncs: AtomicU64::new(u64::from(mode.syncs_at_rotation)),
            segment: Mutex::new(Segment { file, records: Vec::new() }),
            queue: Mutex::new(queue),
            logged: AtomicU64::new(last),
            retired: Mutex::new(retired),
            failure: Failure::default(),
        })
    }

    /// Records the names of the column families, with the sequence numbers up to which they are flushed. Must be called
    /// before the first commit.
    pub(super) fn begin(&self, families: Vec<String>, flushed: Vec<SequenceNumber>) -> Result<()> {
        self.queue.lock().tally = Tally::new(&flushed);
        self.retired.lock().begin(&*self.storage, &self.directory, families, flushed)
    }

    /// Adds a commit with `operations` operations to the WAL. `reserve` reserves the sequence numbers in the trees of
    /// the column families, and appends the operations to the WAL record.
    ///
    /// The call ends as soon as the record is in the WAL, and is durable if the WAL mode requires a sync. Returns the
    /// result of `reserve`.
    pub(super) fn commit<R>(
        &self,
        operations: u64,
        reserve: impl FnOnce(&mut Vec<u8>, &mut Tally) -> R,
    ) -> Result<R> {
        // In mode `sync`, every commit holds the lock of the segment, so no two commits share a sync.
        let mut held = (self.mode.commit_sync == CommitSync::Each).then(|| self.segment.lock());
        self.failure.check()?;
        let mut queue = self.queue.lock();
        let Queue { next_operation, segment: (_, seal), records, offset, synced, tally } = &mut *queue;
        let first = *next_operation;
        *next_operation += operations;
        if !self.mode.has_log {
            return Ok(reserve(&mut Vec::new(), tally));
        }
        let place = LogPlace { seal: *seal, base: *offset, synced: *synced };
        let mut reserved = None;
        frame(records, place, first, |record| reserved = Some(reserve(record, tally)));
        drop(queue);
        match &mut held {
            Some(segment) => self.write(segment, true)?,
            None => self.ensure_logged(first + operations - 1)?,
        }
        Ok(reserved.expect("the encoder of a WAL record must call the closure that appends the operations"))
    }

    /// Calls `reserve`, which reserves sequence numbers for operations that recovery has read from the WAL. The
    /// function appends nothing to the WAL, because the WAL already contains these operations.
    pub(super) fn count<R>(&self, reserve: impl FnOnce(&mut Tally) -> R) -> R {
        reserve(&mut self.queue.lock().tally)
    }

    /// Makes the active memtable of a column family immutable. For this purpose, the function calls `rotate`, which
    /// returns `false` if it left the memtable unchanged.
    ///
    /// Before the call of `rotate`, all commits of the memtable become durable in the WAL. Later commits go to a new
    /// segment.
    pub(crate) fn freeze(&self, family: usize, rotate: impl FnOnce() -> Result<bool>) -> Result<()> {
        let mut segment = self.segment.lock();
        self.failure.check()?;
        if self.mode.has_log {
            // Most queued records are synced here, without the lock of the queue, so other writers can add records.
            self.write(&mut segment, true)?;
        }
        let mut queue = self.queue.lock();
        if self.mode.has_log && !queue.is_written(true) {
            self.write_queue(&mut segment, &mut queue)?;
        }
        if rotate()? {
            queue.tally.freeze(family);
            if queue.offset > HEADER_BYTES as u64 {
                self.begin_segment(&mut segment, &mut queue).map_err(|error| self.fail(error))?;
            }
        }
        Ok(())
    }

    /// Records that the column family number `family` is flushed up to `sequence`, and removes the WAL segments that no
    /// family needs any more.
    pub(crate) fn note_flushed(&self, family: usize, sequence: SequenceNumber) -> Result<()> {
        let mut retired = self.retired.lock();
        let noted = retired.note_flushed(&*self.storage, &self.directory, family, sequence);
        // After a failed sync of the manifest, no family may accept writes.
        noted.map_err(|error| self.fail(error))
    }

    /// Returns the number of the column family with the largest active memtable, and the result of `active`, which is
    /// called with this number. Returns `None` if all active memtables together have less than `budget` bytes. No
    /// commit begins during the call.
    pub(super) fn fullest<R>(&self, budget: u64, active: impl FnOnce(usize) -> R) -> Option<(usize, R)> {
        let queue = self.queue.lock();
        queue.tally.fullest(budget).map(|family| (family, active(family)))
    }

    /// Returns the number of a column family that prevents the removal of the oldest WAL segment, because its active
    /// memtable has operations of this segment. Also returns the result of `active`, which is called with this number.
    ///
    /// Returns `None` if the completed segments together have at most `limit` bytes, or if no family needs the oldest
    /// segment.
    pub(super) fn lagging<R>(&self, limit: u64, active: impl FnOnce(usize) -> R) -> Option<(usize, R)> {
        let queue = self.queue.lock();
        let retired = self.retired.lock();
        let family = queue.tally.lagging(retired.oldest_above(limit)?)?;
        Some((family, active(family)))
    }

    /// Makes all commits in the WAL durable. Does nothing without a WAL.
    pub(super) fn sync(&self) -> Result<()> {
        self.failure.check()?;
        if self.mode.has_log { self.write(&mut self.segment.lock(), true) } else { Ok(()) }
    }

    /// Makes all commits durable, and records the length of the current WAL segment in the manifest.
    pub(super) fn close(&self) -> Result<()> {
        self.sync()?;
        let bytes = self.segment.lock().file.len();
        self.retired.lock().close(&*self.storage, bytes).map_err(|error| self.fail(error))
    }

    /// Returns whether the store has a WAL.
    pub(super) fn has_log(&self) -> bool {
        self.mode.has_log
    }

    /// Returns the number of bytes appended to the WAL, and the number of syncs of the WAL.
    pub(super) fn written(&self) -> (u64, u64) {
        (self.written_bytes.load(Ordering::Relaxed), self.syncs.load(Ordering::Relaxed))
    }

    /// Records that writing the WAL has failed, and returns the error. From then on, the store accepts no writes. Only
    /// the first error is recorded.
    pub(super) fn fail(&self, error: Error) -> Error {
        self.failure.set(&error);
        error
    }

    /// Checks that no write to the WAL has failed.
    ///
    /// # Errors
    /// [`Error::Failed`] with the first write error.
    pub(super) fn check(&self) -> Result<()> {
        self.failure.check()
    }

    /// Ensures that the WAL contains the operation with the number `last`. The first waiting thread is the group-commit
    /// leader: it writes the records of all waiting threads, and syncs the WAL once if the WAL mode requires a sync.
    fn ensure_logged(&self, last: SequenceNumber) -> Result<()> {
        let is_logged = || self.logged.load(Ordering::Acquire) >= last;
        let mut segment = self.segment.lock();
        if is_logged() {
            return Ok(());
        }
        self.failure.check()?;
        self.write(&mut segment, self.mode.shares_syncs())
    }

    /// Writes all queued records to the current WAL segment. Syncs the segment if `sync` is set.
    fn write(&self, segment: &mut Segment, sync: bool) -> Result<()> {
        let mut queue = self.queue.lock();
        if queue.is_written(sync) {
            return Ok(());
        }
        let (last, end) = take_records(segment, &mut queue);
        drop(queue);
        self.append(segment, last, sync)?;
        if sync {
            self.queue.lock().synced = end;
        }
        Ok(())
    }

    /// Writes all queued records to the current WAL segment and syncs it. The caller holds the lock of the queue, so no
    /// commit can begin.
    fn write_queue(&self, segment: &mut Segment, queue: &mut Queue) -> Result<()> {
        let (last, end) = take_records(segment, queue);
        self.append(segment, last, true)?;
        queue.synced = end;
        Ok(())
    }

    fn append(&self, segment: &mut Segment, last: SequenceNumber, sync: bool) -> Result<()> {
        let Segment { file, records } = segment;
        self.written_bytes.fetch_add(records.len() as u64, Ordering::Relaxed);
        file.append(records).map_err(|error| self.fail(error))?;
        records.clear();
        if sync {
            self.syncs.fetch_add(1, Ordering::Relaxed);
            file.sync().map_err(|error| self.fail(error))?;
        }
        self.logged.store(last, Ordering::Release);
        Ok(())
    }

    /// Begins a new WAL segment. All records of the old segment must be durable.
    fn begin_segment(&self, segment: &mut Segment, queue: &mut Queue) -> Result<()> {
        let mut retired = self.retired.lock();
        let number = retired.new_file();
        let seal = self.seals.of(number);
        let file = LogFile::create(&*self.storage, &self.directory, number, seal, self.mode)?;
        self.written_bytes.fetch_add(file.len(), Ordering::Relaxed);
        self.syncs.fetch_add(u64::from(self.mode.syncs_at_rotation), Ordering::Relaxed);
        let (old, _) = std::mem::replace(&mut queue.segment, (number, seal));
        let (last, end) = (queue.tally.last().to_vec(), queue.next_operation - 1);
        retired.retire(RetiredSegment { number: old, last, end, bytes: queue.offset }, number);
        segment.file = file;
        (queue.offset, queue.synced) = (HEADER_BYTES as u64, HEADER_BYTES as u64);
        Ok(())
    }
}

/// Moves all queued records to the write buffer of the WAL segment. Returns the number of the last operation, and the
/// offset in the segment at which its record ends.
fn take_records(segment: &mut Segment, queue: &mut Queue) -> (SequenceNumber, u64) {
    std::mem::swap(&mut segment.records, &mut queue.records);
    queue.offset += segment.records.len() as u64;
    (queue.next_operation - 1, queue.offset)
}
