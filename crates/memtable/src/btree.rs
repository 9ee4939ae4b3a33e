//! A `BTreeMap` with a reader-writer lock. This simple memtable is the baseline with which other memtables are
//! compared.
//!
//! Several readers can hold the lock at the same time, but a writer holds it exclusively. The nodes of the tree store
//! keys of up to 30 bytes, and one arena stores all values (see [`VersionMap`]).

use std::ops::Bound;
use std::sync::Arc;

use catalog::Variant;
use parking_lot::RwLock;
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

use crate::arena::ChunkPool;
use crate::memtable::{Memtable, MemtablePolicy};
use crate::version_map::{Slot, VersionMap};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "btree",
    "an ordered map under one lock, with fast reads and scans but only one writer at a time",
    || Box::new(Policy { pool: Arc::default() }),
);

/// Creates [`BTree`]s that reuse the memory of earlier trees.
struct Policy {
    pool: Arc<ChunkPool>,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(BTree(RwLock::new(VersionMap::new(capacity_bytes, &self.pool))))
    }
}

/// A memtable that is one ordered map with a reader-writer lock.
struct BTree(RwLock<VersionMap>);

impl Memtable for BTree {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.0.write().insert(key.bytes, sequence, value);
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        self.0.read().get(key.bytes, snapshot, value)
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.0.read().sequence_of(key.bytes, snapshot)
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let map = self.0.read();
        let sink = &mut |entry: Entry<'_>| batch.push(entry);
        match direction {
            Direction::Forward => emit(&map, map.ascending(from), snapshot, limit, sink),
            Direction::Backward => emit(&map, map.descending(from), snapshot, limit, sink),
        }
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let map = self.0.read();
        emit(&map, map.ascending(Bound::Unbounded), SequenceNumber::MAX, usize::MAX, sink);
    }

    fn len(&self) -> usize {
        self.0.read().len()
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.0.read().memory_bytes()
    }
}

/// Calls `sink` with the entries that are visible at `snapshot`, up to `limit` entries. `slots` are elements of the
/// map.
fn emit<'m, S: FnMut(Entry<'_>) + ?Sized>(
    map: &VersionMap,
    mut slots: impl Iterator<Item = Slot<'m>>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut left = limit;
    while left > 0
        && let Some(slot) = slots.next()
    {
        left -= usize::from(map.emit(slot, snapshot, sink));
    }
}
