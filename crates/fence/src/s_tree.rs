//! A static B-tree in memory, in which a node is one cache line. The sorted heads (8-byte prefixes) are in leaves of
//! eight heads. Above the leaves are layers of nodes with nine children each.
//!
//! To search a node, the CPU compares all eight heads at once and counts the bits of the result. The comparison of a
//! whole node needs no branch, so no branch can be mispredicted. A search reads one cache line per layer. The upper
//! layers stay in the L1 cache. 16 K separators have 5 layers. 4 M separators have 7 layers, and the two lowest layers
//! do not fit into a cache of 1 MiB. A single search skips the uppermost layers, and reads four adjacent cache lines
//! instead. Nodes have no pointers, because the positions of children are computed. In a batch, the searches are
//! executed together, step by step, and each search prefetches its cache line of the next layer. Sources: Slotin,
//! "Algorithms for Modern Hardware" (2022), chapter "Static B-Trees"; Groot Koerkamp, "Static search trees: 40x faster
//! than binary search" (2024).
//!
//! Memory: 9 bytes per separator, of which 8 are for the head in a leaf and 1 is for the layers above. The suffix of a
//! separator is its part after the common prefix. If a suffix is longer than eight bytes, the fence also stores the
//! suffixes of all separators, with 4 bytes per separator for the offset. A search reads separators only if their heads
//! equal the key's head.

#![allow(clippy::inline_always)] // see `line`
#![allow(unsafe_code)] // without unsafe code, a search takes 20 % longer

use catalog::Variant;

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::heads::{GROUP, HeadFence, HeadIndex};
#[cfg(target_arch = "x86_64")]
use crate::line::{Avx2, Avx512};
use crate::line::{Compare, LINE, Line, Portable, Search, signed};
use crate::stored;
use crate::suffixes::{Bound, PrefixOrder, Suffixes};
use prefetch::{large, prefetch};

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::plain(
    "s-tree",
    "a static B-tree in memory with one cache line per node, searched by SIMD and in interleaved batches",
    || Box::new(STree),
);

const TAG: stored::Tag = *b"fstr";

/// The number of children of an inner node of the tree, which is one more than the number of its heads.
const CHILDREN: usize = LINE + 1;

/// The number of cache lines of the entry table. A single search begins with this table and skips the upper layers of
/// the tree.
const ENTRY_LINES: usize = 4;

/// The number of searches of a batch that are executed together in one unrolled loop.
const UNROLLED: usize = 16;

/// A policy that builds fences as static B-trees in memory.
struct STree;

impl FencePolicy for STree {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        stored::encode(TAG, input.separators)
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(avx512) = Avx512::detect() {
                return HeadFence::open(TAG, table, |heads| TreeIndex::new(avx512, &heads));
            }
            if let Some(avx2) = Avx2::detect() {
                return HeadFence::open(TAG, table, |heads| TreeIndex::new(avx2, &heads));
            }
        }
        HeadFence::open(TAG, table, |heads| TreeIndex::new(Portable, &heads))
    }
}

/// Builds a static B-tree over sorted heads (8-byte prefixes). Other fences use such a tree as their upper part.
pub(crate) fn index(heads: &[u64]) -> Box<dyn HeadIndex> {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx512) = Avx512::detect() {
            return Box::new(TreeIndex::new(avx512, heads));
        }
        if let Some(avx2) = Avx2::detect() {
            return Box::new(TreeIndex::new(avx2, heads));
        }
    }
    Box::new(TreeIndex::new(Portable, heads))
}

/// The heads (8-byte prefixes) of the separators in a static B-tree.
struct Tree {
    /// The layers of inner nodes, from the root down. Head `i` of a node is the largest head (8-byte prefix of a
    /// separator) in the subtree of child `i`. No head is stored for the last child.
    inner: Vec<Box<[Line]>>,
    /// All heads (8-byte prefixes of separators) in sorted order, in leaves of eight heads.
    leaves: Box<[Line]>,
    /// The entry table, with which a single search skips the upper layers. The table has the largest head of each
    /// subtree of one layer, without the last subtree.
    ///
    /// The CPU loads all cache lines of the table at the same time, but would load the nodes of the upper layers one
    /// after another. The layer is the largest layer whose heads fit into the table.
    entry: [Line; ENTRY_LINES],
    /// The number of inner layers that a search from the entry table skips.
    skipped: usize,
}

impl Tree {
    /// Creates a static B-tree from sorted heads (8-byte prefixes of separators).
    fn new(heads: &[u64]) -> Self {
        let mut leaves = large::filled(heads.len().div_ceil(LINE).max(1), Line::EMPTY).into_boxed_slice();
        heads.iter().enumerate().for_each(|(rank, head)| leaves[rank / LINE].set(rank % LINE, *head));
        let (mut inner, mut entry) = (Vec::new(), None);
        // The number of nodes of the next lower layer, and the number of heads under each node except the last node.
        let (mut below, mut span) = (leaves.len(), LINE);
        loop {
            let largest = || (1..below).map(|child| heads[child * span - 1]).enumerate();
            if below <= ENTRY_LINES * LINE + 1 && entry.is_none() {
                let mut lines = [Line::EMPTY; ENTRY_LINES];
                largest().for_each(|(child, head)| lines[child / LINE].set(child % LINE, head));
                entry = Some((lines, inner.len()));
            }
            if below == 1 {
                break;
            }
            let mut layer = large::filled(below.div_ceil(CHILDREN), Line::EMPTY).into_boxed_slice();
            for (child, head) in largest().filter(|(child, _)| child % CHILDREN < LINE) {
                layer[child / CHILDREN].set(child % CHILDREN, head);
            }
            (below, span) = (layer.len(), span * CHILDREN);
            inner.push(layer);
        }
        inner.reverse();
        let (entry, entered) =
            entry.expect("the entry table of a static B-tree must have space for one node");
        Self { skipped: inner.len() - entered, inner, leaves, entry }
    }

    /// Returns the index of the leaf with the first head (8-byte prefix of a separator) at or above `head`.
    #[inline(always)]
    fn leaf<C: Compare>(&self, compare: C, head: i64) -> usize {
        let mut place = 0;
        for line in &self.entry {
            place += compare.below(line, head) * LINE;
        }
        // The number of layers is a constant, so the compiler unrolls the loop over layers.
        let layers = &self.inner[self.skipped..];
        match layers.len() {
            1 => descend(&layers[..1], place, compare, head),
            2 => descend(&layers[..2], place, compare, head),
            3 => descend(&layers[..3], place, compare, head),
            4 => descend(&layers[..4], place, compare, head),
            5 => descend(&layers[..5], place, compare, head),
            _ => descend(layers, place, compare, head),
        }
    }

    /// Returns the position of the first stored head at or above `head`, which is in the leaf with the index `place`.
    #[inline(always)]
    fn bound<C: Compare>(&self, place: usize, compare: C, head: i64) -> Bound {
        let leaf = line(&self.leaves, place);
        let below = compare.below(leaf, head);
        // If all heads are below `head`, the bound is after the last head, and no leaf contains it. In this case,
        // the head that is compared here is a smaller head.
        Bound { rank: (place + below) as u32, may_tie: leaf.get(below) == head }
    }

    /// Searches up to [`GROUP`] heads at once. For each head, writes the number of smaller stored heads to `ranks`. Bit
    /// `i` of the result is set if head `i` may equal a stored head.
    #[inline(always)]
    fn ranks<C: Compare>(&self, unsigned: &[u64], compare: C, ranks: &mut [u32]) -> u32 {
        let (mut heads, mut places) = ([0; GROUP], [0; GROUP]);
        for (head, unsigned) in heads.iter_mut().zip(unsigned) {
            *head = signed(*unsigned);
        }
        // The heads are processed in pieces of a constant length, which the compiler unrolls. The last piece is
        // padded with values whose results are not used.
        let pieces = unsigned.len().div_ceil(UNROLLED);
        let (heads, _) = heads.as_chunks::<UNROLLED>();
        let (places, _) = places.as_chunks_mut::<UNROLLED>();
        let (heads, places) = (&heads[..pieces], &mut places[..pieces]);
        for (layer, nodes) in self.inner.iter().enumerate() {
            let below = self.inner.get(layer + 1).unwrap_or(&self.leaves);
            for (places, heads) in places.iter_mut().zip(heads) {
                for (place, head) in places.iter_mut().zip(heads) {
                    *place = child(nodes, *place, compare, *head);
                    prefetch(below, *place / LINE);
                }
            }
        }
        let (places, heads) = (places.as_flattened(), heads.as_flattened());
        let mut ties = 0;
        for (at, ((rank, place), head)) in ranks.iter_mut().zip(places).zip(heads).enumerate() {
            let bound = self.bound(*place, compare, *head);
            *rank = bound.rank;
            ties |= u32::from(bound.may_tie) << at;
        }
        ties
    }

    fn memory_bytes(&self) -> usize {
        let inner: usize = self.inner.iter().map(|layer| size_of_val(&**layer)).sum();
        size_of_val(&self.entry) + inner + size_of_val(&*self.leaves)
    }
}

/// Returns the index of the leaf that contains the first head at or above `head`. The search starts at the node `place`
/// in the first layer of `layers`.
#[inline(always)]
fn descend<C: Compare>(layers: &[Box<[Line]>], mut place: usize, compare: C, head: i64) -> usize {
    // A loop is used instead of a fold, because a closure would not be compiled for the CPU's vector instructions.
    for layer in layers {
        place = child(layer, place, compare, head);
    }
    place
}

/// Returns the index, in the next lower layer, of the child that can contain `head`. `place` is the index of the node
/// in `layer`.
#[inline(always)]
fn child<C: Compare>(layer: &[Line], place: usize, compare: C, head: i64) -> usize {
    place * CHILDREN + compare.below(line(layer, place), head) * LINE
}

/// Returns the cache line of `layer` whose first head has the index `place`, which is a multiple of eight.
#[inline(always)]
fn line(layer: &[Line], place: usize) -> &Line {
    debug_assert!(place / LINE < layer.len() && place.is_multiple_of(LINE));
    // SAFETY: `place` is 0 in the root, and `child` and the entry table lead only to nodes that exist. The number of
    // heads of a node that are below another head is at most the number of heads that were set. The number of heads
    // that were set is one less than the number of the node's children. The padding values of a node are never below
    // a head.
    unsafe { &*layer.as_ptr().cast::<i64>().add(place).cast() }
}

/// A static B-tree of heads, together with the way in which the CPU compares heads.
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

    fn lower_bounds(&self, heads: &[u64], ranks: &mut [u32]) -> u32 {
        self.compare.run(Many(&self.tree), (heads, ranks))
    }

    fn memory_bytes(&self) -> usize {
        self.tree.memory_bytes()
    }

    #[inline]
    fn rank(&self, suffixes: &Suffixes, key: &[u8]) -> usize {
        self.compare.run(Key(&self.tree, suffixes), key)
    }
}

/// The search of a static B-tree for one head.
struct One<'a>(&'a Tree);

impl Search for One<'_> {
    type Input = u64;
    type Output = Bound;

    #[inline(always)]
    fn run<C: Compare>(self, compare: C, head: u64) -> Bound {
        let head = signed(head);
        self.0.bound(self.0.leaf(compare, head), compare, head)
    }
}

/// The search of a static B-tree for one key. The search also compares the key with the common prefix of the
/// separators.
struct Key<'a>(&'a Tree, &'a Suffixes);

impl<'a> Search for Key<'a> {
    type Input = &'a [u8];
    type Output = usize;

    #[inline(always)]
    fn run<C: Compare>(self, compare: C, key: &[u8]) -> usize {
        let Self(tree, suffixes) = self;
        if let Some(head) = suffixes.head_behind(key) {
            let bound = One(tree).run(compare, head);
            return if bound.may_tie { settle(suffixes, bound, key) } else { bound.rank as usize };
        }
        rank_with_care(tree, suffixes, key)
    }
}

/// Returns the number of separators at or below a key whose head equals a stored head. Equal heads are rare, so this
/// code is in a separate function, which keeps the code of the common case small.
#[cold]
#[inline(never)]
fn settle(suffixes: &Suffixes, bound: Bound, key: &[u8]) -> usize {
    suffixes.settle(bound, key)
}

/// Returns the number of separators at or below a key that lacks the common prefix, or is too short for the fast
/// search.
#[cold]
#[inline(never)]
fn rank_with_care(tree: &Tree, suffixes: &Suffixes, key: &[u8]) -> usize {
    match suffixes.place(key) {
        PrefixOrder::Below => 0,
        PrefixOrder::Above => suffixes.len(),
        PrefixOrder::Within(head) => suffixes.settle(One(tree).run(Portable, head), key),
    }
}

/// The search of a static B-tree for up to [`GROUP`] heads, one layer after the other.
struct Many<'a>(&'a Tree);

impl<'a> Search for Many<'a> {
    type Input = (&'a [u64], &'a mut [u32]);
    type Output = u32;

    #[inline(always)]
    fn run<C: Compare>(self, compare: C, (heads, ranks): Self::Input) -> u32 {
        self.0.ranks(heads, compare, ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heads::check_index;

    /// Sizes around the sizes at which the tree gets another layer: 264, 2376 and 21384 heads. [`check_index`] adds
    /// three heads to each size.
    const SIZES: [usize; 9] = [261, 262, 648, 2373, 2374, 5829, 21_381, 21_400, 200_000];

    #[test]
    fn bounds_are_those_of_the_sorted_heads() {
        check_index(&SIZES, |heads| TreeIndex::new(Portable, &heads));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vectors_find_the_same() {
        if let Some(avx2) = Avx2::detect() {
            check_index(&SIZES, |heads| TreeIndex::new(avx2, &heads));
        }
        if let Some(avx512) = Avx512::detect() {
            check_index(&SIZES, |heads| TreeIndex::new(avx512, &heads));
        }
    }

    /// Tests the sizes of layers. Eight heads need one leaf, and nine nodes need one node of the next higher layer,
    /// so the tree needs nine bytes per head.
    #[test]
    fn layers_are_nine_times_as_wide_as_the_one_above() {
        let layers = |count: u64| {
            let tree = Tree::new(&(0..count).collect::<Vec<_>>());
            let widths: Vec<usize> = tree.inner.iter().map(|layer| layer.len()).collect();
            (widths, tree.leaves.len(), tree.skipped)
        };
        assert_eq!(layers(0), (vec![], 1, 0));
        assert_eq!(layers(8), (vec![], 1, 0));
        assert_eq!(layers(264), (vec![1, 4], 33, 2));
        assert_eq!(layers(265), (vec![1, 4], 34, 1));
        assert_eq!(layers(16 << 10), (vec![1, 3, 26, 228], 2048, 2));
        let large = Tree::new(&(0..1 << 20).collect::<Vec<_>>());
        assert!((9.0..9.01).contains(&(large.memory_bytes() as f64 / f64::from(1 << 20))));
    }
}
