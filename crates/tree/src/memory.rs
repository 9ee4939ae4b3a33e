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

/// The first batch of a walk that is the only one, where nobody says how many are wanted: behind it some memtables take
/// a search.
const FIRST_BATCH_ALONE: usize = 12;

/// The first batch at most, where somebody does.
const LARGEST_FIRST_BATCH: u64 = 64;

/// What a range does not come to was in vain: a later batch is half as large as all before it together, or, where it takes
/// a search, as large; up to this.
const LARGEST_BATCH: usize = 1024;

/// The first batch that takes a search behind another.
const SMALLEST_SEARCHED_BATCH: usize = 8;

/// The first batch of a walk of a range from which so many entries are `expected`, if that is known.
pub(crate) fn first_batch(is_alone: bool, expected: Option<u64>) -> usize {
    match (is_alone, expected) {
        (false, _) => FIRST_BATCH,
        (true, None) => FIRST_BATCH_ALONE,
        (true, Some(entries)) => entries.clamp(1, LARGEST_FIRST_BATCH) as usize,
    }
}

/// An ordered walk over a memtable as of one sequence number.
pub(crate) struct MemtableCursor<'t> {
    slot: &'t Slot,
    direction: Direction,
    snapshot: SequenceNumber,
    batch: Entries<'t>,
    at: usize,
    /// The entries that the batch asked for; fewer than asked for means the end.
    limit: usize,
    /// The entries of the batches before it.
    passed: usize,
}

impl<'t> MemtableCursor<'t> {
    /// A cursor at the first entry in `direction` that `from` allows; `None` where there is none. It asks for `limit` entries
    /// at first.
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

    /// The current entry.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'_> {
        self.batch.entry(self.at)
    }

    /// The head of the current key.
    #[inline]
    pub(crate) fn head(&self) -> u128 {
        head(self.entry().key)
    }

    /// Whether the current key was deleted.
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

    /// Hands the entries of the batch behind the current one to `pass`, and moves to each that it lets pass, as far as it does.
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
