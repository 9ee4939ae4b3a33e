//! Culling by binary search if the files of the level do not overlap. In all other levels, this method checks one
//! file after the other.
//!
//! Source: "Fjall 2.1", section "Faster range culling". Fjall uses binary search only in levels whose files do not
//! overlap. In level 0 and in tiered levels, files may overlap, so Fjall checks one file after the other. In
//! lsmbench, culling is done for each run separately, and the files of a run never overlap. The variant `binary`
//! therefore uses binary search in every level.

use catalog::Variant;

use super::binary::Binary;
use super::linear::Linear;
use super::policy::{Culling, LevelForm, RunIndex};
use super::ranges::FileRanges;

pub(super) const VARIANT: Variant<dyn Culling> = Variant::plain(
    "by-overlap",
    "binary search in levels of one run, and linear search in all other levels, as in Fjall 2.1",
    || Box::new(ByOverlap { disjoint: Box::new(Binary), overlapping: Box::new(Linear) }),
);

/// The culling method `by-overlap`: binary search if the files of the level do not overlap, and linear search
/// otherwise.
struct ByOverlap {
    disjoint: Box<dyn Culling>,
    overlapping: Box<dyn Culling>,
}

impl Culling for ByOverlap {
    fn index(&self, files: FileRanges, level: LevelForm) -> Box<dyn RunIndex> {
        let culling = match level {
            LevelForm::Disjoint => &self.disjoint,
            LevelForm::Overlapping => &self.overlapping,
        };
        culling.index(files, level)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::{Bound, Range};

    use super::*;

    /// An index that always returns the same file.
    struct Always(usize);

    impl Culling for Always {
        fn index(&self, _: FileRanges, _: LevelForm) -> Box<dyn RunIndex> {
            Box::new(Self(self.0))
        }
    }

    impl RunIndex for Always {
        fn overlapping(&self, _: Bound<&[u8]>, _: Bound<&[u8]>) -> Range<usize> {
            self.0..self.0 + 1
        }

        fn memory_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn the_form_of_the_level_decides() {
        let culling = ByOverlap { disjoint: Box::new(Always(1)), overlapping: Box::new(Always(2)) };
        for (level, file) in [(LevelForm::Disjoint, 1), (LevelForm::Overlapping, 2)] {
            assert_eq!(culling.index(FileRanges::default(), level).file_for(b"key"), Some(file));
        }
    }
}
