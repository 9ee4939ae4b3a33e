//! The first memtable of the published system byron (section 1.2 B of its document): a vector that a flush sorts
//! through a `BTreeMap`.
//!
//! A write appends to the vector. A lookup reads the whole vector, both while the memtable is mutable and while it is
//! immutable. The flush inserts all versions into a `BTreeMap`, which sorts them and removes old versions. A scan also
//! needs this map. The map stays in memory until the next write, so that a scan in several steps sorts only once. A
//! version takes its key and its value, each in a separate allocation, and 48 additional bytes. In the map, a version
//! takes about 60 more bytes.
//!
//! The memtable `vector` has the same purpose, but sorts an array of key prefixes with a radix sort.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use catalog::{Variant, origin};
use memtable::{Memtable, MemtablePolicy};
use parking_lot::{Mutex, RwLock};
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

/// The memtable `vector-btreemap`, which works like the first memtable of the published system byron.
pub static VARIANT: Variant<dyn MemtablePolicy> = Variant::<dyn MemtablePolicy>::plain(
    "vector-btreemap",
    "a vector with linear lookups; a flush sorts its entries with a BTreeMap (byron)",
    || Box::new(Policy),
)
.from(origin!());

/// Creates empty `vector-btreemap` memtables.
struct Policy;

impl MemtablePolicy for Policy {
    fn create(&self, _: usize) -> Box<dyn Memtable> {
        Box::<Buffer>::default()
    }
}

/// The memtable `vector-btreemap`: a vector of all versions, and the sorted map that the last flush or scan made.
#[derive(Default)]
struct Buffer {
    log: RwLock<Log>,
    /// The ordered map into which the last flush or scan sorted the vector.
    sorted: Mutex<Arc<Sorted>>,
}

/// The vector of the memtable: all versions, in the order of their inserts.
#[derive(Default)]
struct Log {
    versions: Vec<Version>,
    /// The total length of all keys and values in the memtable, in bytes.
    bytes: usize,
}

/// A version of a key. The value is `None` for a tombstone.
struct Version {
    key: Arc<[u8]>,
    sequence: SequenceNumber,
    value: Option<Box<[u8]>>,
}

/// An ordered map from each key to the indices of its versions in the vector, newest first.
#[derive(Default)]
struct Sorted {
    versions: usize,
    by_key: BTreeMap<Arc<[u8]>, Vec<usize>>,
}

impl Log {
    /// Returns the newest version of `key` whose sequence number is not above `snapshot`. Returns `None` if there is
    /// none.
    fn visible(&self, key: &[u8], snapshot: SequenceNumber) -> Option<&Version> {
        let visible =
            self.versions.iter().filter(|version| version.sequence <= snapshot && *version.key == *key);
        visible.max_by_key(|version| version.sequence)
    }
}

impl Sorted {
    /// Sorts all versions of the vector into an ordered map.
    fn new(log: &Log) -> Self {
        let mut by_key: BTreeMap<Arc<[u8]>, Vec<usize>> = BTreeMap::new();
        for (index, version) in log.versions.iter().enumerate() {
            by_key.entry(Arc::clone(&version.key)).or_default().push(index);
        }
        for versions in by_key.values_mut() {
            versions.sort_unstable_by_key(|index| Reverse(log.versions[*index].sequence));
        }
        Self { versions: log.versions.len(), by_key }
    }

    /// Calls `sink` with the version of each key that is visible at `snapshot`, for up to `limit` of the keys `keys`.
    fn pass<'s>(
        keys: impl Iterator<Item = (&'s Arc<[u8]>, &'s Vec<usize>)>,
        log: &Log,
        snapshot: SequenceNumber,
        limit: usize,
        sink: &mut dyn FnMut(Entry<'_>),
    ) {
        let visible = keys.filter_map(|(_, versions)| {
            versions.iter().map(|index| &log.versions[*index]).find(|version| version.sequence <= snapshot)
        });
        for Version { key, value, .. } in visible.take(limit) {
            sink(Entry { key, value: value.as_deref() });
        }
    }
}

impl Buffer {
    /// Returns the ordered map of all versions of the vector. Sorts the vector again only if a version was added since
    /// the last call.
    fn sorted(&self, log: &Log) -> Arc<Sorted> {
        let mut sorted = self.sorted.lock();
        if sorted.versions != log.versions.len() {
            *sorted = Arc::new(Sorted::new(log));
        }
        Arc::clone(&sorted)
    }
}

impl Memtable for Buffer {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let mut log = self.log.write();
        log.bytes += key.bytes.len() + value.map_or(0, <[u8]>::len);
        log.versions.push(Version { key: key.bytes.into(), sequence, value: value.map(Into::into) });
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        match self.log.read().visible(key.bytes, snapshot) {
            None => Lookup::Absent,
            Some(Version { value: None, .. }) => Lookup::Deleted,
            Some(Version { value: Some(found), .. }) => {
                value.extend_from_slice(found);
                Lookup::Found
            }
        }
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.log.read().visible(key.bytes, snapshot).map(|version| version.sequence)
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
        let sorted = self.sorted(&log);
        let sink = &mut |entry: Entry<'_>| batch.push(entry);
        match direction {
            Direction::Forward => {
                let keys = sorted.by_key.range::<[u8], _>((from, Bound::Unbounded));
                Sorted::pass(keys, &log, snapshot, limit, sink);
            }
            Direction::Backward => {
                let keys = sorted.by_key.range::<[u8], _>((Bound::Unbounded, from)).rev();
                Sorted::pass(keys, &log, snapshot, limit, sink);
            }
        }
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let log = self.log.read();
        let sorted = self.sorted(&log);
        Sorted::pass(sorted.by_key.iter(), &log, SequenceNumber::MAX, usize::MAX, sink);
    }

    fn len(&self) -> usize {
        self.log.read().versions.len()
    }

    fn memory_bytes(&self) -> usize {
        const KEY_HEADER_BYTES: usize = 2 * size_of::<usize>();
        const MAP_ENTRY_BYTES: usize = size_of::<Arc<[u8]>>() + size_of::<Vec<usize>>() + size_of::<usize>();
        let (log, sorted) = (self.log.read(), Arc::clone(&self.sorted.lock()));
        let versions = log.versions.capacity() * size_of::<Version>() + log.versions.len() * KEY_HEADER_BYTES;
        size_of::<Self>() + versions + log.bytes + sorted.versions * MAP_ENTRY_BYTES
    }
}
