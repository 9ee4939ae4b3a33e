//! The reference model of a memtable. The model stores all versions in one ordered map, and answers each lookup or scan
//! by an iteration over this map.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;

use types::{Direction, Entries, EntryBatch, HashedKey, KeyHash, Lookup, SequenceNumber};

use crate::Memtable;

/// One insert of a write history: a key, a sequence number, and a value or a tombstone.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) key: Vec<u8>,
    pub(crate) sequence: SequenceNumber,
    pub(crate) value: Option<Vec<u8>>,
}

/// The result of a lookup in the model or in a memtable: absent, a tombstone, or a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Nothing,
    Tombstone,
    Value(Vec<u8>),
}

/// A key and its value. The value is `None` for a tombstone.
pub(crate) type OwnedEntry = (Vec<u8>, Option<Vec<u8>>);

/// The arguments of a scan: its start, direction, snapshot and limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<'a> {
    pub(crate) from: Bound<&'a [u8]>,
    pub(crate) direction: Direction,
    pub(crate) snapshot: SequenceNumber,
    pub(crate) limit: usize,
}

/// The position of a version in the model: its key, and its sequence number in descending order.
pub(crate) type Version = (Vec<u8>, Reverse<SequenceNumber>);

/// The reference model of a memtable: all versions in ascending order of keys. The newest version of each key comes
/// first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model(pub(crate) BTreeMap<Version, Option<Vec<u8>>>);

impl Model {
    pub(crate) fn insert(&mut self, write: &Write) {
        self.0.insert((write.key.clone(), Reverse(write.sequence)), write.value.clone());
    }

    pub(crate) fn get(&self, key: &[u8], snapshot: SequenceNumber) -> Known {
        let from = (key.to_vec(), Reverse(snapshot));
        match self.0.range(from..).next() {
            Some(((found, _), value)) if found == key => value.clone().map_or(Known::Tombstone, Known::Value),
            _ => Known::Nothing,
        }
    }

    pub(crate) fn sequence_of(&self, key: &[u8], snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let (found, _) = self.0.range((key.to_vec(), Reverse(snapshot))..).next()?;
        (found.0 == key).then_some(found.1.0)
    }

    pub(crate) fn scan(&self, scan: Scan<'_>) -> Vec<OwnedEntry> {
        let is_ahead = |key: &[u8]| match (scan.from, scan.direction) {
            (Bound::Unbounded, _) => true,
            (Bound::Included(from), Direction::Forward) => key >= from,
            (Bound::Excluded(from), Direction::Forward) => key > from,
            (Bound::Included(from), Direction::Backward) => key <= from,
            (Bound::Excluded(from), Direction::Backward) => key < from,
        };
        let mut entries: Vec<OwnedEntry> = Vec::new();
        for ((key, Reverse(sequence)), value) in &self.0 {
            let is_newest = entries.last().is_none_or(|(last, _)| last != key);
            if *sequence <= scan.snapshot && is_ahead(key) && is_newest {
                entries.push((key.clone(), value.clone()));
            }
        }
        if scan.direction == Direction::Backward {
            entries.reverse();
        }
        entries.truncate(scan.limit);
        entries
    }

    pub(crate) fn keys(&self) -> Vec<&[u8]> {
        let mut keys: Vec<&[u8]> = self.0.keys().map(|(key, _)| &key[..]).collect();
        keys.dedup();
        keys
    }
}

/// Returns a key with its hash. The hash has only 1009 different values, so that some keys have equal hashes.
pub(crate) fn hashed(key: &[u8]) -> HashedKey<'_> {
    let hash = key.iter().fold(17u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)));
    HashedKey { bytes: key, hash: KeyHash(hash % 1009) }
}

pub(crate) fn insert(table: &dyn Memtable, write: &Write) {
    table.insert(hashed(&write.key), write.sequence, write.value.as_deref());
}

/// Inserts writes with consecutive sequence numbers into a memtable by one call of [`Memtable::insert_all`].
pub(crate) fn insert_all(table: &dyn Memtable, writes: &[Write]) {
    let mut entries = writes.iter().map(|write| (hashed(&write.key), write.value.as_deref()));
    table.insert_all(writes.first().map_or(1, |write| write.sequence), &mut entries);
}

/// Returns the result of a lookup in the memtable. Also checks that the memtable appends the value to the buffer and
/// keeps the earlier bytes.
pub(crate) fn get(table: &dyn Memtable, key: &[u8], snapshot: SequenceNumber) -> Known {
    let mut value = b"before".to_vec();
    let lookup = table.get(hashed(key), snapshot, &mut value);
    let appended = value
        .strip_prefix(b"before")
        .expect("get() must keep the earlier bytes of the buffer to which it appends the value");
    match lookup {
        Lookup::Found => Known::Value(appended.to_vec()),
        Lookup::Absent | Lookup::Deleted if !appended.is_empty() => {
            panic!("get() must append a value only if it finds a value")
        }
        Lookup::Absent => Known::Nothing,
        Lookup::Deleted => Known::Tombstone,
    }
}

pub(crate) fn scan(table: &dyn Memtable, scan: Scan<'_>) -> Vec<OwnedEntry> {
    let mut batch = EntryBatch::default();
    table.scan(scan.from, scan.direction, scan.snapshot, scan.limit, &mut batch);
    batch.iter().map(|entry| (entry.key.to_vec(), entry.value.map(<[u8]>::to_vec))).collect()
}

/// Returns the entries of one scan of a memtable, read by [`Memtable::entries`].
pub(crate) fn entries(table: &dyn Memtable, scan: Scan<'_>) -> Vec<OwnedEntry> {
    owned(&table.entries(scan.from, scan.direction, scan.snapshot, scan.limit))
}

/// Returns all entries of a scan of a memtable, read by [`Memtable::entries`] in pages of `scan.limit` entries. A page
/// continues the scan if the memtable can continue scans, and otherwise starts a new scan. The function stops after
/// more than `most` entries, so that an endless scan fails the test.
pub(crate) fn pages(table: &dyn Memtable, scan: Scan<'_>, most: usize) -> Vec<OwnedEntry> {
    let mut page = table.entries(scan.from, scan.direction, scan.snapshot, scan.limit);
    let mut found = owned(&page);
    while page.len() == scan.limit && found.len() <= most {
        if !page.go_on(scan.limit) {
            let (last, _) = found.last().expect("a full page of a scan must have entries");
            page = table.entries(Bound::Excluded(last), scan.direction, scan.snapshot, scan.limit);
        }
        found.extend(owned(&page));
    }
    found
}

/// Returns all entries of a scan of a memtable, read by [`Memtable::scan`] in pages of `asked.limit` entries. Each page
/// is a new scan after the last key. The function stops after more than `most` entries.
pub(crate) fn scans(table: &dyn Memtable, asked: Scan<'_>, most: usize) -> Vec<OwnedEntry> {
    let mut found: Vec<OwnedEntry> = Vec::new();
    loop {
        let last = found.last().map(|(key, _)| key.clone());
        let from = last.as_deref().map_or(asked.from, Bound::Excluded);
        let page = scan(table, Scan { from, ..asked });
        let is_last = page.len() < asked.limit;
        found.extend(page);
        if is_last || found.len() > most {
            return found;
        }
    }
}

/// Returns copies of the entries of a scan.
pub(crate) fn owned(entries: &Entries<'_>) -> Vec<OwnedEntry> {
    entries.iter().map(|entry| (entry.key.to_vec(), entry.value.map(<[u8]>::to_vec))).collect()
}

pub(crate) fn drain(table: &dyn Memtable) -> Vec<OwnedEntry> {
    let mut entries = Vec::new();
    table.drain(&mut |entry| entries.push((entry.key.to_vec(), entry.value.map(<[u8]>::to_vec))));
    entries
}
