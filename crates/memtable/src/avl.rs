//! An AVL tree with one lock. An AVL tree is a binary search tree in which the heights of sibling subtrees differ by at
//! most one.
//!
//! Source: the memtable of the document csc443 (section 4.1.2). In lsmbench, keys are byte strings instead of integers,
//! and the tree stores all versions of a key. Nodes are in one vector and refer to their children by index. Each node
//! stores the head of its key, which is the first eight bytes as an integer. If heads differ, a search step therefore
//! reads only one node and compares two integers. A lookup visits at most 1.44 log2(n) nodes and one record. In a tree
//! of 500,000 keys, about ten of these nodes cause a cache miss. An entry takes the bytes of the key and value and 16
//! bytes of header, rounded up to a multiple of 8. The node of an entry takes 24 to 48 bytes, because the vector
//! doubles its capacity when it grows.
//!
//! Source: Adelson-Velsky and Landis, "An algorithm for the organization of information", 1962; Knuth, TAOCP 3, 6.2.3,
//! for the rebalancing.

use std::cmp::Ordering;
use std::sync::Arc;

use catalog::Variant;
use parking_lot::{RwLock, RwLockReadGuard};
use types::{HashedKey, SequenceNumber, head};

use crate::memtable::{Memtable, MemtablePolicy};
use crate::shared_arena::{MapPool, Ref, SharedArena, Version, VersionRecord};
use crate::versions::{Probe, Versions, read_versions};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "avl",
    "a textbook balanced binary tree under one lock, with a cache miss per step of a search",
    || Box::new(Policy { pool: Arc::default() }),
);

/// Creates [`Avl`] trees that reuse the memory of earlier trees.
struct Policy {
    pool: Arc<MapPool>,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        let tree = Tree::new(capacity_bytes, &self.pool);
        Box::new(Avl { arena: Arc::clone(&tree.arena), tree: RwLock::new(tree) })
    }
}

/// A memtable that is an AVL tree with one lock. The versions are in an arena and never move, so threads read a version
/// without the lock.
struct Avl {
    arena: Arc<SharedArena>,
    tree: RwLock<Tree>,
}

/// The index that stands for a missing node.
const NONE: u32 = u32::MAX;

/// The index of the left child in the array of children of an AVL node. As an argument `side`, this value means the
/// left side.
const LEFT: usize = 0;
/// The index of the right child in the array of children of an AVL node. As an argument `side`, this value means the
/// right side.
const RIGHT: usize = 1;

/// The largest number of nodes on a path from the root. A longer path is impossible, because an AVL tree of 2^32 nodes
/// has paths of at most 1.44 times 32 nodes.
const MAX_DEPTH: usize = 48;

/// A node of the AVL tree with one version of a key.
struct Node {
    /// The first eight bytes of the key as an integer. Most comparisons need only this head.
    head: u64,
    version: Ref<Version>,
    children: [u32; 2],
    /// The height of the subtree below this node, including the node.
    height: u8,
}

/// The AVL tree of a memtable, without its lock.
struct Tree {
    arena: Arc<SharedArena>,
    nodes: Vec<Node>,
    root: u32,
}

/// The nodes from the root of the AVL tree to a node. A path also serves as a cursor, whose current node is the last
/// node of the path.
#[derive(Clone, Copy)]
struct Path {
    nodes: [u32; MAX_DEPTH],
    len: usize,
}

impl Path {
    fn new() -> Self {
        Self { nodes: [NONE; MAX_DEPTH], len: 0 }
    }

    fn push(&mut self, node: u32) {
        self.nodes[self.len] = node;
        self.len += 1;
    }

    fn pop(&mut self) -> Option<u32> {
        self.len = self.len.checked_sub(1)?;
        Some(self.nodes[self.len])
    }

    fn last(&self) -> Option<u32> {
        self.len.checked_sub(1).map(|last| self.nodes[last])
    }

    /// Returns a path that consists of the first `len` nodes of this path. Returns `None` if `len` is 0.
    fn cut(mut self, len: usize) -> Option<Self> {
        self.len = len;
        (len > 0).then_some(self)
    }
}

impl Tree {
    fn new(capacity_bytes: usize, pool: &Arc<MapPool>) -> Self {
        Self { arena: Arc::new(SharedArena::new(capacity_bytes, pool)), nodes: Vec::new(), root: NONE }
    }

    fn node(&self, at: u32) -> &Node {
        &self.nodes[at as usize]
    }

    fn height(&self, at: u32) -> u8 {
        if at == NONE { 0 } else { self.node(at).height }
    }

    /// Compares the version in the node `at` with the position `probe`. `head` is the first eight bytes of the key of
    /// `probe`.
    #[inline]
    fn order_of(&self, at: u32, probe: Probe<'_>, head: u64) -> Ordering {
        let node = self.node(at);
        let by_record = || probe.order_of(&self.arena.record(node.version));
        node.head.cmp(&head).then_with(by_record)
    }

    fn insert(&mut self, key: &[u8], sequence: SequenceNumber, value: Option<&[u8]>) {
        let (probe, head) = (Probe { key, sequence }, head(key));
        let mut path = Path::new();
        let mut at = self.root;
        let mut side = LEFT;
        while at != NONE {
            path.push(at);
            side = usize::from(self.order_of(at, probe, head) == Ordering::Less);
            at = self.node(at).children[side];
        }
        let added = u32::try_from(self.nodes.len()).expect("an AVL tree must have fewer than 2^32 entries");
        let version = self.arena.append(key, sequence, value, 0);
        self.nodes.push(Node { head, version, children: [NONE; 2], height: 1 });
        match path.last() {
            Some(parent) => self.nodes[parent as usize].children[side] = added,
            None => self.root = added,
        }
        self.rebalance(path);
    }

    /// Restores the heights and the balance of the nodes on `path`, from the last node upwards. The function stops at
    /// the root, or at a node whose height does not change.
    fn rebalance(&mut self, mut path: Path) {
        while let Some(at) = path.pop() {
            let before = self.height(at);
            let top = self.balanced(at);
            match path.last() {
                None => self.root = top,
                Some(parent) => {
                    let children = &mut self.nodes[parent as usize].children;
                    children[usize::from(children[RIGHT] == at)] = top;
                }
            }
            if self.height(top) == before {
                return;
            }
        }
    }

    /// Restores the balance of the subtree with the root `at`. Returns the new root of this subtree.
    fn balanced(&mut self, at: u32) -> u32 {
        let heights = self.node(at).children.map(|child| self.height(child));
        if heights[LEFT].abs_diff(heights[RIGHT]) < 2 {
            self.set_height(at);
            return at;
        }
        let heavy = usize::from(heights[RIGHT] > heights[LEFT]);
        let child = self.node(at).children[heavy];
        let inner = self.node(child).children[1 - heavy];
        if self.height(inner) > self.height(self.node(child).children[heavy]) {
            self.nodes[at as usize].children[heavy] = self.rotated(child, 1 - heavy);
        }
        self.rotated(at, heavy)
    }

    /// Rotates the subtree with the root `at`, so that the child of `at` on `side` becomes the root. Returns this
    /// child.
    fn rotated(&mut self, at: u32, side: usize) -> u32 {
        let top = self.node(at).children[side];
        self.nodes[at as usize].children[side] = self.node(top).children[1 - side];
        self.nodes[top as usize].children[1 - side] = at;
        self.set_height(at);
        self.set_height(top);
        top
    }

    fn set_height(&mut self, at: u32) {
        let [left, right] = self.node(at).children.map(|child| self.height(child));
        self.nodes[at as usize].height = left.max(right) + 1;
    }

    /// Returns the path to the first node (`LEFT`) or the last node (`RIGHT`) of the subtree `at`. `path` is the path
    /// to the parent of `at`. If the subtree is empty, the result is the path to the parent, or `None` if there is no
    /// parent.
    fn outermost(&self, mut path: Path, mut at: u32, side: usize) -> Option<Path> {
        while at != NONE {
            path.push(at);
            at = self.node(at).children[side];
        }
        Some(path).filter(|path| path.len > 0)
    }

    /// Returns the path to the previous node (`LEFT`) or the next node (`RIGHT`) in key order, depending on `side`.
    /// Returns `None` if there is no such node.
    fn neighbour(&self, mut path: Path, side: usize) -> Option<Path> {
        let child = self.node(path.last()?).children[side];
        if child != NONE {
            return self.outermost(path, child, 1 - side);
        }
        // The neighbor is the first ancestor whose other child is on the path.
        while let Some(at) = path.pop() {
            if path.last().is_some_and(|parent| self.node(parent).children[1 - side] == at) {
                return Some(path);
            }
        }
        None
    }

    /// Searches for `probe`. Returns the path of the search and two lengths. The first length is the number of path
    /// nodes up to the last tree node before `probe`. The second length is the number of path nodes up to the first
    /// tree node at or after `probe`. A length is 0 if the tree has no such node.
    #[inline]
    fn around(&self, probe: Probe<'_>) -> (Path, usize, usize) {
        let head = head(probe.key);
        let (mut path, mut before, mut behind) = (Path::new(), 0, 0);
        let mut at = self.root;
        while at != NONE {
            path.push(at);
            let is_before = self.order_of(at, probe, head) == Ordering::Less;
            *(if is_before { &mut before } else { &mut behind }) = path.len;
            at = self.node(at).children[usize::from(is_before)];
        }
        (path, before, behind)
    }
}

impl Versions for Tree {
    type Cursor = Path;

    fn seek(&self, from: Option<Probe<'_>>) -> Option<Path> {
        let Some(from) = from else { return self.outermost(Path::new(), self.root, LEFT) };
        let (path, _, behind) = self.around(from);
        path.cut(behind)
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Path> {
        let Some(end) = end else { return self.outermost(Path::new(), self.root, RIGHT) };
        let (path, before, _) = self.around(end);
        path.cut(before)
    }

    fn next(&self, cursor: &mut Option<Path>) {
        *cursor = cursor.take().and_then(|path| self.neighbour(path, RIGHT));
    }

    fn previous(&self, cursor: &mut Option<Path>) {
        *cursor = cursor.take().and_then(|path| self.neighbour(path, LEFT));
    }

    fn record<'a>(&'a self, cursor: &Path) -> VersionRecord<'a> {
        let at = cursor.last().expect("the path of a cursor must end at a node of the AVL tree");
        self.arena.record(self.node(at).version)
    }
}

impl Avl {
    fn versions(&self) -> RwLockReadGuard<'_, Tree> {
        self.tree.read()
    }
}

impl Memtable for Avl {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.tree.write().insert(key.bytes, sequence, value);
    }

    read_versions!(guarded);

    fn len(&self) -> usize {
        self.tree.read().nodes.len()
    }

    fn memory_bytes(&self) -> usize {
        self.arena.memory_bytes() + self.tree.read().nodes.capacity() * size_of::<Node>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the invariants of a subtree. Returns the height of the subtree.
    fn check(tree: &Tree, at: u32) -> u8 {
        if at == NONE {
            return 0;
        }
        let [left, right] = tree.node(at).children.map(|child| check(tree, child));
        assert!(left.abs_diff(right) < 2, "{left} beside {right}");
        assert_eq!(tree.node(at).height, left.max(right) + 1);
        left.max(right) + 1
    }

    #[test]
    fn it_is_balanced_and_in_order_whatever_comes() {
        let mixed = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        let orders: [fn(u64) -> u64; 4] = [|i| i, |i| 5000 - i, |i| i ^ 0xfff, |i| i % 7];
        for order in orders.into_iter().map(Some).chain([None]) {
            let mut tree = Tree::new(1 << 16, &Arc::default());
            for i in 0..5000 {
                let key = order.map_or_else(|| mixed(i), |order| order(i)).to_be_bytes();
                tree.insert(&key, i + 1, None);
            }
            assert!(check(&tree, tree.root) <= 17);
            let mut cursor = tree.seek(None);
            let mut seen: Vec<(Vec<u8>, std::cmp::Reverse<u64>)> = Vec::new();
            while let Some(at) = &cursor {
                let record = tree.record(at);
                seen.push((record.key.to_vec(), std::cmp::Reverse(record.sequence)));
                tree.next(&mut cursor);
            }
            assert!(seen.is_sorted() && seen.len() == 5000);
        }
    }
}
