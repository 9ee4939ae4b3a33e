//! The trait of culling methods. A culling method gets the key ranges of a run's files, and returns the files that a
//! read must search.

use std::ops::{Bound, Range};

use super::key_index::{FileKeys, KeyIndex};
use super::ranges::FileRanges;

/// A method that selects the files of a sorted run that a read must search.
pub trait Culling: Send + Sync {
    /// Builds the index of one sorted run of a level. With this index, a search finds the files that can contain a key,
    /// without reading them.
    fn index(&self, files: FileRanges, level: LevelForm) -> Box<dyn RunIndex>;

    /// Builds an index over the keys of all files of a tree. Returns `None` if the method has no such index, so that
    /// gets search one sorted run after another.
    fn key_index(&self, _files: &[FileKeys]) -> Option<Box<dyn KeyIndex>> {
        None
    }
}

/// Whether the files of a level may overlap. The files of a single run never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelForm {
    /// The level has one run, so no two files of the level overlap.
    Disjoint,
    /// The level has several runs, or is level 0, to which each flush adds a run. Files of such a level may overlap.
    Overlapping,
}

/// An index that finds the files of one sorted run by their key ranges.
///
/// Invariants:
/// 1. [`overlapping`](Self::overlapping) returns exactly the files whose key range overlaps the bounds.
/// 2. [`file_for`](Self::file_for) returns exactly the file whose key range contains the key.
pub trait RunIndex: Send + Sync {
    /// Returns the files that can contain keys between the bounds, in key order. The result is empty if no file can
    /// contain such keys.
    fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize>;

    /// Returns the only file that can contain `key`. Returns `None` if no file can contain the key.
    fn file_for(&self, key: &[u8]) -> Option<usize> {
        let files = self.overlapping(Bound::Included(key), Bound::Included(key));
        (!files.is_empty()).then_some(files.start)
    }

    /// Returns the memory of the index in bytes.
    fn memory_bytes(&self) -> usize;
}
