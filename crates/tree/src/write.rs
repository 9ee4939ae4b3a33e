//! The write path. A commit gets sequence numbers, is written to the WAL, is inserted into the memtable, and then
//! becomes visible.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use arc_swap::Guard;
use crossbeam_utils::Backoff;
use parking_lot::{Mutex, MutexGuard};
use types::{Entry, SequenceNumber};

use crate::batch::{
    self, BatchCounts, Operation, WriteBatch, check_limits, encode_merge, encode_operation,
    encode_range_delete, encode_single_delete, is_empty_range,
};
use crate::error::{Error, Result};
use crate::inner::{CommitGroup, Drained, Inner, Log, Mode, WriteQueue};
use crate::log_shelf::NewLog;
use crate::memory::Slot;
use crate::merge_operands::{stored_operand, stored_value};
use crate::version::View;
use crate::visible::Visible;
use crate::wal::{CommitSync, HEADER_BYTES, LogPlace, frame, synced_when_new};

/// The number of times that a waiting writer checks its condition before it yields to other threads.
const SPINS: u32 = 128;

/// The number of times that a writer tries to lock a mutex before the writer blocks. After seven attempts, the writer
/// yields between two attempts.
const ATTEMPTS: u32 = 64;

/// The longest time for which a writer yields while it waits for another thread to write or sync its WAL record. After
/// this time, the writer sleeps until the WAL is free. It does not sleep earlier, because waking a sleeping thread
/// takes tens of microseconds.
const MOST_YIELDING: Duration = Duration::from_micros(500);

/// The divisor for the longest wait of a group-commit leader. The leader waits for other commits at most for the
/// duration of the last sync divided by `WAIT_SHARE`.
const WAIT_SHARE: u32 = 4;

/// The maximum of [`CommitGroup::backoff`], the number of waits in a row in which no other commit joined the leader.
/// After 7 or more such waits, 2⁷ − 1 syncs pass before the next wait.
const MOST_BACKOFF: u32 = 7;

/// The memtable and the sequence numbers that a commit reserves before it writes its entries.
pub(crate) struct CommitSlot {
    /// The view of the tree whose active memtable receives the writes of the commit.
    view: Guard<Arc<View>>,
    /// The first sequence number of the commit.
    pub(crate) first: SequenceNumber,
    /// Whether this commit fills the active memtable.
    is_full: bool,
    /// Whether this commit must wait. Commits wait only if the design delays writes. The length of the wait depends on
    /// the bytes that were written since the last wait.
    pays: bool,
    /// The records that this commit took from the write queue, which include its own record. `None` if another thread
    /// writes the record to the WAL.
    taken: Option<Drained>,
}

/// The work that a writer must do after its commit is visible to readers.
pub(crate) enum WorkAfterCommit {
    None,
    /// The commit has filled this memtable, so the writer must replace it.
    Rotate(Arc<Slot>),
    /// The design delays writes, so the writer must wait. The length of the wait depends on the bytes that were written
    /// since the last wait.
    Pay,
}

impl CommitSlot {
    /// Returns the work that the writer must do after its commit is visible to readers.
    pub(crate) fn work_after(self) -> WorkAfterCommit {
        match (self.is_full, self.pays) {
            (true, _) => WorkAfterCommit::Rotate(self.into_memtable()),
            (false, true) => WorkAfterCommit::Pay,
            (false, false) => WorkAfterCommit::None,
        }
    }

    /// Returns the memtable of the commit, and drops the view of the tree, because the view would keep SSTables that a
    /// compaction has removed.
    fn into_memtable(self) -> Arc<Slot> {
        Arc::clone(&Guard::into_inner(self.view).active)
    }
}

/// Locks a mutex. The thread spins and yields before it blocks, because other threads hold this lock for less time
/// than a context switch takes. The pauses between two attempts become longer, so many waiting threads do not slow
/// down the thread that holds the lock.
#[inline]
fn spin_lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    let backoff = Backoff::new();
    for _ in 0..ATTEMPTS {
        if let Some(guard) = mutex.try_lock() {
            return guard;
        }
        backoff.snooze();
    }
    mutex.lock()
}

impl Inner {
    /// Writes one put or delete in one commit.
    pub(crate) fn write_entry(&self, entry: Entry<'_>) -> Result<()> {
        check_limits(&entry)?;
        let key = self.hashed(entry.key);
        self.commit(
            BatchCounts::of(&entry),
            |records| encode_operation(records, &entry),
            |slot, sequence| match self.merge_operator() {
                None => slot.memtable.insert(key, sequence, entry.value),
                Some(_) => self.insert(slot, sequence, Operation::Write(entry)),
            },
        )
    }

    /// Merges an operand into the value of a key.
    pub(crate) fn merge_entry(&self, key: &[u8], operand: &[u8]) -> Result<()> {
        check_limits(&Entry { key, value: Some(operand) })?;
        self.check_operator()?;
        let merge = Operation::Merge { key, operand };
        self.commit(
            merge.counts(),
            |records| encode_merge(records, key, operand),
            |slot, sequence| self.insert(slot, sequence, merge),
        )
    }

    /// Deletes a key that has at most one put since its previous single delete.
    pub(crate) fn single_delete(&self, key: &[u8]) -> Result<()> {
        check_limits(&Entry { key, value: None })?;
        let delete = Operation::SingleDelete(key);
        self.commit(
            delete.counts(),
            |records| encode_single_delete(records, key),
            |slot, sequence| self.insert(slot, sequence, delete),
        )
    }

    /// Returns an error if the design has no merge operator.
    fn check_operator(&self) -> Result<()> {
        match self.merge_operator() {
            Some(_) => Ok(()),
            None => Err(Error::Misuse(
                "the design has no merge operator; set merge_operator = \"add\", \"append\" or \"max\""
                    .to_owned(),
            )),
        }
    }

    /// Deletes all keys from `low`, inclusive, to `high`, exclusive.
    pub(crate) fn delete_range(&self, low: &[u8], high: &[u8]) -> Result<()> {
        if is_empty_range(low, high)? {
            return self.failure.check();
        }
        self.commit(
            Operation::DeleteRange { low, high }.counts(),
            |records| encode_range_delete(records, low, high),
            |slot, sequence| slot.range_deletes.insert(low, high, sequence),
        )
    }

    /// Applies all operations of a batch atomically.
    pub(crate) fn write_batch(&self, batch: &WriteBatch) -> Result<()> {
        if batch.is_empty() {
            return self.failure.check();
        }
        self.check_merges(batch)?;
        self.commit(
            batch.counts(),
            |records| records.extend_from_slice(batch.encoded()),
            |slot, first| self.insert_batch(slot, first, batch),
        )
    }

    /// Returns an error if the batch has a merge and the design has no merge operator.
    pub(crate) fn check_merges(&self, batch: &WriteBatch) -> Result<()> {
        if batch.counts().merges > 0 { self.check_operator() } else { Ok(()) }
    }

    /// Adds the operations of a batch to a memtable and its range deletes. The first operation has the sequence number
    /// `first`.
    pub(crate) fn insert_batch(&self, slot: &Slot, first: SequenceNumber, batch: &WriteBatch) {
        let counts = batch.counts();
        if counts.range_deletes + counts.single_deletes > 0 || self.merge_operator().is_some() {
            let numbered = (first..).zip(batch::operations(batch.encoded()).flatten());
            return numbered.for_each(|(sequence, operation)| self.insert(slot, sequence, operation));
        }
        let mut entries = batch.entries().map(|entry| (self.hashed(entry.key), entry.value));
        slot.memtable.insert_all(first, &mut entries);
    }

    /// Adds one operation with the sequence number `sequence` to a memtable, and to its lists of range deletes and
    /// single deletes. For a conditional put, the caller has checked that the key is absent.
    pub(crate) fn insert(&self, slot: &Slot, sequence: SequenceNumber, operation: Operation<'_>) {
        let (key, stored) = match operation {
            Operation::DeleteRange { low, high } => return slot.range_deletes.insert(low, high, sequence),
            Operation::SingleDelete(key) => {
                let key = self.hashed(key);
                slot.memtable.insert(key, sequence, None);
                if self.design.options.merge.single_deletes {
                    slot.single_deletes.insert(key.hash, sequence);
                }
                return;
            }
            Operation::Write(entry) | Operation::PutIfAbsent(entry) => {
                match (entry.value, self.merge_operator()) {
                    (Some(value), Some(_)) => (entry.key, stored_value(value)),
                    (value, _) => return slot.memtable.insert(self.hashed(entry.key), sequence, value),
                }
            }
            Operation::Merge { key, operand } => (key, stored_operand(operand)),
        };
        slot.memtable.insert(self.hashed(key), sequence, Some(&stored));
    }

    pub(crate) fn commit(
        &self,
        counts: BatchCounts,
        encode: impl FnOnce(&mut Vec<u8>),
        apply: impl FnOnce(&Slot, SequenceNumber),
    ) -> Result<()> {
        let mut held = self.log_at_once();
        self.failure.check()?;
        let slot = self.enqueue(counts, held.as_deref_mut(), encode);
        let last = slot.first + counts.operations() - 1;
        match (&mut held, slot.taken) {
            (Some(log), Some(taken)) => {
                self.append(log, taken, self.wal_mode.commit_sync == CommitSync::Each)?;
            }
            _ if !self.wal_mode.has_log => {}
            _ => self.ensure_logged(last)?,
        }
        drop(held);
        self.apply(&slot, counts, apply)?;
        if slot.is_full {
            let memtable = slot.into_memtable();
            self.rotate(&memtable)?;
            self.work_inline()?;
        } else if slot.pays {
            drop(slot);
            self.pay();
        }
        Ok(())
    }

    /// Reserves sequence numbers and a memtable for a commit in a column family. Adds no record to the write queue,
    /// because the WAL that all families share contains the record of the commit.
    pub(crate) fn reserve(&self, counts: BatchCounts) -> CommitSlot {
        self.enqueue(counts, None, |_| {})
    }

    /// Inserts the entries of a commit into its memtable with `apply`, makes the commit visible, and adds `counts` to
    /// the counters of the tree.
    #[inline]
    pub(crate) fn apply(
        &self,
        slot: &CommitSlot,
        counts: BatchCounts,
        apply: impl FnOnce(&Slot, SequenceNumber),
    ) -> Result<()> {
        self.apply_uncounted(slot, counts, apply)?;
        let counters = self.counters.local();
        counters.puts.add(counts.puts);
        counters.deletes.add(counts.deletes);
        if counts.range_deletes + counts.merges + counts.single_deletes > 0 {
            counters.range_deletes.add(counts.range_deletes);
            counters.merges.add(counts.merges);
            counters.single_deletes.add(counts.single_deletes);
        }
        counters.user_bytes_written.add(counts.user_bytes);
        Ok(())
    }

    /// Inserts the entries of a commit into its memtable with `apply`, and makes the commit visible. The counters of
    /// the tree stay unchanged.
    #[inline]
    pub(crate) fn apply_uncounted(
        &self,
        slot: &CommitSlot,
        counts: BatchCounts,
        apply: impl FnOnce(&Slot, SequenceNumber),
    ) -> Result<()> {
        apply(&slot.view.active, slot.first);
        self.publish(slot.first, slot.first + counts.operations() - 1)
    }

    /// Locks the WAL for a commit that may write its own record. Returns `None` if the record must wait in the write
    /// queue for the thread that locks the WAL next.
    #[inline]
    fn log_at_once(&self) -> Option<MutexGuard<'_, Log>> {
        // In the mode `sync`, every commit holds the lock of the WAL during its sync, so no two commits share a sync.
        // In modes that never sync, a commit takes the lock of the WAL if no other thread holds it. The commit then
        // needs no queue. Otherwise, the thread that holds the lock of the WAL writes the queued record of the commit.
        match self.wal_mode.commit_sync {
            CommitSync::Each => Some(self.log.lock()),
            CommitSync::Never if self.wal_mode.has_log => self.log.try_lock(),
            CommitSync::Never | CommitSync::Shared { .. } => None,
        }
    }

    /// Assigns sequence numbers and a memtable to the commit, and adds its record to the queue. The thread that holds
    /// the lock of the WAL takes all queued records.
    #[inline]
    fn enqueue(
        &self,
        counts: BatchCounts,
        held: Option<&mut Log>,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> CommitSlot {
        let mut pending = spin_lock(&self.pending);
        let WriteQueue {
            next_sequence,
            active: _,
            log_seal,
            charged_bytes,
            memtable_bytes,
            full_from,
            payment,
            records,
            commits,
            log_offset,
            synced_offset,
        } = &mut *pending;
        let first = *next_sequence;
        *next_sequence += counts.operations();
        *commits += 1;
        if self.wal_mode.has_log {
            let place = LogPlace { seal: *log_seal, base: *log_offset, synced: *synced_offset };
            frame(records, place, first, encode);
        }
        *charged_bytes += counts.charged_bytes();
        let is_full = *charged_bytes >= *memtable_bytes || *next_sequence >= *full_from;
        let pays = *charged_bytes >= payment.due_from;
        if pays {
            payment.due_from = u64::MAX;
        }
        let taken = held.map(|log| log.take(&mut pending));
        // The active memtable of the view changes only under this lock. The commit does not clone the `Arc` of the
        // memtable, because all writers would change this reference count twice for each write.
        CommitSlot { view: self.view.load(), first, is_full, pays, taken }
    }

    /// Ensures that the WAL record that ends at sequence number `last` is written. The first waiting thread leads the
    /// group commit and writes the records of all waiting threads.
    #[inline]
    fn ensure_logged(&self, last: SequenceNumber) -> Result<()> {
        let is_logged = || self.logged.load(Ordering::Acquire) >= last;
        let Some(mut log) = self.lead(is_logged) else {
            return Ok(());
        };
        if is_logged() {
            return Ok(());
        }
        self.failure.check()?;
        if let CommitSync::Shared { most_wait } = self.wal_mode.commit_sync {
            self.wait_for_followers(&mut log.commit_group, most_wait);
        }
        self.write_log(&mut log, self.wal_mode.shares_syncs())
    }

    /// Waits until this thread becomes the group-commit leader, or another thread has written its WAL record. Returns
    /// the locked WAL to the leader, which writes the records of all waiting threads and, with group commit, syncs the
    /// WAL. Returns `None` if the record is already written, and synced if necessary.
    fn lead(&self, is_logged: impl Fn() -> bool) -> Option<MutexGuard<'_, Log>> {
        let mut spins = 0;
        let mut sleeps_at = None;
        loop {
            if is_logged() {
                return None;
            }
            if let Some(log) = self.log.try_lock() {
                return Some(log);
            }
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
                continue;
            }
            let sleeps_at = *sleeps_at.get_or_insert_with(|| Instant::now() + MOST_YIELDING);
            if Instant::now() >= sleeps_at {
                return Some(self.log.lock());
            }
            std::thread::yield_now();
        }
    }

    /// Lets a group-commit leader wait at most `most_wait` for other commits, so that they share its sync. The leader
    /// waits for a certain number of commits: the commits that shared the last sync, plus the commits that entered the
    /// queue during that sync.
    ///
    /// The threads of these commits are likely to commit again soon. If this number is less than 2, the leader does not
    /// wait. After each wait without followers, twice as many syncs pass before the next wait.
    fn wait_for_followers(&self, group: &mut CommitGroup, most_wait: Duration) {
        let CommitGroup { commits, sync_time, backoff, until_wait } = group;
        if *commits < 2 {
            return;
        }
        if *until_wait > 0 {
            *until_wait -= 1;
            return;
        }
        let queued = || spin_lock(&self.pending).commits;
        let (at_first, goes_on_at) = (queued(), Instant::now() + (*sync_time / WAIT_SHARE).min(most_wait));
        while queued() < *commits && Instant::now() < goes_on_at {
            std::thread::yield_now();
        }
        let has_come = at_first >= *commits || queued() > at_first;
        *backoff = if has_come { 0 } else { (*backoff + 1).min(MOST_BACKOFF) };
        *until_wait = (1 << *backoff) - 1;
    }

    /// Writes all records in the write queue to the WAL. Syncs the WAL if `sync` is set.
    pub(crate) fn write_log(&self, log: &mut MutexGuard<'_, Log>, sync: bool) -> Result<()> {
        let taken = log.take(&mut spin_lock(&self.pending));
        self.append(log, taken, sync)
    }

    /// Writes the records in the buffer of `log` to the WAL. `taken` describes these records. Syncs the WAL if `sync`
    /// is set.
    #[inline]
    fn append(&self, log: &mut Log, taken: Drained, sync: bool) -> Result<()> {
        let Log { file, records, commit_group } = log;
        let counters = self.counters.local();
        counters.wal_bytes.add(records.len() as u64);
        file.append(records).map_err(|error| self.fail(error))?;
        records.clear();
        if sync {
            counters.wal_syncs.bump();
            let start = self.wal_mode.shares_syncs().then(Instant::now);
            file.sync().map_err(|error| self.fail(error))?;
            commit_group.sync_time = start.map_or(Duration::ZERO, |start| start.elapsed());
            let mut pending = self.pending.lock();
            pending.synced_offset = taken.end;
            commit_group.commits = taken.commits + pending.commits;
        }
        self.logged.store(taken.last, Ordering::Release);
        Ok(())
    }

    /// Makes all acknowledged writes of the tree durable.
    pub(crate) fn sync(&self) -> Result<()> {
        self.failure.check()?;
        if !self.wal_mode.has_log {
            return self.flush();
        }
        self.write_log(&mut self.log.lock(), true)?;
        if self.wal_mode.syncs_at_rotation {
            return Ok(());
        }
        // The directory entry of the WAL may not be durable. The WALs of immutable memtables may not be durable either,
        // so the tree waits for the flush of these memtables.
        self.storage.sync_directory(&self.directory).map_err(|error| self.fail(error.into()))?;
        self.wait_until_flushed()
    }

    /// Makes the writes of a commit from `first` to `last` visible to readers, after all earlier writes.
    #[inline]
    fn publish(&self, first: SequenceNumber, last: SequenceNumber) -> Result<()> {
        self.wait_while_writing(|visible| !visible.has_room(first))?;
        self.visible.done(first, last);
        self.wait_until_visible(last)
    }

    /// Waits until every write up to `sequence` is in its memtable and visible to readers.
    #[inline]
    pub(crate) fn wait_until_visible(&self, sequence: SequenceNumber) -> Result<()> {
        self.wait_while_writing(|visible| visible.advance() < sequence)
    }

    /// Waits for other writers until `waits` returns `false`. The argument of `waits` describes which writes are
    /// visible.
    #[inline]
    fn wait_while_writing(&self, waits: impl Fn(&Visible) -> bool) -> Result<()> {
        let mut spins = 0;
        while waits(&self.visible) {
            self.failure.check()?;
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        Ok(())
    }

    /// Makes the memtable `full` immutable, and begins a new memtable and WAL. Does nothing if another writer has
    /// already replaced the memtable.
    pub(crate) fn rotate(&self, full: &Arc<Slot>) -> Result<()> {
        self.wait_for_room(full)?;
        let start = self.clock_ns();
        self.begin_memtable(full)?;
        let counters = self.counters.local();
        counters.rotations.bump();
        counters.rotation_ns.add(self.clock_ns().saturating_sub(start));
        Ok(())
    }

    /// Replaces the memtable `full`, like [`rotate`](Self::rotate), but without waiting for the flush of older
    /// memtables.
    pub(crate) fn begin_memtable(&self, full: &Arc<Slot>) -> Result<()> {
        match &self.membership {
            None => self.replace_memtable(full).map(|_| ()),
            Some(membership) => membership
                .log
                .freeze(membership.family, || self.replace_memtable(full))
                .map_err(|error| self.fail(error)),
        }
    }

    /// Replaces the full memtable `full` with a new memtable. Returns `false` if another writer has already replaced
    /// the memtable.
    fn replace_memtable(&self, full: &Arc<Slot>) -> Result<bool> {
        let mut log = self.log.lock();
        if !Arc::ptr_eq(&self.pending.lock().active, full) {
            return Ok(false);
        }
        self.failure.check()?;
        let NewLog { number, seal, file } = self.take_log().map_err(|error| self.fail(error))?;
        let counters = self.counters.local();
        let memtable_bytes = self.memtable_bytes();
        let fresh = Arc::new(Slot::new(self.memtables.create(memtable_bytes as usize), number));
        // The records of the old WAL must become durable before newer writes.
        let sync = self.wal_mode.syncs_at_rotation;
        let mut pending = self.pending.lock();
        let last = pending.next_sequence - 1;
        let records = std::mem::take(&mut pending.records);
        pending.commits = 0;
        counters.wal_bytes.add(records.len() as u64);
        counters.wal_syncs.add(u64::from(sync));
        let written = log.file.append(&records).and_then(|()| if sync { log.file.sync() } else { Ok(()) });
        written.map_err(|error| self.fail(error))?;
        full.close(last);
        pending.active = Arc::clone(&fresh);
        pending.log_seal = seal;
        pending.charged_bytes = 0;
        pending.memtable_bytes = memtable_bytes;
        pending.full_from = self.design.full_from(pending.next_sequence);
        pending.payment = self.payment_of_new_memtable();
        pending.log_offset = HEADER_BYTES as u64;
        pending.synced_offset = synced_when_new(self.wal_mode);
        let old = std::mem::replace(&mut log.file, file);
        self.logged.store(last, Ordering::Release);
        self.swap_view(|view| View {
            active: fresh,
            frozen: std::iter::once(Arc::clone(full)).chain(view.frozen.iter().cloned()).collect(),
            version: Arc::clone(&view.version),
        });
        drop(pending);
        drop(log);
        self.pace_frozen();
        // Closing the old WAL takes the kernel some time, so the WAL is closed after the locks are released.
        self.retire_log(old);
        self.signals.notify();
        Ok(true)
    }

    /// Waits until no stall limit prevents the replacement of the active memtable `full`. If the writer had to wait,
    /// counts one stall and its duration.
    fn wait_for_room(&self, full: &Arc<Slot>) -> Result<()> {
        if self.mode == Mode::Counted || !self.is_stalled(full) {
            return Ok(());
        }
        let start = (self.clock)();
        let mut state = self.signals.state.lock();
        while self.is_stalled(full) && !self.failure.is_set() && !self.signals.is_stopping() {
            self.signals.changed.wait(&mut state);
        }
        drop(state);
        let counters = self.counters.local();
        counters.stalls.bump();
        counters.stall_ns.add((self.clock)().saturating_sub(start));
        self.failure.check()
    }

    fn is_stalled(&self, full: &Arc<Slot>) -> bool {
        let view = self.view.load();
        let stall = self.design.options.stall;
        Arc::ptr_eq(&view.active, full)
            && (view.frozen.len() >= stall.frozen_memtables
                || (stall.level0_runs > 0
                    && view.version.levels.runs_of(0).len() >= stall.level0_runs
                    && self.is_compaction_due()))
    }
}
