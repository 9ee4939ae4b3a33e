//! The memtable trait. Several threads can insert, look up and scan concurrently.

use std::ops::Bound;

use types::{Direction, Entries, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

/// A memtable policy, which creates the memtables of one tree.
pub trait MemtablePolicy: Send + Sync {
    /// Creates an empty memtable. `capacity_bytes` is the expected size of all keys and values before the memtable
    /// becomes immutable. The memtable must accept more bytes.
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable>;
}

/// An entry to insert: a key with its value, or with `None` for a tombstone.
pub type NewEntry<'a> = (HashedKey<'a>, Option<&'a [u8]>);

/// A memtable, which stores writes in memory until a flush.
///
/// Every method takes `&self`, and several threads may call methods concurrently. A memtable keeps all versions of a
/// key with their sequence numbers, because a reader with an older snapshot needs older versions. No two inserts have
/// equal keys and equal sequence numbers.
///
/// Invariants:
/// 1. A reader at `snapshot` sees one version of each key: the version with the highest sequence number up to
///    `snapshot`.
/// 2. A read sees every insert that returned before the read began, and [`len`](Self::len) counts these inserts. A
///    concurrent insert is either completely visible or not visible at all.
/// 3. A scan returns one entry per key in strict key order, including tombstones.
/// 4. [`freeze`](Self::freeze) changes no result of a lookup or scan.
/// 5. A complete batch of inserts has the same effect as single inserts.
pub trait Memtable: Send + Sync {
    /// Adds a version of a key. The version is a tombstone if `value` is `None`. Callers must not call this function
    /// after [`freeze`](Self::freeze).
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>);

    /// Adds versions with consecutive sequence numbers that begin at `first`. The call has the same effect as one
    /// [`insert`](Self::insert) per entry.
    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        for (sequence, (key, value)) in (first..).zip(entries) {
            self.insert(key, sequence, value);
        }
    }

    /// Looks up the newest version of `key` whose sequence number is not above `snapshot`. Appends the value of this
    /// version to `value`.
    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup;

    /// Returns the sequence number of the version that [`get`](Self::get) finds. Returns `None` if `get` finds no
    /// version.
    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber>;

    /// Copies up to `limit` entries, as of `snapshot`, into `batch`, in the order of `direction`.
    ///
    /// A forward scan starts at the first key that is at or above the key in `from` (`Included`), or above this key
    /// (`Excluded`). A backward scan starts at the last key that is at or below the key in `from` (`Included`), or
    /// below this key (`Excluded`). With `Unbounded`, the scan starts at the first or the last key of the memtable.
    ///
    /// If the call copies fewer than `limit` entries, the scan is complete. To continue a scan, call the function again
    /// with `Excluded(last key)`.
    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    );

    /// Returns the entries of a [`scan`](Self::scan). A memtable may return borrowed entries instead of copies.
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

    /// Makes the memtable immutable. If a memtable does not keep its entries in order, this function sorts the
    /// entries. The thread that will flush the memtable calls this function once. Other threads continue to read
    /// during the call.
    fn freeze(&self) {}

    /// Calls `sink` with the newest version of every key in ascending key order, including tombstones. Callers must
    /// call [`freeze`](Self::freeze) before this function.
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

    /// Returns the number of inserted versions. The function may count a concurrent insert twice.
    fn len(&self) -> usize;

    /// Returns whether no version was inserted.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of versions in each shard. The sum equals [`len`](Self::len). The list is empty if the
    /// memtable has no shards.
    fn shard_lens(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Returns how many keys have moved to another shard because the memtable added shards. Returns `None` if the
    /// memtable never adds shards.
    fn moved_keys(&self) -> Option<usize> {
        None
    }

    /// Returns the memory of the memtable in bytes. The result is an estimate.
    fn memory_bytes(&self) -> usize;
}
