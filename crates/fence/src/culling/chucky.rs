//! One cuckoo filter for the whole tree, which maps the fingerprint of a key to the file of the key.
//!
//! Sources: Dayan, Twitto, "Chucky: A Succinct Cuckoo Filter for LSM-Tree" (SIGMOD 2021); Ren et al., "`SlimDB`: A
//! Space-Efficient Key-Value Storage Engine For Semi-Sorted Data" (PVLDB 10(13), 2017), multi-level cuckoo filters. The
//! buckets and the partial-key hashing follow Fan et al., "Cuckoo Filter" (`CoNEXT` 2014).
//!
//! A lookup reads two buckets of four entries, for any number of sorted runs. With fingerprints of F bits, an absent
//! key matches an entry with a probability of at most 8 · 2^−F. The number of false positives per lookup therefore does
//! not depend on the number of sorted runs. An entry takes F bits and log2(files) bits. The sources store the sorted
//! run of an entry, and Chucky compresses this number. This variant stores the file, so a change never needs the keys
//! of a removed file.
//!
//! Each flush and each compaction copies the filter, because readers share the old filter. Versions of a key that do
//! not fit into their two buckets are in an overflow list. If the filter is full, the tree reads the keys of all files
//! and builds a larger filter.

use std::collections::BTreeMap;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::binary::Binary;
use super::key_index::{FileKeys, KeyIndex};
use super::policy::{Culling, LevelForm, RunIndex};
use super::ranges::FileRanges;

pub(super) const VARIANT: Variant<dyn Culling> = Variant::new::<Chucky>(
    "chucky",
    "one cuckoo filter for the whole tree, which maps a key to its SSTables; gets use no other filters",
    "# Bits per fingerprint, 4 to 16. Each additional bit halves the number of lookups of absent keys that\n\
     # search an SSTable.\n\
     fingerprint_bits = 12\n",
);

/// The number of entries in a bucket of the cuckoo filter.
const BUCKET_ENTRIES: u64 = 4;

/// The largest share of used entries in the cuckoo filter. Above this share, insertions often find no free entry.
const MOST_LOAD: f64 = 0.95;

/// The capacity of a new cuckoo filter in keys, divided by the number of keys for which it is built. The difference is
/// room for the keys of later files.
const ROOM: f64 = 1.25;

/// The smallest number of buckets of the cuckoo filter.
const LEAST_BUCKETS: u64 = 16;

/// The number of entries that one insertion into the cuckoo filter may move.
const MOST_MOVES: u32 = 256;

/// The culling method `chucky`: one cuckoo filter for the whole tree. Scans use binary search.
struct Chucky(Params);

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    fingerprint_bits: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { fingerprint_bits: 12 }
    }
}

impl Build<dyn Culling> for Chucky {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Culling>, String> {
        match params.fingerprint_bits {
            4..=16 => Ok(Box::new(Self(params))),
            bits => Err(format!("fingerprint_bits is {bits}; it must be from 4 to 16")),
        }
    }
}

impl Culling for Chucky {
    fn index(&self, files: FileRanges, level: LevelForm) -> Box<dyn RunIndex> {
        Binary.index(files, level)
    }

    fn key_index(&self, files: &[FileKeys]) -> Option<Box<dyn KeyIndex>> {
        Some(Box::new(CuckooIndex::new(self.0.fingerprint_bits, files)))
    }
}

/// A cuckoo filter for the whole tree. Each entry has the fingerprint of a key and the number of a file that contains
/// the key.
struct CuckooIndex {
    fingerprint_bits: u32,
    buckets: u64,
    entries: PackedEntries,
    used: u64,
    /// Entries that fit into neither of their two buckets. The map key is the smaller bucket and the fingerprint, and
    /// the value is the list of file numbers.
    overflow: BTreeMap<(u64, u64), Vec<u32>>,
}

/// The place of a key in the cuckoo filter: the first of its two buckets, and its fingerprint.
#[derive(Clone, Copy)]
struct Home {
    bucket: u64,
    /// The fingerprint of the key, which is never 0.
    fingerprint: u64,
}

impl CuckooIndex {
    fn new(fingerprint_bits: u32, files: &[FileKeys]) -> Self {
        let keys: usize = files.iter().map(|file| file.hashes.len()).sum();
        let buckets = (keys as f64 * ROOM / MOST_LOAD / BUCKET_ENTRIES as f64).ceil() as u64;
        let buckets = buckets.max(LEAST_BUCKETS);
        let most_file = files.iter().map(|file| file.file).max().unwrap_or(0);
        let width = fingerprint_bits + file_bits(most_file);
        let entries = PackedEntries::new(width, buckets * BUCKET_ENTRIES);
        let mut index = Self { fingerprint_bits, buckets, entries, used: 0, overflow: BTreeMap::new() };
        index.insert_all(files);
        index
    }

    fn insert_all(&mut self, files: &[FileKeys]) {
        for file in files {
            for hash in &file.hashes {
                self.insert(self.home(*hash), file.file);
            }
        }
    }

    /// Returns the first bucket and the fingerprint for the hash of a key. The two depend on different bits of the
    /// hash.
    fn home(&self, hash: u64) -> Home {
        let mixed = mix(hash);
        let bucket = ((u128::from(mixed) * u128::from(self.buckets)) >> 64) as u64;
        // The range of a fingerprint excludes 0, which marks a free entry.
        let range = (1u64 << self.fingerprint_bits) - 1;
        Home { bucket, fingerprint: 1 + (((mix(mixed) >> 32) * range) >> 32) }
    }

    /// Returns the other of the two buckets of a key, with the same fingerprint. Two calls return the original bucket.
    fn other(&self, home: Home) -> Home {
        let shift = mix(home.fingerprint) % self.buckets;
        Home { bucket: (shift + self.buckets - home.bucket) % self.buckets, ..home }
    }

    /// Returns the map key of an entry in `overflow`. Both buckets of the entry give the same map key.
    fn overflow_key(&self, home: Home) -> (u64, u64) {
        (home.bucket.min(self.other(home).bucket), home.fingerprint)
    }

    fn slots(bucket: u64) -> std::ops::Range<u64> {
        bucket * BUCKET_ENTRIES..(bucket + 1) * BUCKET_ENTRIES
    }

    fn fingerprint(&self, entry: u64) -> u64 {
        entry & ((1 << self.fingerprint_bits) - 1)
    }

    fn file(&self, entry: u64) -> u32 {
        (entry >> self.fingerprint_bits) as u32
    }

    fn entry(&self, fingerprint: u64, file: u32) -> u64 {
        fingerprint | u64::from(file) << self.fingerprint_bits
    }

    /// Puts an entry into a free slot of a bucket. Returns `false` if the bucket has no free slot.
    fn fill(&mut self, bucket: u64, entry: u64) -> bool {
        let free = Self::slots(bucket).find(|slot| self.entries.get(*slot) == 0);
        free.map(|slot| self.entries.set(slot, entry)).is_some()
    }

    fn insert(&mut self, home: Home, file: u32) {
        self.used += 1;
        let (mut home, mut entry) = (home, self.entry(home.fingerprint, file));
        let other = self.other(home);
        if self.fill(home.bucket, entry) || self.fill(other.bucket, entry) {
            return;
        }
        // If all entries of both buckets have the fingerprint of this key, no entry can move to a third bucket.
        let mut both = Self::slots(home.bucket).chain(Self::slots(other.bucket));
        let is_hopeless = both.all(|slot| self.fingerprint(self.entries.get(slot)) == home.fingerprint);
        let moves = if is_hopeless { 0 } else { MOST_MOVES };
        for number in 0..moves {
            let slot = home.bucket * BUCKET_ENTRIES + mix(entry ^ u64::from(number)) % BUCKET_ENTRIES;
            let victim = self.entries.get(slot);
            self.entries.set(slot, entry);
            entry = victim;
            home = self.other(Home { bucket: home.bucket, fingerprint: self.fingerprint(victim) });
            if self.fill(home.bucket, entry) {
                return;
            }
        }
        let file = self.file(entry);
        self.overflow.entry(self.overflow_key(home)).or_default().push(file);
    }

    /// Returns whether the filter has room for `entries` entries in total.
    fn has_room_for(&self, entries: u64) -> bool {
        entries as f64 <= MOST_LOAD * (self.buckets * BUCKET_ENTRIES) as f64
    }
}

impl KeyIndex for CuckooIndex {
    fn files(&self, hash: u64, visit: &mut dyn FnMut(u32)) {
        let home = self.home(hash);
        let other = self.other(home);
        let buckets = if other.bucket == home.bucket { &[home][..] } else { &[home, other][..] };
        for slot in buckets.iter().flat_map(|home| Self::slots(home.bucket)) {
            let entry = self.entries.get(slot);
            if self.fingerprint(entry) == home.fingerprint {
                visit(self.file(entry));
            }
        }
        if !self.overflow.is_empty() {
            let files = self.overflow.get(&self.overflow_key(home));
            files.into_iter().flatten().for_each(|file| visit(*file));
        }
    }

    fn edited(&self, removed: &[u32], added: &[FileKeys]) -> Option<Box<dyn KeyIndex>> {
        let mut is_gone = vec![false; removed.iter().max().map_or(0, |last| *last as usize + 1)];
        removed.iter().for_each(|file| is_gone[*file as usize] = true);
        let stays = |file: u32| is_gone.get(file as usize) != Some(&true);
        let most_file = added.iter().map(|file| file.file).max().unwrap_or(0);
        let width = self.entries.width.max(self.fingerprint_bits + file_bits(most_file));
        let (fingerprint_bits, buckets) = (self.fingerprint_bits, self.buckets);
        let entries = PackedEntries::new(width, buckets * BUCKET_ENTRIES);
        let mut next = Self { fingerprint_bits, buckets, entries, used: 0, overflow: BTreeMap::new() };
        for slot in 0..buckets * BUCKET_ENTRIES {
            let entry = self.entries.get(slot);
            if entry != 0 && stays(self.file(entry)) {
                next.entries.set(slot, entry);
                next.used += 1;
            }
        }
        let new: usize = added.iter().map(|file| file.hashes.len()).sum();
        let overflowed: u64 = self.overflow.values().map(|files| files.len() as u64).sum();
        if !next.has_room_for(next.used + overflowed + new as u64) {
            return None;
        }
        for ((bucket, fingerprint), files) in &self.overflow {
            let home = Home { bucket: *bucket, fingerprint: *fingerprint };
            files.iter().filter(|file| stays(**file)).for_each(|file| next.insert(home, *file));
        }
        next.insert_all(added);
        Some(Box::new(next))
    }

    fn memory_bytes(&self) -> usize {
        let files: usize = self.overflow.values().map(|files| 24 + 4 * files.len()).sum();
        self.entries.words.len() * 8 + files + 16 * self.overflow.len()
    }
}

/// Returns the number of bits of an entry that the file numbers from 0 to `file` need.
fn file_bits(file: u32) -> u32 {
    (u32::BITS - file.leading_zeros()).max(1)
}

/// Mixes the bits of a number, so that each bit of the result depends on all bits of the number. The function is the
/// finalizer of `MurmurHash3`.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    bits = (bits ^ bits >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    bits ^ bits >> 33
}

/// An array of filter entries that have equal widths.
struct PackedEntries {
    /// The number of bits of an entry of the array, at most 48.
    width: u32,
    words: Vec<u64>,
}

impl PackedEntries {
    /// Creates an array of `len` entries with the value 0.
    fn new(width: u32, len: u64) -> Self {
        // One more word allows every entry to be read as two words.
        Self { width, words: vec![0; (len * u64::from(width)).div_ceil(64) as usize + 1] }
    }

    fn place(&self, at: u64) -> (usize, u32) {
        let bit = at * u64::from(self.width);
        ((bit / 64) as usize, (bit % 64) as u32)
    }

    fn get(&self, at: u64) -> u64 {
        let (word, shift) = self.place(at);
        let both = u128::from(self.words[word]) | u128::from(self.words[word + 1]) << 64;
        (both >> shift) as u64 & ((1 << self.width) - 1)
    }

    fn set(&mut self, at: u64, entry: u64) {
        let (word, shift) = self.place(at);
        let (mask, bits) = (u128::from((1u64 << self.width) - 1) << shift, u128::from(entry) << shift);
        let both = u128::from(self.words[word]) | u128::from(self.words[word + 1]) << 64;
        let both = both & !mask | bits;
        self.words[word] = both as u64;
        self.words[word + 1] = (both >> 64) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(file: u32, keys: std::ops::Range<u64>) -> FileKeys {
        FileKeys { file, hashes: keys.map(|key| mix(key ^ 0x9e37)).collect() }
    }

    fn found(index: &dyn KeyIndex, key: u64) -> Vec<u32> {
        let mut files = Vec::new();
        index.files(mix(key ^ 0x9e37), &mut |file| files.push(file));
        files
    }

    #[test]
    fn the_false_positive_rate_is_the_rate_of_the_source_for_any_number_of_files() {
        for files in [1, 40] {
            let share = 40_000 / u64::from(files);
            let all: Vec<FileKeys> = (0..files)
                .map(|file| keys(file, u64::from(file) * share..u64::from(file + 1) * share))
                .collect();
            let index = CuckooIndex::new(8, &all);
            let matches: usize = (1 << 40..(1 << 40) + 40_000).map(|key| found(&index, key).len()).sum();
            let rate = matches as f64 / 40_000.0;
            // Eight entries with a load of 0.95 / 1.25, and 255 fingerprints.
            let expected = 8.0 * (MOST_LOAD / ROOM) / 255.0;
            assert!((rate / expected - 1.0).abs() < 0.15, "{files} files: {rate}, not {expected}");
        }
    }

    #[test]
    fn many_versions_of_a_key_overflow_and_leave() {
        let all: Vec<FileKeys> = (0..20).map(|file| keys(file, 0..100)).collect();
        let index = CuckooIndex::new(12, &all);
        assert!(!index.overflow.is_empty());
        for key in 0..100 {
            let mut files = found(&index, key);
            files.sort_unstable();
            files.dedup();
            assert_eq!(files, (0..20).collect::<Vec<_>>());
        }
        let removed: Vec<u32> = (1..20).collect();
        let left = index.edited(&removed, &[]).unwrap();
        (0..100).for_each(|key| assert_eq!(found(&*left, key).first(), Some(&0)));
        let matches: usize = (0..100).map(|key| found(&*left, key).len()).sum();
        assert!(matches < 105, "{matches} entries remain");
        assert!(left.memory_bytes() < index.memory_bytes());
    }

    #[test]
    fn a_full_filter_asks_for_a_new_filter() {
        let index = CuckooIndex::new(12, &[keys(0, 0..1000)]);
        assert!(index.edited(&[], &[keys(1, 1000..1100)]).is_some());
        assert!(index.edited(&[], &[keys(1, 1000..2000)]).is_none());
        let widened = index.edited(&[0], &[keys(300, 0..1000)]).unwrap();
        (0..1000).for_each(|key| assert_eq!(found(&*widened, key), [300]));
    }
}
