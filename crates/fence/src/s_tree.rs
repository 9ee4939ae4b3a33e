//! A static B-tree in memory, a cache line per node: the heads sorted in leaves of eight, above them layers
//! of nodes that lead to nine children each.
//!
//! A node is searched whole, by one comparison of eight lanes and a count of bits, without a branch to
//! guess; the root alone may have up to four lines, which saves a layer or two. A search touches one line
//! per layer, and the upper layers stay in the nearest cache: 16 K separators have 4 layers, 4 M have 7, of
//! which two are outside of a cache of 1 MiB. Children follow from numbers; there are no pointers. In a batch, the searches go down side by side, each asking for the line
//! of the next layer before its turn comes. Sources: Slotin, "Algorithms for Modern Hardware" (2022), chapter
//! "Static B-Trees"; Groot Koerkamp, "Static search trees: 40x faster than binary search" (2024).
//!
//! Memory: 9 bytes per separator, 8 for its head in a leaf and 1 for the layers above; and, where what
//! follows the common prefix does not fit into eight bytes, all of that with 4 bytes for its place. It is
//! looked at only where heads tie.

#![allow(clippy::inline_always)] // see `line`
#![allow(unsafe_code)] // without it a search takes a fifth longer

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{HeadFence, HeadIndex};
use crate::line::{Compare, LINE, Line, Portable, Search, signed};
use crate::prefetch::prefetch;
use crate::stored;
use crate::suffixes::{Bound, Place, Suffixes};

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<STree>(
    "s-tree",
    "8-byte heads in a static B-tree of cache lines, eight compared at once, batches interleaved",
    "",
);

const TAG: stored::Tag = *b"fstr";

/// Children of an inner node: one more than it has heads.
const CHILDREN: usize = LINE + 1;

/// Children of the root at most: four lines of heads and one more. Beyond them, a layer costs less.
const ROOT_CHILDREN: usize = 4 * LINE + 1;

/// Lines that stay in the nearest cache, so that asking for them early is a waste.
const NEAR_LINES: usize = 512;

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
    /// The root, which may be wider than others: the largest head under each of its children but the last.
    root: Vec<Line>,
    /// The nodes of each layer between root and leaves, from top to bottom. The head `i` of a node is the
    /// largest under its child `i`, unless that child is the node's last.
    inner: Vec<Box<[Line]>>,
    /// All heads, those of a leaf followed by those of the next.
    leaves: Box<[Line]>,
    /// The number of heads.
    count: usize,
}

impl Tree {
    /// A tree of heads in sorted order.
    fn new(heads: &[u64]) -> Self {
        let leaves = lines(heads.iter().copied()).into_boxed_slice();
        let mut inner = Vec::new();
        // The nodes of the layer below, and the heads under each but the last of them.
        let (mut below, mut span) = (leaves.len(), LINE);
        while below > ROOT_CHILDREN {
            let mut layer = vec![Line::EMPTY; below.div_ceil(CHILDREN)].into_boxed_slice();
            for child in (0..below - 1).filter(|child| child % CHILDREN < LINE) {
                layer[child / CHILDREN].set(child % CHILDREN, heads[(child + 1) * span - 1]);
            }
            (below, span) = (layer.len(), span * CHILDREN);
            inner.insert(0, layer);
        }
        let root = lines((1..below).map(|child| heads[child * span - 1]));
        Self { root, inner, leaves, count: heads.len() }
    }

    /// The place of the leaf where the bound of `head` is.
    #[inline(always)]
    fn leaf<C: Compare>(&self, compare: C, head: i64) -> usize {
        let mut place = 0;
        for line in &self.root {
            place += compare.below(line, head) * LINE;
        }
        // Told the number of layers, the compiler makes one piece of them all.
        let layers = &*self.inner;
        match layers.len() {
            1 => descend(&layers[..1], place, compare, head),
            2 => descend(&layers[..2], place, compare, head),
            3 => descend(&layers[..3], place, compare, head),
            4 => descend(&layers[..4], place, compare, head),
            5 => descend(&layers[..5], place, compare, head),
            _ => descend(layers, place, compare, head),
        }
    }

    /// The places in the layer below the root that heads lead to. Here the lanes are heads sought, not heads
    /// of the tree: each of the root's is compared with all of them.
    #[inline(always)]
    fn root_places(&self, heads: &[i64; GROUP]) -> [usize; GROUP] {
        let mut children = [0; GROUP];
        for line in &self.root {
            for at in 0..LINE {
                let largest = line.get(at);
                for (child, head) in children.iter_mut().zip(heads) {
                    *child += usize::from(largest < *head);
                }
            }
        }
        children.map(|child| child * LINE)
    }

    /// The bound of `head` in the leaf at `place`, where it is.
    #[inline(always)]
    fn bound<C: Compare>(&self, place: usize, compare: C, head: i64) -> Bound {
        let leaf = line(&self.leaves, place);
        let below = compare.below(leaf, head);
        let rank = place + below;
        // Only behind the last head of all is the bound in no leaf; and what fills the last leaf is no head.
        Bound { rank: rank as u32, is_tie: leaf.get(below) == head && rank < self.count }
    }

    fn memory_bytes(&self) -> usize {
        let inner: usize = self.inner.iter().map(|layer| size_of_val(&**layer)).sum();
        size_of_val(&*self.root) + inner + size_of_val(&*self.leaves)
    }
}

/// Heads in lines, at least one.
fn lines(heads: impl ExactSizeIterator<Item = u64>) -> Vec<Line> {
    let mut lines = vec![Line::EMPTY; heads.len().div_ceil(LINE).max(1)];
    for (place, head) in heads.enumerate() {
        lines[place / LINE].set(place % LINE, head);
    }
    lines
}

/// The place of the leaf that `head` leads to from a place in the first of `layers`.
#[inline(always)]
fn descend<C: Compare>(layers: &[Box<[Line]>], mut place: usize, compare: C, head: i64) -> usize {
    // Not a fold: a closure would not be compiled for the processor.
    for layer in layers {
        place = child(layer, place, compare, head);
    }
    place
}

/// The place, in the layer below, of the child that `head` leads to from the node at `place`.
#[inline(always)]
fn child<C: Compare>(layer: &[Line], place: usize, compare: C, head: i64) -> usize {
    place * CHILDREN + compare.below(line(layer, place), head) * LINE
}

/// The line at `place`, which counts the heads before it in its layer.
#[inline(always)]
fn line(layer: &[Line], place: usize) -> &Line {
    debug_assert!(place / LINE < layer.len() && place.is_multiple_of(LINE));
    // SAFETY: the root, and then `child`, lead to one of a node's children, which exist: as many heads of a
    // node are below another as were set at most, and those are one fewer than its children; what fills the
    // others is below none.
    unsafe { &*layer.as_ptr().cast::<i64>().add(place).cast() }
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
    fn lower_bound(&self, head: u64) -> Bound {
        self.compare.run(One(&self.tree), head)
    }

    fn lower_bounds(&self, heads: &[u64], bounds: &mut [Bound]) {
        for (heads, bounds) in heads.chunks(GROUP).zip(bounds.chunks_mut(GROUP)) {
            self.compare.run(Many(&self.tree), (heads, bounds));
        }
    }

    fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes()
    }

    #[inline]
    fn rank(&self, suffixes: &Suffixes, key: &[u8]) -> usize {
        self.compare.run(Key(&self.tree, suffixes), key)
    }
}

/// The search for one head.
struct One<'a>(&'a Tree);

impl Search for One<'_> {
    type Input = u64;
    type Found = Bound;

    #[inline(always)]
    fn run<C: Compare>(self, compare: C, head: u64) -> Bound {
        let head = signed(head);
        self.0.bound(self.0.leaf(compare, head), compare, head)
    }
}

/// The search for a key, in one piece with the look at its prefix.
struct Key<'a>(&'a Tree, &'a Suffixes);

impl<'a> Search for Key<'a> {
    type Input = &'a [u8];
    type Found = usize;

    #[inline(always)]
    fn run<C: Compare>(self, compare: C, key: &[u8]) -> usize {
        let Self(tree, suffixes) = self;
        match suffixes.place(key) {
            Place::Below => 0,
            Place::Above => suffixes.len(),
            Place::Within(head) => suffixes.settle(One(tree).run(compare, head), key),
        }
    }
}

/// The search for up to [`GROUP`] heads, layer by layer.
struct Many<'a>(&'a Tree);

impl<'a> Search for Many<'a> {
    type Input = (&'a [u64], &'a mut [Bound]);
    type Found = ();

    #[inline(always)]
    fn run<C: Compare>(self, compare: C, (unsigned, bounds): Self::Input) {
        let Self(tree) = self;
        let mut heads = [i64::MIN; GROUP];
        for (head, unsigned) in heads.iter_mut().zip(unsigned) {
            *head = signed(*unsigned);
        }
        let mut places = tree.root_places(&heads);
        let (places, heads) = (&mut places[..unsigned.len()], &heads[..unsigned.len()]);
        for (layer, nodes) in tree.inner.iter().enumerate() {
            let below = tree.inner.get(layer + 1).unwrap_or(&tree.leaves);
            if below.len() <= NEAR_LINES {
                for (place, head) in places.iter_mut().zip(heads) {
                    *place = child(nodes, *place, compare, *head);
                }
            } else {
                for (place, head) in places.iter_mut().zip(heads) {
                    *place = child(nodes, *place, compare, *head);
                    prefetch(below, *place / LINE);
                }
            }
        }
        for ((bound, place), head) in bounds.iter_mut().zip(places).zip(heads) {
            *bound = tree.bound(*place, compare, *head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    /// Sizes about those at which a layer is added: 264, 2376 and 21384 heads, three of them the test's own.
    const SIZES: [usize; 9] = [261, 262, 648, 2373, 2374, 5829, 21_381, 21_400, 200_000];

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
        let layers = |count: u64| {
            let tree = Tree::new(&(0..count).collect::<Vec<_>>());
            (
                tree.root.len(),
                tree.inner.iter().map(|layer| layer.len()).collect::<Vec<_>>(),
                tree.leaves.len(),
            )
        };
        assert_eq!(layers(8), (1, vec![], 1));
        assert_eq!(layers(72), (1, vec![], 9));
        assert_eq!(layers(264), (4, vec![], 33));
        assert_eq!(layers(265), (1, vec![4], 34));
        assert_eq!(layers(16 << 10), (4, vec![26, 228], 2048));
        let large = Tree::new(&(0..1 << 20).collect::<Vec<_>>());
        assert!((9.0..9.01).contains(&(large.memory_bytes() as f64 / f64::from(1 << 20))));
    }
}
