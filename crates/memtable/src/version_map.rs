//! A `BTreeMap` from keys to their versions. The B-tree memtables protect this single-threaded map with a lock.
//!
//! The map stores short keys inline. If a key was written once, the map stores the address of its only version in an
//! arena. If a key was written several times, its versions are in a list in the order of sequence numbers. A lookup
//! finds the version for a snapshot by a binary search of this list.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::ops::Bound;
use std::sync::Arc;

use types::{Entry, Lookup, SequenceNumber};

use crate::allocation::allocation_bytes;
use crate::arena::{Arena, ChunkPool, RecordAddress};
use crate::inline_key::{INLINE_BYTES, InlineKey};

/// The value length that marks a tombstone. No value has this length.
const TOMBSTONE: u32 = u32::MAX;

/// The number of bytes of a stored version before its value. The header consists of the sequence number and the value
/// length.
const HEADER_BYTES: usize = 12;

/// The average memory of B-tree nodes per entry, divided by the size of a map key and its map value. The factor is
/// above 1, because inserts in random order fill only two thirds of the slots of a node, and because inner nodes also
/// contain pointers.
const NODE_FILL: f64 = 1.6;

/// The location of the versions of one key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Versions {
    /// The key was written once. The field is the address of its only version in the arena.
    One(RecordAddress),
    /// The key was written several times. The field is the index of its list of versions in [`VersionMap::lists`].
    Many(u32),
}

/// One version of a key that was written several times.
#[derive(Clone, Copy, Debug)]
struct Version {
    sequence: SequenceNumber,
    place: RecordAddress,
}

/// An ordered map from keys to all their versions.
#[derive(Debug)]
pub(crate) struct VersionMap {
    keys: BTreeMap<InlineKey<'static>, Versions>,
    /// The versions of the keys that were written several times, one list for each key. Each list is in ascending order
    /// of sequence numbers.
    lists: Vec<Vec<Version>>,
    records: Arena,
    len: usize,
    /// The number of heap bytes of keys that are too long to be stored inline.
    key_heap_bytes: usize,
}

/// An element of the map: a key, and the location of its versions.
pub(crate) type Slot<'m> = (&'m InlineKey<'m>, &'m Versions);

impl VersionMap {
    /// Creates an empty map for about `capacity_bytes` bytes of keys and values. The map allocates its memory from
    /// `pool`.
    pub(crate) fn new(capacity_bytes: usize, pool: &Arc<ChunkPool>) -> Self {
        Self {
            keys: BTreeMap::new(),
            lists: Vec::new(),
            records: Arena::new(capacity_bytes, pool),
            len: 0,
            key_heap_bytes: 0,
        }
    }

    /// Adds a version of a key with the sequence number `sequence`. The version is a tombstone if `value` is `None`.
    pub(crate) fn insert(&mut self, key: &[u8], sequence: SequenceNumber, value: Option<&[u8]>) {
        let len = value.map_or(TOMBSTONE, |value| value.len() as u32);
        let header = (u128::from(len) << 64 | u128::from(sequence)).to_le_bytes();
        let place = self.records.append([&header[..HEADER_BYTES], value.unwrap_or_default()]);
        self.len += 1;
        let key = InlineKey::owned(key);
        let key_heap_bytes = key.heap_bytes();
        match self.keys.entry(key) {
            btree_map::Entry::Vacant(vacant) => {
                vacant.insert(Versions::One(place));
                self.key_heap_bytes += allocation_bytes(key_heap_bytes);
            }
            btree_map::Entry::Occupied(occupied) => {
                let list = match *occupied.get() {
                    Versions::Many(list) => list,
                    Versions::One(older) => {
                        let list = u32::try_from(self.lists.len())
                            .expect("the version map must have fewer than 2^32 keys with several versions");
                        self.lists.push(vec![Version {
                            sequence: read(&self.records, older).sequence,
                            place: older,
                        }]);
                        *occupied.into_mut() = Versions::Many(list);
                        list
                    }
                };
                add_version(&mut self.lists[list as usize], Version { sequence, place });
            }
        }
    }

    /// Looks up `key` at `snapshot`. If the lookup finds a value, the function appends it to `value`.
    pub(crate) fn get(&self, key: &[u8], snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let Some(versions) = find(&self.keys, key) else { return Lookup::Absent };
        match self.visible(versions, snapshot).map(|record| record.value) {
            None => Lookup::Absent,
            Some(None) => Lookup::Deleted,
            Some(Some(found)) => {
                value.extend_from_slice(found);
                Lookup::Found
            }
        }
    }

    /// Returns the sequence number of the version that a lookup of `key` at `snapshot` finds. Returns `None` if the
    /// lookup finds no version.
    pub(crate) fn sequence_of(&self, key: &[u8], snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.visible(find(&self.keys, key)?, snapshot).map(|record| record.sequence)
    }

    /// Iterates over the keys and their versions in ascending order, beginning at the bound `from`.
    pub(crate) fn ascending<'m>(&'m self, from: Bound<&'m [u8]>) -> impl Iterator<Item = Slot<'m>> {
        let keys: &BTreeMap<InlineKey<'m>, Versions> = &self.keys;
        let from = from.map(InlineKey::probe);
        keys.range::<InlineKey<'m>, _>((from.as_ref(), Bound::Unbounded))
    }

    /// Iterates over the keys and their versions in descending order, beginning at the bound `from`.
    pub(crate) fn descending<'m>(&'m self, from: Bound<&'m [u8]>) -> impl Iterator<Item = Slot<'m>> {
        let keys: &BTreeMap<InlineKey<'m>, Versions> = &self.keys;
        let from = from.map(InlineKey::probe);
        keys.range::<InlineKey<'m>, _>((Bound::Unbounded, from.as_ref())).rev()
    }

    /// Calls `sink` with the version of the key in `slot` that is visible at `snapshot`. Returns whether there is such
    /// a version.
    #[inline]
    pub(crate) fn emit<S>(&self, slot: Slot<'_>, snapshot: SequenceNumber, sink: &mut S) -> bool
    where
        S: FnMut(Entry<'_>) + ?Sized,
    {
        let Some(record) = self.visible(*slot.1, snapshot) else { return false };
        let mut buffer = [0; INLINE_BYTES];
        sink(Entry { key: slot.0.bytes(&mut buffer), value: record.value });
        true
    }

    /// Returns the number of keys in the map.
    pub(crate) fn keys(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of versions in the map.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the memory of the map in bytes. For records and lists, the result contains the allocated size. For tree
    /// nodes, the result contains an estimate that assumes an average fill.
    pub(crate) fn memory_bytes(&self) -> usize {
        let slots = self.keys.len() * (size_of::<InlineKey<'_>>() + size_of::<Versions>());
        let listed = self.len - (self.keys.len() - self.lists.len());
        // A list doubles its capacity when it grows, so on average a quarter of its capacity is unused.
        let lists = self.lists.capacity() * size_of::<Vec<Version>>()
            + self.lists.len() * allocation_bytes(1)
            + listed * size_of::<Version>() * 4 / 3;
        (slots as f64 * NODE_FILL) as usize + lists + self.key_heap_bytes + self.records.memory_bytes()
    }

    /// Returns the newest version in `versions` whose sequence number is not above `snapshot`. Returns `None` if there
    /// is no such version.
    #[inline]
    fn visible(&self, versions: Versions, snapshot: SequenceNumber) -> Option<StoredVersion<'_>> {
        let place = match versions {
            Versions::One(place) => place,
            Versions::Many(list) => {
                let list = &self.lists[list as usize];
                // The newest version is tested first, because most readers have the newest snapshot.
                let newest =
                    list.last().expect("the list of versions of a key must have at least one version");
                if newest.sequence <= snapshot {
                    newest.place
                } else {
                    let older = list.partition_point(|version| version.sequence <= snapshot);
                    list.get(older.checked_sub(1)?)?.place
                }
            }
        };
        Some(read(&self.records, place)).filter(|record| record.sequence <= snapshot)
    }
}

/// Returns the versions of `key`, or `None` if the key is absent. This function is not a method, so that the compiler
/// can shorten the lifetime of the keys in the map to the lifetime of the probe.
fn find<'k>(keys: &BTreeMap<InlineKey<'k>, Versions>, key: &'k [u8]) -> Option<Versions> {
    keys.get(&InlineKey::probe(key)).copied()
}

/// Inserts a version into the list of versions of one key, which is sorted by sequence numbers. The version nearly
/// always belongs to the end of the list, but concurrent writers may insert sequence numbers out of order.
fn add_version(list: &mut Vec<Version>, added: Version) {
    match list.last() {
        Some(newest) if newest.sequence > added.sequence => {
            let at = list.partition_point(|older| older.sequence < added.sequence);
            list.insert(at, added);
        }
        _ => list.push(added),
    }
}

/// One version of a key, as the arena stores it.
struct StoredVersion<'m> {
    sequence: SequenceNumber,
    /// The value of the version, or `None` for a tombstone.
    value: Option<&'m [u8]>,
}

/// Reads the version at the address `place` in the arena `records`.
#[inline]
fn read(records: &Arena, place: RecordAddress) -> StoredVersion<'_> {
    let record = records.bytes_from(place);
    let (header, rest) = record
        .split_first_chunk::<HEADER_BYTES>()
        .expect("a record in the arena must begin with a complete header");
    let sequence = SequenceNumber::from_le_bytes(
        header[..8].try_into().expect("the stored sequence number must have eight bytes"),
    );
    let len =
        u32::from_le_bytes(header[8..].try_into().expect("the stored value length must have four bytes"));
    StoredVersion { sequence, value: (len != TOMBSTONE).then(|| &rest[..len as usize]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_come_out_of_order_are_found_in_order() {
        let mut map = VersionMap::new(1 << 20, &Arc::default());
        for sequence in [7, 3, 9, 5, 1] {
            map.insert(b"key", sequence, (sequence != 5).then_some(sequence.to_string().as_bytes()));
        }
        let expected = ["absent", "1", "1", "3", "3", "deleted", "deleted", "7", "7", "9"];
        for (snapshot, expected) in expected.into_iter().enumerate() {
            let mut value = Vec::new();
            let seen = match map.get(b"key", snapshot as u64, &mut value) {
                Lookup::Absent => "absent",
                Lookup::Deleted => "deleted",
                Lookup::Found => str::from_utf8(&value).unwrap(),
            };
            assert_eq!(seen, expected, "at {snapshot}");
        }
        assert_eq!(map.len(), 5);
    }

    #[test]
    fn memory_counts_records_keys_and_nodes() {
        let mut map = VersionMap::new(1 << 20, &Arc::default());
        let empty = map.memory_bytes();
        for sequence in 1..=1000 {
            map.insert(&[sequence as u8; 100], sequence, Some(&[0; 1000]));
        }
        let payload = 1000 * 1000 + 256 * 100;
        let held = map.memory_bytes() - empty;
        assert!((payload..payload * 5 / 4).contains(&held), "{held}");
    }
}
