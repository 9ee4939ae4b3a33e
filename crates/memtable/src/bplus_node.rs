//! A node of the B+-tree [`bplus`](crate::bplus): its heads, its entries, and the version that readers check.

use std::cmp::Ordering as Order;
use std::hint::select_unpredictable;

use types::{common_prefix, head};

use crate::shared_arena::{AtomicRef, Ref, SharedArena, Version};
use crate::sync::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{AtomicU32, AtomicU64, fence, sized, spin_loop, yield_now};
use crate::versions::Probe;

/// Maximum number of entries of a node; it then fills 1 KiB.
pub(crate) const FANOUT: usize = sized(62, 3);

/// Number of bytes of a node that a search may read: everything except the links.
pub(crate) const SEARCHED_BYTES: usize = 24 + FANOUT * 12;

/// Maximum number of bytes prefetched per record.
pub(crate) const RECORD_BYTES: usize = 192;

/// Number of spins on a locked node before the thread yields.
const SPINS: usize = 100;

/// A leaf or an inner node. An inner node of `count` separators has `count + 1` children; entries at or after
/// separator `i` are under child `i + 1`.
#[repr(C, align(64))]
pub(crate) struct Node {
    pub(crate) version: AtomicU64,
    pub(crate) count: AtomicU32,
    /// Length of the node's common prefix, which its heads omit.
    pub(crate) prefix_len: AtomicU32,
    /// Lower fence: the entries of the node are at or after this version. `None` in the leftmost node.
    pub(crate) low: AtomicRef<Version>,
    /// Upper fence: the entries of the node are before this version. `None` in the rightmost node.
    pub(crate) high: AtomicRef<Version>,
    pub(crate) heads: [AtomicU64; FANOUT],
    pub(crate) records: [AtomicRef<Version>; FANOUT],
    /// Children; in a leaf, the first is the next leaf.
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

/// Error of a read that raced with a change. The read must be restarted.
pub(crate) struct Changed;

pub(crate) type Optimistic<T> = Result<T, Changed>;

/// A version in the arena that is not linked yet, with its position in the order.
pub(crate) type New<'a> = (Probe<'a>, Ref<Version>);

/// Whether a search stops before or after an entry that equals the probe.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    Behind,
}

impl Node {
    /// Version of the node, once no writer holds it.
    #[inline]
    pub(crate) fn read(&self) -> u64 {
        for spin in 1.. {
            let version = self.version.load(Acquire);
            if version & 1 == 0 {
                return version;
            }
            if spin % SPINS == 0 { yield_now() } else { spin_loop() }
        }
        unreachable!("the loop has no end")
    }

    /// Checks that nothing changed since [`read`](Self::read) returned `version`.
    #[inline]
    pub(crate) fn check(&self, version: u64) -> Optimistic<()> {
        fence(Acquire);
        if self.version.load(Relaxed) == version { Ok(()) } else { Err(Changed) }
    }

    /// Locks the node for writing, if nothing changed since `version`.
    #[inline]
    pub(crate) fn lock(&self, version: u64) -> Optimistic<Locked<'_>> {
        self.version.compare_exchange(version, version + 1, Acquire, Relaxed).map_err(|_| Changed)?;
        // No reader may combine later writes with the earlier version.
        fence(Release);
        Ok(Locked(self))
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        (self.count.load(Relaxed) as usize).min(FANOUT)
    }

    /// Entry `at`; `None` beyond the count.
    #[inline]
    pub(crate) fn entry(&self, at: usize) -> Option<Ref<Version>> {
        if at < self.count() { self.records[at].load() } else { None }
    }

    /// Whether entry `at` and the next entry may have equal keys, judged by their heads.
    #[inline]
    pub(crate) fn have_equal_heads(&self, at: usize) -> bool {
        let head = |at: usize| self.heads.get(at).map(|head| head.load(Relaxed));
        head(at) == head(at + 1)
    }

    /// Head of a key in this node. If the node was split meanwhile and the key no longer belongs here, the head is
    /// arbitrary.
    #[inline]
    pub(crate) fn head_of(&self, key: &[u8]) -> u64 {
        head(key.get(self.prefix_len.load(Relaxed) as usize..).unwrap_or_default())
    }

    /// Number of entries before `probe`. If `side` is after, entries equal to `probe` are included.
    #[inline]
    pub(crate) fn rank(&self, arena: &SharedArena, probe: Probe<'_>, side: Side) -> usize {
        let (sought, count) = (self.head_of(probe.key), self.count());
        // Branchless, because half of the steps go either way and a branch could not be predicted.
        let mut low = 0;
        let mut len = count;
        while len > 1 {
            let half = len / 2;
            let is_before = self.heads[low + half - 1].load(Relaxed) < sought;
            low = select_unpredictable(is_before, low + half, low);
            len -= half;
        }
        low += usize::from(low < count && self.heads[low].load(Relaxed) < sought);
        // If heads are equal, the records must be compared.
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

    /// Whether the record of entry `at` is before `probe`. If `side` is after, an equal record counts as well.
    pub(crate) fn is_before(&self, arena: &SharedArena, at: usize, probe: Probe<'_>, side: Side) -> bool {
        let Some(version) = self.records[at].load() else { return false };
        // A successful lookup reads the value next.
        arena.prefetch(version, RECORD_BYTES);
        match probe.order_of(&arena.record(version)) {
            Order::Less => true,
            Order::Equal => side == Side::Behind,
            Order::Greater => false,
        }
    }
}

/// A node locked by this thread. Dropping this value unlocks the node.
pub(crate) struct Locked<'a>(pub(crate) &'a Node);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.version.store(self.0.version.load(Relaxed) + 1, Release);
    }
}

impl Locked<'_> {
    /// Inserts an entry at `at`, and, in an inner node, the child to its right.
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

    /// Appends the first of `new`, which follows all entries of this last leaf. Appends further entries while they
    /// ascend and fit. Returns the number of appended entries.
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

    /// Moves the entries from `from` on to `right`, which no other thread sees yet.
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

/// Sets the fences of a node that no other thread changes. This also sets the prefix and the heads.
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
            let version = node.records[at].load().expect("an entry has a record");
            node.heads[at].store(node.head_of(arena.record(version).key), Relaxed);
        }
    }
}
