//! Culling by binary search over the files of a run. The files of a run do not overlap.
//!
//! Source: "Fjall 2.1", section "Faster range culling". Memory: the smallest and the largest key of each file, and 8
//! bytes for the offsets. With n files, a search for a key compares the key with log2(n) largest keys and one
//! smallest key. A search for a key range needs the same number of comparisons for each bound.

use std::ops::{Bound, Range};

use catalog::Variant;

use super::policy::{Culling, LevelForm, RunIndex};
use super::ranges::FileRanges;

pub(super) const VARIANT: Variant<dyn Culling> = Variant::plain(
    "binary",
    "binary search over the files of a sorted run, whose key ranges do not overlap",
    || Box::new(Binary),
);

/// The culling method `binary`: binary search over the files of a sorted run.
pub(super) struct Binary;

impl Culling for Binary {
    fn index(&self, files: FileRanges, _: LevelForm) -> Box<dyn RunIndex> {
        Box::new(BinaryIndex(files))
    }
}

/// The key ranges of the files of a sorted run, for binary search.
struct BinaryIndex(FileRanges);

impl BinaryIndex {
    /// Returns the index, from `from` on, of the first file for which `comes_before` is false. `comes_before` must be
    /// true for all earlier files, and false for all later files.
    #[inline]
    fn first(&self, from: usize, comes_before: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (from, self.0.len());
        while low < high {
            let middle = low.midpoint(high);
            if comes_before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl RunIndex for BinaryIndex {
    fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize> {
        let start = self.first(0, |file| self.0.is_below(file, low));
        start..self.first(start, |file| !self.0.is_above(file, high))
    }

    fn file_for(&self, key: &[u8]) -> Option<usize> {
        let file = self.first(0, |file| self.0.largest(file) < key);
        (file < self.0.len() && self.0.smallest(file) <= key).then_some(file)
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
