//! The seam of the memtable axis: concurrent inserts, lookups and ordered batches.

use std::ops::Bound;

use types::{Direction, Entries, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

/// Makes the memtables of one tree, one after the other.
pub trait MemtablePolicy: Send + Sync {
    /// An empty memtable that is expected to take about `capacity_bytes` of keys and values before it is
    /// frozen; it must take more if more comes.
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable>;
}

/// A key and its value, or a tombstone where there is none, on the way into a memtable.
pub type NewEntry<'a> = (HashedKey<'a>, Option<&'a [u8]>);

/// Where writes wait until they are flushed.
///
/// Every method takes `&self` and may be called from many threads at once. All versions of a key are
/// kept, each under its own sequence number: a reader who came with an older number still finds what it
/// may see. No two inserts carry the same key and sequence number.
///
/// Laws:
/// 1. A reader at `snapshot` sees of each key exactly the version with the highest number not above it.
/// 2. An insert that returned before a read began is seen by it, and counted by [`len`](Self::len); one that
///    runs at the same time is seen whole or not at all.
/// 3. Scans are in strict key order, one entry per key, tombstones included.
/// 4. Freezing changes no answer.
/// 5. Inserts that come many in one call are there when it returns as if they had come one by one.
pub trait Memtable: Send + Sync {
    /// Adds a version of a key: a value, or a tombstone where `value` is `None`. Not called after
    /// [`freeze`](Self::freeze).
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>);

    /// Adds versions of keys, the first under the number `first`, each next one under the next: what as many
    /// [inserts](Self::insert) do, in one call.
    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        for (sequence, (key, value)) in (first..).zip(entries) {
            self.insert(key, sequence, value);
        }
    }

    /// Looks up the newest version of `key` not above `snapshot`, and appends its value to `value`.
    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup;

    /// Copies up to `limit` entries into `batch`, as of `snapshot`, in the order of `direction`, starting
    /// at `from`: the first key at or above (`Included`) or above (`Excluded`) it going forward, at or
    /// below, or below it going backward; `Unbounded` starts at the very end. Fewer than `limit` entries
    /// mean that there are no more. A scan goes on by calling again from `Excluded(last key)`.
    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    );

    /// As [`scan`](Self::scan), but what is handed out may stay where it stands.
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

    /// Tells that no insert will follow, so that structures that sort late can do so now. Called once, by
    /// the thread that is going to flush; readers keep reading meanwhile.
    fn freeze(&self) {}

    /// Hands the newest version of every key to `sink` in key order, tombstones included. Called after
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

    /// The number of versions inserted; inserts that have not returned may count, once or twice.
    fn len(&self) -> usize;

    /// Whether nothing was inserted.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The versions in each shard, where keys are dealt out to shards; empty where there are none. They add up to
    /// [`len`](Self::len).
    fn shard_lens(&self) -> Vec<usize> {
        Vec::new()
    }

    /// The bytes of memory it holds, as nearly as the structure can tell.
    fn memory_bytes(&self) -> usize;
}
