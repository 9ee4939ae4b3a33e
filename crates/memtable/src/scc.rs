//! The B+-tree of the `scc` crate: readers without locks, writers that lock a leaf.
//!
//! `TreeIndex` maps (key, sequence number), keys ascending and of each key the newest version first, to the
//! version in an arena. Keys up to 30 bytes stand in its leaves. A lookup opens a range at (key, snapshot),
//! since the tree has no search for the first entry at or behind a key. Leaves hold 14 entries: a lookup
//! among 500 k meets five or six nodes and one record. Bytes per entry: key, value, 16 of header, rounded
//! up to 8, and 72 of leaf and inner nodes.
//!
//! Source: the documentation of `scc` 3.8, `TreeIndex`.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use catalog::{Build, Variant};
use scc::{Guard, TreeIndex, tree_index};
use serde::{Deserialize, Serialize};
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

use crate::inline_key::InlineKey;
use crate::memtable::{Memtable, MemtablePolicy};
use crate::shared_arena::{MapPool, Record, Ref, SharedArena, Version};
use crate::versions::{self, Probe, Versions};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::new::<Policy>(
    "scc",
    "the concurrent B+-tree of the scc crate: readers never wait, writers of different leaves neither",
    "",
);

/// The bytes of nodes per entry: slots of 48, filled to two thirds.
const NODE_BYTES: usize = 72;

/// Makes [`Index`]es that hand their memory on.
struct Policy {
    pool: Arc<MapPool>,
}

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn MemtablePolicy> for Policy {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn MemtablePolicy>, String> {
        Ok(Box::new(Self { pool: Arc::default() }))
    }
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(Index { tree: TreeIndex::new(), arena: SharedArena::new(capacity_bytes, &self.pool) })
    }
}

/// What the tree is ordered by.
#[derive(Clone)]
struct Key {
    key: InlineKey<'static>,
    sequence: SequenceNumber,
}

impl From<Probe<'_>> for Key {
    fn from(probe: Probe<'_>) -> Self {
        Self { key: InlineKey::owned(probe.key), sequence: probe.sequence }
    }
}

impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| other.sequence.cmp(&self.sequence))
    }
}

impl PartialOrd for Key {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

/// The tree and what its values name.
struct Index {
    tree: TreeIndex<Key, Ref<Version>>,
    arena: SharedArena,
}

/// The tree as one operation sees it.
struct Open<'a> {
    index: &'a Index,
    guard: &'a Guard,
}

/// A range of the tree.
type Range<'a> = tree_index::Range<'a, Key, Ref<Version>, Key, (Bound<Key>, Bound<Key>)>;

impl<'a> Open<'a> {
    fn range(&self, from: Bound<Key>, to: Bound<Key>) -> Range<'a> {
        self.index.tree.range((from, to), self.guard)
    }
}

/// What is left of a range, and the version before it.
struct Cursor<'a> {
    rest: Range<'a>,
    version: Ref<Version>,
}

impl<'a> Cursor<'a> {
    /// The next of a range that is read upward.
    fn up(mut rest: Range<'a>) -> Option<Self> {
        let (_, version) = rest.next()?;
        Some(Self { version: *version, rest })
    }

    /// The next of a range that is read downward.
    fn down(mut rest: Range<'a>) -> Option<Self> {
        let (_, version) = rest.next_back()?;
        Some(Self { version: *version, rest })
    }
}

impl<'t> Versions for Open<'t> {
    type Cursor = Cursor<'t>;

    fn seek(&self, from: Option<Probe<'_>>) -> Option<Cursor<'t>> {
        let from = from.map_or(Bound::Unbounded, |from| Bound::Included(from.into()));
        Cursor::up(self.range(from, Bound::Unbounded))
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Cursor<'t>> {
        let end = end.map_or(Bound::Unbounded, |end| Bound::Excluded(end.into()));
        Cursor::down(self.range(Bound::Unbounded, end))
    }

    fn next(&self, cursor: Cursor<'t>) -> Option<Cursor<'t>> {
        Cursor::up(cursor.rest)
    }

    fn previous(&self, cursor: Cursor<'t>) -> Option<Cursor<'t>> {
        Cursor::down(cursor.rest)
    }

    fn record<'a>(&'a self, cursor: &Cursor<'t>) -> Record<'a> {
        self.index.arena.record(cursor.version)
    }
}

impl Memtable for Index {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let version = self.arena.append(key.bytes, sequence, value, 0);
        let is_new = self.tree.insert_sync(Probe { key: key.bytes, sequence }.into(), version).is_ok();
        debug_assert!(is_new, "no two inserts carry the same key and sequence number");
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let open = Open { index: self, guard: &Guard::new() };
        versions::lookup(open.visible(key.bytes, snapshot), value)
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let open = Open { index: self, guard: &Guard::new() };
        versions::scan(&open, from, direction, snapshot, limit, &mut |entry: Entry<'_>| batch.push(entry));
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        versions::drain(&Open { index: self, guard: &Guard::new() }, sink);
    }

    fn len(&self) -> usize {
        self.arena.versions()
    }

    fn memory_bytes(&self) -> usize {
        self.arena.memory_bytes() + self.len() * NODE_BYTES
    }
}
