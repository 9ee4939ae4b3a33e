//! A memtable that uses `TreeIndex`, the B+-tree of the crate `scc`. Readers take no locks, and a writer locks one
//! leaf.
//!
//! `TreeIndex` maps each key to an anchor in an arena. The anchor is the start of a chain of all versions of the key,
//! ordered from newest to oldest. Writers add versions to the chain by compare-and-swap. The leaves of the tree store
//! keys of up to 30 bytes. A leaf has up to 14 entries. A lookup among 500,000 entries visits five or six nodes, the
//! anchor and one record. An entry takes the bytes of its key and value, plus 24 bytes of header and link, rounded up
//! to a multiple of 8. The anchor takes the bytes of the key and 24 more bytes, and the nodes take 72 bytes per key.
//!
//! Anchors keep lookups fast. In scc 3.8.8, a range query that begins at an absent key reads many leaves. Such a query
//! takes 0.7 ms among 100,000 random keys, while a query that begins at a present key takes 0.5 µs. For this reason,
//! the tree contains only one element per key, the anchor. A lookup searches for exactly this key, and not for a pair
//! of key and snapshot, which is usually absent. Scans that begin at an absent key are still slow.
//!
//! Source: the documentation of `scc` 3.8, `TreeIndex`.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use catalog::Variant;
use scc::{Comparable, Equivalent, Guard, TreeIndex, tree_index};
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

use crate::chain;
use crate::inline_key::InlineKey;
use crate::memtable::{Memtable, MemtablePolicy};
use crate::shared_arena::{MapPool, Ref, SharedArena, Version, VersionRecord};
use crate::versions::{self, Probe, Versions};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "scc",
    "the concurrent B+-tree of the Rust crate scc; readers never wait, but scans from absent keys start slowly",
    || Box::new(Policy { pool: Arc::default() }),
);

/// The average memory of tree nodes per key in bytes. A slot of a node takes 48 bytes, and on average two thirds of the
/// slots are used.
const NODE_BYTES: usize = 72;

/// Creates [`Index`] memtables that reuse the memory of earlier memtables.
struct Policy {
    pool: Arc<MapPool>,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        let arena = SharedArena::new(capacity_bytes, &self.pool);
        Box::new(Index { tree: TreeIndex::new(), arena, anchors: AtomicUsize::new(0) })
    }
}

/// A borrowed key for a search in the tree of the crate `scc`.
struct Sought<'a>(InlineKey<'a>);

impl Equivalent<InlineKey<'static>> for Sought<'_> {
    #[inline]
    fn equivalent(&self, key: &InlineKey<'static>) -> bool {
        self.0 == *key
    }
}

impl Comparable<InlineKey<'static>> for Sought<'_> {
    #[inline]
    fn compare(&self, key: &InlineKey<'static>) -> Ordering {
        self.0.cmp(key)
    }
}

/// A memtable that uses the B+-tree of the crate `scc`. The versions are in an arena.
struct Index {
    /// The tree, which maps each key to its anchor. An anchor is a version with the highest possible sequence number
    /// and without a value.
    tree: TreeIndex<InlineKey<'static>, Ref<Version>>,
    arena: SharedArena,
    /// The number of anchors that were created. This number includes unused anchors, which exist if two threads insert
    /// the same new key at the same time.
    anchors: AtomicUsize,
}

impl Index {
    fn anchor(&self, key: &[u8], guard: &Guard) -> Option<Ref<Version>> {
        self.tree.peek(&Sought(InlineKey::probe(key)), guard).copied()
    }

    /// Returns the anchor of `key`, at which the chain of all versions of the key starts. Creates the anchor if it does
    /// not exist.
    fn make_anchor(&self, key: &[u8], guard: &Guard) -> Ref<Version> {
        self.anchor(key, guard).unwrap_or_else(|| {
            let own = self.arena.append(key, SequenceNumber::MAX, None, 1);
            self.anchors.fetch_add(1, Release);
            match self.tree.insert_sync(InlineKey::owned(key), own) {
                Ok(()) => own,
                Err(_) => self.anchor(key, guard).expect(
                    "the insert of a key's anchor must succeed unless another thread has inserted the anchor",
                ),
            }
        })
    }
}

/// The B+-tree of the crate `scc` during one operation, with a guard that keeps removed nodes in memory (epoch-based
/// reclamation).
struct Open<'a> {
    index: &'a Index,
    guard: &'a Guard,
}

/// An iterator over a key range of the tree. Each element is a key and its anchor, the start of the chain of its
/// versions.
type Range<'a> = tree_index::Range<
    'a,
    InlineKey<'static>,
    Ref<Version>,
    InlineKey<'static>,
    (Bound<InlineKey<'static>>, Bound<InlineKey<'static>>),
>;

/// A cursor of a scan: the current version, and an iterator over the next keys in scan direction.
struct Cursor<'a> {
    version: Ref<Version>,
    rest: Range<'a>,
}

impl<'t> Open<'t> {
    /// Returns an iterator over the keys above `key`, or over all keys if `key` is `None`.
    fn above(&self, key: Option<&[u8]>) -> Range<'t> {
        let from = key.map_or(Bound::Unbounded, |key| Bound::Excluded(InlineKey::owned(key)));
        self.index.tree.range((from, Bound::Unbounded), self.guard)
    }

    /// Returns an iterator over the keys below `key`, or over all keys if `key` is `None`.
    fn below(&self, key: Option<&[u8]>) -> Range<'t> {
        let to = key.map_or(Bound::Unbounded, |key| Bound::Excluded(InlineKey::owned(key)));
        self.index.tree.range((Bound::Unbounded, to), self.guard)
    }

    /// Returns a cursor at the newest version of the next key in an ascending range, or `None` at the end of the range.
    /// Keys that have an anchor but no version yet are skipped.
    fn up(&self, mut rest: Range<'t>) -> Option<Cursor<'t>> {
        loop {
            let (_, anchor) = rest.next()?;
            if let Some(version) = chain::older(&self.index.arena, *anchor) {
                return Some(Cursor { version, rest });
            }
        }
    }

    /// Returns a cursor at the oldest version of the next key in a descending range, or `None` at the end of the range.
    /// Skips keys that have an anchor but no version yet.
    fn down(&self, mut rest: Range<'t>) -> Option<Cursor<'t>> {
        let arena = &self.index.arena;
        loop {
            let (_, anchor) = rest.next_back()?;
            let newest = chain::older(arena, *anchor);
            if let Some(version) = newest.and_then(|newest| chain::last_above(arena, newest, 0)) {
                return Some(Cursor { version, rest });
            }
        }
    }

    /// Returns the oldest version that has the key of `probe` and a sequence number above that of `probe`. Returns
    /// `None` if there is no such version.
    fn newer(&self, probe: Probe<'_>) -> Option<Ref<Version>> {
        let anchor = self.index.anchor(probe.key, self.guard)?;
        let newest = chain::older(&self.index.arena, anchor)?;
        chain::last_above(&self.index.arena, newest, probe.sequence)
    }

    /// Returns the newest version that has the key of `probe` and a sequence number not above that of `probe`. Returns
    /// `None` if there is no such version.
    #[inline]
    fn within(&self, probe: Probe<'_>) -> Option<Ref<Version>> {
        let anchor = self.index.anchor(probe.key, self.guard)?;
        let newest = chain::older(&self.index.arena, anchor)?;
        chain::first_within(&self.index.arena, newest, probe.sequence)
    }
}

impl<'t> Versions for Open<'t> {
    type Cursor = Cursor<'t>;

    fn seek(&self, from: Option<Probe<'_>>) -> Option<Cursor<'t>> {
        let rest = self.above(from.map(|from| from.key));
        match from.and_then(|from| self.within(from)) {
            Some(version) => Some(Cursor { version, rest }),
            None => self.up(rest),
        }
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Cursor<'t>> {
        let rest = self.below(end.map(|end| end.key));
        match end.and_then(|end| self.newer(end)) {
            Some(version) => Some(Cursor { version, rest }),
            None => self.down(rest),
        }
    }

    fn next(&self, cursor: &mut Option<Cursor<'t>>) {
        *cursor = cursor.take().and_then(|cursor| match chain::older(&self.index.arena, cursor.version) {
            Some(version) => Some(Cursor { version, ..cursor }),
            None => self.up(cursor.rest),
        });
    }

    fn previous(&self, cursor: &mut Option<Cursor<'t>>) {
        *cursor = cursor.take().and_then(|cursor| {
            let VersionRecord { key, sequence, .. } = self.record(&cursor);
            match self.newer(Probe { key, sequence }) {
                Some(version) => Some(Cursor { version, ..cursor }),
                None => self.down(cursor.rest),
            }
        });
    }

    fn record<'a>(&'a self, cursor: &Cursor<'t>) -> VersionRecord<'a> {
        self.index.arena.record(cursor.version)
    }

    fn visible(&self, key: &[u8], snapshot: SequenceNumber) -> Option<VersionRecord<'_>> {
        self.within(Probe { key, sequence: snapshot }).map(|version| self.index.arena.record(version))
    }
}

impl Memtable for Index {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let version = self.arena.append(key.bytes, sequence, value, 1);
        let anchor = self.make_anchor(key.bytes, &Guard::new());
        chain::add(&self.arena, anchor, version);
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let open = Open { index: self, guard: &Guard::new() };
        versions::lookup(open.visible(key.bytes, snapshot), value)
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let open = Open { index: self, guard: &Guard::new() };
        open.visible(key.bytes, snapshot).map(|record| record.sequence)
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
        versions::scan(&open, from, direction, snapshot, limit, &mut |record: VersionRecord<'_>| {
            batch.push(record.entry());
        });
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let open = Open { index: self, guard: &Guard::new() };
        versions::drain(&open, &mut |record: VersionRecord<'_>| sink(record.entry()));
    }

    fn len(&self) -> usize {
        // Each anchor is also a version of the arena. The anchors are counted first, so the difference is never
        // negative.
        let anchors = self.anchors.load(Acquire);
        self.arena.versions() - anchors
    }

    fn memory_bytes(&self) -> usize {
        self.arena.memory_bytes() + self.anchors.load(Relaxed) * NODE_BYTES
    }
}
