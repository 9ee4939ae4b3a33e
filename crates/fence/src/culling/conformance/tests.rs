//! Tests that the check detects a culling method that breaks an invariant.

use std::ops::{Bound, Range};

use super::{INVARIANTS, Subject};
use crate::culling::{CATALOG, Culling, FileKeys, FileRanges, KeyIndex, LevelForm, RunIndex};

/// The fault that is seeded into a culling method, to test that the check rejects this method.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Fault: the last file that overlaps a key range is left out.
    StopsEarly,
    /// Fault: excluded bounds of a key range are treated as included bounds.
    IgnoresExclusion,
    /// Fault: a key between two files is searched in the file after the key.
    FillsGaps,
    /// Fault: an index of keys keeps no file that is added later.
    ForgetsChanges,
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

    fn key_index(&self, files: &[FileKeys]) -> Option<Box<dyn KeyIndex>> {
        Some(Box::new(Forgetful(files.to_vec())))
    }
}

/// An index of keys that ignores all changes.
struct Forgetful(Vec<FileKeys>);

impl KeyIndex for Forgetful {
    fn files(&self, hash: u64, visit: &mut dyn FnMut(u32)) {
        self.0.iter().filter(|file| file.hashes.contains(&hash)).for_each(|file| visit(file.file));
    }

    fn edited(&self, _: &[u32], _: &[FileKeys]) -> Option<Box<dyn KeyIndex>> {
        Some(Box::new(Self(self.0.clone())))
    }

    fn memory_bytes(&self) -> usize {
        1 + self.0.len()
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
            Fault::FillsGaps | Fault::ForgetsChanges => self.sound.overlapping(low, high),
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
    let [key, range, index] = INVARIANTS else { panic!("each invariant has its canaries") };
    let cases = [
        (Fault::StopsEarly, range),
        (Fault::IgnoresExclusion, range),
        (Fault::FillsGaps, key),
        (Fault::ForgetsChanges, index),
    ];
    for (fault, (name, check)) in cases {
        let sound = CATALOG.build(&CATALOG.baseline()).unwrap();
        let canary = Subject(Box::new(Canary { fault, sound }));
        assert!(check(&canary).is_err(), "the invariant \"{name}\" did not detect the fault {fault:?}");
    }
}
