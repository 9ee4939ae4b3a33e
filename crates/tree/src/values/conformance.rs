//! Checks the invariants of value policies. The tests of any crate can call this check.
//!
//! ```
//! use lsmbench_tree::values;
//!
//! values::conformance::check(values::CATALOG.variant("blob-files")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use catalog::Variant;
use catalog::laws::{self, Invariant, ensure};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::CATALOG;
use super::policy::{BlobFileShape, ValuePolicy, Writing};
use crate::conformance::check_in_tree;

/// A value policy under test.
struct Subject(Box<dyn ValuePolicy>);

/// The invariants of value policies: the name and the check of each invariant.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("two calls with equal arguments must return equal results", equal_answers),
    ("the file size and the number of partitions must be above 0", |subject| {
        let (bytes, partitions) = (subject.0.file_bytes(), subject.0.partitions());
        ensure(bytes > 0 && partitions > 0, || {
            format!(
                "the file size is {bytes} bytes and the number of partitions is {partitions}; both must be \
                 above 0"
            )
        })
    }),
    ("a value policy must select only existing blob files, each at most once", only_given_files),
    ("garbage collection of blob files must end", collecting_ends),
];

/// The number of random sets of blob files with which each invariant is checked.
const FILE_SETS: u64 = 200;

/// The maximum number of rounds of garbage collection for each blob file. A value policy must collect no file after
/// `MOST_ROUNDS` × (number of files + 1) rounds.
const MOST_ROUNDS: usize = 20;

/// Checks every invariant of value policies for one policy, with its default parameters. Also checks that a tree with
/// this policy gives the same answers as a `BTreeMap`, even after the tree was closed and opened again.
///
/// The function adds the policy to the catalog if the catalog lacks it, because a design refers to a policy by name.
///
/// # Errors
/// If the policy cannot be added to the catalog, or if an invariant is broken. The error has one line per broken
/// invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn ValuePolicy>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    let by_itself = laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS);
    let broken = [by_itself.err(), check_in_tree(CATALOG.axis, variant.kind).err()];
    laws::all_kept(&broken.into_iter().flatten().collect::<Vec<_>>())
}

/// Returns random sets of blob files, some of which have stale values. Each set is in the order of age, oldest file
/// first.
fn file_sets() -> impl Iterator<Item = Vec<BlobFileShape>> {
    (0..FILE_SETS).map(|seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut id = 0;
        let file = |_| {
            id += random.random_range(1..9);
            let bytes = random.random_range(1..100_000);
            let live_bytes = match random.random_range(0..4) {
                0 => bytes,
                1 => 0,
                _ => random.random_range(0..=bytes),
            };
            BlobFileShape { id, bytes, live_bytes, partition: random.random_range(0..3) }
        };
        (0..seed % 12).map(file).collect()
    })
}

fn equal_answers(subject: &Subject) -> Result<(), String> {
    let stages = (0..9).map(|level| Writing::Compaction { level }).chain([Writing::Flush]);
    for stage in stages {
        let [once, again] = [(); 2].map(|()| subject.0.separates_from(stage));
        ensure(once == again, || {
            format!(
                "two calls of separates_from({stage:?}) must return equal results, but return {once:?} and \
                 {again:?}"
            )
        })?;
    }
    for files in file_sets() {
        let [once, again] = [(); 2].map(|()| (subject.0.relocates(&files), subject.0.collects(&files)));
        ensure(once == again, || {
            format!(
                "two calls of relocates() and collects() must return equal results, but return {once:?} and \
                 {again:?} for the blob files {files:?}"
            )
        })?;
    }
    Ok(())
}

fn only_given_files(subject: &Subject) -> Result<(), String> {
    for files in file_sets() {
        for named in [subject.0.relocates(&files), subject.0.collects(&files)] {
            let given: HashSet<u64> = files.iter().map(|file| file.id).collect();
            let mut seen = HashSet::new();
            let wrong = named.iter().find(|id| !given.contains(id) || !seen.insert(**id));
            ensure(wrong.is_none(), || {
                format!(
                    "the value policy selects the blob files {named:?}, but file {} is not among the given \
                     blob files {files:?}, or is selected twice",
                    wrong.copied().unwrap_or_default()
                )
            })?;
        }
    }
    Ok(())
}

/// Checks that garbage collection of blob files ends. The check replaces each collected file with a file of its live
/// values, as a tree does, until the value policy collects no file.
fn collecting_ends(subject: &Subject) -> Result<(), String> {
    for mut files in file_sets() {
        let most_rounds = MOST_ROUNDS * (files.len() + 1);
        for round in 0.. {
            let collected: HashSet<u64> = subject.0.collects(&files).into_iter().collect();
            if collected.is_empty() {
                break;
            }
            ensure(round < most_rounds, || {
                format!(
                    "the value policy still collects blob files after {round} garbage collections, which is \
                     the maximum; the files are now {files:?}"
                )
            })?;
            let next = files.last().map_or(1, |file| file.id + 1);
            let (gone, mut stays): (Vec<_>, Vec<_>) =
                files.into_iter().partition(|file| collected.contains(&file.id));
            let live = gone.into_iter().filter(|file| file.live_bytes > 0);
            stays.extend(live.zip(next..).map(|(file, id)| BlobFileShape {
                id,
                bytes: file.live_bytes,
                ..file
            }));
            files = stays;
        }
    }
    Ok(())
}
