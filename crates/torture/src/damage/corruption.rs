//! Generates corruptions of the files of a store, such as flipped bits and missing files. They include every kind of
//! corruption in every part of every file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::layout::{FileKind, regions, version_at};
use super::store_image::{File, StoreImage};

/// The maximum number of corruptions of one kind in one part of a file.
const MOST_OF_A_KIND: usize = 4096;

/// The sizes of the ranges that corruptions zero, duplicate and swap, in bytes. Device sectors and pages of file
/// systems have these sizes.
const PAGES: [usize; 2] = [512, 4096];

/// A change of the content, name or presence of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// Bit `bit` of the byte at offset `at` is inverted.
    Flip { at: usize, bit: u8 },
    /// The byte at offset `at` gets the value `byte`.
    Set { at: usize, byte: u8 },
    /// The `len` bytes at offset `at` become zeros.
    Zero { at: usize, len: usize },
    /// A copy of the page at offset `from` replaces the page at offset `to`.
    Duplicate { from: usize, to: usize, len: usize },
    /// The pages at the offsets `first` and `second` are swapped.
    Swap { first: usize, second: usize, len: usize },
    /// The file is truncated to `len` bytes.
    Cut { len: usize },
    /// `len` bytes are appended: zeros, random bytes, or a copy of the last bytes of the file.
    Append { what: AppendedBytes, len: usize },
    /// The file is missing.
    Missing,
    /// The file is swapped with another file of the same kind, whose index is `with`.
    Exchange { with: usize },
    /// A file of another store replaces the file. `number` is its index in [`StoreImage::foreign`].
    Foreign { number: usize },
    /// An earlier version of the file replaces the file. `generation` is its index in [`StoreImage::older`].
    Older { generation: usize },
    /// The byte at offset `at`, which contains the format version, gets the value `byte`.
    Version { at: usize, byte: u8 },
}

/// The bytes that a corruption appends to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppendedBytes {
    /// The appended bytes are zeros.
    Zeros,
    /// The appended bytes are random.
    Random,
    /// The appended bytes are a copy of the last bytes of the file.
    Itself,
}

impl FileChange {
    /// Returns a short name for the kind of this change, such as `flip` for an inverted bit.
    fn name(&self) -> &'static str {
        match self {
            Self::Flip { .. } => "flip",
            Self::Set { .. } => "set",
            Self::Zero { len: 512, .. } => "zero 512",
            Self::Zero { .. } => "zero 4096",
            Self::Duplicate { .. } => "duplicate",
            Self::Swap { .. } => "swap",
            Self::Cut { .. } => "cut",
            Self::Append { .. } => "append",
            Self::Missing => "missing",
            Self::Exchange { .. } => "exchange",
            Self::Foreign { .. } => "foreign",
            Self::Older { .. } => "older",
            Self::Version { .. } => "version",
        }
    }
}

/// A corruption of the files of a store, which changes one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Corruption {
    /// The index of the corrupted file among the files of the store.
    pub(crate) file: usize,
    /// The change that corrupts the file.
    pub(crate) change: FileChange,
}

/// A file that a corruption changes: its index among the files of the store, and its new bytes. `None` means that the
/// file is removed.
pub(crate) type Changed = (usize, Option<Vec<u8>>);

impl Corruption {
    /// Returns the files that the corruption changes, with their new bytes. Empty if the corruption changes nothing.
    pub(crate) fn apply(&self, store_image: &StoreImage) -> Vec<Changed> {
        let whole = &*store_image.files[self.file].bytes;
        let mut bytes = whole.clone();
        match self.change {
            FileChange::Flip { at, bit } => bytes[at] ^= 1 << bit,
            FileChange::Set { at, byte } | FileChange::Version { at, byte } => bytes[at] = byte,
            FileChange::Zero { at, len } => {
                let end = (at + len).min(bytes.len());
                bytes[at..end].fill(0);
            }
            FileChange::Duplicate { from, to, len } => {
                let len = len.min(bytes.len() - from.max(to));
                bytes.copy_within(from..from + len, to);
            }
            FileChange::Swap { first, second, len } => {
                let len = len.min(bytes.len() - first.max(second));
                bytes[first..first + len].copy_from_slice(&whole[second..second + len]);
                bytes[second..second + len].copy_from_slice(&whole[first..first + len]);
            }
            FileChange::Cut { len } => bytes.truncate(len),
            FileChange::Append { what, len } => bytes.extend(tail(what, len, whole)),
            FileChange::Missing => return vec![(self.file, None)],
            FileChange::Exchange { with } => {
                let other = store_image.files[with].bytes.to_vec();
                return vec![(self.file, Some(other)), (with, Some(bytes))];
            }
            FileChange::Foreign { number } => bytes = store_image.foreign(self.file)[number].to_vec(),
            FileChange::Older { generation } => bytes = store_image.older(self.file)[generation].to_vec(),
        }
        if bytes == *whole { Vec::new() } else { vec![(self.file, Some(bytes))] }
    }

    /// Returns whether the corruption appends only zeros to its file.
    pub(crate) fn appends_zeros(&self, store_image: &StoreImage) -> bool {
        let FileChange::Append { what, len } = self.change else { return false };
        tail(what, len, &store_image.files[self.file].bytes).iter().all(|byte| *byte == 0)
    }

    /// Returns the range of bytes that the corruption changes in its file. If the length of the file changes, the range
    /// begins at the first changed byte and has no end. If the file is removed, the range contains all bytes.
    pub(crate) fn extent(&self, store_image: &StoreImage) -> Range<usize> {
        let whole = &*store_image.files[self.file].bytes;
        match &self.apply(store_image)[..] {
            [(_, Some(bytes)), ..] => {
                let first = whole.iter().zip(bytes).position(|(old, new)| old != new);
                let first = first.unwrap_or(whole.len().min(bytes.len()));
                let same_behind =
                    || whole.iter().rev().zip(bytes.iter().rev()).take_while(|(old, new)| old == new).count();
                match bytes.len() == whole.len() {
                    true => first..whole.len() - same_behind(),
                    false => first..usize::MAX,
                }
            }
            _ => 0..usize::MAX,
        }
    }
}

fn tail(what: AppendedBytes, len: usize, whole: &[u8]) -> Vec<u8> {
    match what {
        AppendedBytes::Zeros => vec![0; len],
        AppendedBytes::Random => {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(len as u64);
            (0..len).map(|_| random.random()).collect()
        }
        AppendedBytes::Itself => whole[whole.len().saturating_sub(len)..].to_vec(),
    }
}

/// A corruption of the files of a store, for formatting as text.
pub(crate) struct Described<'a>(pub(crate) &'a StoreImage, pub(crate) &'a Corruption);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(store_image, corruption) = self;
        let File { name, bytes, .. } = &store_image.files[corruption.file];
        write!(f, "{name} ({} bytes): ", bytes.len())?;
        match &corruption.change {
            FileChange::Exchange { with } => write!(f, "exchanged with {}", store_image.files[*with].name),
            change => write!(f, "{change:?}"),
        }
    }
}

/// Returns the corruptions to test, each as the changes of one or two files of the store. They include every kind of
/// change in every part of every kind of file. The kinds and parts take turns in the list.
pub(crate) fn images(store_image: &StoreImage, random: &mut impl Rng) -> Vec<Vec<Corruption>> {
    let mut strata: BTreeMap<(FileKind, &'static str, &'static str), Vec<Corruption>> = BTreeMap::new();
    for (file, File { kind, bytes, .. }) in store_image.files.iter().enumerate() {
        let mut add = |part: &'static str, change: FileChange| {
            strata.entry((*kind, part, change.name())).or_default().push(Corruption { file, change });
        };
        for region in regions(*kind, bytes) {
            in_region(region.name, &region.range, bytes, random, &mut add);
        }
        pages(bytes, random, &mut add);
        for len in sample(bytes.len(), random) {
            add("length", FileChange::Cut { len });
        }
        tails(&mut add);
        add("file", FileChange::Missing);
        for with in store_image.alike(file).filter(|with| *with > file) {
            add("file", FileChange::Exchange { with });
        }
        (0..store_image.foreign(file).len()).for_each(|number| add("file", FileChange::Foreign { number }));
        let generations = 0..store_image.older(file).len();
        generations.for_each(|generation| add("file", FileChange::Older { generation }));
        if let Some(at) = version_at(*kind, bytes).filter(|at| *at < bytes.len()) {
            let others = [0, 1, 2, 3, 9, b'0', b'2', 0xff].into_iter().filter(|byte| *byte != bytes[at]);
            others.for_each(|byte| add("version", FileChange::Version { at, byte }));
        }
    }
    in_turns(store_image, strata.into_values().collect(), random)
}

/// Adds corruptions of single bits and bytes in one part of a file.
fn in_region(
    name: &'static str,
    range: &Range<usize>,
    bytes: &[u8],
    random: &mut impl Rng,
    add: &mut impl FnMut(&'static str, FileChange),
) {
    for number in sample(range.len() * 8, random) {
        add(name, FileChange::Flip { at: range.start + number / 8, bit: (number % 8) as u8 });
    }
    for number in sample(range.len(), random) {
        let at = range.start + number;
        let others = [0, 0xff, 0x80, 0x7f, 1, bytes[at].wrapping_add(1), random.random()];
        add(name, FileChange::Set { at, byte: others[random.random_range(0..others.len())] });
    }
}

/// Adds corruptions that zero, duplicate or swap pages.
fn pages(bytes: &[u8], random: &mut impl Rng, add: &mut impl FnMut(&'static str, FileChange)) {
    for len in PAGES {
        let starts: Vec<usize> = (0..bytes.len()).step_by(len).collect();
        starts.iter().for_each(|at| add("page", FileChange::Zero { at: *at, len }));
        for number in sample(starts.len() * starts.len(), random) {
            let (from, to) = (starts[number / starts.len()], starts[number % starts.len()]);
            if from != to {
                add("page", FileChange::Duplicate { from, to, len });
            }
            if from < to {
                add("page", FileChange::Swap { first: from, second: to, len });
            }
        }
    }
}

/// Adds corruptions that append bytes to a file.
fn tails(add: &mut impl FnMut(&'static str, FileChange)) {
    for what in [AppendedBytes::Zeros, AppendedBytes::Random, AppendedBytes::Itself] {
        for len in [1, 3, 8, 17, 48, 96, 512, 4096, 10_000] {
            add("length", FileChange::Append { what, len });
        }
    }
}

/// Returns the numbers below `count`, or a random sample that includes the first and the last number.
fn sample(count: usize, random: &mut impl Rng) -> Vec<usize> {
    if count <= MOST_OF_A_KIND {
        return (0..count).collect();
    }
    let others = (2..MOST_OF_A_KIND).map(|_| random.random_range(0..count));
    [0, count - 1].into_iter().chain(others).collect()
}

/// Reorders corruptions so that all categories take turns: the first of each category, then the second of each, and so
/// on.
fn in_turns(
    store_image: &StoreImage,
    mut strata: Vec<Vec<Corruption>>,
    random: &mut impl Rng,
) -> Vec<Vec<Corruption>> {
    strata.iter_mut().for_each(|stratum| stratum.shuffle(random));
    strata.shuffle(random);
    let most = strata.iter().map(Vec::len).max().unwrap_or_default();
    let mut images = Vec::new();
    for turn in 0..most {
        let of_turn: Vec<&Corruption> = strata.iter().filter_map(|stratum| stratum.get(turn)).collect();
        images.extend(of_turn.iter().map(|corruption| vec![(*corruption).clone()]));
        for _ in 0..of_turn.len() / 10 {
            let [first, second] = [0; 2].map(|_| of_turn[random.random_range(0..of_turn.len())]);
            // Two corruptions are not combined if one of them is in a manifest, because a corrupted manifest may no
            // longer name the other file.
            let is_named =
                |corruption: &Corruption| store_image.files[corruption.file].kind != FileKind::Manifest;
            if first.file != second.file && is_named(first) && is_named(second) {
                images.push(vec![first.clone(), second.clone()]);
            }
        }
    }
    images
}
