//! A fence whose heads (8-byte prefixes) are in the Eytzinger layout, which is the breadth-first order of a binary
//! search tree.
//!
//! The heads for the first steps of every search are in a few cache lines. A step computes the next slot from the
//! current slot without a branch, so no branch can be mispredicted. Three steps later, a search needs one of eight
//! heads. These eight heads are in one cache line, so the search prefetches this cache line. Source: Khuong & Morin,
//! "Array layouts for comparison-based searching" (2015), sections 4 and 5.
//!
//! The tree is complete: all levels are full except the last level, which is filled from the left. The rank of a head
//! can therefore be computed from its slot number. A stored map from slots to blocks would need memory and cause
//! cache misses.

use std::hint::select_unpredictable;

use catalog::Variant;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{HeadFence, HeadIndex};
use crate::stored;
use crate::suffixes::Bound;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::plain(
    "eytzinger",
    "8-byte separator prefixes in breadth-first order; few cache misses and no unpredictable branches",
    || Box::new(Eytzinger),
);

const TAG: stored::Tag = *b"feyt";

/// The number of heads (8-byte prefixes of separators) in a cache line.
const LINE: usize = 8;

/// A policy that builds fences whose heads (8-byte prefixes of separators) are in the Eytzinger layout.
struct Eytzinger;

/// Returns the policy of the variant "eytzinger" with its default parameters. Fences that contain another fence use
/// this policy.
pub(crate) fn policy() -> Box<dyn FencePolicy> {
    Box::new(Eytzinger)
}

impl FencePolicy for Eytzinger {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        HeadFence::open(TAG, table, |heads| HeadTree::new(&heads))
    }
}

/// A binary search tree of heads (8-byte prefixes of separators) in breadth-first order. The root is in slot 1, and the
/// children of slot k are in slots 2k and 2k + 1.
struct HeadTree {
    /// Some unused elements, followed by all slots. The unused elements align slot 0 to a cache line. The eight
    /// descendants of slot k three levels below (slots 8k to 8k + 7) are therefore on one cache line.
    arena: Vec<u64>,
    start: usize,
    shape: Shape,
}

impl HeadTree {
    /// Creates the tree from sorted heads (8-byte prefixes of separators).
    fn new(heads: &[u64]) -> Self {
        let shape = Shape::new(heads.len());
        let mut arena = vec![0; LINE + 1 + heads.len()];
        // If the memory cannot be aligned, searches are slower but correct.
        let start = arena.as_ptr().align_offset(LINE * size_of::<u64>()).min(LINE);
        for slot in 1..=heads.len() {
            arena[start + slot] = heads[shape.rank(slot)];
        }
        Self { arena, start, shape }
    }

    /// Returns the slots of the tree. Slot 0 is unused.
    #[inline]
    fn slots(&self) -> &[u64] {
        &self.arena[self.start..][..=self.shape.count]
    }
}

impl HeadIndex for HeadTree {
    #[inline]
    fn lower_bound(&self, head: u64) -> Bound {
        let slots = self.slots();
        let mut slot = 1;
        for _ in 1..self.shape.levels {
            prefetch(slots, LINE * slot);
            slot = 2 * slot + usize::from(slots[slot] < head);
        }
        // The last level is not full, so a slot may be missing. Slot 0 is read instead of a missing slot.
        let there = slot < slots.len();
        let below = slots[select_unpredictable(there, slot, 0)] < head;
        slot = select_unpredictable(there, 2 * slot + usize::from(below), slot);
        // The search turned to the right at every step after its last turn to the left.
        match slot >> (slot.trailing_ones() + 1) {
            0 => Bound { rank: self.shape.count as u32, may_tie: false },
            bound => Bound { rank: self.shape.rank(bound) as u32, may_tie: slots[bound] == head },
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.arena)
    }
}

/// The shape of a complete binary tree: all levels are full except the last level.
#[derive(Clone, Copy)]
struct Shape {
    /// The number of slots of the tree. The slots are numbered from 1.
    count: usize,
    /// The number of levels of the tree.
    levels: u32,
    /// The number of slots in the last level of the tree.
    leaves: usize,
}

impl Shape {
    fn new(count: usize) -> Self {
        let levels = usize::BITS - count.leading_zeros();
        let leaves = if levels == 0 { 0 } else { count + 1 - (1 << (levels - 1)) };
        Self { count, levels, leaves }
    }

    /// Returns the number of heads in the tree that are smaller than the head in `slot`. The slot must exist.
    #[inline]
    fn rank(self, slot: usize) -> usize {
        let depth = slot.ilog2();
        // The rank that the slot would have if the last level were full …
        let full = ((2 * (slot - (1 << depth)) + 1) << (self.levels - 1 - depth)) - 1;
        // … minus the number of missing leaves before this slot.
        full - full.div_ceil(2).saturating_sub(self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    /// Computes the ranks of all slots by an in-order walk, which defines the layout.
    fn walk(slot: usize, count: usize, next: &mut usize, ranks: &mut [usize]) {
        if slot <= count {
            walk(2 * slot, count, next, ranks);
            ranks[slot] = *next;
            *next += 1;
            walk(2 * slot + 1, count, next, ranks);
        }
    }

    #[test]
    fn ranks_are_those_of_a_walk_in_order() {
        for count in 0..300 {
            let mut ranks = vec![0; count + 1];
            walk(1, count, &mut 0, &mut ranks);
            let shape = Shape::new(count);
            assert!((1..=count).all(|slot| shape.rank(slot) == ranks[slot]), "{count}");
        }
    }

    /// Tests the order of the textbook: seven heads are in the order 4 2 6 1 3 5 7, and eight heads in the order 5 3
    /// 7 2 4 6 8 1.
    #[test]
    fn the_order_is_that_of_the_textbook() {
        let order = |count| HeadTree::new(&(1..=count).collect::<Vec<u64>>()).slots()[1..].to_vec();
        assert_eq!(order(7), [4, 2, 6, 1, 3, 5, 7]);
        assert_eq!(order(8), [5, 3, 7, 2, 4, 6, 8, 1]);
    }

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        check_index(&[1000, 5000], |heads| HeadTree::new(&heads));
    }
}
