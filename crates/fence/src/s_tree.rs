//! A static B-tree in memory, a cache line per node: the heads sorted in leaves of eight, above them layers
//! of nodes that lead to nine children each.
//!
//! A node is searched whole, by one comparison of eight lanes and a count of bits, without a branch to
//! guess; a search touches one line per layer, and the upper layers stay in the nearest cache: 16 K
//! separators have 5 layers, 4 M have 7, of which two are outside of a cache of 1 MiB. Children follow from
//! numbers; there are no pointers. In a batch, the searches go down side by side, each asking for the line
//! of the next layer before its turn comes. Sources: Slotin, "Algorithms for Modern Hardware" (2022), chapter
//! "Static B-Trees"; Groot Koerkamp, "Static search trees: 40x faster than binary search" (2024).
//!
//! Memory: 9 bytes per separator, 8 for its head in a leaf and 1 for the layers above; and, where what
//! follows the common prefix does not fit into eight bytes, all of that with 4 bytes for its place. It is
//! looked at only where heads tie.

#![allow(clippy::inline_always)] // see `line`

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{Bound, HeadFence, HeadIndex};
use crate::line::{Compare, LINE, Line, Portable, Search, signed};
use crate::prefetch::prefetch;
use crate::stored;

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<STree>(
    "s-tree",
    "8-byte heads in a static B-tree of cache lines, eight compared at once, batches interleaved",
    "",
);

const TAG: stored::Tag = *b"fstr";

/// Children of an inner node: one more than it has heads.
const CHILDREN: usize = LINE + 1;

/// Searches of a batch that go down side by side.
const GROUP: usize = 32;

/// Builds static trees.
struct STree;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn FencePolicy> for STree {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn FencePolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl FencePolicy for STree {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = crate::line::Avx512::detect() {
                return HeadFence::open(TAG, table, |heads| TreeIndex::new(avx512, &heads));
            }
            if let Some(avx2) = crate::line::Avx2::detect() {
                return HeadFence::open(TAG, table, |heads| TreeIndex::new(avx2, &heads));
            }
        }
        HeadFence::open(TAG, table, |heads| TreeIndex::new(Portable, &heads))
    }
}

/// Heads in a static B-tree.
struct Tree {
    /// All nodes, layer by layer, the root first. The heads of a leaf are followed by those of the next; the
    /// head `i` of an inner node is the largest under its child `i`, unless that child is the node's last.
    nodes: Vec<Line>,
    /// Where each inner layer starts.
    inner: Vec<usize>,
    /// Where the leaves start.
    leaves: usize,
    /// The number of heads.
    count: usize,
}

impl Tree {
    /// A tree of heads in sorted order.
    fn new(heads: &[u64]) -> Self {
        let mut widths = vec![heads.len().div_ceil(LINE).max(1)];
        while widths[widths.len() - 1] > 1 {
            widths.push(widths[widths.len() - 1].div_ceil(CHILDREN));
        }
        widths.reverse();
        let starts: Vec<usize> =
            widths.iter().scan(0, |next, width| Some(std::mem::replace(next, *next + width))).collect();
        let (leaves, inner) = starts.split_last().expect("there is a layer of leaves");
        let mut nodes = vec![Line::EMPTY; leaves + widths[inner.len()]];
        for (rank, head) in heads.iter().enumerate() {
            nodes[leaves + rank / LINE].set(rank % LINE, *head);
        }
        // The number of leaves under a child of the layer.
        let mut span = 1;
        for (start, below) in inner.iter().zip(&widths[1..]).rev() {
            // Every child but the last of a layer is full, and all of it is below its right neighbour.
            for child in (0..below - 1).filter(|child| child % CHILDREN < LINE) {
                nodes[start + child / CHILDREN].set(child % CHILDREN, heads[(child + 1) * span * LINE - 1]);
            }
            span *= CHILDREN;
        }
        Self { nodes, inner: inner.to_vec(), leaves: *leaves, count: heads.len() }
    }

    /// The bound of `head` in leaf number `leaf`, where it is.
    #[inline(always)]
    fn bound<C: Compare>(&self, compare: C, leaf: usize, head: i64) -> Bound {
        let line = &self.nodes[self.leaves + leaf];
        let below = compare.below(line, head);
        let rank = leaf * LINE + below;
        // Only behind the last head of all is the bound in no leaf; and what fills the last leaf is no head.
        Bound { rank: rank as u32, is_tie: rank < self.count && line.get(below) == head }
    }
}

/// A tree, and the way in which the processor compares.
struct TreeIndex<C> {
    tree: Tree,
    compare: C,
}

impl<C: Compare> TreeIndex<C> {
    fn new(compare: C, heads: &[u64]) -> Self {
        Self { tree: Tree::new(heads), compare }
    }
}

impl<C: Compare> HeadIndex for TreeIndex<C> {
    #[inline]
    fn lower_bound(&self, head: u64) -> Bound {
        self.compare.run(One { tree: &self.tree, head })
    }

    fn lower_bounds(&self, heads: &[u64], bounds: &mut [Bound]) {
        for (heads, bounds) in heads.chunks(GROUP).zip(bounds.chunks_mut(GROUP)) {
            self.compare.run(Many { tree: &self.tree, heads, bounds });
        }
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.tree.nodes) + size_of_val(&*self.tree.inner)
    }
}

/// The search for one head.
struct One<'a> {
    tree: &'a Tree,
    head: u64,
}

impl Search for One<'_> {
    type Found = Bound;

    #[inline(always)]
    fn run<C: Compare>(self, compare: C) -> Bound {
        let (tree, head) = (self.tree, signed(self.head));
        let mut at = 0;
        for start in &tree.inner {
            at = at * CHILDREN + compare.below(&tree.nodes[start + at], head);
        }
        tree.bound(compare, at, head)
    }
}

/// The search for up to [`GROUP`] heads, layer by layer.
struct Many<'a> {
    tree: &'a Tree,
    heads: &'a [u64],
    bounds: &'a mut [Bound],
}

impl Search for Many<'_> {
    type Found = ();

    #[inline(always)]
    fn run<C: Compare>(self, compare: C) {
        let tree = self.tree;
        let mut at = [0; GROUP];
        let starts =
            tree.inner.iter().zip(tree.inner[1.min(tree.inner.len())..].iter().chain([&tree.leaves]));
        for (start, next) in starts {
            for (at, head) in at.iter_mut().zip(self.heads) {
                *at = *at * CHILDREN + compare.below(&tree.nodes[start + *at], signed(*head));
                prefetch(&tree.nodes, next + *at);
            }
        }
        for ((leaf, head), bound) in at.iter().zip(self.heads).zip(self.bounds) {
            *bound = tree.bound(compare, *leaf, signed(*head));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    /// Sizes about those at which a layer is added: 8, 72, 648 and 5832 heads.
    const SIZES: [usize; 9] = [640, 645, 646, 648, 700, 5820, 5829, 5830, 12_000];

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        check_index(&SIZES, |heads| TreeIndex::new(Portable, &heads));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vectors_find_the_same() {
        if let Some(avx2) = crate::line::Avx2::detect() {
            check_index(&SIZES, |heads| TreeIndex::new(avx2, &heads));
        }
        if let Some(avx512) = crate::line::Avx512::detect() {
            check_index(&SIZES, |heads| TreeIndex::new(avx512, &heads));
        }
    }

    /// A leaf per eight heads, a node per nine nodes of the layer below: nine bytes per head.
    #[test]
    fn layers_are_nine_times_as_wide_as_the_one_above() {
        let tree = |count: u64| Tree::new(&(0..count).collect::<Vec<_>>());
        assert_eq!((tree(8).inner.len(), tree(9).inner.len(), tree(72).inner.len()), (0, 1, 1));
        assert_eq!((tree(73).inner.len(), tree(16 << 10).inner.len(), tree(1 << 20).inner.len()), (2, 4, 6));
        let large = tree(1 << 20);
        assert!((9.0..9.01).contains(&(size_of_val(&*large.nodes) as f64 / f64::from(1 << 20))));
    }
}
