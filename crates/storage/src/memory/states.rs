//! The states that a disk may have after a power failure. Each state has a number.
//!
//! In each state, a change of a name has either reached the disk, together with all changes on which it depends, or
//! not. A file with unsynced bytes ends after any number of its unsynced sectors. Each unsynced sector before this end
//! was written, or reads as zeros. Unsynced bytes may therefore be lost, kept, written in part, or written in any
//! order. If there are only few states, each state has its own number. If there are many states, the first four numbers
//! are corner cases, and any other number is the seed of a random state.

use std::sync::Arc;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Memory;
use super::content::{Inode, SECTOR_BYTES, pieces};

/// The unit in which the page cache writes data back to the disk, in bytes.
const PAGE_BYTES: usize = 4096;

/// The maximum number of disk states for which each state has its own number.
const ALL: u64 = 256;

/// The states that a simulated disk may have after a power failure at one point in time. Each state has a number.
pub struct States<'a> {
    disk: &'a Memory,
    /// The number of changes of file names that are not durable yet.
    changes: usize,
    /// The files with unsynced bytes, each with the number of sectors that contain unsynced bytes.
    files: Vec<(Arc<Inode>, u32)>,
    /// The number of disk states. `None` if there are too many states for individual numbers.
    count: Option<u64>,
}

/// The decisions that determine one state of the disk after a power failure.
enum Choice {
    /// A state with its own number. The digits of the number are the decisions: one digit for each pending change of a
    /// file name, and one digit for each file with unsynced bytes.
    Exact(u64),
    /// A corner case. `names` decides whether all pending changes of file names survive or none, and `bytes` decides
    /// whether all unsynced bytes survive or none.
    Corner { names: bool, bytes: bool },
    /// A random state. The field is the seed of the random decisions.
    Sampled(u64),
}

impl Memory {
    /// Returns the states that the disk may have after a power failure at the current time.
    pub fn states(&self) -> States<'_> {
        States::of(self)
    }
}

impl<'a> States<'a> {
    fn of(disk: &'a Memory) -> Self {
        let names = disk.names.lock();
        let changes = names.pending();
        let touched = |inode: &Arc<Inode>| pieces(inode.unsynced(), SECTOR_BYTES).count() as u32;
        let files: Vec<_> = names
            .files()
            .into_iter()
            .map(|inode| (Arc::clone(&inode), touched(&inode)))
            .filter(|(_, sectors)| *sectors > 0)
            .collect();
        let of_changes = 1u64.checked_shl(changes as u32).filter(|count| *count <= ALL);
        let all = files.iter().fold(of_changes, |all, (_, sectors)| {
            all?.checked_mul(endings(*sectors)?).filter(|count| *count <= ALL)
        });
        Self { disk, changes, files, count: all }
    }

    /// Returns the number of states. State numbers must be below this number.
    ///
    /// Returns `None` if there are too many states for individual numbers. Every number is then valid.
    pub fn count(&self) -> Option<u64> {
        self.count
    }

    /// Returns the number of the state in which all unsynced data is lost.
    pub fn dropped(&self) -> u64 {
        0
    }

    /// Returns the number of the state in which all unsynced data survives, as when the process ends but the machine
    /// does not.
    pub fn kept(&self) -> u64 {
        self.count.map_or(1, |count| count - 1)
    }

    /// Returns the disk in the state `number`, as a separate disk on which all data is durable. Equal numbers give
    /// equal states.
    ///
    /// # Panics
    /// Panics if the states have individual numbers and `number` is too large.
    #[must_use]
    pub fn get(&self, number: u64) -> Memory {
        let choice = match (self.count, number) {
            (Some(count), _) => {
                assert!(
                    number < count,
                    "the disk has no state {number} after a power failure, because it has only {count} states"
                );
                Choice::Exact(number)
            }
            (None, 0..4) => Choice::Corner { names: number % 2 == 1, bytes: number == 1 || number == 2 },
            (None, seed) => Choice::Sampled(seed),
        };
        match choice {
            Choice::Exact(number) => self.exact(number),
            Choice::Corner { names, bytes } => {
                self.make(|| names, |inode, _| if bytes { inode.whole() } else { inode.synced() })
            }
            Choice::Sampled(seed) => self.sampled(seed),
        }
    }

    fn exact(&self, mut number: u64) -> Memory {
        let mut digit = |base: u64| {
            let digit = number % base;
            number /= base;
            digit
        };
        let mut changes: Vec<bool> = (0..self.changes).map(|_| digit(2) == 1).collect();
        let choices: Vec<u64> =
            self.files.iter().map(|(_, sectors)| digit(endings(*sectors).unwrap_or(1))).collect();
        self.make(|| changes.pop().unwrap_or_default(), |inode, index| ending(inode, choices[index]))
    }

    fn sampled(&self, seed: u64) -> Memory {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let changes = &mut sampled_changes(self.changes, &mut random);
        let seeds: Vec<u64> = self.files.iter().map(|_| random.random()).collect();
        self.make(
            || changes.pop().unwrap_or_default(),
            |inode, index| sampled_bytes(inode, &mut Xoshiro256PlusPlus::seed_from_u64(seeds[index])),
        )
    }

    /// Returns the disk after a power failure. `reaches_disk` decides for each pending change of a file name whether it
    /// survives. `bytes` receives each file with unsynced bytes and its index, and returns the content of the file
    /// after the power failure.
    fn make(&self, reaches_disk: impl FnMut() -> bool, bytes: impl Fn(&Inode, usize) -> Inode) -> Memory {
        let place =
            |inode: &Inode| self.files.iter().position(|(file, _)| std::ptr::eq(Arc::as_ptr(file), inode));
        let after = |inode: &Inode| place(inode).map_or_else(|| inode.whole(), |place| bytes(inode, place));
        let names = self.disk.names.lock().after_crash(reaches_disk, after);
        Memory { names: names.into(), locks: Arc::default(), is_mapped: self.disk.is_mapped }
    }
}

/// Returns the number of states that a file with `sectors` sectors of unsynced bytes may have after a power failure. If
/// the file ends after `e` unsynced sectors, each of these sectors was written or not, which gives `2^e` states.
/// Returns `None` if the number is too large.
fn endings(sectors: u32) -> Option<u64> {
    2u64.checked_shl(sectors)?.checked_sub(1).filter(|_| sectors < 63)
}

/// Returns the file `inode` after a power failure, in the state with the number `choice`. [`endings`] counts the
/// possible states of a file. In the last state, all unsynced bytes are on the disk.
fn ending(inode: &Inode, choice: u64) -> Inode {
    let end = (choice + 1).ilog2() as usize;
    let written = choice + 1 - (1 << end);
    let unsynced = inode.unsynced();
    let cut =
        pieces(unsynced.clone(), SECTOR_BYTES).take(end).last().map_or(unsynced.start, |piece| piece.end);
    if cut == unsynced.end && written + 1 == 1 << end {
        return inode.whole();
    }
    inode.patched(cut, SECTOR_BYTES, |index| written >> index & 1 == 1)
}

/// Selects at random which of `count` pending changes of file names survive a power failure: none, all, the first
/// changes, or any subset.
fn sampled_changes(count: usize, random: &mut impl Rng) -> Vec<bool> {
    match random.random_range(0..8) {
        0 => vec![false; count],
        1 | 2 => vec![true; count],
        3 | 4 => {
            let first = random.random_range(0..=count);
            (0..count).map(|index| index < first).collect()
        }
        _ => {
            let likely = [0.1, 0.5, 0.9][random.random_range(0..3)];
            (0..count).map(|_| random.random_bool(likely)).collect()
        }
    }
}

/// Returns the file after a power failure with a random part of its unsynced bytes: none, all, a prefix, or any subset
/// of their sectors or pages. A prefix ends at a sector, at a page or at any byte.
fn sampled_bytes(inode: &Inode, random: &mut impl Rng) -> Inode {
    let choice = random.random_range(0..8);
    let unit = if choice % 2 == 0 { SECTOR_BYTES } else { PAGE_BYTES };
    let unsynced = inode.unsynced();
    let ends: Vec<usize> = pieces(unsynced.clone(), unit).map(|piece| piece.end).collect();
    let end = ends[random.random_range(0..ends.len())];
    match choice {
        0 => inode.synced(),
        1 => inode.whole(),
        2 | 3 => inode.cut(|_| end),
        4 => {
            let end = random.random_range(unsynced);
            inode.cut(|_| end)
        }
        _ => inode.patched(end, unit, |_| random.random()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;
    use crate::storage::{Purpose, Storage, WriteFile};

    fn read(disk: &Memory, path: &Path) -> Option<Vec<u8>> {
        let file = disk.open(path, Purpose::Log).ok()?;
        Some(file.read(0, file.len() as usize).unwrap().to_vec())
    }

    /// Returns a disk with a file whose last bytes are unsynced. The name of the file is durable.
    fn disk(synced: usize, unsynced: usize) -> (Memory, Box<dyn WriteFile>) {
        let disk = Memory::default();
        let mut file = disk.create(Path::new("a"), Purpose::Log).unwrap();
        file.append(&vec![1; synced]).unwrap();
        file.sync().unwrap();
        disk.sync_directory(Path::new("")).unwrap();
        file.append(&vec![2; unsynced]).unwrap();
        (disk, file)
    }

    #[test]
    fn few_states_are_all_numbered() {
        // Bytes 500 to 1100 are in sectors 0, 1 and 2, which gives 1 + 2 + 4 + 8 states.
        let (disk, _file) = disk(500, 600);
        let states = disk.states();
        assert_eq!(states.count(), Some(15));
        let found: HashSet<Vec<u8>> =
            (0..15).map(|number| read(&states.get(number), Path::new("a")).unwrap()).collect();
        assert_eq!(found.len(), 15);
        assert!(found.iter().all(|bytes| bytes[..500] == [1; 500]));
        let lengths: HashSet<usize> = found.iter().map(Vec::len).collect();
        assert_eq!(lengths, HashSet::from([500, 512, 1024, 1100]));
        assert_eq!(read(&states.get(states.dropped()), Path::new("a")).unwrap().len(), 500);
        assert_eq!(read(&states.get(states.kept()), Path::new("a")), read(&disk, Path::new("a")));
    }

    #[test]
    fn names_are_chosen_with_what_they_rest_on() {
        let disk = Memory::default();
        for name in ["a", "b"] {
            disk.create(Path::new(name), Purpose::Log).unwrap();
        }
        disk.rename(Path::new("a"), Path::new("c")).unwrap();
        let states = disk.states();
        assert_eq!(states.count(), Some(8));
        let found: HashSet<Vec<String>> =
            (0..8).map(|number| states.get(number).list(Path::new("")).unwrap()).collect();
        let expected = [&[][..], &["a"], &["b"], &["a", "b"], &["c"], &["b", "c"]];
        assert_eq!(found, expected.map(|names| names.iter().map(ToString::to_string).collect()).into());
        let fingerprints: HashSet<u128> = (0..8).map(|number| states.get(number).fingerprint()).collect();
        assert_eq!(fingerprints.len(), 6);
    }

    #[test]
    fn many_states_are_sampled_and_each_number_is_one() {
        let (disk, _file) = disk(100, 20_000);
        let states = disk.states();
        assert_eq!(states.count(), None);
        assert_eq!(read(&states.get(states.kept()), Path::new("a")), read(&disk, Path::new("a")));
        assert_eq!(read(&states.get(states.dropped()), Path::new("a")).unwrap(), [1; 100]);
        let found: Vec<Vec<u8>> =
            (0..200).map(|number| read(&states.get(number), Path::new("a")).unwrap()).collect();
        assert_eq!(found[7], read(&states.get(7), Path::new("a")).unwrap());
        let is_torn = |bytes: &&Vec<u8>, unit: usize| {
            bytes[100..].contains(&0)
                && bytes[unit.min(bytes.len())..]
                    .chunks(unit)
                    .all(|piece| piece.iter().all(|byte| *byte == piece[0]))
        };
        assert!(
            found.iter().filter(|bytes| is_torn(bytes, SECTOR_BYTES) && !is_torn(bytes, PAGE_BYTES)).count()
                > 5
        );
        assert!(found.iter().filter(|bytes| is_torn(bytes, PAGE_BYTES)).count() > 5);
        assert!(found.iter().filter(|bytes| bytes.len() % SECTOR_BYTES != 0).count() > 5);
        assert!(found.iter().all(|bytes| bytes[..100] == [1; 100]));
    }
}
