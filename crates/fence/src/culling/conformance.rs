//! Checks culling methods against the invariants of culling. The tests of any crate can call this check.
//!
//! ```
//! use lsmbench_fence::culling;
//!
//! culling::conformance::check(culling::CATALOG.variant("binary")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use std::ops::Bound;

use catalog::Variant;
use catalog::laws::{self, Invariant, ensure};

use super::{CATALOG, Culling, FileKeys, FileRanges, KeyIndex, LevelForm, RunIndex};

/// A culling method under test. Culling selects the files of a sorted run that a read must search.
struct Subject(Box<dyn Culling>);

/// All invariants of culling methods, each with its name.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("`file_for` returns the only file whose key range includes the key", keys_are_in_their_file),
    ("`overlapping` returns all files that overlap the range", ranges_overlap_their_files),
    (
        "after every change of the files, an index of keys returns all files of a key",
        keys_are_in_all_their_files,
    ),
];

/// Checks that a culling method with its default parameters keeps every invariant of culling, in levels with and
/// without overlapping files.
///
/// # Errors
/// Returns one line per broken invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn Culling>) -> Result<(), String> {
    laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS)
}

/// The files of a sorted run, each with its smallest and its largest key.
type Files = Vec<(Vec<u8>, Vec<u8>)>;

/// Returns the sorted runs for the checks: runs without files, with one file, with files of a single key, with adjacent
/// key ranges, and with many files.
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

/// Returns the keys that the checks look up: the smallest and largest keys of all files, keys slightly below and above
/// these keys, and keys outside of the run.
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

/// Calls `check` with the culling index of every tested run, for levels with and without overlapping files.
fn each(
    culling: &Subject,
    check: impl Fn(&dyn RunIndex, &Files) -> Result<(), String>,
) -> Result<(), String> {
    for level in [LevelForm::Disjoint, LevelForm::Overlapping] {
        for files in runs() {
            let mut ranges = FileRanges::default();
            files.iter().for_each(|(smallest, largest)| ranges.push(smallest, largest));
            check(&*culling.0.index(ranges, level), &files)?;
        }
    }
    Ok(())
}

fn keys_are_in_their_file(culling: &Subject) -> Result<(), String> {
    each(culling, |index, files| {
        probes(files).iter().try_for_each(|key| {
            let expected = files.iter().position(|(low, high)| low <= key && key <= high);
            let found = index.file_for(key);
            ensure(found == expected, || {
                let name = |file: Option<usize>| file.map_or("no file".to_owned(), |file| format!("file {file}"));
                format!(
                    "for the key {key:?} and the key ranges {files:?}, `file_for` returns {}, but {} contains the \
                     key",
                    name(found),
                    name(expected)
                )
            })
        })
    })
}

fn ranges_overlap_their_files(culling: &Subject) -> Result<(), String> {
    each(culling, |index, files| {
        let probes = probes(files);
        let bounds = || {
            let keys = probes.iter().flat_map(|key| [Bound::Included(&**key), Bound::Excluded(&**key)]);
            keys.chain([Bound::Unbounded])
        };
        for low in bounds() {
            bounds().try_for_each(|high| check_range(index, files, low, high))?;
        }
        Ok(())
    })
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
    ensure(found.clone().eq(expected.iter().copied()) && found.end <= files.len(), || {
        format!(
            "for the range from {low:?} to {high:?} and the key ranges {files:?}, `overlapping` returns the \
             files {found:?}, but the files {expected:?} overlap the range"
        )
    })
}

/// The number of times that the check of a key index changes the files.
const CHANGES: u32 = 60;

/// Checks a key index after each of many changes of the files. For each key, the index must return all files that
/// contain the key. The changes add and remove files with overlapping keys.
fn keys_are_in_all_their_files(culling: &Subject) -> Result<(), String> {
    let Some(mut index) = culling.0.key_index(&[]) else { return Ok(()) };
    // Files of many sizes. A file shares most keys with the previous file.
    let keys = |file: u32| -> Vec<u64> {
        let first = u64::from(file) * 40;
        (first..first + 30 + u64::from(file) % 7 * 60)
            .map(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect()
    };
    let mut files: Vec<FileKeys> = Vec::new();
    for change in 0..CHANGES {
        // Each third change replaces half of the files by one file, as a compaction does.
        let kept = if change % 3 == 2 { files.len() / 2 } else { files.len() };
        let removed: Vec<u32> = files.drain(kept..).map(|file| file.file).collect();
        let added = FileKeys { file: change, hashes: keys(change) };
        let next = index.edited(&removed, std::slice::from_ref(&added));
        files.push(added);
        let Some(next) = next.or_else(|| culling.0.key_index(&files)) else {
            return Err(
                "`key_index` returns an index for a tree without files, but `None` for a tree with files; \
                 the result must not depend on the files"
                    .to_owned(),
            );
        };
        index = next;
        check_key_index(&*index, &files)
            .map_err(|error| format!("after change {change} of the files, {error}"))?;
    }
    Ok(())
}

fn check_key_index(index: &dyn KeyIndex, files: &[FileKeys]) -> Result<(), String> {
    for file in files {
        for hash in &file.hashes {
            let mut is_named = false;
            index.files(*hash, &mut |found| is_named |= found == file.file);
            ensure(is_named, || {
                format!(
                    "the key index does not return file {} for the hash {hash:#x} of one of the keys in this \
                     file",
                    file.file
                )
            })?;
        }
    }
    ensure(index.memory_bytes() > 0, || "`memory_bytes` of the key index is 0; it must be above 0".to_owned())
}
