//! Diva, a range filter that stores a short infix of each key. The infix is a number: the position of the key between
//! two sampled keys.
//!
//! Every 512th key is a sample. The filter stores only the shortest prefix of a sample that separates the sample from
//! the key before it. All keys between two adjacent samples begin with the prefix that these samples share. The bytes
//! after the shared prefix form a number, which is the position of the key between the two samples. The filter keeps
//! the leading part of this number as the infix of the key. Infixes have the same order as the keys, so a range of
//! keys corresponds to a range of infixes. The queried range is empty if no key has one of the infixes of the range.
//! The infixes of all keys are stored as a sorted set in the Elias–Fano encoding.
//!
//! Dense regions of keys have many samples, and each pair of adjacent samples has its own shared prefix. The filter
//! therefore works for keys of any length and kind, and for ranges of any length. If the number of possible infixes
//! is K per key, a random absent key has the infix of a stored key with probability 1/K. A range that begins right
//! after a key often includes the infix of this key. As with [`snarf`](crate::snarf), the false-positive rate of such
//! ranges has no bound.
//!
//! An infix distinguishes keys only by the bytes right after the prefix that two samples share. Between two samples
//! that differ early, many keys can share a longer prefix. All these keys have the same infix, and absent keys with
//! this prefix are false positives.
//!
//! Source: Eslami, Dayan, "Diva: Dynamic Range Filter for Var-Length Keys and Queries" (VLDB 2025). The filter of the
//! paper accepts new keys, and its infixes are bits of the keys. This filter is built once from all keys, and computes
//! the numbers of keys with `alphabet.rs`. Keys of decimal digits therefore give contiguous numbers, as binary keys do.
//! In this filter, each of the first positions of a key has its own set of digits. In contrast, the code of single
//! characters in Zhang et al., "Order-Preserving Key Compression for In-Memory Search Trees" (SIGMOD 2020), has one set
//! of digits for all positions.
//!
//! The filter takes `bits_per_key` / 8 bytes per key, including the samples. A lookup or range makes a binary search
//! of the samples, and about three memory accesses in the set of infixes.

use std::ops::Bound;

use catalog::{Build, Variant};
use types::{Bytes, HashedKey, KeyHash, KeyList, common_prefix};

use crate::alphabet::Alphabet;
use crate::batch::one_by_one;
use crate::budget::{Budget, BudgetParams};
use crate::codes::{Codes, different, layout};
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::no_keys::NoKeys;
use crate::stored::Head;
use crate::universe::{decode_bytes, encode_bytes};

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Diva>(
    "diva",
    "a range filter of key infixes between sampled keys; many false positives for ranges right after a key",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate, but the filter uses\n\
     # at most 34 bits per key.\n\
     bits_per_key = 12\n",
);

const TAG: [u8; 4] = *b"diva";

/// The smallest number of keys between two sampled keys.
const SAMPLE: usize = 512;

/// The largest fraction of the memory budget that the sampled keys may take.
const SAMPLE_SHARE: f64 = 1.0 / 8.0;
/// The largest fraction of the memory budget that the alphabet may take. The alphabet is the set of byte values that
/// occur at each key position.
const ALPHABET_SHARE: f64 = 1.0 / 16.0;

/// Builds Diva filters, which store the position of each key between two sampled keys.
struct Diva {
    budget: Budget,
}

impl Build<dyn FilterPolicy> for Diva {
    type Params = BudgetParams<12>;

    fn build(params: Self::Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self { budget: Budget::from_param(params.bits_per_key)? }))
    }
}

impl FilterPolicy for Diva {
    /// Builds the filter. The stored form begins with four numbers: the possible codes per segment, the codes, the
    /// distinct codes, and the common length of the keys. The alphabet (the byte values of the keys), the samples and
    /// the codes follow. The header field `probes` has the number that identifies the encoding of the codes (see
    /// [`Codes`]).
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys = input.needed_keys();
        if keys.is_empty() {
            return Head::new(TAG, 0, &[]).encode([0; 0].into_iter());
        }
        let bits = self.budget.bits_per_key(input) * keys.len() as f64;
        let samples = Samples::of(keys, bits * SAMPLE_SHARE);
        let alphabet = Alphabet::of(keys, bits * ALPHABET_SHARE);
        let (range, form) = layout(bits - samples.inner_bits() - alphabet.bits(), keys.len(), u64::MAX);
        let cells = (range / samples.segments()).max(1);
        let places = Places { length: common_length(keys, &alphabet), alphabet, samples, cells };
        let codes: Vec<u64> = keys.iter().map(|key| places.code(key)).collect();
        let mut words = vec![cells, codes.len() as u64, different(&codes), places.length];
        places.alphabet.encode(&mut words);
        places.samples.encode(&mut words);
        Codes::encode(&codes, cells * places.samples.segments(), form, &mut words);
        Head::new(TAG, form, input.hashes).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode(&stored, TAG)?;
        if head.keys == 0 && words.len() == 0 {
            return Ok(Box::new(NoKeys));
        }
        let corrupt = || {
            CorruptFilter(
                "the samples, the digits or the key infixes of the stored filter are incomplete, or do not \
                 match the header"
                    .to_owned(),
            )
        };
        let [cells, len, different, length] = [(); 4].map(|()| words.next().unwrap_or_default());
        let alphabet = Alphabet::decode(&mut words).ok_or_else(corrupt)?;
        let samples = Samples::decode(&mut words).ok_or_else(corrupt)?;
        let range = cells.checked_mul(samples.segments()).ok_or_else(corrupt)?;
        if different == 0 || different > len.min(range) || len > head.keys {
            return Err(corrupt());
        }
        let codes = Codes::decode(&mut words, len, range, head.probes).ok_or_else(corrupt)?;
        let places = Places { alphabet, samples, length, cells };
        Ok(Box::new(DivaFilter { rate: places.rate(different), places, codes }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }

    fn needs_keys(&self) -> bool {
        true
    }

    fn assumes_similar_keys(&self) -> bool {
        true
    }
}

/// Returns the length of the keys, if all keys have one length and `alphabet` maps them to different numbers. Otherwise
/// returns 0.
fn common_length(keys: &KeyList, alphabet: &Alphabet) -> u64 {
    let (first, last) = (keys.key(0), keys.key(keys.len() - 1));
    let fits = alphabet.unit(common_prefix(first, last), first.len()).is_some();
    let is_common = fits && keys.iter().all(|key| key.len() == first.len());
    if is_common { first.len() as u64 } else { 0 }
}

/// The sampled keys in ascending order, which divide the keys of an SSTable into segments. The first sample is the
/// first key, the last sample is the last key, and all others are shortened keys (separators). If an SSTable has only
/// one distinct key, the filter has one sample.
struct Samples {
    bytes: Vec<u8>,
    /// The end offset of each sampled key in `bytes`.
    ends: Vec<u64>,
}

impl Samples {
    /// Takes samples from the sorted keys. The samples fit into `bits` bits, and at least 512 keys are between two
    /// samples.
    fn of(keys: &KeyList, bits: f64) -> Self {
        let mut distance = SAMPLE;
        loop {
            let samples = Self::every(distance, keys);
            if samples.inner_bits() <= bits || distance >= keys.len() {
                return samples;
            }
            distance *= 2;
        }
    }

    fn every(distance: usize, keys: &KeyList) -> Self {
        let (first, last) = (keys.key(0), keys.key(keys.len() - 1));
        let mut samples = Self { bytes: Vec::new(), ends: Vec::new() };
        samples.push(first);
        for at in (distance..keys.len()).step_by(distance) {
            let (before, key) = (keys.key(at - 1), keys.key(at));
            let shared = common_prefix(before, key);
            // Two equal keys have no separator.
            if shared < key.len() {
                samples.push(&key[..=shared]);
            }
        }
        if samples.last() < last {
            samples.push(last);
        }
        samples
    }

    fn push(&mut self, sample: &[u8]) {
        self.bytes.extend(sample);
        self.ends.push(self.bytes.len() as u64);
    }

    fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.bytes[start..self.ends[index] as usize]
    }

    fn last(&self) -> &[u8] {
        self.get(self.ends.len() - 1)
    }

    /// Returns the number of segments. A segment consists of the keys between two adjacent samples. If there is only
    /// one sample, the result is 1.
    fn segments(&self) -> u64 {
        (self.ends.len() as u64 - 1).max(1)
    }

    /// Returns the index of the segment to which a key belongs. The key is not below the first sampled key and not
    /// above the last one.
    fn segment(&self, key: &[u8]) -> usize {
        let (mut start, mut end) = (0, self.segments() as usize);
        while end - start > 1 {
            let middle = start + (end - start) / 2;
            if self.get(middle) <= key {
                start = middle;
            } else {
                end = middle;
            }
        }
        start
    }

    /// Returns the memory in bits of the samples between the first and the last key.
    fn inner_bits(&self) -> f64 {
        let inner =
            self.bytes.len() - self.get(0).len() - if self.ends.len() > 1 { self.last().len() } else { 0 };
        8.0 * (inner + size_of::<u64>() * self.ends.len().saturating_sub(2)) as f64
    }

    fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.ends)
    }

    fn encode(&self, words: &mut Vec<u64>) {
        words.push(self.ends.len() as u64);
        words.extend(&self.ends);
        encode_bytes(&self.bytes, words);
    }

    /// Decodes the sampled keys from stored words. Returns `None` if the words are corrupt or the samples do not
    /// ascend.
    fn decode(words: &mut impl ExactSizeIterator<Item = u64>) -> Option<Self> {
        let count = words.next().filter(|count| (1..=words.len() as u64).contains(count))?;
        let ends: Vec<u64> = words.by_ref().take(count as usize).collect();
        let bytes = decode_bytes(words)?;
        let fits = ends.is_sorted() && ends.last().is_some_and(|end| *end == bytes.len() as u64);
        let samples = Self { bytes, ends };
        let ascend = || (1..samples.ends.len()).all(|index| samples.get(index - 1) < samples.get(index));
        (fits && ascend()).then_some(samples)
    }
}

/// Maps each key to a code, a small number that the filter stores for the key. The code is the index of the segment of
/// the key, combined with the position of the key in this segment.
struct Places {
    alphabet: Alphabet,
    samples: Samples,
    /// The length of all keys, if all keys have one length and are mapped to different numbers. Otherwise 0, which
    /// means that several keys can have the same number.
    length: u64,
    /// The number of possible codes in each segment, which is the key range between two adjacent samples.
    cells: u64,
}

/// The position of a key between two adjacent sampled keys. Each key is represented by a number, and the numbers sort
/// like the keys.
struct Place {
    segment: u64,
    /// The number that represents the key, minus the number that represents the sample before the key.
    number: u64,
    /// The number that represents the sample after the key, minus the number that represents the sample before the key.
    most: u64,
    /// The smallest possible difference between the numbers that represent two different keys.
    unit: u64,
}

impl Places {
    /// Returns the position of a key between the two sampled keys around it. The key is not below the first sampled key
    /// and not above the last one.
    fn place(&self, key: &[u8]) -> Place {
        let segment = self.samples.segment(key);
        let low = self.samples.get(segment);
        let high = if self.samples.ends.len() > 1 { self.samples.get(segment + 1) } else { low };
        // Every key between two samples has the prefix that these samples share.
        let shared = common_prefix(low, high);
        let number = |key: &[u8]| self.alphabet.number(key, shared);
        let (from, to) = (number(low), number(high));
        let unit = match self.length {
            0 => 1,
            length => self.alphabet.unit(shared, length as usize).unwrap_or(1),
        };
        Place { segment: segment as u64, number: number(key).clamp(from, to) - from, most: to - from, unit }
    }

    fn code_of(&self, Place { segment, number, most, .. }: Place) -> u64 {
        let cell = u128::from(number) * u128::from(self.cells) / (u128::from(most) + 1);
        segment * self.cells + cell as u64
    }

    /// Returns the code that the filter stores for a key. The key is not below the first sampled key and not above the
    /// last one.
    fn code(&self, key: &[u8]) -> u64 {
        self.code_of(self.place(key))
    }

    /// Returns the largest code that a stored key below `bound` can have. `bound` is above the first sampled key and
    /// not above the last one. Returns `None` if no stored key can be below `bound`.
    fn last_code_below(&self, bound: &[u8]) -> Option<u64> {
        let place = self.place(bound);
        let shared = common_prefix(self.samples.get(0), self.samples.last());
        let is_told_apart = bound.len() as u64 <= self.length && self.alphabet.has_all(bound, shared);
        if !is_told_apart {
            return Some(self.code_of(place));
        }
        match place.number.checked_sub(place.unit) {
            Some(number) => Some(self.code_of(Place { number, ..place })),
            None => (place.segment * self.cells).checked_sub(1),
        }
    }

    /// Estimates the fraction of absent keys that are false positives, because they have the code of a stored key.
    /// Absent keys are assumed to be distributed like the stored keys, which have `different` distinct codes.
    fn rate(&self, different: u64) -> f64 {
        if self.samples.ends.len() == 1 {
            return 0.0;
        }
        let different = different as f64;
        let numbers_of = |index: usize| {
            let place = self.place(self.samples.get(index));
            (place.most / place.unit) as f64 + 1.0
        };
        let numbers: f64 = (1..self.samples.ends.len()).map(numbers_of).sum();
        let keys = if self.length > 0 { different / numbers } else { 0.0 };
        (different / (self.cells as f64 * self.samples.segments() as f64) - keys).max(0.0)
    }
}

/// A Diva filter in memory: the sampled keys, and a code for the position of each key between two samples.
struct DivaFilter {
    places: Places,
    codes: Codes,
    rate: f64,
}

impl DivaFilter {
    /// Returns the first and the last code that a key between two bounds can have. Returns `None` if no stored key can
    /// be between the bounds.
    fn between(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Option<(u64, u64)> {
        let (first, last) = (self.places.samples.get(0), self.places.samples.last());
        let lowest = match low {
            Bound::Included(key) if key > last => return None,
            Bound::Excluded(key) if key >= last => return None,
            Bound::Included(key) | Bound::Excluded(key) if key > first => self.places.code(key),
            _ => 0,
        };
        let highest = match high {
            Bound::Included(key) if key < first => return None,
            Bound::Excluded(key) if key <= first => return None,
            Bound::Included(key) if key < last => self.places.code(key),
            Bound::Excluded(key) if key <= last => self.places.last_code_below(key)?,
            _ => self.places.code(last),
        };
        (lowest <= highest).then_some((lowest, highest))
    }
}

impl Filter for DivaFilter {
    /// Always returns true, because a hash does not identify the position of its key.
    fn may_contain(&self, _: KeyHash) -> bool {
        true
    }

    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        let is_inside = self.places.samples.get(0) <= key.bytes && key.bytes <= self.places.samples.last();
        is_inside && {
            let code = self.places.code(key.bytes);
            self.codes.has_between(code, code)
        }
    }

    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        one_by_one(keys, answers, |key| self.may_contain_key(key));
    }

    fn answers_ranges(&self) -> bool {
        true
    }

    fn may_contain_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> bool {
        self.between(low, high).is_some_and(|(first, last)| self.codes.has_between(first, last))
    }

    fn expected_fpr(&self) -> f64 {
        self.rate
    }

    fn memory_bytes(&self) -> usize {
        self.codes.memory_bytes() + self.places.samples.memory_bytes() + self.places.alphabet.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::mix;
    use crate::testing::{share_of_empty_ranges, sorted};

    const KEYS: u64 = 20_000;

    fn filter<K: AsRef<[u8]>>(bits_per_key: f64, numbers: &[u64], key: fn(u64) -> K) -> Box<dyn Filter> {
        let keys: KeyList = numbers.iter().map(|number| key(*number)).collect();
        let hashes = vec![KeyHash(0); numbers.len()];
        let policy = <Diva as Build<_>>::build(BudgetParams { bits_per_key }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    /// Tests the claim of the authors that the false-positive rate depends on the memory, and not on the kind or
    /// length of the keys. Also tests that the rate of ranges right after keys has no bound.
    #[test]
    fn integers_and_strings_have_one_rate() {
        fn integer(number: u64) -> Vec<u8> {
            number.to_be_bytes().to_vec()
        }
        fn decimal(number: u64) -> Vec<u8> {
            format!("customer/{number:019}/name").into_bytes()
        }
        fn hexadecimal(number: u64) -> Vec<u8> {
            format!("{:x}-{number:016x}", number % 16).into_bytes()
        }
        let numbers = sorted((0..KEYS).map(|i| mix(i, 1) >> 2));
        for (bits, cells) in [(10.0, 128.0), (14.0, 2048.0)] {
            for key in [integer, decimal] {
                let filter = filter(bits, &numbers, key);
                let starts = || (0..20_000).map(|i| mix(i, 3) >> 2);
                let random = share_of_empty_ranges((&*filter, key), &numbers, starts(), 1 << 10, 15_000);
                assert!(random < 2.0 / cells, "{bits} bits: {random} for keys such as {:?}", key(7));
                let behind = numbers.iter().map(|number| number + 1);
                let behind = share_of_empty_ranges((&*filter, key), &numbers, behind, 1 << 10, 15_000);
                assert!(behind > 0.9, "{behind}");
            }
        }
        // Sixteen groups of keys with different prefixes and lengths.
        let keys: Vec<Vec<u8>> = numbers.iter().map(|number| hexadecimal(*number)).collect();
        let list: KeyList = std::collections::BTreeSet::from_iter(keys).into_iter().collect();
        let hashes = vec![KeyHash(0); list.len()];
        let policy = <Diva as Build<_>>::build(BudgetParams { bits_per_key: 10.0 }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&list) });
        let filter = policy.open(Bytes::copy_from(&stored)).unwrap();
        let absent = (0..20_000).map(|i| hexadecimal(mix(i, 3) >> 2));
        let wrong = absent.filter(|key| {
            let end = [key, &b"~"[..]].concat();
            filter.may_contain_range(Bound::Included(key), Bound::Excluded(&end))
        });
        let rate = wrong.count() as f64 / 20_000.0;
        assert!(rate < 2.0 / 128.0 && (rate / filter.expected_fpr() - 1.0).abs() < 0.25, "{rate}");
    }

    #[test]
    fn a_bound_of_the_length_of_keys_is_told_apart_from_them() {
        let numbers: Vec<u64> = (0..20_000).map(|i| 5_000_000 + i * 40).collect();
        let filter = filter(10.0, &numbers, u64::to_be_bytes);
        let asks = |low: u64, high: u64| {
            let (low, high) = (low.to_be_bytes(), high.to_be_bytes());
            filter.may_contain_range(Bound::Included(&low), Bound::Excluded(&high))
        };
        let empty = numbers.iter().filter(|number| asks(**number + 39, **number + 40)).count();
        assert!(empty < 200, "{empty}");
        assert!(numbers.iter().all(|number| asks(*number, number + 1)));
        assert!(!asks(0, 5_000_000) && !asks(5_799_961, 9_000_000) && asks(0, u64::MAX));
    }

    #[test]
    fn samples_take_no_more_than_their_share() {
        let keys: KeyList =
            sorted((0..KEYS).map(|i| mix(i, 1))).iter().map(|key| key.to_be_bytes()).collect();
        for bits in [1e3, 1e4, 1e6] {
            let samples = Samples::of(&keys, bits);
            assert!(samples.inner_bits() <= bits && samples.segments() <= KEYS.div_ceil(SAMPLE as u64));
        }
        assert_eq!(Samples::of(&keys, 1e6).segments(), 40);
        let one: KeyList = ["same", "same"].iter().collect();
        assert_eq!(Samples::every(1, &one).ends.len(), 1);
    }
}
