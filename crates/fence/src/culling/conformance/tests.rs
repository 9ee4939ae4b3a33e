//! Tests that the check detects a culling method that breaks an invariant.

use std::ops::{Bound, Range};

use super::{INVARIANTS, Subject};
use crate::culling::{CATALOG, Culling, FileRanges, LevelForm, RunIndex};

/// The fault that is seeded into a culling method, to test that the check rejects this method.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Fault: the last file that overlaps a key range is left out.
    StopsEarly,
    /// Fault: excluded bounds of a key range are treated as included bounds.
    IgnoresExclusion,
    /// Fault: a key between two files is searched in the file after the key.
    FillsGaps,
}

/// A correct culling method with a seeded fault.
struct Canary {
    fault: Fault,
    sound: Box<dyn Culling>,
}

struct CanaryIndex {
    fault: Fault,
    sound: Box<dyn RunIndex>,
}

impl Culling for Canary {
    fn index(&self, files: FileRanges, level: LevelForm) -> Box<dyn RunIndex> {
        Box::new(CanaryIndex { fault: self.fault, sound: self.sound.index(files, level) })
    }
}

impl RunIndex for CanaryIndex {
    fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize> {
        let include = |bound| match bound {
            Bound::Excluded(key) => Bound::Included(key),
            other => other,
        };
        match self.fault {
            Fault::IgnoresExclusion => self.sound.overlapping(include(low), include(high)),
            Fault::StopsEarly => {
                let Range { start, end } = self.sound.overlapping(low, high);
                start..end.saturating_sub(1).max(start)
            }
            Fault::FillsGaps => self.sound.overlapping(low, high),
        }
    }

    fn file_for(&self, key: &[u8]) -> Option<usize> {
        match self.fault {
            Fault::FillsGaps => {
                let files = self.sound.overlapping(Bound::Included(key), Bound::Unbounded);
                (!files.is_empty()).then_some(files.start)
            }
            _ => self.sound.file_for(key),
        }
    }

    fn memory_bytes(&self) -> usize {
        self.sound.memory_bytes()
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    let [key, range] = INVARIANTS else { panic!("each invariant has its canaries") };
    let cases = [(Fault::StopsEarly, range), (Fault::IgnoresExclusion, range), (Fault::FillsGaps, key)];
    for (fault, (name, check)) in cases {
        let sound = CATALOG.build(&CATALOG.baseline()).unwrap();
        let canary = Subject(Box::new(Canary { fault, sound }));
        assert!(check(&canary).is_err(), "{fault:?}: \"{name}\" did not see it");
    }
}
