//! A binary heap over sorted sources: the merge that most engines have, and what the loser tree is measured against.
//!
//! Source: byron, section 1.2 (D), "min-heap streaming merge", and golsm, "Compaction". The heap is one of places in
//! an array (Williams, 1964), and the source at its root is moved on in place instead of being taken out and put
//! back: each step costs up to 2 · log₂ k comparisons, two per level on the way down.
//!
//! Of equal keys the newest stands highest, and the next older one is the smaller child of the root: it is passed over
//! before the newest moves on, so that nothing must be remembered of keys that were given out.

use std::cmp::Ordering;

use types::Direction;

use super::{Kernel, Source};

/// A merge by a binary heap. Answers are those of [`Merge`](super::Merge), entry for entry.
pub struct HeapMerge<S> {
    /// The sources, the newest first: of equal keys the first source's wins.
    sources: Vec<S>,
    direction: Direction,
    /// The sources that are not at their end: each comes before its two children, which stand at twice its place.
    heap: Vec<Contender>,
}

/// What is compared first: no source is touched unless heads are equal.
#[derive(Clone, Copy, Debug)]
struct Contender {
    /// The head of the source's key, inverted going backward.
    head: u128,
    source: u32,
}

impl<S: Source> HeapMerge<S> {
    /// The order in which two sources come: by their keys, and the newer one first where they are equal.
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

    /// The place of the child of `place` that comes first.
    #[inline]
    fn first_child(&self, place: usize) -> Option<usize> {
        let (left, right) = (2 * place + 1, 2 * place + 2);
        match (self.heap.get(left), self.heap.get(right)) {
            (Some(a), Some(b)) if self.compare(*b, *a).is_lt() => Some(right),
            (Some(_), _) => Some(left),
            (None, _) => None,
        }
    }

    /// Moves what stands at `place` down until it comes before its children.
    fn sift_down(&mut self, mut place: usize) {
        while let Some(child) = self.first_child(place)
            && self.compare(self.heap[child], self.heap[place]).is_lt()
        {
            self.heap.swap(place, child);
            place = child;
        }
    }

    /// Moves the source at `place`, the root or a child of it, to its next entry. At its end the last source of the
    /// heap takes its place, which the root comes before wherever it stood.
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
