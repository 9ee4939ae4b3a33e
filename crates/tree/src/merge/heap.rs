//! A merge of sorted sources with a binary heap, as in most engines. The binary heap is the baseline for the loser
//! tree.
//!
//! Source: the document byron, section 1.2 (D), "min-heap streaming merge", and the document golsm, "Compaction". The
//! heap is an array (Williams, 1964). The source at the root of the heap advances in place, and is not removed and
//! inserted again. Each step costs up to 2 · log₂ k comparisons for k sources: two comparisons per level on the way
//! down.
//!
//! If several entries have equal keys, the newest entry is at the root, and the next older entry is the smaller child
//! of the root. To skip the older entries, the merge advances this child until its key differs, and only then advances
//! the root. The key for the comparison stays at the root, so the merge copies no key.

use std::cmp::Ordering;

use types::Direction;

use super::{Kernel, Source};

/// A merge of sorted sources with a binary heap. A `HeapMerge` returns exactly the same entries as a
/// [`Merge`](super::Merge).
pub struct HeapMerge<S> {
    /// The sorted sources of the merge, from the newest to the oldest. If several sources have equal keys, the entry of
    /// the newest source wins.
    sources: Vec<S>,
    direction: Direction,
    /// The sources that still have entries, as a binary heap. Each source sorts before its two children in the heap.
    heap: Vec<Contender>,
}

/// An element of the heap: the index of a source, and the prefix of its current key. The prefixes decide most
/// comparisons. A comparison accesses the sources themselves only if two prefixes are equal.
#[derive(Clone, Copy, Debug)]
struct Contender {
    /// The prefix of the source's current key. Backward merges invert the prefix, so that the smaller number always
    /// sorts first.
    head: u128,
    source: u32,
}

impl<S: Source> HeapMerge<S> {
    /// Compares two sources by their current keys. If the keys are equal, the newer source sorts first.
    fn compare(&self, a: Contender, b: Contender) -> Ordering {
        self.compare_keys(a, b).then(a.source.cmp(&b.source))
    }

    fn compare_keys(&self, a: Contender, b: Contender) -> Ordering {
        a.head.cmp(&b.head).then_with(|| {
            let (a, b) = (self.sources[a.source as usize].key(), self.sources[b.source as usize].key());
            if self.direction == Direction::Forward { a.cmp(b) } else { b.cmp(a) }
        })
    }

    fn contender(&self, source: u32) -> Contender {
        let head = self.sources[source as usize].head();
        Contender { head: if self.direction == Direction::Forward { head } else { !head }, source }
    }

    /// Returns the child of the heap node `place` that sorts first. Returns `None` if the node has no child.
    #[inline]
    fn first_child(&self, place: usize) -> Option<usize> {
        let (left, right) = (2 * place + 1, 2 * place + 2);
        match (self.heap.get(left), self.heap.get(right)) {
            (Some(a), Some(b)) if self.compare(*b, *a).is_lt() => Some(right),
            (Some(_), _) => Some(left),
            (None, _) => None,
        }
    }

    /// Moves the contender at the heap node `place` down until it sorts before its children.
    fn sift_down(&mut self, mut place: usize) {
        while let Some(child) = self.first_child(place)
            && self.compare(self.heap[child], self.heap[place]).is_lt()
        {
            self.heap.swap(place, child);
            place = child;
        }
    }

    /// Advances the source at the heap node `place`, which is the root or a child of the root. If the source is at its
    /// end, the last source of the heap moves to `place`. The order of the heap remains valid even if `place` is below
    /// the root, because the root sorts before all other sources.
    fn move_on(&mut self, place: usize, context: &S::Context) -> Result<(), S::Error> {
        let source = self.heap[place].source;
        match self.sources[source as usize].advance(context)? {
            true => self.heap[place] = self.contender(source),
            false => {
                self.heap.swap_remove(place);
            }
        }
        self.sift_down(place);
        Ok(())
    }
}

impl<S: Source> Kernel<S> for HeapMerge<S> {
    fn new(sources: Vec<S>, direction: Direction) -> Self {
        let mut merge = Self { sources, direction, heap: Vec::new() };
        merge.heap = (0..merge.sources.len() as u32).map(|source| merge.contender(source)).collect();
        (0..merge.heap.len() / 2).rev().for_each(|place| merge.sift_down(place));
        merge
    }

    #[inline]
    fn current(&self) -> Option<&S> {
        self.sources.get(self.heap.first()?.source as usize)
    }

    fn superseded<'m>(&'m self) -> impl Iterator<Item = &'m S>
    where
        S: 'm,
    {
        let (root, others) = self.heap.split_first().unzip();
        let is_equal =
            |other: &&Contender| root.is_some_and(|root| self.compare_keys(*root, **other).is_eq());
        let mut older: Vec<u32> =
            others.unwrap_or_default().iter().filter(is_equal).map(|other| other.source).collect();
        older.sort_unstable();
        older.into_iter().map(|source| &self.sources[source as usize])
    }

    #[inline]
    fn advance(&mut self, context: &S::Context) -> Result<(), S::Error> {
        while let Some(next) = self.first_child(0)
            && self.compare_keys(self.heap[0], self.heap[next]).is_eq()
        {
            self.move_on(next, context)?;
        }
        self.move_on(0, context)
    }
}
