//! A memtable of an open tree, together with its range deletes, the number of its WAL, and its iterator.

use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use memtable::Memtable;
use types::{Direction, Entries, Entry, HashedKey, Lookup, SequenceNumber};

use crate::merge::head;
use crate::merge_operands::{OperandStack, is_operand};
use crate::range_deletes::RangeDeletes;
use crate::single_deletes::{SingleDeletes, SortedSingleDeletes, VersionKind};

/// A memtable of an open tree, with its range deletes and the number of its WAL.
pub(crate) struct Slot {
    /// The memtable itself, which contains the entries for single keys.
    pub(crate) memtable: Box<dyn Memtable>,
    /// The range deletes of the memtable. A range delete hides older entries of this memtable, and entries of all older
    /// memtables and runs.
    pub(crate) range_deletes: RangeDeletes,
    /// The tombstones in the memtable that belong to single deletes.
    pub(crate) single_deletes: SingleDeletes,
    /// The number of the WAL that contains the writes of this memtable. The entries of this memtable are not in older
    /// WALs.
    pub(crate) log: u64,
    /// The sequence number of the last write to the memtable, which is set when the memtable becomes immutable.
    last_sequence: AtomicU64,
}

impl Slot {
    /// Wraps a new, active memtable, whose writes are in the WAL with the number `log`.
    pub(crate) fn new(memtable: Box<dyn Memtable>, log: u64) -> Self {
        let (range_deletes, last_sequence) = (RangeDeletes::default(), AtomicU64::new(SequenceNumber::MAX));
        Self { memtable, range_deletes, single_deletes: SingleDeletes::default(), log, last_sequence }
    }

    /// Returns whether the memtable has neither entries nor range deletes.
    pub(crate) fn is_empty(&self) -> bool {
        self.memtable.is_empty() && self.range_deletes.is_empty()
    }

    /// Returns the memory of the memtable, its range deletes and its single deletes, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memtable.memory_bytes() + self.range_deletes.memory_bytes() + self.single_deletes.memory_bytes()
    }

    /// Looks up the newest version of `key` in the memtable that is not newer than `snapshot`. If this version is a
    /// value, appends it to `value`.
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

    /// Adds to `stack` the versions of `key` that the memtable contains and that are visible at `snapshot`, from the
    /// newest to the oldest version. Stops at the first version that is not a merge operand. Returns `false` if a
    /// version is corrupt.
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

    /// Returns the kinds of the versions of `key` in the memtable, from the newest to the oldest version, without
    /// versions that a range delete hides. `single_deletes` contains the single deletes of this memtable. Set
    /// `has_operator` if the tree has a merge operator, because only then can a version be a merge operand.
    pub(crate) fn version_kinds(
        &self,
        key: HashedKey<'_>,
        single_deletes: &SortedSingleDeletes,
        has_operator: bool,
    ) -> impl Iterator<Item = VersionKind> {
        let deleted = self.range_deletes.newest(key.bytes, SequenceNumber::MAX);
        let (mut at, mut stored) = (Some(SequenceNumber::MAX), Vec::new());
        std::iter::from_fn(move || {
            let written = self.memtable.sequence_of(key, at?).filter(|written| Some(*written) > deleted)?;
            at = written.checked_sub(1);
            stored.clear();
            Some(match self.memtable.get(key, written, &mut stored) {
                Lookup::Found if has_operator && is_operand(&stored) => VersionKind::Operand,
                Lookup::Found => VersionKind::Value { is_marked: false },
                _ if single_deletes.has(key.hash, written) => VersionKind::SingleDelete,
                _ => VersionKind::Delete,
            })
        })
    }

    /// Returns whether a range delete in this memtable hides the memtable's entry of `key` from a reader at `snapshot`.
    pub(crate) fn hides_own(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> bool {
        let deleted = self.range_deletes.newest(key.bytes, snapshot);
        deleted.is_some() && self.memtable.sequence_of(key, snapshot) < deleted
    }

    /// Records that the memtable is immutable, and that `last` is the sequence number of its last write.
    pub(crate) fn close(&self, last: SequenceNumber) {
        self.last_sequence.store(last, Ordering::Release);
    }

    /// Returns the sequence number of the last write to the memtable. While the memtable is active, returns
    /// `SequenceNumber::MAX`.
    pub(crate) fn last_sequence(&self) -> SequenceNumber {
        self.last_sequence.load(Ordering::Acquire)
    }
}

/// The number of entries in the first batch that a scan requests from a memtable, if the scan has several sources. The
/// batch is small, because most scans are short and find most entries in other sources.
const FIRST_BATCH: usize = 4;

/// The number of entries in the first batch that a scan of unknown length requests from a memtable, if the memtable is
/// its only source. The batch is larger in this case, because in some memtables each further batch costs a search.
const FIRST_BATCH_ALONE: usize = 12;

/// The maximum number of entries in the first batch that a scan of known length requests from a memtable, if the
/// memtable is its only source.
const LARGEST_FIRST_BATCH: u64 = 64;

/// The maximum number of entries in one batch that a scan requests from a memtable.
///
/// Each later batch is half as large as all previous batches together, so that a scan reads few entries beyond its end.
/// If each batch costs a search, a later batch is as large as all previous batches together.
const LARGEST_BATCH: usize = 1024;

/// The minimum number of entries in each later batch that a scan requests from a memtable, if each batch costs a
/// search.
const SMALLEST_SEARCHED_BATCH: usize = 8;

/// Returns the number of entries in the first batch that a scan requests from a memtable. `is_alone` is set if the
/// memtable is the only source of the scan. The batch then has as many entries as the scan expects to read
/// (`expected`), up to a limit.
pub(crate) fn first_batch(is_alone: bool, expected: Option<u64>) -> usize {
    match (is_alone, expected) {
        (false, _) => FIRST_BATCH,
        (true, None) => FIRST_BATCH_ALONE,
        (true, Some(entries)) => entries.clamp(1, LARGEST_FIRST_BATCH) as usize,
    }
}

/// An iterator over the entries of a memtable that are visible at one sequence number.
pub(crate) struct MemtableCursor<'t> {
    slot: &'t Slot,
    direction: Direction,
    snapshot: SequenceNumber,
    batch: Entries<'t>,
    at: usize,
    /// The number of entries that the cursor has requested from the memtable for the current batch. A batch with fewer
    /// entries is the last batch.
    limit: usize,
    /// The number of entries in all batches before the current batch.
    passed: usize,
}

impl<'t> MemtableCursor<'t> {
    /// Opens a cursor over the entries of a memtable that are visible at `snapshot`. The cursor begins at the first
    /// entry in `direction` that the bound `from` allows. Returns `None` if no visible entry is within the bound. The
    /// first batch requests `limit` entries.
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

    /// Returns whether the cursor iterates over the memtable in `slot`.
    pub(crate) fn is_of(&self, slot: &Slot) -> bool {
        std::ptr::eq(self.slot, slot)
    }

    /// Returns the memtable of the cursor, with its range deletes.
    pub(crate) fn slot(&self) -> &'t Slot {
        self.slot
    }

    /// Returns the current entry.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'_> {
        self.batch.entry(self.at)
    }

    /// Returns the first 16 bytes of the current key as a number, for fast comparisons.
    #[inline]
    pub(crate) fn head(&self) -> u128 {
        head(self.entry().key)
    }

    /// Returns whether the current entry is a tombstone.
    #[inline]
    pub(crate) fn is_tombstone(&self) -> bool {
        self.entry().value.is_none()
    }

    /// Moves to the next entry. Returns `false` at the end of the memtable.
    #[inline]
    pub(crate) fn advance(&mut self) -> bool {
        self.at += 1;
        self.at < self.batch.len() || self.refill()
    }

    /// Calls `pass` for the entries after the current entry, until `pass` returns `false` or the current batch ends.
    /// Then moves the cursor to the last entry for which `pass` returned `true`.
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
