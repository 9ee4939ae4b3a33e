//! Code for all fences that search 8-byte prefixes of separators (heads). The search algorithms are in other modules.
//!
//! A search first compares the key with the common prefix of the separators. The search then looks up the head of the
//! key among the heads of the separators. The search reads a complete separator only if its head equals the head of
//! the key.

use types::HashedKey;

use crate::fence::{Fence, FenceError, TableView};
use crate::stored;
use crate::suffixes::{Bound, PrefixOrder, Suffixes};

/// A search structure over the heads of an SSTable's separators. A head is the first eight bytes of a separator after
/// the common prefix of all separators.
pub(crate) trait HeadIndex: Send + Sync {
    /// Returns the position of the first stored head (8-byte prefix of a separator) that is at or above `head`.
    fn lower_bound(&self, head: u64) -> Bound;

    /// Searches up to [`GROUP`] heads at once. For each head, writes the number of smaller stored heads to `ranks`,
    /// which must have the length of `heads`. Bit `i` of the result is set if head `i` may equal a stored head.
    fn lower_bounds(&self, heads: &[u64], ranks: &mut [u32]) -> u32 {
        let mut ties = 0;
        for (at, (head, rank)) in heads.iter().zip(ranks).enumerate() {
            let bound = self.lower_bound(*head);
            *rank = bound.rank;
            ties |= u32::from(bound.may_tie) << at;
        }
        ties
    }

    /// Returns the memory of the search structure in bytes, including the heads.
    fn memory_bytes(&self) -> usize;

    /// Returns the number of separators at or below `key`, not counting the first separator. This is also the number of
    /// the block that can contain the key.
    #[inline]
    fn rank(&self, suffixes: &Suffixes, key: &[u8]) -> usize {
        match suffixes.place(key) {
            PrefixOrder::Below => 0,
            PrefixOrder::Above => suffixes.len(),
            PrefixOrder::Within(head) => suffixes.settle(self.lower_bound(head), key),
        }
    }
}

/// The number of keys of a batch that are searched together, step by step, so that their cache misses overlap.
pub(crate) const GROUP: usize = 32;

/// The smallest number of keys that are searched together. With fewer keys, single searches are faster.
const FEW: usize = 8;

/// A fence in memory: the separators of one SSTable, and a search structure for their heads (8-byte prefixes).
pub(crate) struct HeadFence<I> {
    suffixes: Suffixes,
    index: I,
}

impl<I: HeadIndex + 'static> HeadFence<I> {
    /// Reads the separators that a fence stored with the tag `tag`, and builds the search structure for their heads.
    ///
    /// # Errors
    /// Returns the errors that [`stored::read_separators`] describes.
    pub(crate) fn open(
        tag: stored::Tag,
        table: &dyn TableView,
        index: impl FnOnce(Vec<u64>) -> I,
    ) -> Result<Box<dyn Fence>, FenceError> {
        let (suffixes, heads) = Suffixes::new(&stored::read_separators(tag, table)?);
        Ok(Box::new(Self { suffixes, index: index(heads) }))
    }

    /// Computes the block numbers of up to [`GROUP`] keys. The searches are executed together, step by step, so that
    /// their cache misses overlap. If heads are equal, the reads of separators are also executed together.
    fn ranks(&self, keys: &[HashedKey<'_>], ranks: &mut [u32]) {
        let mut heads = [0; GROUP];
        for (key, head) in keys.iter().zip(&mut heads) {
            match self.suffixes.place(key.bytes) {
                PrefixOrder::Within(within) => *head = within,
                PrefixOrder::Below | PrefixOrder::Above => return self.ranks_one_by_one(keys, ranks),
            }
        }
        let ties = self.index.lower_bounds(&heads[..keys.len()], ranks);
        if ties != 0 {
            self.settle_ties(ties, keys, ranks);
        }
    }

    #[inline(never)]
    fn ranks_one_by_one(&self, keys: &[HashedKey<'_>], ranks: &mut [u32]) {
        for (key, rank) in keys.iter().zip(ranks) {
            *rank = self.index.rank(&self.suffixes, key.bytes) as u32;
        }
    }

    fn settle_ties(&self, ties: u32, keys: &[HashedKey<'_>], ranks: &mut [u32]) {
        let ties = || (0..keys.len()).filter(|at| ties & (1 << at) != 0);
        ties().for_each(|at| self.suffixes.prefetch_place(ranks[at]));
        ties().for_each(|at| self.suffixes.prefetch_suffix(ranks[at]));
        for at in ties() {
            let bound = Bound { rank: ranks[at], may_tie: true };
            ranks[at] = self.suffixes.settle(bound, keys[at].bytes) as u32;
        }
    }
}

impl<I: HeadIndex + 'static> Fence for HeadFence<I> {
    fn seek(&self, key: &[u8], _: &dyn TableView) -> Result<u32, FenceError> {
        Ok(self.index.rank(&self.suffixes, key) as u32)
    }

    fn find(&self, key: HashedKey<'_>, _: &dyn TableView) -> Result<u32, FenceError> {
        Ok(self.index.rank(&self.suffixes, key.bytes) as u32)
    }

    fn find_batch(
        &self,
        keys: &[HashedKey<'_>],
        blocks: &mut [u32],
        _: &dyn TableView,
    ) -> Result<(), FenceError> {
        for (keys, blocks) in keys.chunks(GROUP).zip(blocks.chunks_mut(GROUP)) {
            match keys.len() {
                0..FEW => self.ranks_one_by_one(keys, blocks),
                _ => self.ranks(keys, blocks),
            }
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.suffixes.memory_bytes() + self.index.memory_bytes()
    }
}

/// Checks that a search structure returns the correct bound for every head. The heads include equal heads and the
/// largest possible head. The check uses SSTables of each size up to 130 separators, and of the sizes in `more`.
#[cfg(test)]
pub(crate) fn check_index<I: HeadIndex>(more: &[usize], build: impl Fn(Vec<u64>) -> I) {
    let mut random = 1u64;
    for count in (0..130).chain(more.iter().copied()) {
        // Every odd number once, but 7 three times, and then random numbers.
        let mut heads: Vec<u64> = (0..count as u64 / 2).map(|i| 2 * i + 1).collect();
        heads.extend((0..count - heads.len()).map(|_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random ^ (random >> 32)
        }));
        heads.extend([7, 7, u64::MAX]);
        heads.sort_unstable();
        let index = build(heads.clone());
        let near = heads.iter().flat_map(|head| [head.wrapping_sub(1), *head, head.wrapping_add(1)]);
        let probes: Vec<u64> = near.chain([0, u64::MAX - 1, u64::MAX, 1 << 63]).collect();
        for probes in probes.chunks(GROUP) {
            let mut ranks = [0; GROUP];
            let ties = index.lower_bounds(probes, &mut ranks[..probes.len()]);
            for (at, probe) in probes.iter().enumerate() {
                let expected = Bound::at(&heads, heads.partition_point(|head| head < probe), *probe);
                let batched = Bound { rank: ranks[at], may_tie: ties & (1 << at) != 0 };
                for mut bound in [index.lower_bound(*probe), batched] {
                    bound.may_tie &= (bound.rank as usize) < heads.len();
                    assert_eq!(bound, expected, "{probe} among {count}");
                }
            }
        }
        assert!(index.memory_bytes() >= size_of_val(&*heads));
    }
    assert_eq!(build(Vec::new()).lower_bound(5).rank, 0);
}
