//! Every way to cull keeps the laws of its axis, and one that breaks them is caught.

use std::ops::{Bound, Range};

use lsmbench_fence::culling::{CATALOG, Culling, FileRanges, LevelForm, RunIndex};

/// The files of a run by their smallest and largest keys.
type Files = Vec<(Vec<u8>, Vec<u8>)>;

/// Runs of no file, of one, of files with one key, of neighbours without a gap, and of many.
fn runs() -> Vec<Files> {
    let file = |low: &[u8], high: &[u8]| (low.to_vec(), high.to_vec());
    let many = (0..40u8).map(|i| (vec![b'a', 5 * i], vec![b'a', 5 * i + 3])).collect();
    vec![
        vec![],
        vec![file(b"", b"")],
        vec![file(b"b", b"d")],
        vec![file(b"b", b"b"), file(b"b\0", b"b\0"), file(b"c", b"cc"), file(b"cd", b"e")],
        many,
    ]
}

/// All edges of all files, what lies just beside them, and keys outside.
fn probes(files: &Files) -> Vec<Vec<u8>> {
    let edges = files.iter().flat_map(|(low, high)| [low, high]);
    let mut probes: Vec<Vec<u8>> = edges
        .flat_map(|edge| {
            let below = edge.split_last().map(|(last, front)| [front, &[last.wrapping_sub(1)]].concat());
            [Some(edge.clone()), Some([edge, &b"\0"[..]].concat()), below].into_iter().flatten()
        })
        .collect();
    probes.extend([vec![], vec![0xff; 3]]);
    probes
}

/// The laws, in levels of either form.
fn check(culling: &dyn Culling) -> Result<(), String> {
    [LevelForm::Disjoint, LevelForm::Overlapping].into_iter().try_for_each(|level| check_in(level, culling))
}

/// The laws, by what they say of each file alone.
fn check_in(level: LevelForm, culling: &dyn Culling) -> Result<(), String> {
    for files in runs() {
        let mut ranges = FileRanges::default();
        files.iter().for_each(|(smallest, largest)| ranges.push(smallest, largest));
        let index = culling.index(ranges, level);
        let probes = probes(&files);
        for key in &probes {
            let expected = files.iter().position(|(low, high)| low <= key && key <= high);
            let found = index.file_for(key);
            if found != expected {
                return Err(format!("{key:?} is in {expected:?}, not {found:?}, of {files:?}"));
            }
        }
        let bounds = || {
            let keys = probes.iter().flat_map(|key| [Bound::Included(&**key), Bound::Excluded(&**key)]);
            keys.chain([Bound::Unbounded])
        };
        for low in bounds() {
            for high in bounds() {
                check_range(&*index, &files, low, high)?;
            }
        }
    }
    Ok(())
}

fn check_range(
    index: &dyn RunIndex,
    files: &Files,
    low: Bound<&[u8]>,
    high: Bound<&[u8]>,
) -> Result<(), String> {
    let reaches = |largest: &[u8]| match low {
        Bound::Included(low) => largest >= low,
        Bound::Excluded(low) => largest > low,
        Bound::Unbounded => true,
    };
    let begins = |smallest: &[u8]| match high {
        Bound::Included(high) => smallest <= high,
        Bound::Excluded(high) => smallest < high,
        Bound::Unbounded => true,
    };
    let expected: Vec<usize> =
        (0..files.len()).filter(|file| reaches(&files[*file].1) && begins(&files[*file].0)).collect();
    let found = index.overlapping(low, high);
    match found.clone().eq(expected.iter().copied()) && found.end <= files.len() {
        true => Ok(()),
        false => Err(format!("{low:?} to {high:?} overlaps {expected:?}, not {found:?}, of {files:?}")),
    }
}

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
}

#[test]
fn every_way_finds_the_files_that_overlap() {
    for variant in CATALOG.variants() {
        let culling = CATALOG.build(&variant.default_choice()).unwrap();
        check(&*culling).unwrap_or_else(|error| panic!("{}: {error}", variant.kind));
    }
}

/// What is wrong with a canary.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// The last file of a range is left out.
    StopsEarly,
    /// Ends that a range excludes count as included.
    IgnoresExclusion,
    /// A key between two files is looked for in the one behind.
    FillsGaps,
}

/// A sound way with a fault put in.
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
fn every_canary_is_caught() {
    for fault in [Fault::StopsEarly, Fault::IgnoresExclusion, Fault::FillsGaps] {
        let sound = CATALOG.build(&CATALOG.baseline()).unwrap();
        assert!(check(&Canary { fault, sound }).is_err(), "{fault:?}");
    }
}
