//! An append-only list, which is sorted once, when the memtable becomes immutable. No other memtable has faster
//! inserts, but reads before the sort are slow.
//!
//! Source: the double-buffered vector of the document byron (section 1.2 B, figure 5). Writes are appended to the
//! active buffer, while the immutable buffer is sorted and flushed. Then the two buffers exchange their roles. A lookup
//! in the active buffer searches all entries from the newest to the oldest. A lookup in an immutable buffer is a binary
//! search.
//!
//! A scan of the active buffer needs sorted entries. The scan therefore sorts the entries that were appended since the
//! last scan, and merges these entries into the existing order. Such a merge reads and writes the sorted order of all
//! entries once. If there were no inserts since the last scan, a scan has no such cost.

use std::cmp::{Ordering, Reverse};
use std::ops::{Bound, Range};
use std::sync::{Arc, OnceLock};

use catalog::Variant;
use parking_lot::RwLock;
use types::{Direction, Entry, EntryBatch, HashedKey, KeyHash, Lookup, SequenceNumber, common_prefix, head};

use crate::arena::{Arena, ChunkPool, RecordAddress};
use crate::memtable::{Memtable, MemtablePolicy};
use crate::radix::{self, Headed};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "vector",
    "an append-only list that is sorted when it becomes immutable; fastest writes, but slow lookups before \
     the sort",
    || Box::new(Policy { pool: Arc::default() }),
);

/// The value length that marks a tombstone. No value has this length.
const TOMBSTONE: u32 = u32::MAX;

/// The number of key hashes that a search compares at once.
const HASHES_PER_STEP: usize = 64;

/// Creates [`Buffer`]s that reuse the memory of earlier buffers.
struct Policy {
    pool: Arc<ChunkPool>,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(Buffer {
            log: RwLock::new(Log::new(capacity_bytes, &self.pool)),
            order: RwLock::default(),
            frozen: OnceLock::new(),
        })
    }
}

/// A memtable that is one append-only list of entries. The list is sorted when the memtable becomes immutable.
struct Buffer {
    log: RwLock<Log>,
    /// The sorted order of the entries that the list contained at the last scan.
    order: RwLock<Arc<Order>>,
    /// The sorted order of all entries of an immutable memtable. Not set while the memtable is mutable.
    frozen: OnceLock<Arc<Order>>,
}

impl Buffer {
    /// Returns the sorted order of all entries of `log`. Computes a new order if the last order lacks entries. The
    /// caller holds the lock of `log`.
    fn order_of(&self, log: &Log) -> Arc<Order> {
        let known = Arc::clone(&self.order.read());
        if known.sorted.len() == log.len() {
            return known;
        }
        let order = Arc::new(known.extended_to(log));
        *self.order.write() = Arc::clone(&order);
        order
    }

    /// Returns the index, in insertion order, of the newest version of `key` whose sequence number is not above
    /// `snapshot`. Returns `None` if there is no such version.
    fn position(&self, log: &Log, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<usize> {
        match self.frozen.get() {
            Some(order) => order.visible(log, key.bytes, snapshot),
            None => log.visible(key, snapshot),
        }
    }
}

impl Memtable for Buffer {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.log.write().append(key, sequence, value);
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let log = self.log.read();
        match self.position(&log, key, snapshot).map(|position| log.entry(position).value) {
            None => Lookup::Absent,
            Some(None) => Lookup::Deleted,
            Some(Some(found)) => {
                value.extend_from_slice(found);
                Lookup::Found
            }
        }
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let log = self.log.read();
        self.position(&log, key, snapshot).map(|position| log.slots[position].sequence)
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let log = self.log.read();
        let order = self.order_of(&log);
        let sink = &mut |entry: Entry<'_>| batch.push(entry);
        match direction {
            Direction::Forward => order.ascend(&log, from, snapshot, limit, sink),
            Direction::Backward => order.descend(&log, from, snapshot, limit, sink),
        }
    }

    fn freeze(&self) {
        let log = self.log.read();
        self.frozen.get_or_init(|| self.order_of(&log));
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let log = self.log.read();
        self.order_of(&log).ascend(&log, Bound::Unbounded, SequenceNumber::MAX, usize::MAX, sink);
    }

    fn len(&self) -> usize {
        self.log.read().len()
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.log.read().memory_bytes() + self.order.read().memory_bytes()
    }
}

/// The entries of a memtable, in insertion order.
struct Log {
    /// The hash of the key of each entry. The hashes are in a separate array, so that a search reads no other data and
    /// reaches the memory bandwidth.
    hashes: Vec<KeyHash>,
    slots: Vec<Slot>,
    records: Arena,
    /// Whether each entry has a higher sequence number than the entry before it. Concurrent writers may append entries
    /// in another order.
    is_ascending: bool,
}

/// One entry of the list: its sequence number, and the position of its key and value in the arena.
#[derive(Clone, Copy)]
struct Slot {
    sequence: SequenceNumber,
    place: RecordAddress,
}

impl Log {
    fn new(capacity_bytes: usize, pool: &Arc<ChunkPool>) -> Self {
        Self {
            hashes: Vec::new(),
            slots: Vec::new(),
            records: Arena::new(capacity_bytes, pool),
            is_ascending: true,
        }
    }

    fn len(&self) -> usize {
        self.slots.len()
    }

    fn append(&mut self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let value_len = value.map_or(TOMBSTONE, |value| value.len() as u32);
        let header = (u64::from(value_len) << 32 | key.bytes.len() as u64).to_le_bytes();
        let place = self.records.append([&header, key.bytes, value.unwrap_or_default()]);
        self.is_ascending &= self.slots.last().is_none_or(|last| last.sequence < sequence);
        self.hashes.push(key.hash);
        self.slots.push(Slot { sequence, place });
    }

    /// Returns the entry of the memtable with the index `position` in insertion order.
    #[inline]
    fn entry(&self, position: usize) -> Entry<'_> {
        let record = self.records.bytes_from(self.slots[position].place);
        let (header, rest) =
            record.split_first_chunk::<8>().expect("a record in the arena must begin with a complete header");
        let header = u64::from_le_bytes(*header);
        let (key, rest) = rest.split_at(header as u32 as usize);
        let value_len = (header >> 32) as u32;
        Entry { key, value: (value_len != TOMBSTONE).then(|| &rest[..value_len as usize]) }
    }

    #[inline]
    fn key(&self, position: usize) -> &[u8] {
        self.entry(position).key
    }

    /// Returns the index of the newest version of `key` whose sequence number is not above `snapshot`. Returns `None`
    /// if there is no such version. The function searches from the newest entry to the oldest.
    fn visible(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<usize> {
        let mut best: Option<usize> = None;
        let mut end = self.len();
        for hashes in self.hashes.rchunks(HASHES_PER_STEP) {
            let start = end - hashes.len();
            if hashes.contains(&key.hash) {
                let matching = (start..end).rev().filter(|position| self.hashes[*position] == key.hash);
                for position in matching {
                    let sequence = self.slots[position].sequence;
                    let is_newer = best.is_none_or(|best| self.slots[best].sequence < sequence);
                    if sequence <= snapshot && is_newer && self.key(position) == key.bytes {
                        best = Some(position);
                        if self.is_ascending {
                            return best;
                        }
                    }
                }
            }
            end = start;
        }
        best
    }

    fn memory_bytes(&self) -> usize {
        self.hashes.capacity() * size_of::<KeyHash>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.records.memory_bytes()
    }
}

/// The sorted order of the entries that the list contained when the order was computed. Keys are ascending, and the
/// newest version of each key comes first.
#[derive(Default)]
struct Order {
    /// The prefix that all keys share. The head of a key is the next eight bytes, so that most different keys have
    /// different heads.
    prefix: Vec<u8>,
    sorted: Vec<Sorted>,
}

/// One entry of a sorted order: the head of its key (eight bytes as an integer), and its index in insertion order.
type Sorted = Headed<u32>;

/// Returns the index, in insertion order, of a sorted entry.
fn position(entry: &Sorted) -> usize {
    entry.item as usize
}

impl Order {
    /// Returns the sorted order of all entries of `log`, which extends this order by the entries that it lacks. The
    /// first order is computed by a radix sort. Later orders are computed by a stable sort, which detects that the
    /// first entries are already sorted.
    fn extended_to(&self, log: &Log) -> Self {
        let new = self.sorted.len()..log.len();
        let mut prefix = if self.sorted.is_empty() { log.key(0) } else { &self.prefix };
        for position in new.clone() {
            if prefix.is_empty() {
                break;
            }
            prefix = &prefix[..common_prefix(prefix, log.key(position))];
        }
        let place = |position: usize| {
            let number =
                u32::try_from(position).expect("the list of a memtable must have fewer than 2^32 entries");
            Sorted::new(&log.key(position)[prefix.len()..], number)
        };
        let mut sorted = Vec::with_capacity(log.len());
        if prefix.len() == self.prefix.len() {
            sorted.extend_from_slice(&self.sorted);
        } else {
            sorted.extend(self.sorted.iter().map(|known| place(position(known))));
        }
        sorted.extend(new.map(place));
        let tie = |a: u32, b: u32| {
            let (a, b) = (a as usize, b as usize);
            let newest_first = || log.slots[b].sequence.cmp(&log.slots[a].sequence);
            log.key(a).cmp(log.key(b)).then_with(newest_first)
        };
        if self.sorted.is_empty() {
            radix::sort(&mut sorted, tie);
        } else {
            sorted.sort_by(|a, b| a.head.cmp(&b.head).then_with(|| tie(a.item, b.item)));
        }
        Self { prefix: prefix.to_vec(), sorted }
    }

    /// Returns the number of sorted entries before the version of `key` with the sequence number `sequence`.
    fn rank(&self, log: &Log, key: &[u8], sequence: SequenceNumber) -> usize {
        let shared = key.len().min(self.prefix.len());
        match key[..shared].cmp(&self.prefix) {
            Ordering::Less => return 0,
            Ordering::Greater => return self.sorted.len(),
            Ordering::Equal => {}
        }
        let head = head(&key[shared..]);
        self.sorted.partition_point(|entry| {
            let is_tied = || {
                let position = position(entry);
                let own = (log.key(position), Reverse(log.slots[position].sequence));
                own < (key, Reverse(sequence))
            };
            entry.head < head || entry.head == head && is_tied()
        })
    }

    /// Returns the index, in insertion order, of the newest version of `key` whose sequence number is not above
    /// `snapshot`. Returns `None` if there is no such version.
    fn visible(&self, log: &Log, key: &[u8], snapshot: SequenceNumber) -> Option<usize> {
        let found = position(self.sorted.get(self.rank(log, key, snapshot))?);
        (log.key(found) == key).then_some(found)
    }

    /// Scans the sorted entries in ascending order from the bound `from` on. Calls `sink` with up to `limit` entries
    /// that are visible at `snapshot`.
    fn ascend<S: FnMut(Entry<'_>) + ?Sized>(
        &self,
        log: &Log,
        from: Bound<&[u8]>,
        snapshot: SequenceNumber,
        limit: usize,
        sink: &mut S,
    ) {
        let mut start = match from {
            Bound::Included(key) => self.rank(log, key, SequenceNumber::MAX),
            Bound::Excluded(key) => self.rank(log, key, 0),
            Bound::Unbounded => 0,
        };
        let mut left = limit;
        while left > 0 && start < self.sorted.len() {
            let end = if self.same_key(log, start, start + 1) {
                self.rank(log, log.key(position(&self.sorted[start])), 0)
            } else {
                start + 1
            };
            left -= usize::from(self.emit(log, start..end, snapshot, sink));
            start = end;
        }
    }

    /// Scans the sorted entries in descending order from the bound `from` on. Calls `sink` with up to `limit` entries
    /// that are visible at `snapshot`.
    fn descend<S: FnMut(Entry<'_>) + ?Sized>(
        &self,
        log: &Log,
        from: Bound<&[u8]>,
        snapshot: SequenceNumber,
        limit: usize,
        sink: &mut S,
    ) {
        let mut end = match from {
            Bound::Included(key) => self.rank(log, key, 0),
            Bound::Excluded(key) => self.rank(log, key, SequenceNumber::MAX),
            Bound::Unbounded => self.sorted.len(),
        };
        let mut left = limit;
        while left > 0 && end > 0 {
            let last = end - 1;
            let start = if last > 0 && self.same_key(log, last - 1, last) {
                self.rank(log, log.key(position(&self.sorted[last])), SequenceNumber::MAX)
            } else {
                last
            };
            left -= usize::from(self.emit(log, start..end, snapshot, sink));
            end = start;
        }
    }

    /// Returns whether the entries with the indexes `a` and `b` in this order are versions of one key. Returns `false`
    /// if entry `b` does not exist.
    fn same_key(&self, log: &Log, a: usize, b: usize) -> bool {
        self.sorted.get(b).is_some_and(|b| {
            let a = &self.sorted[a];
            a.head == b.head && log.key(position(a)) == log.key(position(b))
        })
    }

    /// Calls `sink` with the newest version of one key whose sequence number is not above `snapshot`. Does not call
    /// `sink` if there is no such version.
    fn emit<S: FnMut(Entry<'_>) + ?Sized>(
        &self,
        log: &Log,
        versions: Range<usize>,
        snapshot: SequenceNumber,
        sink: &mut S,
    ) -> bool {
        let versions = &self.sorted[versions];
        let first = versions.partition_point(|version| log.slots[position(version)].sequence > snapshot);
        let Some(version) = versions.get(first) else { return false };
        sink(log.entry(position(version)));
        true
    }

    fn memory_bytes(&self) -> usize {
        self.prefix.capacity() + self.sorted.capacity() * size_of::<Sorted>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(log: &mut Log, key: &[u8], sequence: SequenceNumber) {
        log.append(HashedKey { bytes: key, hash: KeyHash(0) }, sequence, Some(key));
    }

    #[test]
    fn an_order_grows_like_it_is_made_at_once() {
        let mut log = Log::new(0, &Arc::default());
        let mut grown = Order::default();
        let keys: [&[u8]; 9] =
            [b"user7", b"user1", b"user", b"user1", b"use", b"user11", b"v", b"", b"user7"];
        for (number, key) in keys.iter().enumerate() {
            append(&mut log, key, number as u64 + 1);
            grown = grown.extended_to(&log);
            let made = Order::default().extended_to(&log);
            let positions = |order: &Order| order.sorted.iter().map(position).collect::<Vec<_>>();
            assert_eq!(positions(&grown), positions(&made));
            assert_eq!(grown.prefix, made.prefix);
        }
        let in_order: Vec<&[u8]> = grown.sorted.iter().map(|entry| log.key(position(entry))).collect();
        assert!(in_order.is_sorted());
    }

    #[test]
    fn a_lookup_survives_colliding_hashes_and_numbers_out_of_order() {
        let mut log = Log::new(0, &Arc::default());
        for (key, sequence) in [(b"a", 5), (b"b", 9), (b"a", 3), (b"b", 7), (b"a", 8)] {
            append(&mut log, key, sequence);
        }
        let visible = |bytes: &[u8], snapshot| log.visible(HashedKey { bytes, hash: KeyHash(0) }, snapshot);
        assert_eq!(visible(b"a", 10), Some(4));
        assert_eq!(visible(b"a", 7), Some(0));
        assert_eq!(visible(b"b", 8), Some(3));
        assert_eq!(visible(b"b", 6), None);
        assert_eq!(visible(b"c", 10), None);
    }
}
