//! What all fences share that search among 8-byte heads: everything but the search itself.
//!
//! A key is first placed by the common prefix of the separators; then its head is sought among theirs; and
//! only where it ties with one are the separators themselves looked at.

use types::HashedKey;

use crate::fence::{Fence, FenceError, TableView};
use crate::stored;
use crate::suffixes::{Bound, Place, Suffixes};

/// A search structure over the heads of a table's separators, given to it in sorted order.
pub(crate) trait HeadIndex: Send + Sync {
    /// The first head that is not below `head`.
    fn lower_bound(&self, head: u64) -> Bound;

    /// The same for many heads at once; `bounds` are as many.
    fn lower_bounds(&self, heads: &[u64], bounds: &mut [Bound]) {
        for (head, bound) in heads.iter().zip(bounds) {
            *bound = self.lower_bound(*head);
        }
    }

    /// The bytes of memory it takes, the heads included.
    fn memory_bytes(&self) -> usize;

    /// The number of separators at or below `key`, the first left out.
    #[inline]
    fn rank(&self, suffixes: &Suffixes, key: &[u8]) -> usize {
        match suffixes.place(key) {
            Place::Below => 0,
            Place::Above => suffixes.len(),
            Place::Within(head) => suffixes.settle(self.lower_bound(head), key),
        }
    }
}

/// Keys whose searches are interleaved.
const GROUP: usize = 32;

/// The separators of one table in memory, their heads in an index.
pub(crate) struct HeadFence<I> {
    suffixes: Suffixes,
    index: I,
}

impl<I: HeadIndex + 'static> HeadFence<I> {
    /// Reads the separators that were stored under `tag` and builds the index of their heads.
    ///
    /// # Errors
    /// As [`stored::read_separators`].
    pub(crate) fn open(
        tag: stored::Tag,
        table: &dyn TableView,
        index: impl FnOnce(Vec<u64>) -> I,
    ) -> Result<Box<dyn Fence>, FenceError> {
        let (suffixes, heads) = Suffixes::new(&stored::read_separators(tag, table)?);
        Ok(Box::new(Self { suffixes, index: index(heads) }))
    }

    /// The ranks of up to [`GROUP`] keys. The searches run side by side, so that their cache misses overlap;
    /// so do the looks at separators where heads tie.
    fn ranks(&self, keys: &[HashedKey<'_>], ranks: &mut [u32]) {
        let (mut heads, mut bounds) = ([0; GROUP], [Bound::default(); GROUP]);
        // Keys outside of the common prefix are sought as nothing, and placed behind.
        let mut outside = false;
        for (key, head) in keys.iter().zip(&mut heads) {
            match self.suffixes.place(key.bytes) {
                Place::Within(within) => *head = within,
                Place::Below | Place::Above => outside = true,
            }
        }
        let bounds = &mut bounds[..keys.len()];
        self.index.lower_bounds(&heads[..keys.len()], bounds);
        if outside {
            for (key, rank) in keys.iter().zip(ranks) {
                *rank = self.index.rank(&self.suffixes, key.bytes) as u32;
            }
            return;
        }
        self.prefetch_ties(bounds);
        for ((key, bound), rank) in keys.iter().zip(&*bounds).zip(ranks) {
            *rank = self.suffixes.settle(*bound, key.bytes) as u32;
        }
    }

    #[inline]
    fn prefetch_ties(&self, bounds: &[Bound]) {
        if bounds.iter().any(|bound| bound.is_tie) {
            let ties = || bounds.iter().filter(|bound| bound.is_tie);
            ties().for_each(|bound| self.suffixes.prefetch_place(bound.rank as usize));
            ties().for_each(|bound| self.suffixes.prefetch_suffix(bound.rank as usize));
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
            self.ranks(keys, blocks);
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.suffixes.memory_bytes() + self.index.memory_bytes()
    }
}

/// Checks an index against the definition, over heads with ties and with the largest head there is, in
/// tables of up to 130 separators and of `more`.
#[cfg(test)]
pub(crate) fn check_index<I: HeadIndex>(more: &[usize], build: impl Fn(Vec<u64>) -> I) {
    let mut random = 1u64;
    for count in (0..130).chain(more.iter().copied()) {
        // Every odd number once, but 7 three times, then numbers drawn from all there are.
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
        let mut bounds = vec![Bound::default(); probes.len()];
        index.lower_bounds(&probes, &mut bounds);
        for (probe, batched) in probes.iter().zip(bounds) {
            let expected = Bound::at(&heads, heads.partition_point(|head| head < probe), *probe);
            assert_eq!(index.lower_bound(*probe), expected, "{probe} among {count}");
            assert_eq!(batched, expected, "{probe} among {count}, batched");
        }
        assert!(index.memory_bytes() >= size_of_val(&*heads));
    }
    assert_eq!(build(Vec::new()).lower_bound(5), Bound::default());
}
