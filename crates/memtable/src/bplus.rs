//! A B+-tree in an arena with optimistic lock coupling. Readers take no lock and write no shared memory.
//!
//! A node takes 1 KiB and has up to 62 entries. The head of an entry is the eight bytes of its key after the common
//! prefix of the node. A node stores the heads of its entries, references to their records, and links to its children.
//! A leaf stores a link to the next leaf instead of links to children. A search prefetches all cache lines of a node
//! together, and then does a binary search over the heads. The search reads a record only if heads are equal. A lookup
//! among 500,000 entries visits three or four nodes and one record. A lookup waits for two or three cache misses in
//! sequence: for the leaf, for the record, and sometimes for the parent of the leaf. An entry takes the bytes of the
//! key and value and 16 bytes of header, rounded up to a multiple of 8. In addition, an entry takes on average 1/43 of
//! a node. After inserts in random order, leaves are two thirds full. After inserts in ascending order, leaves are
//! full.
//!
//! Synchronization: each node has a version number, which is odd while a writer has locked the node. A reader checks
//! the version number before and after it reads a node. If the version number has changed, the reader discards its
//! result and restarts the search. After a reader has read the version number of a child, the reader checks the parent
//! again. A reader therefore never follows a link that a split has made invalid. A writer locks only the nodes that it
//! changes. To lock a node, the writer increments the version number that it has read. An insert splits full nodes on
//! the way to the leaf, so a split changes at most one parent. All fields are atomics, and nodes and records are never
//! freed, so references always remain valid. During a concurrent change, a reader may therefore compute a wrong result,
//! but never accesses invalid memory. The reader discards the wrong result. A scan remembers the version number of its
//! leaf between entries. If the version number of the leaf has changed, the scan checks whether its entry is still at
//! the same position. If not, the scan searches the entry again.
//!
//! Source: Leis, Haubenschild, Neumann, "Optimistic Lock Coupling: A Scalable and Efficient General-Purpose
//! Synchronization Method", IEEE Data Engineering Bulletin 42(1), 2019; Graefe, "B-tree Indexes and CPU Caches", ICDE
//! 2001, for heads ("poor man's normalized keys"); Graefe, "Modern B-Tree Techniques", 2011, section 3.5, for fence
//! keys and prefixes.

use std::cmp::Ordering as Order;
use std::sync::Arc;
// This variable is not a loom atomic, because it does not synchronize threads.
use std::sync::atomic::AtomicU32 as StdAtomicU32;

use catalog::Variant;
use crossbeam_utils::CachePadded;
use types::{Direction, HashedKey, SequenceNumber};

use crate::bplus_node::{
    Changed, FANOUT, Locked, New, Node, Optimistic, RECORD_BYTES, SEARCHED_BYTES, Side, set_fences,
};
use crate::memtable::{Memtable, MemtablePolicy, NewEntry};
use crate::shared_arena::{AtomicRef, HEADER_BYTES, MapPool, Ref, SharedArena, Version, VersionRecord};
use crate::sync::AtomicUsize;
use crate::sync::Ordering::Relaxed;
use crate::versions::{Probe, Versions, read_versions};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "bplus",
    "a B+-tree in an arena with optimistic locks; all operations are fast, and readers never wait",
    || Box::new(Policy { pool: Arc::default() }),
);

/// The largest number of records that a scan prefetches after the record that it reads.
const RECORDS_AHEAD: usize = 16;

/// Creates [`BPlus`] trees that reuse the memory of earlier trees.
struct Policy {
    pool: Arc<MapPool>,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(BPlus { tree: Tree::new(capacity_bytes, &self.pool) })
    }
}

/// A memtable that is one B+-tree.
struct BPlus {
    tree: Tree,
}

/// The B+-tree, whose nodes and records are in an arena.
struct Tree {
    arena: SharedArena,
    root: AtomicRef<Node>,
    /// The number of levels of inner nodes in the tree. A change of this field also changes the version number of the
    /// root, so a reader detects the change.
    height: AtomicUsize,
    /// The last leaf, if the previous insert appended an entry to this leaf. If keys are inserted in order, the next
    /// insert needs no search.
    last: AtomicRef<Node>,
    /// The number of bytes that a scan prefetches per record. This number is an estimate: the size of a recent record,
    /// at most [`RECORD_BYTES`]. If values have different sizes, splits write the field often. The field therefore has
    /// its own cache line, so that these writes do not slow down readers of the other fields.
    asked_bytes: CachePadded<StdAtomicU32>,
}

/// A node on the search path of the B+-tree, and its version number when the node was read.
#[derive(Clone, Copy)]
struct Visited<'a> {
    node: &'a Node,
    at: Ref<Node>,
    version: u64,
}

impl Tree {
    fn new(capacity_bytes: usize, pool: &Arc<MapPool>) -> Self {
        let arena = SharedArena::new(capacity_bytes, pool);
        let root = AtomicRef::default();
        root.store(Some(arena.place(Node::default())));
        let asked_bytes = CachePadded::new(StdAtomicU32::new(RECORD_BYTES as u32));
        Self { arena, root, height: AtomicUsize::new(0), last: AtomicRef::default(), asked_bytes }
    }

    /// Calls `attempt` until no concurrent change disturbs it. Returns the result of the last call.
    #[inline]
    fn retry<T>(attempt: impl Fn() -> Optimistic<T>) -> T {
        loop {
            if let Ok(done) = attempt() {
                return done;
            }
        }
    }

    /// Starts an optimistic read of a node: prefetches the node and reads its version number. Waits while a writer has
    /// locked the node.
    #[inline]
    fn visit(&self, at: Ref<Node>) -> Visited<'_> {
        self.arena.prefetch(at, SEARCHED_BYTES);
        let node = self.arena.node(at);
        Visited { node, at, version: node.read() }
    }

    /// Returns the root and the number of levels of inner nodes. Returns an error if the root changed during the read.
    #[inline]
    fn root(&self) -> Optimistic<(Visited<'_>, usize)> {
        let at = self.root.load().expect("a B+-tree must have a root");
        let root = self.visit(at);
        let height = self.height.load(Relaxed);
        root.node.check(root.version)?;
        // After a split of the root, the tree has a new root.
        if self.root.load() == Some(at) { Ok((root, height)) } else { Err(Changed) }
    }

    /// Starts an optimistic read of the child of `parent` that has the index `at`. Returns an error if `parent` has
    /// changed.
    #[inline]
    fn child<'a>(&'a self, parent: Visited<'a>, at: usize) -> Optimistic<Visited<'a>> {
        let child = parent.node.links[at].load();
        parent.node.check(parent.version)?;
        let child = self.visit(child.ok_or(Changed)?);
        parent.node.check(parent.version)?;
        Ok(child)
    }

    /// Returns the leaf in which a search for the position `probe` ends. With `Side::Before`, this is the leaf for the
    /// last entry before `probe`. With `Side::Behind`, this is the leaf for the first entry after `probe`. Without a
    /// probe, returns the last leaf (`Side::Before`) or the first leaf (`Side::Behind`).
    #[inline]
    fn leaf(&self, probe: Option<Probe<'_>>, side: Side) -> Optimistic<Visited<'_>> {
        let (mut visited, height) = self.root()?;
        for _ in 0..height {
            let at = match (probe, side) {
                (Some(probe), side) => visited.node.rank(&self.arena, probe, side),
                (None, Side::Before) => visited.node.count(),
                (None, Side::Behind) => 0,
            };
            visited = self.child(visited, at)?;
        }
        Ok(visited)
    }

    fn insert(&self, key: &[u8], sequence: SequenceNumber, value: Option<&[u8]>) {
        let version = self.arena.append(key, sequence, value, 0);
        self.place(&[(Probe { key, sequence }, version)]);
    }

    /// Inserts versions with consecutive sequence numbers that begin at `first`.
    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        let mut appender = self.arena.appender();
        let mut group: Vec<New<'_>> = Vec::new();
        for (sequence, (key, value)) in (first..).zip(entries) {
            let version = appender.append(key.bytes, sequence, value);
            group.push((Probe { key: key.bytes, sequence }, version));
            if group.len() == FANOUT {
                // A split may allocate a node right after this call.
                appender.give_back();
                self.place(&group);
                group.clear();
            }
        }
        appender.give_back();
        self.place(&group);
    }

    /// Inserts versions into the tree. Their records are already in the arena.
    #[inline]
    fn place(&self, mut new: &[New<'_>]) {
        while !new.is_empty() {
            let placed = Self::retry(|| self.place_some(new));
            new = &new[placed..];
        }
    }

    /// Inserts one or more versions from the start of `new`, and returns the number of inserted versions. The function
    /// inserts several versions at once if it can append them to the last leaf.
    fn place_some(&self, new: &[New<'_>]) -> Optimistic<usize> {
        let appended = self.append_some(new)?;
        if appended > 0 {
            return Ok(appended);
        }
        let (probe, version) = new[0];
        let (mut visited, height) = self.root()?;
        let mut parent: Option<(Visited<'_>, usize)> = None;
        for level in (0..=height).rev() {
            let node = visited.node;
            if node.count() == FANOUT {
                self.split(visited, parent, probe, level == 0)?;
                return Err(Changed);
            }
            let at = node.rank(&self.arena, probe, Side::Behind);
            if level == 0 {
                let locked = node.lock(visited.version)?;
                locked.insert(at, node.head_of(probe.key), version, None);
                let is_last = at + 1 == node.count() && node.high.load().is_none();
                let last = is_last.then_some(visited.at);
                // The condition avoids writes to this shared cache line if keys are inserted in random order.
                if last != self.last.load() {
                    self.last.store(last);
                }
                return Ok(1);
            }
            parent = Some((visited, at));
            visited = self.child(visited, at)?;
        }
        unreachable!("an insert into a B+-tree must reach a leaf")
    }

    /// Appends as many versions of `new` as possible to the last leaf without a search, and returns their number. The
    /// function appends versions only if:
    ///
    /// * the previous insert was an append to this leaf
    /// * the new versions are sorted and follow all existing versions
    /// * the leaf has free slots
    #[inline]
    fn append_some(&self, new: &[New<'_>]) -> Optimistic<usize> {
        let Some(at) = self.last.load() else { return Ok(0) };
        let node = self.arena.node(at);
        let read = node.read();
        let count = node.count();
        if count == FANOUT || count == 0 || node.high.load().is_some() {
            return Ok(0);
        }
        let (first, _) = new[0];
        let is_behind = match node.heads[count - 1].load(Relaxed).cmp(&node.head_of(first.key)) {
            Order::Less => true,
            Order::Equal => node.is_before(&self.arena, count - 1, first, Side::Behind),
            Order::Greater => false,
        };
        if is_behind { Ok(node.lock(read)?.append(new)) } else { Ok(0) }
    }

    /// Splits a full node: moves half of its entries to a new right node. If `probe` follows all entries of the tree,
    /// only the last entry moves, so that inserts in ascending order leave full nodes. Returns an error if the node or
    /// its parent has changed.
    #[cold]
    fn split(
        &self,
        full: Visited<'_>,
        parent: Option<(Visited<'_>, usize)>,
        probe: Probe<'_>,
        is_leaf: bool,
    ) -> Optimistic<()> {
        let above = match parent {
            Some((parent, at)) => Some((parent.node.lock(parent.version)?, at)),
            None => None,
        };
        let locked = full.node.lock(full.version)?;
        let node = locked.0;
        let high = node.high.load();
        // If keys are inserted in ascending order, the left node remains full.
        let is_append = high.is_none() && node.rank(&self.arena, probe, Side::Behind) == FANOUT;
        let middle = if is_append { FANOUT - 1 } else { FANOUT / 2 };
        let separator =
            node.records[middle].load().expect("every entry of a B+-tree node must have a record");
        let right = Node::default();
        if is_leaf {
            locked.move_entries(middle, &right);
            right.links[0].store(node.links[0].load());
        } else {
            // The separator moves to the parent. The child after the separator becomes the first child of the right
            // node.
            for (to, at) in (middle + 1..=FANOUT).enumerate() {
                right.links[to].store(node.links[at].load());
            }
            locked.move_entries(middle + 1, &right);
            node.count.store(middle as u32, Relaxed);
        }
        set_fences(&self.arena, &right, Some(separator), high);
        let right = self.arena.place(right);
        set_fences(&self.arena, node, node.low.load(), Some(separator));
        if is_leaf {
            node.links[0].store(Some(right));
        }
        self.add_separator(above.as_ref(), full.at, separator, right);
        self.note_bytes(&self.arena.record(separator));
        Ok(())
    }

    /// Remembers the size of a record as the number of bytes that scans prefetch per record. If the size equals the
    /// remembered size, the function does not write the shared cache line.
    fn note_bytes(&self, record: &VersionRecord<'_>) {
        let bytes = (HEADER_BYTES + record.entry().user_bytes()).min(RECORD_BYTES) as u32;
        if self.asked_bytes.load(Relaxed) != bytes {
            self.asked_bytes.store(bytes, Relaxed);
        }
    }

    /// Adds the separator between the two halves of a split node to the parent of the node, or to a new root.
    fn add_separator(
        &self,
        above: Option<&(Locked<'_>, usize)>,
        left: Ref<Node>,
        separator: Ref<Version>,
        right: Ref<Node>,
    ) {
        let head_under = |node: &Node| node.head_of(self.arena.record(separator).key);
        if let Some((parent, at)) = above {
            parent.insert(*at, head_under(parent.0), separator, Some(right));
            return;
        }
        let root = Node::default();
        root.links[0].store(Some(left));
        root.links[1].store(Some(right));
        root.heads[0].store(head_under(&root), Relaxed);
        root.records[0].store(Some(separator));
        root.count.store(1, Relaxed);
        // The root and the height change while the old root is locked, so a reader that sees only one of these
        // changes restarts.
        self.height.store(self.height.load(Relaxed) + 1, Relaxed);
        self.root.store(Some(self.arena.place(root)));
    }

    /// Returns a cursor at the entry with the index `at` of a leaf. If the leaf has no such entry, the cursor is at the
    /// first entry of the next leaf that has entries. Returns `None` at the end of the tree.
    #[inline]
    fn cursor<'a>(&'a self, mut leaf: Visited<'a>, mut at: usize) -> Optimistic<Option<Cursor>> {
        loop {
            let entry = leaf.node.entry(at);
            let next = leaf.node.links[0].load();
            leaf.node.check(leaf.version)?;
            if let Some(entry) = entry {
                return Ok(Some(Cursor::new(leaf, at, entry)));
            }
            let Some(next) = next else { return Ok(None) };
            leaf = self.visit(next);
            at = 0;
        }
    }

    /// Returns a cursor at the version after `cursor`, or `None` at the end of the tree. Callers use this function if
    /// `cursor` is at the last entry of its leaf, or if the leaf has changed.
    fn behind(&self, cursor: &Cursor) -> Option<Cursor> {
        Self::retry(|| {
            let node = self.arena.node(cursor.leaf);
            let leaf = Visited { node, at: cursor.leaf, version: node.read() };
            let is_still_there = node.entry(cursor.at) == Some(cursor.entry);
            leaf.node.check(leaf.version)?;
            if is_still_there {
                return self.cursor(leaf, cursor.at + 1);
            }
            let probe = self.probe(cursor);
            let leaf = self.leaf(Some(probe), Side::Behind)?;
            self.cursor(leaf, leaf.node.rank(&self.arena, probe, Side::Behind))
        })
    }

    /// Prefetches the start of each of these records, up to the number of bytes in `asked_bytes`.
    #[inline]
    fn ask(&self, records: &[AtomicRef<Version>]) {
        let bytes = self.asked_bytes.load(Relaxed) as usize;
        records.iter().filter_map(AtomicRef::load).for_each(|version| self.arena.prefetch(version, bytes));
    }

    /// Returns the key and the sequence number of the version at a cursor.
    fn probe(&self, cursor: &Cursor) -> Probe<'_> {
        let VersionRecord { key, sequence, .. } = self.arena.record(cursor.entry);
        Probe { key, sequence }
    }

    /// Returns a cursor at the last version before the position `end`, or at the last version of the tree if `end` is
    /// `None`.
    fn last_before(&self, end: Option<Probe<'_>>) -> Optimistic<Option<Cursor>> {
        let mut low: Option<Ref<Version>>;
        let mut end = end;
        loop {
            let leaf = self.leaf(end, Side::Before)?;
            let rank = end.map_or(leaf.node.count(), |end| leaf.node.rank(&self.arena, end, Side::Before));
            let at = rank.wrapping_sub(1);
            let entry = leaf.node.entry(at);
            low = leaf.node.low.load();
            leaf.node.check(leaf.version)?;
            if let Some(entry) = entry {
                return Ok(Some(Cursor::new(leaf, at, entry)));
            }
            // No entry of this leaf precedes `end`, so the result is before the lower fence of this leaf.
            let Some(low) = low else { return Ok(None) };
            let VersionRecord { key, sequence, .. } = self.arena.record(low);
            end = Some(Probe { key, sequence });
        }
    }
}

/// A cursor of a scan, which is at an entry of a leaf.
struct Cursor {
    leaf: Ref<Node>,
    /// The version number of the leaf when the entry was read.
    version: u64,
    at: usize,
    entry: Ref<Version>,
    /// The number of versions that the scan will read, including the current version.
    expected: usize,
    /// The index of the leaf entry up to which the scan has prefetched records.
    ///
    /// * A forward scan has prefetched the entries from its position up to this index (exclusive).
    /// * A backward scan has prefetched the entries from its position down to this index (inclusive).
    asked: usize,
}

impl Cursor {
    fn new(leaf: Visited<'_>, at: usize, entry: Ref<Version>) -> Self {
        Self { leaf: leaf.at, version: leaf.version, at, entry, expected: 0, asked: at }
    }

    /// Moves the cursor to the entry with the index `at` of its leaf. If the leaf has no such entry or has changed, the
    /// cursor does not move, and the function returns `false`.
    #[inline]
    fn step(&mut self, leaf: &Node, at: usize) -> bool {
        match leaf.entry(at) {
            Some(entry) if leaf.check(self.version).is_ok() => {
                (self.at, self.entry) = (at, entry);
                self.expected = self.expected.saturating_sub(1);
                true
            }
            _ => false,
        }
    }

    /// Prefetches the records of up to `most` entries after the cursor, for a forward scan. Skips records that are
    /// already prefetched, and records that the scan will not read. The prefetch helps because the records of a leaf
    /// are scattered in memory.
    #[inline]
    fn ask_up(&mut self, tree: &Tree, most: usize) {
        let leaf = tree.arena.node(self.leaf);
        let end = self.at + self.expected.min(RECORDS_AHEAD);
        let end = end.min(self.asked + most).min(leaf.count());
        if self.asked < end {
            tree.ask(&leaf.records[self.asked..end]);
            self.asked = end;
        }
    }

    /// Prefetches the records of up to `most` entries before the cursor, for a backward scan. See
    /// [`ask_up`](Self::ask_up).
    #[inline]
    fn ask_down(&mut self, tree: &Tree, most: usize) {
        let leaf = tree.arena.node(self.leaf);
        let start = (self.at + 1).saturating_sub(self.expected.min(RECORDS_AHEAD));
        let start = start.max(self.asked.saturating_sub(most));
        let end = self.asked.min(leaf.count());
        if start < end {
            tree.ask(&leaf.records[start..end]);
            self.asked = start;
        }
    }
}

impl Versions for Tree {
    type Cursor = Cursor;

    fn seek(&self, from: Option<Probe<'_>>) -> Option<Cursor> {
        Self::retry(|| {
            let leaf = self.leaf(from, Side::Behind)?;
            let at = from.map_or(0, |from| leaf.node.rank(&self.arena, from, Side::Before));
            self.cursor(leaf, at)
        })
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Cursor> {
        Self::retry(|| self.last_before(end))
    }

    fn expect(&self, cursor: &mut Cursor, direction: Direction, versions: usize) {
        cursor.expected = versions;
        match direction {
            Direction::Forward => {
                cursor.asked = cursor.asked.max(cursor.at);
                cursor.ask_up(self, RECORDS_AHEAD);
            }
            Direction::Backward => {
                cursor.asked = cursor.at + 1;
                cursor.ask_down(self, RECORDS_AHEAD);
            }
        }
    }

    #[inline]
    fn next(&self, at: &mut Option<Cursor>) {
        self.next_may_share_key(at);
    }

    #[inline]
    fn next_may_share_key(&self, at: &mut Option<Cursor>) -> bool {
        let Some(cursor) = at else { return false };
        let leaf = self.arena.node(cursor.leaf);
        let have_equal_heads = leaf.have_equal_heads(cursor.at);
        if cursor.step(leaf, cursor.at + 1) {
            cursor.ask_up(self, 2);
            return have_equal_heads;
        }
        let before = at.take();
        *at = before.as_ref().and_then(|before| self.behind(before));
        if let (Some(cursor), Some(before)) = (at, before) {
            if cursor.leaf == before.leaf {
                cursor.asked = before.asked.max(cursor.at);
            }
            cursor.expected = before.expected.saturating_sub(1);
            cursor.ask_up(self, RECORDS_AHEAD);
        }
        true
    }

    #[inline]
    fn previous(&self, at: &mut Option<Cursor>) {
        let Some(cursor) = at else { return };
        if cursor.step(self.arena.node(cursor.leaf), cursor.at.wrapping_sub(1)) {
            cursor.ask_down(self, 2);
            return;
        }
        let expected = cursor.expected.saturating_sub(1);
        *at = self.seek_before(Some(self.probe(cursor)));
        if let Some(cursor) = at {
            self.expect(cursor, Direction::Backward, expected);
        }
    }

    #[inline]
    fn record<'a>(&'a self, cursor: &Cursor) -> VersionRecord<'a> {
        self.arena.record(cursor.entry)
    }

    #[inline]
    fn visible(&self, key: &[u8], snapshot: SequenceNumber) -> Option<VersionRecord<'_>> {
        Self::retry(|| {
            let probe = Probe { key, sequence: snapshot };
            let leaf = self.leaf(Some(probe), Side::Behind)?;
            let at = leaf.node.rank(&self.arena, probe, Side::Before);
            let version = if at < leaf.node.count() {
                let is_possible = leaf.node.heads[at].load(Relaxed) == leaf.node.head_of(key);
                let version = leaf.node.records[at].load().filter(|_| is_possible);
                leaf.node.check(leaf.version)?;
                version
            } else {
                self.cursor(leaf, at)?.map(|cursor| cursor.entry)
            };
            Ok(version.map(|version| self.arena.record(version)).filter(|record| record.key == key))
        })
    }
}

impl BPlus {
    fn versions(&self) -> &Tree {
        &self.tree
    }
}

impl Memtable for BPlus {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.tree.insert(key.bytes, sequence, value);
    }

    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        self.tree.insert_all(first, entries);
    }

    read_versions!(unguarded);

    fn len(&self) -> usize {
        self.tree.arena.versions()
    }

    fn memory_bytes(&self) -> usize {
        self.tree.arena.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the invariants of a subtree and its fences. Returns the number of entries.
    fn check(tree: &Tree, node: &Node, height: usize) -> usize {
        let record = |version: Option<Ref<Version>>| version.map(|version| tree.arena.record(version));
        let (low, high) = (record(node.low.load()), record(node.high.load()));
        let probe = |record: VersionRecord<'_>| (record.key.to_vec(), std::cmp::Reverse(record.sequence));
        let entries: Vec<_> =
            (0..node.count()).map(|at| probe(record(node.records[at].load()).unwrap())).collect();
        assert!(entries.is_sorted() && (0..node.count()).map(|at| node.heads[at].load(Relaxed)).is_sorted());
        assert!(low.is_none_or(|low| entries.iter().all(|entry| probe(low) <= *entry)));
        assert!(high.is_none_or(|high| entries.iter().all(|entry| *entry < probe(high))));
        for (at, (key, _)) in entries.iter().enumerate() {
            assert_eq!(node.heads[at].load(Relaxed), node.head_of(key));
        }
        if height == 0 {
            return entries.len();
        }
        (0..=node.count())
            .map(|at| check(tree, tree.arena.node(node.links[at].load().unwrap()), height - 1))
            .sum()
    }

    fn filled(keys: impl Iterator<Item = Vec<u8>>) -> Tree {
        let tree = Tree::new(1 << 20, &Arc::default());
        for (key, sequence) in keys.zip(1..) {
            tree.insert(&key, sequence, None);
        }
        tree
    }

    fn checked(tree: &Tree) -> usize {
        check(tree, tree.arena.node(tree.root.load().unwrap()), tree.height.load(Relaxed))
    }

    #[test]
    fn a_node_is_a_kibibyte() {
        assert_eq!(size_of::<Node>(), 1024);
    }

    #[test]
    fn it_stays_a_search_tree_whatever_comes() {
        let mixed = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let user = |i: u64| format!("user{:024}", mixed(i)).into_bytes();
        let in_order_but_strays =
            |i: u64| (if i.is_multiple_of(9) { mixed(i) } else { i * 700 }).to_be_bytes().to_vec();
        let one_of_three = |i: u64| vec![b'k'; 20 + mixed(i) as usize % 3];
        for tree in [
            filled((0..20_000u64).map(|i| mixed(i).to_be_bytes().to_vec())),
            filled((0..20_000).map(user)),
            filled((0..20_000).map(one_of_three)),
            filled((0..20_000).rev().map(|i: u64| i.to_be_bytes().to_vec())),
            filled((0..20_000).map(in_order_but_strays)),
        ] {
            assert_eq!(checked(&tree), 20_000);
            assert!(tree.height.load(Relaxed) >= 2);
        }
    }

    #[test]
    fn keys_in_order_fill_their_leaves() {
        let tree = filled((0..20_000u64).map(|i| i.to_be_bytes().to_vec()));
        assert_eq!(checked(&tree), 20_000);
        let mut leaf = Tree::retry(|| tree.leaf(None, Side::Behind)).node;
        let mut leaves = 1;
        while let Some(next) = leaf.links[0].load() {
            leaf = tree.arena.node(next);
            leaves += 1;
        }
        assert!(leaves < 20_000 / (FANOUT - 2), "{leaves}");
    }

    #[test]
    fn small_batches_take_no_more_memory_than_single_inserts() {
        let key = |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes();
        let (single, batched) = (Tree::new(1 << 20, &Arc::default()), Tree::new(1 << 20, &Arc::default()));
        for i in (0..20_000).step_by(2) {
            let keys = [key(i), key(i + 1)];
            let hashed = |key| (HashedKey { bytes: key, hash: types::KeyHash(0) }, Some(&[7; 100][..]));
            batched.insert_all(i + 1, &mut keys.iter().map(|key| hashed(key)));
            keys.iter()
                .zip(i + 1..)
                .for_each(|(key, sequence)| single.insert(key, sequence, Some(&[7; 100])));
        }
        let [single, batched] = [single, batched].map(|tree| tree.arena.memory_bytes());
        assert!(batched < single + single / 50, "{batched} bytes for {single}");
    }
}
