//! The nodes of the B+-tree in [`bplus`](crate::bplus). A node stores the heads and the records of its entries, and the
//! version number that readers check.

use std::cmp::Ordering as Order;
use std::hint::select_unpredictable;

use types::{common_prefix, head};

use crate::shared_arena::{AtomicRef, Ref, SharedArena, Version};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU32, AtomicU64, fence, sized, spin_loop, yield_now};
use crate::versions::Probe;

/// The largest number of entries of a node. With this capacity, a node takes 1 KiB.
pub(crate) const FANOUT: usize = sized(62, 3);

/// The number of bytes of a B+-tree node that a search may read: all bytes except the links to other nodes.
pub(crate) const SEARCHED_BYTES: usize = 24 + FANOUT * 12;

/// The largest number of bytes of a record that a scan prefetches.
pub(crate) const RECORD_BYTES: usize = 192;

/// The number of times that a thread checks a locked node before the thread yields its CPU.
const SPINS: usize = 100;

/// A leaf or an inner node of the B+-tree. The entries of an inner node are separators: `count` separators divide
/// `count + 1` children. Child `i + 1` contains the versions at or after separator `i`.
#[repr(C, align(64))]
pub(crate) struct Node {
    pub(crate) version: AtomicU64,
    pub(crate) count: AtomicU32,
    /// The length in bytes of the prefix that all keys of the node share. The heads of the entries begin after this
    /// prefix.
    pub(crate) prefix_len: AtomicU32,
    /// The inclusive lower bound of the node (its lower fence). All entries of the node are at or after this version.
    /// `None` in the leftmost node of a level.
    pub(crate) low: AtomicRef<Version>,
    /// The exclusive upper bound of the node (its upper fence). All entries of the node are before this version. `None`
    /// in the rightmost node of a level.
    pub(crate) high: AtomicRef<Version>,
    pub(crate) heads: [AtomicU64; FANOUT],
    pub(crate) records: [AtomicRef<Version>; FANOUT],
    /// The children of an inner node. In a leaf, the first link points to the next leaf, and all other links are
    /// unused.
    pub(crate) links: [AtomicRef<Node>; FANOUT + 1],
}

impl Default for Node {
    fn default() -> Self {
        Self {
            version: AtomicU64::new(0),
            count: AtomicU32::new(0),
            prefix_len: AtomicU32::new(0),
            low: AtomicRef::default(),
            high: AtomicRef::default(),
            heads: std::array::from_fn(|_| AtomicU64::new(0)),
            records: std::array::from_fn(|_| AtomicRef::default()),
            links: std::array::from_fn(|_| AtomicRef::default()),
        }
    }
}

/// The error of an optimistic operation that a concurrent change has disturbed. The caller must restart the operation.
pub(crate) struct Changed;

pub(crate) type Optimistic<T> = Result<T, Changed>;

/// A version in the arena that is not in the tree yet, with its position in the order of versions.
pub(crate) type New<'a> = (Probe<'a>, Ref<Version>);

/// Whether the result of a search is before or after an entry that equals the searched position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    Behind,
}

impl Node {
    /// Returns the version number of the node. Waits while a writer has locked the node.
    #[inline]
    pub(crate) fn read(&self) -> u64 {
        for spin in 1.. {
            let version = self.version.load(Acquire);
            if version & 1 == 0 {
                return version;
            }
            if spin % SPINS == 0 { yield_now() } else { spin_loop() }
        }
        unreachable!("the wait for a locked node must not end before the node is unlocked")
    }

    /// Returns an error if the node has changed since [`read`](Self::read) returned `version`.
    #[inline]
    pub(crate) fn check(&self, version: u64) -> Optimistic<()> {
        fence(Acquire);
        if self.version.load(Relaxed) == version { Ok(()) } else { Err(Changed) }
    }

    /// Locks the node for writing. Returns an error if the node has changed since [`read`](Self::read) returned
    /// `version`.
    #[inline]
    pub(crate) fn lock(&self, version: u64) -> Optimistic<Locked<'_>> {
        self.version.compare_exchange(version, version + 1, Acquire, Relaxed).map_err(|_| Changed)?;
        // The fence prevents a reader from seeing later writes together with the earlier version number.
        fence(Release);
        Ok(Locked(self))
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        (self.count.load(Relaxed) as usize).min(FANOUT)
    }

    /// Returns the version in the entry with the index `at`. Returns `None` if the node has no such entry.
    #[inline]
    pub(crate) fn entry(&self, at: usize) -> Option<Ref<Version>> {
        if at < self.count() { self.records[at].load() } else { None }
    }

    /// Returns whether the entry with the index `at` and the next entry have equal heads (eight bytes of their keys).
    /// Only then can their keys be equal.
    #[inline]
    pub(crate) fn have_equal_heads(&self, at: usize) -> bool {
        let head = |at: usize| self.heads.get(at).map(|head| head.load(Relaxed));
        head(at) == head(at + 1)
    }

    /// Returns the head of a key in this node: the first eight bytes after the common prefix, as an integer. If a
    /// concurrent split has moved the key to another node, the result has no meaning.
    #[inline]
    pub(crate) fn head_of(&self, key: &[u8]) -> u64 {
        head(key.get(self.prefix_len.load(Relaxed) as usize..).unwrap_or_default())
    }

    /// Returns the number of entries of the node that are before `probe`. With `Side::Behind`, an entry that equals
    /// `probe` is also counted.
    #[inline]
    pub(crate) fn rank(&self, arena: &SharedArena, probe: Probe<'_>, side: Side) -> usize {
        let (sought, count) = (self.head_of(probe.key), self.count());
        // The search has no branches, because each direction is equally likely and a CPU could not predict a branch.
        let mut low = 0;
        let mut len = count;
        while len > 1 {
            let half = len / 2;
            let is_before = self.heads[low + half - 1].load(Relaxed) < sought;
            low = select_unpredictable(is_before, low + half, low);
            len -= half;
        }
        low += usize::from(low < count && self.heads[low].load(Relaxed) < sought);
        // Entries with equal heads are compared by their records.
        let is_tied = |at: usize| at < count && self.heads[at].load(Relaxed) == sought;
        let mut high = low;
        while is_tied(high) {
            high += 1;
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.is_before(arena, middle, probe, side) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Returns whether the version of the entry with the index `at` is before `probe`. With `Side::Behind`, also
    /// returns true for a version that equals `probe`.
    pub(crate) fn is_before(&self, arena: &SharedArena, at: usize, probe: Probe<'_>, side: Side) -> bool {
        let Some(version) = self.records[at].load() else { return false };
        // If the keys are equal, the lookup reads the value next.
        arena.prefetch(version, RECORD_BYTES);
        match probe.order_of(&arena.record(version)) {
            Order::Less => true,
            Order::Equal => side == Side::Behind,
            Order::Greater => false,
        }
    }
}

/// A B+-tree node that this thread has locked. `Drop` unlocks the node.
pub(crate) struct Locked<'a>(pub(crate) &'a Node);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.version.store(self.0.version.load(Relaxed) + 1, Release);
    }
}

impl Locked<'_> {
    /// Inserts an entry at the index `at`. In an inner node, `child` is the child after this entry.
    pub(crate) fn insert(&self, at: usize, head: u64, version: Ref<Version>, child: Option<Ref<Node>>) {
        let node = self.0;
        let count = node.count();
        for to in (at + 1..=count).rev() {
            node.heads[to].store(node.heads[to - 1].load(Relaxed), Relaxed);
            node.records[to].store(node.records[to - 1].load());
        }
        node.heads[at].store(head, Relaxed);
        node.records[at].store(Some(version));
        if child.is_some() {
            for to in (at + 2..=count + 1).rev() {
                node.links[to].store(node.links[to - 1].load());
            }
            node.links[at + 1].store(child);
        }
        node.count.store(count as u32 + 1, Relaxed);
    }

    /// Appends versions to this leaf, which must be the last leaf of the tree. The first version of `new` must follow
    /// all entries of the leaf. The function appends versions as long as they are sorted and the leaf has space.
    /// Returns the number of versions that were appended.
    pub(crate) fn append(&self, new: &[New<'_>]) -> usize {
        let (node, count) = (self.0, self.0.count());
        let (mut before, version) = new[0];
        let mut head_before = node.head_of(before.key);
        self.insert(count, head_before, version, None);
        for (appended, (next, version)) in (1..FANOUT - count).zip(&new[1..]) {
            let head = node.head_of(next.key);
            if head < head_before || (head == head_before && !before.is_before(next)) {
                return appended;
            }
            self.insert(count + appended, head, *version, None);
            (before, head_before) = (*next, head);
        }
        new.len().min(FANOUT - count)
    }

    /// Moves the entries from the index `from` on to the new node `right`, which no other thread can access yet.
    pub(crate) fn move_entries(&self, from: usize, right: &Node) {
        let (node, count) = (self.0, self.0.count());
        for (to, at) in (from..count).enumerate() {
            right.heads[to].store(node.heads[at].load(Relaxed), Relaxed);
            right.records[to].store(node.records[at].load());
        }
        right.prefix_len.store(node.prefix_len.load(Relaxed), Relaxed);
        right.count.store((count - from) as u32, Relaxed);
        node.count.store(from as u32, Relaxed);
    }
}

/// Sets the lower and the upper bound (the fences) of a node, and computes the common prefix and the heads of its
/// entries from them. No other thread may change the node at the same time.
pub(crate) fn set_fences(
    arena: &SharedArena,
    node: &Node,
    low: Option<Ref<Version>>,
    high: Option<Ref<Version>>,
) {
    node.low.store(low);
    node.high.store(high);
    let prefix_len = match (low, high) {
        (Some(low), Some(high)) => common_prefix(arena.record(low).key, arena.record(high).key) as u32,
        _ => 0,
    };
    if prefix_len != node.prefix_len.load(Relaxed) {
        node.prefix_len.store(prefix_len, Relaxed);
        for at in 0..node.count() {
            let version = node.records[at].load().expect("every entry of a B+-tree node must have a record");
            node.heads[at].store(node.head_of(arena.record(version).key), Relaxed);
        }
    }
}
