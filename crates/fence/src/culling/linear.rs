//! Linear culling, which checks every file of the run.
//!
//! Source: Fjall before version 2.1, whose scans filtered each level in this way ("Fjall 2.1", section "Faster range
//! culling"). Memory: the smallest and the largest key of each file, and 8 bytes for the offsets. A search compares
//! one or two keys of each file, until all overlapping files are found.

use std::ops::{Bound, Range};

use catalog::Variant;

use super::policy::{Culling, LevelForm, RunIndex};
use super::ranges::FileRanges;

pub(super) const VARIANT: Variant<dyn Culling> = Variant::plain(
    "linear",
    "comparison with each file in turn; the simplest search, but slow for sorted runs of many files",
    || Box::new(Linear),
);

/// The culling method `linear`, which compares a key with the key range of each file of a run, one after the other.
pub(super) struct Linear;

impl Culling for Linear {
    fn index(&self, files: FileRanges, _: LevelForm) -> Box<dyn RunIndex> {
        Box::new(LinearIndex(files))
    }
}

/// The key ranges of the files of a sorted run, for linear search.
struct LinearIndex(FileRanges);

impl RunIndex for LinearIndex {
    fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize> {
        let Self(files) = self;
        let start = (0..files.len()).find(|file| !files.is_below(*file, low)).unwrap_or(files.len());
        let end = (start..files.len()).find(|file| files.is_above(*file, high)).unwrap_or(files.len());
        start..end
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}
