//! The cuckoo filter. A fingerprint of every key is stored in one of two buckets of four slots.
//!
//! The second bucket is computed from the first bucket and the fingerprint, so fingerprints can move without their
//! keys. In general, a cuckoo filter supports the removal of keys, and a Bloom filter does not. This filter is built
//! once, and 95 % of its slots are filled. Source: Fan, Andersen, Kaminsky & Mitzenmacher, "Cuckoo filter:
//! practically better than Bloom" (2014). The number of buckets does not have to be a power of two. The fingerprint
//! determines a constant c. The second bucket is c minus the first bucket, modulo the number of buckets. The same
//! formula computes the second bucket from the first bucket, and the first bucket from the second bucket.
//!
//! The filter takes `fingerprint_bits` / 8 / 0.95 bytes per key. A probe makes two memory accesses, which overlap.
//! The false-positive rate is about 8 · 0.95 / 2^`fingerprint_bits`.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::packed::{MOST_WIDTH, Packed};
use crate::position::{mix, reduce};
use crate::stored::Head;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Cuckoo>(
    "cuckoo",
    "stores a fingerprint of each key in one of two buckets; a lookup reads both, which costs two cache \
     misses",
    "# Fingerprint length in bits, 6 to 32. A longer fingerprint lowers the false-positive rate. An\n\
     # allocation such as \"monkey\" can replace the fingerprint length, to meet its memory budget.\n\
     fingerprint_bits = 12\n",
);

const TAG: [u8; 4] = *b"cuck";
const BUCKET: usize = 4;
const LOAD: f64 = 0.95;

/// The smallest length of a fingerprint in bits. Shorter fingerprints have too few values to fill two buckets.
const LEAST_WIDTH: u32 = 6;

/// The largest number of fingerprints that an insertion moves to their other bucket. If no slot is free after these
/// moves, the table counts as full.
const MOST_MOVES: u64 = 500;

/// Builds cuckoo filters, which store a fingerprint of each key in one of two buckets.
struct Cuckoo {
    fingerprint_bits: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    fingerprint_bits: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { fingerprint_bits: 12 }
    }
}

impl Build<dyn FilterPolicy> for Cuckoo {
    type Params = Params;

    fn build(Params { fingerprint_bits }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        if !(LEAST_WIDTH..=MOST_WIDTH).contains(&fingerprint_bits) {
            return Err(format!(
                "fingerprint_bits is {fingerprint_bits}; it must be from {LEAST_WIDTH} to {MOST_WIDTH}"
            ));
        }
        Ok(Box::new(Self { fingerprint_bits }))
    }
}

impl FilterPolicy for Cuckoo {
    /// Builds the table of buckets, and increases the number of buckets until every fingerprint fits.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let width = match input.bits_per_key {
            Some(bits) => Budget::width(bits * LOAD).clamp(LEAST_WIDTH, MOST_WIDTH),
            None => self.fingerprint_bits,
        };
        let mut keys: Vec<u64> = input.hashes.iter().map(|hash| mix(hash.0, 0)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut buckets = ((keys.len() as f64 / BUCKET as f64 / LOAD).ceil() as usize).max(1);
        let table = loop {
            let mut table = Table { tags: Packed::zeros(buckets * BUCKET, width), buckets, stored: 0 };
            if keys.iter().all(|key| table.insert(*key)) {
                break table;
            }
            buckets += buckets / 50 + 1;
        };
        let words: Vec<u64> = [buckets as u64].into_iter().chain(table.tags.to_words()).collect();
        Head { tag: TAG, probes: width, keys: table.stored }.encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (Head { probes: width, keys: stored, .. }, mut words) = Head::decode(&stored, TAG)?;
        let buckets = words.next().unwrap_or(0);
        let fits = |width| {
            let places = buckets.checked_mul(BUCKET as u64)?;
            Some(Packed::checked_words(places, width)? == words.len() as u64 && stored <= places)
        };
        if buckets == 0 || !(LEAST_WIDTH..=MOST_WIDTH).contains(&width) || fits(width) != Some(true) {
            return Err(CorruptFilter(format!(
                "the header of the stored filter states {stored} fingerprints of {width} bits, which do not \
                 match its {buckets} buckets"
            )));
        }
        Ok(Box::new(Table { tags: Packed::from_words(words, width), buckets: buckets as usize, stored }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(f64::from(self.fingerprint_bits) / LOAD)
    }
}

/// A cuckoo filter in memory: a table of buckets with four fingerprints each.
struct Table {
    /// The fingerprints in all slots of all buckets, in the order of the buckets. The value 0 is an empty slot.
    tags: Packed,
    buckets: usize,
    /// The number of stored fingerprints. If two keys have equal fingerprints and equal buckets, the filter stores
    /// their fingerprint only once.
    stored: u64,
}

impl Table {
    /// Returns the first of the two buckets of a key, and the fingerprint of the key. The fingerprint is not 0.
    #[inline]
    fn home(&self, mixed: u64) -> (usize, u64) {
        let tag = mixed & self.tags.mask();
        (reduce(mixed, self.buckets), tag.max(1))
    }

    /// Returns the other of the two buckets in which the fingerprint `tag` may be. `bucket` is one of these buckets.
    #[inline]
    fn other(&self, bucket: usize, tag: u64) -> usize {
        let place = reduce(mix(tag, 1), self.buckets);
        if place >= bucket { place - bucket } else { place + self.buckets - bucket }
    }

    #[inline]
    fn places(bucket: usize) -> std::ops::Range<usize> {
        bucket * BUCKET..(bucket + 1) * BUCKET
    }

    /// Returns the index of the slot of a bucket that contains the fingerprint `tag`. The index counts the slots of all
    /// buckets. Returns `None` if no slot of the bucket contains the fingerprint.
    #[inline]
    fn find(&self, bucket: usize, tag: u64) -> Option<usize> {
        Self::places(bucket).find(|place| self.tags.get(*place) == tag)
    }

    /// Whether the bucket contains the fingerprint `tag`. The test of the four slots has no branches.
    #[inline]
    fn has(&self, bucket: usize, tag: u64) -> bool {
        Self::places(bucket).fold(false, |has, place| has | (self.tags.get(place) == tag))
    }

    /// Inserts the fingerprint of a key into one of its buckets, and moves other fingerprints if needed. Returns
    /// `false` if the table is full.
    fn insert(&mut self, mixed: u64) -> bool {
        let (mut bucket, mut tag) = self.home(mixed);
        let other = self.other(bucket, tag);
        if self.has(bucket, tag) || self.has(other, tag) {
            return true;
        }
        self.stored += 1;
        for bucket in [bucket, other] {
            if let Some(place) = self.find(bucket, 0) {
                self.tags.set(place, tag);
                return true;
            }
        }
        for step in 0..MOST_MOVES {
            let place = bucket * BUCKET + mix(mixed, step) as usize % BUCKET;
            let moved = self.tags.get(place);
            self.tags.set(place, tag);
            tag = moved;
            bucket = self.other(bucket, tag);
            if let Some(place) = self.find(bucket, 0) {
                self.tags.set(place, tag);
                return true;
            }
        }
        false
    }
}

impl Filter for Table {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let (bucket, tag) = self.home(mix(hash.0, 0));
        self.has(bucket, tag) | self.has(self.other(bucket, tag), tag)
    }

    fn prefetch(&self, hash: KeyHash) {
        let (bucket, tag) = self.home(mix(hash.0, 0));
        for bucket in [bucket, self.other(bucket, tag)] {
            self.tags.prefetch(bucket * BUCKET);
        }
    }

    /// Returns the expected false-positive rate: the sum of the rates of the slots in the two buckets of a key. The
    /// rate of one slot is the load times the probability that two fingerprints are equal.
    fn expected_fpr(&self) -> f64 {
        // A fingerprint of 0 is replaced by 1. The two buckets of a key are equal with probability 1 / buckets.
        let tags = 2f64.powf(self.tags.width().into());
        let equal = (tags + 2.0) / (tags * tags);
        let load = self.stored as f64 / (self.buckets * BUCKET) as f64;
        let (bucket, same) = (BUCKET as f64 * load * equal, 1.0 / self.buckets as f64);
        bucket + (1.0 - same) * bucket * (1.0 - bucket)
    }

    fn memory_bytes(&self) -> usize {
        self.tags.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_lead_to_each_other_and_fill_up() {
        let hashes: Vec<KeyHash> = (0..200_000).map(|i| KeyHash(mix(i, 9))).collect();
        let policy = Cuckoo { fingerprint_bits: 12 };
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
        let filter = policy.open(Bytes::copy_from(&stored)).unwrap();
        let bits = filter.memory_bytes() as f64 * 8.0 / hashes.len() as f64;
        assert!((12.0 / LOAD..12.0 / LOAD * 1.02).contains(&bits), "{bits}");
        let table = Table { tags: Packed::zeros(4000, 8), buckets: 1000, stored: 0 };
        for hash in &hashes[..1000] {
            let (bucket, tag) = table.home(hash.0);
            assert_eq!(table.other(table.other(bucket, tag), tag), bucket);
        }
    }

    #[test]
    fn corrupt_numbers_are_refused() {
        let policy = Cuckoo { fingerprint_bits: 8 };
        for (width, buckets) in [(8, 0u64), (3, 1), (33, 1), (8, 3), (8, u64::MAX / 2)] {
            let stored = Head { tag: TAG, probes: width, keys: 0 }.encode([buckets, 0, 0].into_iter());
            assert!(policy.open(Bytes::copy_from(&stored)).is_err());
        }
    }
}
