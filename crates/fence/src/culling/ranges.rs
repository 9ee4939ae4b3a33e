//! The key ranges of the files of one sorted run.

use std::ops::Bound;

use crate::separators::Separators;

/// The key ranges of the files of one sorted run: the smallest and the largest key of each file, in key order. The
/// ranges do not overlap.
#[derive(Clone, Debug, Default)]
pub struct FileRanges {
    smallest: Separators,
    largest: Separators,
}

impl FileRanges {
    /// Appends a file. The keys of the file must be above the keys of the previous file.
    ///
    /// # Panics
    /// Panics if the total length of all keys exceeds 4 GiB.
    pub fn push(&mut self, smallest: &[u8], largest: &[u8]) {
        debug_assert!(
            smallest <= largest,
            "the smallest key of a file in a sorted run must not be above its largest key"
        );
        debug_assert!(
            self.is_empty() || self.largest(self.len() - 1) < smallest,
            "the files of a sorted run must not overlap"
        );
        self.smallest.push(smallest);
        self.largest.push(largest);
    }

    /// Returns the number of files of the run.
    pub fn len(&self) -> usize {
        self.smallest.len()
    }

    /// Returns whether the run has no files.
    pub fn is_empty(&self) -> bool {
        self.smallest.is_empty()
    }

    /// Returns the smallest key of a file.
    ///
    /// # Panics
    /// Panics if the file does not exist.
    #[inline]
    pub fn smallest(&self, file: usize) -> &[u8] {
        self.smallest.get(file)
    }

    /// Returns the largest key of a file.
    ///
    /// # Panics
    /// Panics if the file does not exist.
    #[inline]
    pub fn largest(&self, file: usize) -> &[u8] {
        self.largest.get(file)
    }

    /// Returns whether all keys of a file are below a key range that starts at `low`.
    #[inline]
    pub(super) fn is_below(&self, file: usize, low: Bound<&[u8]>) -> bool {
        match low {
            Bound::Included(low) => self.largest(file) < low,
            Bound::Excluded(low) => self.largest(file) <= low,
            Bound::Unbounded => false,
        }
    }

    /// Returns whether all keys of a file are above a key range that ends at `high`.
    #[inline]
    pub(super) fn is_above(&self, file: usize, high: Bound<&[u8]>) -> bool {
        match high {
            Bound::Included(high) => self.smallest(file) > high,
            Bound::Excluded(high) => self.smallest(file) >= high,
            Bound::Unbounded => false,
        }
    }

    /// Returns the memory of the key ranges in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.smallest.memory_bytes() + self.largest.memory_bytes()
    }
}
