//! An adaptive radix tree (ART) with one lock. The tree uses the bytes of a key as the path from the root to the key.
//!
//! A node selects a child by one byte of the key. A node has space for 4, 16, 48 or 256 children. If all keys below a
//! node share further bytes, these bytes are stored as the prefix of the node. A leaf is the newest version of a key.
//! Each version has a link to the next older version. A lookup among 500,000 random keys visits three nodes and one
//! record, for any key length, and compares one key. A scan finds each next key by a search from the root. An entry
//! takes the bytes of the key and value and 24 bytes of header and link, rounded up to a multiple of 8. Nodes take
//! about 40 bytes per entry.
//!
//! Source: Leis, Kemper, Neumann, "The Adaptive Radix Tree: `ARTful` Indexing for Main-Memory Databases", ICDE 2013,
//! but with one lock instead of the synchronization methods of the paper. Because a key may be a prefix of another key,
//! a node has a slot for the key that ends at the node. The paper appends a terminator to each key instead.

use std::cmp::Ordering;
use std::sync::Arc;

use catalog::Variant;
use parking_lot::{RwLock, RwLockReadGuard};
use types::{HashedKey, SequenceNumber, common_prefix};

use crate::allocation::allocation_bytes;
use crate::chain;
use crate::memtable::{Memtable, MemtablePolicy};
use crate::shared_arena::{LinkWord, MapPool, Ref, SharedArena, Version, VersionRecord};
use crate::versions::{Probe, Versions, read_versions};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "art",
    "an adaptive radix tree under one lock; lookup time depends on key length, not on the number of keys",
    || Box::new(Policy { pool: Arc::default() }),
);

/// Creates [`Art`]s that reuse the memory of earlier trees.
struct Policy {
    pool: Arc<MapPool>,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        let arena = Arc::new(SharedArena::new(capacity_bytes, &self.pool));
        let tree = Tree { arena: Arc::clone(&arena), nodes: Vec::new(), root: None, heap_bytes: 0 };
        Box::new(Art { arena, tree: RwLock::new(tree) })
    }
}

/// A memtable that is an adaptive radix tree with one lock. The versions are in an arena and never move, so threads
/// read a version without the lock.
struct Art {
    arena: Arc<SharedArena>,
    tree: RwLock<Tree>,
}

/// The nodes of the radix tree. Nodes refer to each other by their index in one vector, so that a deep tree is dropped
/// without recursion.
struct Tree {
    arena: Arc<SharedArena>,
    nodes: Vec<Node>,
    root: Option<Child>,
    /// The number of heap bytes of all nodes of the tree.
    heap_bytes: usize,
}

/// A child of a node in the radix tree: a leaf or another node.
#[derive(Clone, Copy)]
enum Child {
    /// A leaf: the newest version of the only key in this subtree.
    Leaf(Ref<Version>),
    /// A node: its index in the list of all nodes.
    Node(u32),
}

/// An inner node of the radix tree. The keys of its subtree share a prefix and differ after it.
struct Node {
    /// The common bytes of all keys in this subtree, after the byte on which the parent node branches.
    prefix: Box<[u8]>,
    /// The newest version of the key that consists of the bytes on the path to this node, including the prefix. `None`
    /// if this key is absent.
    end: Option<Ref<Version>>,
    branches: Branches,
}

/// The children of a node, each with the byte that selects the child.
enum Branches {
    /// A node with up to 4 children. The bytes are in ascending order, and the children are in the order of their
    /// bytes.
    Four(Few<4>),
    /// A node with up to 16 children, in the layout of `Four`.
    Sixteen(Box<Few<16>>),
    /// A node with up to 48 children. For each byte value, the node stores the index of the child, or 48 if there is
    /// no child.
    FortyEight(Box<Indexed>),
    Full(Box<[Option<Child>; 256]>),
}

struct Few<const N: usize> {
    len: usize,
    bytes: [u8; N],
    children: [Option<Child>; N],
}

struct Indexed {
    len: usize,
    numbers: [u8; 256],
    children: [Option<Child>; 48],
}

/// The value in [`Indexed::numbers`] for a byte without a child. The numbers of the children are 0 to 47.
const NO_NUMBER: u8 = 48;

impl<const N: usize> Few<N> {
    fn new() -> Self {
        Self { len: 0, bytes: [0; N], children: [None; N] }
    }

    #[inline]
    fn position(&self, byte: u8) -> Option<usize> {
        self.bytes[..self.len].iter().position(|own| *own == byte)
    }

    fn insert(&mut self, byte: u8, child: Child) {
        let at = self.bytes[..self.len].partition_point(|own| *own < byte);
        self.bytes[at..=self.len].rotate_right(1);
        self.children[at..=self.len].rotate_right(1);
        self.bytes[at] = byte;
        self.children[at] = Some(child);
        self.len += 1;
    }

    /// Iterates over all children of the node, in the order of their bytes.
    fn iter(&self) -> impl Iterator<Item = (u8, Child)> {
        self.bytes.into_iter().zip(self.children).filter_map(|(byte, child)| Some((byte, child?)))
    }

    /// Returns the neighbor of the child for the byte `of`: the child for the next smaller or the next larger byte,
    /// depending on `side`. If `of` is `None`, returns the first or the last child. Returns `None` if the node has no
    /// such child.
    fn neighbour(&self, of: Option<u8>, side: Side) -> Option<Child> {
        let bytes = &self.bytes[..self.len];
        let at = match (side, of) {
            (Side::Up, of) => of.map_or(0, |of| bytes.partition_point(|own| *own <= of)),
            (Side::Down, of) => {
                of.map_or(self.len, |of| bytes.partition_point(|own| *own < of)).checked_sub(1)?
            }
        };
        bytes.get(at).and(self.children.get(at).copied()?)
    }
}

impl Indexed {
    fn new() -> Self {
        Self { len: 0, numbers: [NO_NUMBER; 256], children: [None; 48] }
    }

    #[inline]
    fn slot(&self, byte: u8) -> Option<&Option<Child>> {
        self.children.get(usize::from(self.numbers[usize::from(byte)]))
    }

    fn insert(&mut self, byte: u8, child: Child) {
        self.numbers[usize::from(byte)] = self.len as u8;
        self.children[self.len] = Some(child);
        self.len += 1;
    }
}

impl Branches {
    #[inline]
    fn get(&self, byte: u8) -> Option<Child> {
        match self {
            Self::Four(few) => few.children[few.position(byte)?],
            Self::Sixteen(few) => few.children[few.position(byte)?],
            Self::FortyEight(some) => *some.slot(byte)?,
            Self::Full(all) => all[usize::from(byte)],
        }
    }

    /// Replaces the child of the node for a byte. The byte must have a child.
    fn replace(&mut self, byte: u8, child: Child) {
        let slot = match self {
            Self::Four(few) => few.position(byte).map(|at| &mut few.children[at]),
            Self::Sixteen(few) => few.position(byte).map(|at| &mut few.children[at]),
            Self::FortyEight(some) => some.children.get_mut(usize::from(some.numbers[usize::from(byte)])),
            Self::Full(all) => Some(&mut all[usize::from(byte)]),
        };
        *slot.expect("the replaced byte must have a child in the node of the radix tree") = Some(child);
    }

    /// Adds a child to the node, for a byte without a child. If the node is full, it becomes a node of the next larger
    /// kind.
    fn insert(&mut self, byte: u8, child: Child) {
        match self {
            Self::Four(few) if few.len == 4 => {
                let mut larger = Box::new(Few::new());
                few.iter().for_each(|(byte, child)| larger.insert(byte, child));
                larger.insert(byte, child);
                *self = Self::Sixteen(larger);
            }
            Self::Sixteen(few) if few.len == 16 => {
                let mut larger = Box::new(Indexed::new());
                few.iter().for_each(|(byte, child)| larger.insert(byte, child));
                larger.insert(byte, child);
                *self = Self::FortyEight(larger);
            }
            Self::FortyEight(some) if some.len == 48 => {
                let mut all = Box::new([None; 256]);
                (0..=u8::MAX).for_each(|byte| all[usize::from(byte)] = some.slot(byte).copied().flatten());
                all[usize::from(byte)] = Some(child);
                *self = Self::Full(all);
            }
            Self::Four(few) => few.insert(byte, child),
            Self::Sixteen(few) => few.insert(byte, child),
            Self::FortyEight(some) => some.insert(byte, child),
            Self::Full(all) => all[usize::from(byte)] = Some(child),
        }
    }

    /// Returns the neighbor of the child for the byte `of`: the child for the next smaller or the next larger byte,
    /// depending on `side`. If `of` is `None`, returns the first or the last child. Returns `None` if the node has no
    /// such child.
    fn neighbour(&self, of: Option<u8>, side: Side) -> Option<Child> {
        match self {
            Self::Four(few) => few.neighbour(of, side),
            Self::Sixteen(few) => few.neighbour(of, side),
            Self::FortyEight(_) | Self::Full(_) => {
                let of = of.map(usize::from);
                match side {
                    Side::Up => (of.map_or(0, |of| of + 1)..256).find_map(|byte| self.get(byte as u8)),
                    Side::Down => (0..of.unwrap_or(256)).rev().find_map(|byte| self.get(byte as u8)),
                }
            }
        }
    }

    fn heap_bytes(&self) -> usize {
        allocation_bytes(match self {
            Self::Four(_) => 0,
            Self::Sixteen(_) => size_of::<Few<16>>(),
            Self::FortyEight(_) => size_of::<Indexed>(),
            Self::Full(_) => size_of::<[Option<Child>; 256]>(),
        })
    }
}

/// The direction of a search for a neighboring child or key: to larger bytes (`Up`) or to smaller bytes (`Down`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Up,
    Down,
}

impl Node {
    fn new(prefix: &[u8]) -> Self {
        Self { prefix: prefix.into(), end: None, branches: Branches::Four(Few::new()) }
    }

    /// Adds a new key, with its first version, to the node. `rest` contains the bytes of the key after the prefix of
    /// the node.
    fn add(&mut self, rest: &[u8], version: Ref<Version>) {
        match rest.first() {
            None => self.end = Some(version),
            Some(byte) => self.branches.insert(*byte, Child::Leaf(version)),
        }
    }

    /// Returns the first or the last entry of the node, depending on `side`. An entry is a child, or the key that ends
    /// at this node. This key is before the keys of all children. Returns `None` if the node is empty.
    fn outermost(&self, side: Side) -> Option<Child> {
        let end = self.end.map(Child::Leaf);
        match side {
            Side::Up => end.or_else(|| self.branches.neighbour(None, side)),
            Side::Down => self.branches.neighbour(None, side).or(end),
        }
    }
}

impl Tree {
    fn node(&self, number: u32) -> &Node {
        &self.nodes[number as usize]
    }

    fn key(&self, version: Ref<Version>) -> &[u8] {
        self.arena.record(version).key
    }

    fn sequence(&self, version: Ref<Version>) -> SequenceNumber {
        self.arena.record(version).sequence
    }

    fn insert(&mut self, key: &[u8], sequence: SequenceNumber, value: Option<&[u8]>) {
        let version = self.arena.append(key, sequence, value, 1);
        let mut above: Option<(u32, u8)> = None;
        let mut place = self.root;
        let mut depth = 0;
        loop {
            let child = match place {
                None => Child::Leaf(version),
                Some(Child::Leaf(newest)) => self.joined(newest, version, depth),
                Some(Child::Node(number)) => {
                    let node = self.node(number);
                    let shared = common_prefix(&node.prefix, &key[depth..]);
                    if shared < node.prefix.len() {
                        self.part(number, shared, &key[depth..], version)
                    } else {
                        depth += shared;
                        let Some(byte) = key.get(depth) else {
                            let end = node.end.map_or(version, |newest| self.chained(newest, version));
                            self.nodes[number as usize].end = Some(end);
                            return;
                        };
                        place = node.branches.get(*byte);
                        above = Some((number, *byte));
                        depth += 1;
                        continue;
                    }
                }
            };
            let Some((number, byte)) = above else {
                self.root = Some(child);
                return;
            };
            let branches = &mut self.nodes[number as usize].branches;
            let before = branches.heap_bytes();
            if place.is_some() {
                branches.replace(byte, child);
            } else {
                branches.insert(byte, child);
            }
            self.heap_bytes += branches.heap_bytes() - before;
            return;
        }
    }

    /// Adds `version` at a leaf of the tree. `newest` is the version in the leaf, and `depth` is the number of key
    /// bytes on the path to the leaf. Returns the child that replaces the leaf. If both versions have the same key,
    /// this child is a leaf. Otherwise, it is a new node with both keys.
    fn joined(&mut self, newest: Ref<Version>, version: Ref<Version>, depth: usize) -> Child {
        let (old, new) = (&self.key(newest)[depth..], &self.key(version)[depth..]);
        if old == new {
            return Child::Leaf(self.chained(newest, version));
        }
        let shared = common_prefix(old, new);
        let mut node = Node::new(&new[..shared]);
        node.add(&old[shared..], newest);
        node.add(&new[shared..], version);
        self.add_node(node)
    }

    /// Splits a node, because the key of `version` has only the first `shared` bytes of the node's prefix. `rest`
    /// contains the key bytes from the start of the prefix on. Returns the new node, which replaces the split node and
    /// contains the key.
    fn part(&mut self, number: u32, shared: usize, rest: &[u8], version: Ref<Version>) -> Child {
        let node = &mut self.nodes[number as usize];
        let mut above = Node::new(&rest[..shared]);
        above.branches.insert(node.prefix[shared], Child::Node(number));
        above.add(&rest[shared..], version);
        self.heap_bytes -= allocation_bytes(node.prefix.len());
        node.prefix = node.prefix[shared + 1..].into();
        self.heap_bytes += allocation_bytes(node.prefix.len());
        self.add_node(above)
    }

    fn add_node(&mut self, node: Node) -> Child {
        self.heap_bytes += allocation_bytes(node.prefix.len());
        let number = u32::try_from(self.nodes.len()).expect("a radix tree must have fewer than 2^32 nodes");
        self.nodes.push(node);
        Child::Node(number)
    }

    /// Inserts `version` into the chain of versions of its key, from newest to oldest. `newest` is the first version of
    /// the chain. Returns the new first version.
    fn chained(&self, newest: Ref<Version>, version: Ref<Version>) -> Ref<Version> {
        if self.sequence(newest) > self.sequence(version) {
            chain::add(&self.arena, newest, version);
            return newest;
        }
        self.arena.link(version, 0).store(LinkWord::new(newest, 0));
        version
    }

    /// Returns the newest version of `key`. Returns `None` if the key is absent.
    #[inline]
    fn find(&self, key: &[u8]) -> Option<Ref<Version>> {
        let mut place = self.root?;
        let mut depth = 0;
        loop {
            match place {
                Child::Leaf(version) => return Some(version).filter(|version| self.key(*version) == key),
                Child::Node(number) => {
                    let node = self.node(number);
                    let rest = key[depth..].strip_prefix(&*node.prefix)?;
                    let Some(byte) = rest.first() else { return node.end };
                    depth = key.len() - rest.len() + 1;
                    place = node.branches.get(*byte)?;
                }
            }
        }
    }

    /// Returns the newest version of the first or the last key in a subtree, depending on `side`.
    fn outermost(&self, mut child: Child, side: Side) -> Ref<Version> {
        loop {
            match child {
                Child::Leaf(version) => return version,
                Child::Node(number) => {
                    child = self
                        .node(number)
                        .outermost(side)
                        .expect("every node of a radix tree must lead to a key");
                }
            }
        }
    }

    /// Returns the newest version of the key next to `key`. `side` selects the next smaller or the next larger key.
    /// Returns `None` if the tree has no such key.
    fn neighbour(&self, key: &[u8], side: Side) -> Option<Ref<Version>> {
        let wanted = if side == Side::Up { Ordering::Greater } else { Ordering::Less };
        // The branches that the search has taken so far, for backtracking.
        let mut path: Vec<(u32, u8)> = Vec::new();
        let mut place = self.root;
        let mut depth = 0;
        while let Some(child) = place {
            match child {
                Child::Leaf(version) if self.key(version).cmp(key) == wanted => return Some(version),
                Child::Leaf(_) => break,
                Child::Node(number) => {
                    let (node, rest) = (self.node(number), &key[depth..]);
                    let Some(rest) = rest.strip_prefix(&*node.prefix) else {
                        if (*node.prefix).cmp(rest) == wanted {
                            return Some(self.outermost(child, side));
                        }
                        break;
                    };
                    let Some(byte) = rest.first() else {
                        // The key ends at this node. The keys of all branches are above the key, and no key of the
                        // node is below it.
                        let first = node.branches.neighbour(None, Side::Up).filter(|_| side == Side::Up);
                        if first.is_some() {
                            return first.map(|first| self.outermost(first, side));
                        }
                        break;
                    };
                    depth = key.len() - rest.len() + 1;
                    path.push((number, *byte));
                    place = node.branches.get(*byte);
                }
            }
        }
        path.into_iter().rev().find_map(|(number, byte)| {
            let node = self.node(number);
            let ending = node.end.filter(|_| side == Side::Down).map(Child::Leaf);
            node.branches.neighbour(Some(byte), side).or(ending).map(|child| self.outermost(child, side))
        })
    }

    /// Returns the oldest version of a key. `newest` is the newest version of the key.
    fn oldest(&self, newest: Ref<Version>) -> Ref<Version> {
        chain::last_above(&self.arena, newest, 0).expect("the sequence number of a version must be above 0")
    }
}

impl Versions for Tree {
    type Cursor = Ref<Version>;

    fn seek(&self, from: Option<Probe<'_>>) -> Option<Ref<Version>> {
        let Some(Probe { key, sequence }) = from else {
            return Some(self.outermost(self.root?, Side::Up));
        };
        let own = self.find(key).and_then(|newest| chain::first_within(&self.arena, newest, sequence));
        own.or_else(|| self.neighbour(key, Side::Up))
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Ref<Version>> {
        let Some(Probe { key, sequence }) = end else {
            return Some(self.oldest(self.outermost(self.root?, Side::Down)));
        };
        let own = self.find(key).and_then(|newest| chain::last_above(&self.arena, newest, sequence));
        own.or_else(|| self.neighbour(key, Side::Down).map(|newest| self.oldest(newest)))
    }

    fn next(&self, cursor: &mut Option<Ref<Version>>) {
        let next = |at| chain::older(&self.arena, at).or_else(|| self.neighbour(self.key(at), Side::Up));
        *cursor = cursor.and_then(next);
    }

    fn previous(&self, cursor: &mut Option<Ref<Version>>) {
        let record = cursor.map(|at| self.arena.record(at));
        *cursor = record
            .and_then(|VersionRecord { key, sequence, .. }| self.seek_before(Some(Probe { key, sequence })));
    }

    fn record<'a>(&'a self, cursor: &Ref<Version>) -> VersionRecord<'a> {
        self.arena.record(*cursor)
    }

    #[inline]
    fn visible(&self, key: &[u8], snapshot: SequenceNumber) -> Option<VersionRecord<'_>> {
        let version = chain::first_within(&self.arena, self.find(key)?, snapshot)?;
        Some(self.arena.record(version))
    }
}

impl Art {
    fn versions(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read()
    }
}

impl Memtable for Art {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.tree.write().insert(key.bytes, sequence, value);
    }

    read_versions!(guarded);

    fn len(&self) -> usize {
        self.arena.versions()
    }

    fn memory_bytes(&self) -> usize {
        let tree = self.tree.read();
        self.arena.memory_bytes() + tree.nodes.capacity() * size_of::<Node>() + tree.heap_bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn tree() -> Tree {
        Tree {
            arena: Arc::new(SharedArena::new(1 << 16, &Arc::default())),
            nodes: Vec::new(),
            root: None,
            heap_bytes: 0,
        }
    }

    #[test]
    fn nodes_of_all_sizes_know_their_neighbours() {
        let mut tree = tree();
        let mut keys = BTreeSet::new();
        for i in 0..20_000u64 {
            let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // The tree has eight branches at the first byte. One of these branches leads to 256 further branches, and
            // each of the others leads to 37. Up to three branches follow, and keys end at all depths.
            let ways = if mixed >> 61 == 0 { 256 } else { 37 };
            let bytes = [(mixed >> 61) as u8, ((mixed >> 40) % ways) as u8, 7, 7, (mixed >> 20) as u8 % 3];
            let key = &bytes[..(mixed >> 8) as usize % 6];
            tree.insert(key, i + 1, None);
            keys.insert(key.to_vec());
        }
        for kind in [4, 16, 48, 256] {
            assert!(tree.nodes.iter().any(|node| kind
                == match node.branches {
                    Branches::Four(_) => 4,
                    Branches::Sixteen(_) => 16,
                    Branches::FortyEight(_) => 48,
                    Branches::Full(_) => 256,
                }));
        }
        for key in &keys {
            for probe in [key.clone(), [key.as_slice(), &[7]].concat(), [key.as_slice(), &[0]].concat()] {
                let above = tree.neighbour(&probe, Side::Up).map(|version| tree.key(version));
                let below = tree.neighbour(&probe, Side::Down).map(|version| tree.key(version));
                assert_eq!(
                    above,
                    keys.range(probe.clone()..).find(|other| **other != probe).map(Vec::as_slice)
                );
                assert_eq!(below, keys.range(..probe.clone()).next_back().map(Vec::as_slice));
                assert_eq!(tree.find(&probe).is_some(), keys.contains(&probe));
            }
        }
    }

    #[test]
    fn a_chain_of_prefixes_is_no_deeper_than_memory() {
        let mut tree = tree();
        let key = vec![b'a'; 20_000];
        for len in (0..key.len()).step_by(20) {
            tree.insert(&key[..len], len as u64 + 1, None);
        }
        assert_eq!(tree.nodes.len(), 999);
        assert_eq!(tree.find(&key[..19_980]).map(|version| tree.sequence(version)), Some(19_981));
    }
}
