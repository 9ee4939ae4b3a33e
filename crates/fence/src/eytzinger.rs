//! A fence whose heads stand in the order of a breadth-first walk through the search tree.
//!
//! The first steps of every search share a few cache lines, a step is a doubling without a branch to guess,
//! and the eight heads three steps ahead lie on one line, which can be fetched early. Source: Khuong &
//! Morin, "Array layouts for comparison-based searching" (2015), sections 4 and 5.
//!
//! The tree is complete: all levels are full but the last, which is filled from the left. A slot's place in
//! sorted order follows from its number alone, so that there is no map from slots to blocks to keep or to
//! miss the cache on.

use std::hint::select_unpredictable;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::head;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::prefetch::prefetch;
use crate::stored;
use crate::suffixes::{Place, Suffixes};

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<Eytzinger>(
    "eytzinger",
    "8-byte heads in breadth-first order: few cache lines, no branches to guess, keys touched on ties only",
    "",
);

const TAG: stored::Tag = *b"feyt";

/// Heads per cache line.
const LINE: usize = 8;

/// Builds fences in breadth-first order.
struct Eytzinger;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn FencePolicy> for Eytzinger {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn FencePolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl FencePolicy for Eytzinger {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let suffixes = Suffixes::new(&stored::read_separators(TAG, table)?);
        let tree = HeadTree::new(suffixes.len(), |rank| suffixes.head(rank));
        Ok(Box::new(EytzingerFence { suffixes, tree }))
    }
}

/// The separators of one table in memory, their heads as a tree.
struct EytzingerFence {
    suffixes: Suffixes,
    tree: HeadTree,
}

impl Fence for EytzingerFence {
    fn seek(&self, key: &[u8], _: &dyn TableView) -> Result<u32, FenceError> {
        let rank = match self.suffixes.place(key) {
            Place::Below => 0,
            Place::Above => self.suffixes.len(),
            Place::Within(suffix) => match self.tree.lower_bound(head(suffix)) {
                Bound::Above(rank) => rank,
                Bound::Tie(rank) => self.suffixes.settle(rank, suffix),
            },
        };
        Ok(rank as u32)
    }

    fn memory_bytes(&self) -> usize {
        self.suffixes.memory_bytes() + size_of_val(&*self.tree.arena)
    }
}

/// Heads in breadth-first order: the root in slot 1, the children of slot k in slots 2k and 2k + 1.
struct HeadTree {
    /// The slots, behind some unused elements that make slot 0 the first of a cache line. So the
    /// descendants of slot k three levels down, from 8k on, are one line.
    arena: Vec<u64>,
    start: usize,
    shape: Shape,
}

/// The first head that is not below the one looked for.
#[derive(Debug, PartialEq, Eq)]
enum Bound {
    /// It is above, or there is none; so many heads are below.
    Above(usize),
    /// It is equal; so many heads are below.
    Tie(usize),
}

impl HeadTree {
    /// A tree of `count` heads, given in sorted order by `head_at`.
    fn new(count: usize, head_at: impl Fn(usize) -> u64) -> Self {
        let shape = Shape::new(count);
        let mut arena = vec![0; LINE + 1 + count];
        // Where memory cannot be aligned, only time is lost.
        let start = arena.as_ptr().align_offset(LINE * size_of::<u64>()).min(LINE);
        for slot in 1..=count {
            arena[start + slot] = head_at(shape.rank(slot));
        }
        Self { arena, start, shape }
    }

    /// All slots; slot 0 is unused.
    #[inline]
    fn slots(&self) -> &[u64] {
        &self.arena[self.start..][..=self.shape.count]
    }

    fn lower_bound(&self, head: u64) -> Bound {
        let slots = self.slots();
        let mut slot = 1;
        for _ in 1..self.shape.levels {
            prefetch(slots, LINE * slot);
            slot = 2 * slot + usize::from(slots[slot] < head);
        }
        // The last level has not all of its slots; slot 0 is read in place of one that is missing.
        let there = slot < slots.len();
        let below = slots[select_unpredictable(there, slot, 0)] < head;
        slot = select_unpredictable(there, 2 * slot + usize::from(below), slot);
        // Since the last turn to the left, all turns were to the right.
        match slot >> (slot.trailing_ones() + 1) {
            0 => Bound::Above(self.shape.count),
            bound if slots[bound] == head => Bound::Tie(self.shape.rank(bound)),
            bound => Bound::Above(self.shape.rank(bound)),
        }
    }
}

/// The form of a complete tree.
#[derive(Clone, Copy)]
struct Shape {
    /// The number of slots; they are numbered from 1.
    count: usize,
    /// The number of levels.
    levels: u32,
    /// The number of slots in the last level.
    leaves: usize,
}

impl Shape {
    fn new(count: usize) -> Self {
        let levels = usize::BITS - count.leading_zeros();
        let leaves = if levels == 0 { 0 } else { count + 1 - (1 << (levels - 1)) };
        Self { count, levels, leaves }
    }

    /// The place in sorted order of what stands in `slot`, which must exist.
    #[inline]
    fn rank(self, slot: usize) -> usize {
        let depth = slot.ilog2();
        // In a tree whose last level is full too …
        let full = ((2 * (slot - (1 << depth)) + 1) << (self.levels - 1 - depth)) - 1;
        // … less the leaves before this slot that are missing.
        full - full.div_ceil(2).saturating_sub(self.leaves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ranks in slot order by an in-order walk, which is the definition.
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

    /// Seven entries stand as 4 2 6 1 3 5 7, eight as 5 3 7 2 4 6 8 1.
    #[test]
    fn the_order_is_that_of_the_textbook() {
        let order = |count| {
            let tree = HeadTree::new(count, |rank| rank as u64 + 1);
            tree.slots()[1..].to_vec()
        };
        assert_eq!(order(7), [4, 2, 6, 1, 3, 5, 7]);
        assert_eq!(order(8), [5, 3, 7, 2, 4, 6, 8, 1]);
    }

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        for count in 0..130usize {
            // Every odd number once, but 7 three times, and the largest head there is.
            let mut heads: Vec<u64> = (0..count as u64).map(|i| 2 * i + 1).collect();
            heads.extend([7, 7, u64::MAX]);
            heads.sort_unstable();
            let tree = HeadTree::new(heads.len(), |rank| heads[rank]);
            for head in (0..2 * count as u64 + 3).chain([u64::MAX - 1, u64::MAX]) {
                let below = heads.partition_point(|other| *other < head);
                let tie = heads.get(below) == Some(&head);
                let expected = if tie { Bound::Tie(below) } else { Bound::Above(below) };
                assert_eq!(tree.lower_bound(head), expected, "{head} among {count}");
            }
        }
    }
}
