//! The seam of the culling axis: from the key ranges of a run's files to those that a read must look into.

use std::ops::{Bound, Range};

use super::ranges::FileRanges;

/// How the files of a run are found.
pub trait Culling: Send + Sync {
    /// The index of one run of a level. It holds what it needs; the files are not asked again.
    fn index(&self, files: FileRanges, level: LevelForm) -> Box<dyn RunIndex>;
}

/// What a level is as a whole. The files of each of its runs never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelForm {
    /// One run, so that no two files of the level overlap.
    Disjoint,
    /// Several runs, or level 0, where flushes leave theirs.
    Overlapping,
}

/// The files of one sorted run, found by their key ranges.
///
/// Laws:
/// 1. [`overlapping`](Self::overlapping) gives exactly the files whose range has a part between the bounds.
/// 2. [`file_for`](Self::file_for) gives exactly the file whose range the key is in.
pub trait RunIndex: Send + Sync {
    /// The files that can hold keys between the bounds, in key order; empty where there are none.
    fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize>;

    /// The only file that can hold `key`.
    fn file_for(&self, key: &[u8]) -> Option<usize> {
        let files = self.overlapping(Bound::Included(key), Bound::Included(key));
        (!files.is_empty()).then_some(files.start)
    }

    /// The bytes of memory it holds.
    fn memory_bytes(&self) -> usize;
}
