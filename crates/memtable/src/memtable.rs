//! The memtable trait: concurrent inserts, lookups and ordered batches.

use std::ops::Bound;

use types::{Direction, Entries, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

/// Creates the memtables of one tree.
pub trait MemtablePolicy: Send + Sync {
    /// Creates an empty memtable. `capacity_bytes` is the expected size of keys and values before it becomes immutable,
    /// but it must accept more.
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable>;
}

/// A key and its value, or a tombstone for `None`, to be inserted.
pub type NewEntry<'a> = (HashedKey<'a>, Option<&'a [u8]>);

/// A buffer of writes until they are flushed.
///
/// Every method takes `&self` and may be called from many threads at once. All versions of a key are kept, each under
/// its sequence number, because a reader with an older snapshot needs older versions. No two inserts have equal keys
/// and equal sequence numbers.
///
/// Invariants:
/// 1. A reader at `snapshot` sees of each key exactly the version with the highest number not above it.
/// 2. An insert that returned before a read began is visible to it, and counted by [`len`](Self::len). A concurrent
///    insert is visible completely or not at all.
/// 3. Scans are in strict key order, one entry per key, tombstones included.
/// 4. Freezing changes no answer.
/// 5. A batched insert has the same effect as single inserts once it returns.
pub trait Memtable: Send + Sync {
    /// Adds a version of a key: a value, or a tombstone if `value` is `None`. Must not be called after
    /// [`freeze`](Self::freeze).
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>);

    /// Adds versions of keys with consecutive sequence numbers from `first` on. Equivalent to as many
    /// [inserts](Self::insert).
    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        for (sequence, (key, value)) in (first..).zip(entries) {
            self.insert(key, sequence, value);
        }
    }

    /// Looks up the newest version of `key` that is not above `snapshot`, and appends its value to `value`.
    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup;

    /// Returns the sequence number of the version that [`get`](Self::get) finds; `None` if it finds none.
    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber>;

    /// Copies up to `limit` entries into `batch`, as of `snapshot`, in the order of `direction`, starting at `from`:
    /// the first key at or above (`Included`) or above (`Excluded`) it going forward, at or below, or below it going
    /// backward; `Unbounded` starts at the end. Fewer than `limit` entries mean that the scan is complete. To
    /// continue, call again from `Excluded(last key)`.
    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    );

    /// Like [`scan`](Self::scan), but may return entries borrowed in place.
    fn entries(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
    ) -> Entries<'_> {
        let mut batch = EntryBatch::default();
        self.scan(from, direction, snapshot, limit, &mut batch);
        batch.into()
    }

    /// Makes the memtable immutable, so that structures that sort late can sort now. The thread that will flush calls
    /// this once, while readers continue.
    fn freeze(&self) {}

    /// Passes the newest version of every key to `sink` in key order, tombstones included. Called after
    /// [`freeze`](Self::freeze).
    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        const ENTRIES_PER_BATCH: usize = 1024;
        let mut batch = EntryBatch::default();
        let mut last: Option<Vec<u8>> = None;
        loop {
            batch.clear();
            let from = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            self.scan(from, Direction::Forward, SequenceNumber::MAX, ENTRIES_PER_BATCH, &mut batch);
            batch.iter().for_each(&mut *sink);
            if batch.len() < ENTRIES_PER_BATCH {
                return;
            }
            last = Some(batch.entry(batch.len() - 1).key.to_vec());
        }
    }

    /// Number of inserted versions; concurrent inserts may count once or twice.
    fn len(&self) -> usize;

    /// Whether nothing was inserted.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of versions in each shard; empty without shards. The sum equals [`len`](Self::len).
    fn shard_lens(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Memory in bytes, as accurately as the structure can estimate it.
    fn memory_bytes(&self) -> usize;
}
