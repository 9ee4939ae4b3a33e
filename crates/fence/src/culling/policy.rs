//! The interface of culling: from the key ranges of a run's files to the files that a read must search.

use std::ops::{Bound, Range};

use super::ranges::FileRanges;

/// A method to find the files of a run that a read needs.
pub trait Culling: Send + Sync {
    /// Builds the index of one run of a level. The index contains all data that searches need, so the files are not
    /// read again.
    fn index(&self, files: FileRanges, level: LevelForm) -> Box<dyn RunIndex>;
}

/// Whether the files of a level overlap. The files of each of its runs never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelForm {
    /// The level has one run, so no two files of the level overlap.
    Disjoint,
    /// A level with several runs, or level 0, to which each flush adds a run.
    Overlapping,
}

/// An index of the files of one sorted run by their key ranges.
///
/// Invariants:
/// 1. [`overlapping`](Self::overlapping) returns exactly the files whose key range overlaps the bounds.
/// 2. [`file_for`](Self::file_for) returns exactly the file whose key range contains the key.
pub trait RunIndex: Send + Sync {
    /// The files that can contain keys between the bounds, in key order; empty if no file can.
    fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize>;

    /// The only file that can contain `key`; `None` if no file can.
    fn file_for(&self, key: &[u8]) -> Option<usize> {
        let files = self.overlapping(Bound::Included(key), Bound::Included(key));
        (!files.is_empty()).then_some(files.start)
    }

    /// The memory of the index, in bytes.
    fn memory_bytes(&self) -> usize;
}
