//! A memtable together with the number of its WAL, and the iterator over the memtable.

use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use memtable::Memtable;
use types::{Direction, Entries, Entry, HashedKey, Lookup, SequenceNumber};

use crate::merge::head;
use crate::merge_operands::OperandStack;
use crate::range_deletes::RangeDeletes;

/// A memtable with its range deletes and the number of its WAL.
pub(crate) struct Slot {
    /// The memtable.
    pub(crate) memtable: Box<dyn Memtable>,
    /// The range deletes. They hide older entries of the memtable, and all older memtables and runs.
    pub(crate) range_deletes: RangeDeletes,
    /// The number of the WAL that has its writes. Older WALs are not needed for it.
    pub(crate) log: u64,
    /// The last sequence number of the memtable. The number is set when the memtable becomes immutable.
    last_sequence: AtomicU64,
}

impl Slot {
    /// Creates the slot of an active memtable.
    pub(crate) fn new(memtable: Box<dyn Memtable>, log: u64) -> Self {
        let (range_deletes, last_sequence) = (RangeDeletes::default(), AtomicU64::new(SequenceNumber::MAX));
        Self { memtable, range_deletes, log, last_sequence }
    }

    /// Whether nothing was written.
    pub(crate) fn is_empty(&self) -> bool {
        self.memtable.is_empty() && self.range_deletes.is_empty()
    }

    /// Returns the memory of the memtable and its range deletes, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memtable.memory_bytes() + self.range_deletes.memory_bytes()
    }

    /// Looks up the newest version of `key` not above `snapshot`, and appends its value to `value`.
    #[inline]
    pub(crate) fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        match self.range_deletes.newest(key.bytes, snapshot) {
            None => self.memtable.get(key, snapshot, value),
            Some(deleted) => match self.memtable.sequence_of(key, snapshot) {
                Some(written) if written > deleted => self.memtable.get(key, snapshot, value),
                _ => Lookup::Deleted,
            },
        }
    }

    /// Adds the versions of `key` that a reader at `snapshot` sees to `stack`, newest first. Returns `false` if a version
    /// is corrupt.
    pub(crate) fn collect(
        &self,
        key: HashedKey<'_>,
        snapshot: SequenceNumber,
        stack: &mut OperandStack,
    ) -> bool {
        let deleted = self.range_deletes.newest(key.bytes, snapshot);
        let (mut at, mut stored) = (snapshot, Vec::new());
        while let Some(written) =
            self.memtable.sequence_of(key, at).filter(|written| Some(*written) > deleted)
        {
            stored.clear();
            let found = self.memtable.get(key, written, &mut stored) == Lookup::Found;
            if !stack.add(found.then_some(&stored)) {
                return false;
            }
            if stack.is_complete() {
                return true;
            }
            let Some(older) = written.checked_sub(1) else { break };
            at = older;
        }
        if deleted.is_some() {
            stack.end();
        }
        true
    }

    /// Whether a range delete that is not above `snapshot` hides the entry of `key` that a reader at `snapshot` finds in
    /// the memtable.
    pub(crate) fn hides_own(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> bool {
        let deleted = self.range_deletes.newest(key.bytes, snapshot);
        deleted.is_some() && self.memtable.sequence_of(key, snapshot) < deleted
    }

    /// Records that this memtable gets no write after `last`.
    pub(crate) fn close(&self, last: SequenceNumber) {
        self.last_sequence.store(last, Ordering::Release);
    }

    /// Returns the last sequence number of the memtable, or the largest number while it is active.
    pub(crate) fn last_sequence(&self) -> SequenceNumber {
        self.last_sequence.load(Ordering::Acquire)
    }
}

/// The size of the first batch if the memtable is one of several sources. The batch is small, because most scans are
/// short and find most entries in other sources.
const FIRST_BATCH: usize = 4;

/// The size of the first batch if the memtable is the only source and the length of the scan is unknown. The batch is
/// larger, because in some memtables the next batch costs a search.
const FIRST_BATCH_ALONE: usize = 12;

/// The largest first batch if the length of the range is known.
const LARGEST_FIRST_BATCH: u64 = 64;

/// The largest batch, in entries.
///
/// The size of the largest batch. A later batch is half as large as all previous batches together, because entries
/// beyond the end of the scan are wasted. If a batch costs a search, it is as large as all previous batches together.
const LARGEST_BATCH: usize = 1024;

/// The smallest batch after the first batch, if a batch costs a search.
const SMALLEST_SEARCHED_BATCH: usize = 8;

/// Returns the size of the first batch of a range that is expected to have `expected` entries, if that is known.
pub(crate) fn first_batch(is_alone: bool, expected: Option<u64>) -> usize {
    match (is_alone, expected) {
        (false, _) => FIRST_BATCH,
        (true, None) => FIRST_BATCH_ALONE,
        (true, Some(entries)) => entries.clamp(1, LARGEST_FIRST_BATCH) as usize,
    }
}

/// An iterator over a memtable as of one sequence number.
pub(crate) struct MemtableCursor<'t> {
    slot: &'t Slot,
    direction: Direction,
    snapshot: SequenceNumber,
    batch: Entries<'t>,
    at: usize,
    /// The number of entries that the batch requested. A shorter batch is the last batch.
    limit: usize,
    /// The number of entries in the batches before the current batch.
    passed: usize,
}

impl<'t> MemtableCursor<'t> {
    /// Opens a cursor at the first entry in `direction` that `from` allows; `None` if there is none. The first batch
    /// requests `limit` entries.
    pub(crate) fn open(
        slot: &'t Slot,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
    ) -> Option<Self> {
        let batch = slot.memtable.entries(from, direction, snapshot, limit);
        if batch.is_empty() {
            return None;
        }
        Some(Self { slot, direction, snapshot, batch, at: 0, limit, passed: 0 })
    }

    /// Whether the cursor is over the memtable of this slot.
    pub(crate) fn is_of(&self, slot: &Slot) -> bool {
        std::ptr::eq(self.slot, slot)
    }

    /// Returns the memtable with its range deletes.
    pub(crate) fn slot(&self) -> &'t Slot {
        self.slot
    }

    /// Returns the current entry.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'_> {
        self.batch.entry(self.at)
    }

    /// Returns the 16-byte prefix of the current key.
    #[inline]
    pub(crate) fn head(&self) -> u128 {
        head(self.entry().key)
    }

    /// Whether the current entry is a tombstone.
    #[inline]
    pub(crate) fn is_tombstone(&self) -> bool {
        self.entry().value.is_none()
    }

    /// Moves to the next entry; `false` at the end.
    #[inline]
    pub(crate) fn advance(&mut self) -> bool {
        self.at += 1;
        self.at < self.batch.len() || self.refill()
    }

    /// Calls `pass` for the following entries of the batch, and moves to each for which it returns `true`.
    #[inline]
    pub(crate) fn pass(&mut self, mut pass: impl FnMut(Entry<'_>) -> bool) {
        while self.at + 1 < self.batch.len() && pass(self.batch.entry(self.at + 1)) {
            self.at += 1;
        }
    }

    #[inline(never)]
    fn refill(&mut self) -> bool {
        if self.batch.len() < self.limit {
            self.at -= 1;
            return false;
        }
        self.at = 0;
        self.passed += self.limit;
        self.limit = (self.passed / 2).clamp(FIRST_BATCH, LARGEST_BATCH);
        if !self.batch.go_on(self.limit) {
            self.limit = self.passed.clamp(SMALLEST_SEARCHED_BATCH, LARGEST_BATCH);
            let last = self.batch.entry(self.batch.len() - 1).key.to_vec();
            let from = Bound::Excluded(last.as_slice());
            self.batch = self.slot.memtable.entries(from, self.direction, self.snapshot, self.limit);
        }
        !self.batch.is_empty()
    }
}
