//! A memtable in its place: which log covers it, and the ordered walk over it.

use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use memtable::Memtable;
use types::{Direction, Entries, Entry, SequenceNumber};

use crate::merge::head;

/// A memtable with its log.
pub(crate) struct Slot {
    /// The memtable.
    pub(crate) memtable: Box<dyn Memtable>,
    /// The number of the log that covers it; older logs are not needed for it.
    pub(crate) log: u64,
    /// The last sequence number that was given to a write into it; set when it is frozen.
    last_sequence: AtomicU64,
}

impl Slot {
    /// An active slot.
    pub(crate) fn new(memtable: Box<dyn Memtable>, log: u64) -> Self {
        Self { memtable, log, last_sequence: AtomicU64::new(SequenceNumber::MAX) }
    }

    /// Says that no write after `last` goes here.
    pub(crate) fn close(&self, last: SequenceNumber) {
        self.last_sequence.store(last, Ordering::Release);
    }

    /// The last sequence number that was given to a write into it.
    pub(crate) fn last_sequence(&self) -> SequenceNumber {
        self.last_sequence.load(Ordering::Acquire)
    }
}

/// The first batch of a walk among others is small, since most ranges are short and find most elsewhere.
const FIRST_BATCH: usize = 4;

/// The first batch of a walk that is the only one: behind it some memtables take a search.
const FIRST_BATCH_ALONE: usize = 12;

/// What a range does not come to was in vain: a later batch is half as large as all before it together, or, where it takes
/// a search, as large; up to this.
const LARGEST_BATCH: usize = 1024;

/// The first batch that takes a search behind another.
const SMALLEST_SEARCHED_BATCH: usize = 8;

/// An ordered walk over a memtable as of one sequence number.
pub(crate) struct MemtableCursor<'t> {
    slot: &'t Slot,
    direction: Direction,
    snapshot: SequenceNumber,
    batch: Box<dyn Entries + 't>,
    at: usize,
    /// The entries that the batch asked for; fewer than asked for means the end.
    limit: usize,
    /// The entries of the batches before it.
    passed: usize,
    /// Of the current entry, which the batch is asked for once to know both.
    head: u128,
    is_tombstone: bool,
}

impl<'t> MemtableCursor<'t> {
    /// A cursor at the first entry in `direction` that `from` allows; `None` where there is none. It may be the only one of
    /// its range.
    pub(crate) fn open(
        slot: &'t Slot,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        is_alone: bool,
    ) -> Option<Self> {
        let limit = if is_alone { FIRST_BATCH_ALONE } else { FIRST_BATCH };
        let batch = slot.memtable.entries(from, direction, snapshot, limit);
        if batch.is_empty() {
            return None;
        }
        let first = batch.entry(0);
        let (head, is_tombstone) = (head(first.key), first.value.is_none());
        Some(Self { slot, direction, snapshot, batch, at: 0, limit, passed: 0, head, is_tombstone })
    }

    /// The current entry.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'_> {
        self.batch.entry(self.at)
    }

    /// The head of the current key.
    #[inline]
    pub(crate) fn head(&self) -> u128 {
        self.head
    }

    /// Whether the current key was deleted.
    #[inline]
    pub(crate) fn is_tombstone(&self) -> bool {
        self.is_tombstone
    }

    /// Moves to the next entry; `false` at the end.
    #[inline]
    pub(crate) fn advance(&mut self) -> bool {
        self.at += 1;
        if self.at == self.batch.len() && !self.refill() {
            return false;
        }
        let entry = self.batch.entry(self.at);
        (self.head, self.is_tombstone) = (head(entry.key), entry.value.is_none());
        true
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
