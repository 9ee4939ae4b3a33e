//! The prefix filter: a Bloom filter of key prefixes of a fixed length, which can report short ranges empty.
//!
//! A range whose keys all begin with the same `length` bytes is empty if no key of the SSTable has this prefix. The
//! filter reports every range that extends over several prefixes as not empty. A key that is shorter than `length`
//! bytes has no prefix. A key shorter than `length` bytes cannot be in a range whose keys all begin with the same
//! `length` bytes. The filter also has an entry for each full key, unless `whole_keys` is off. If the filter has no
//! entries for full keys, a point lookup tests only the prefix of its key. Every absent key with the prefix of a
//! stored key is then a false positive. A key of exactly `length` bytes equals its prefix. If the tree hashes keys
//! with XXH3, such a key has one entry instead of two.
//!
//! Sources: `RocksDB`'s prefix Bloom filters (`prefix_extractor`, `whole_key_filtering`; wiki, "Prefix Seek"); Dong et
//! al., "Optimizing space amplification in RocksDB" (CIDR 2017), section 5. The false-positive rate equals the rate
//! of a textbook Bloom filter that has an entry for each key and each distinct prefix.
//!
//! The filter takes `bits_per_key` / 8 bytes per key, for the entries of keys and of prefixes together.

use std::ops::Bound;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, HashedKey, KeyHash};
use xxhash_rust::xxh3::xxh3_64;

use crate::bits::BitArray;
use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::stored::{Head, MAX_PROBES};
use crate::theory;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Prefix>(
    "prefix",
    "a Bloom filter of keys and of their prefixes; also lets scans within one prefix skip runs",
    "# Memory in bits per key, 0.001 to 64, shared by the entries for keys and for prefixes. More bits\n\
     # lower the false-positive rate.\n\
     bits_per_key = 10\n\
     # Prefix length in bytes, 1 to 65535. The filter cannot help scans that extend over several\n\
     # prefixes.\n\
     length = 8\n\
     # Whether the filter also has an entry for each full key. Without these entries, a lookup tests only\n\
     # the prefix of its key.\n\
     whole_keys = true\n",
);

const TAG: [u8; 4] = *b"prfx";

/// Builds Bloom filters of the first bytes of the keys.
struct Prefix {
    budget: Budget,
    length: usize,
    whole_keys: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    length: u32,
    whole_keys: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 10.0, length: 8, whole_keys: true }
    }
}

impl Build<dyn FilterPolicy> for Prefix {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        let Params { bits_per_key, length, whole_keys } = params;
        if !(1..=u32::from(u16::MAX)).contains(&length) {
            return Err(format!("length is {length}; it must be from 1 to {}", u16::MAX));
        }
        let budget = Budget::from_param(bits_per_key)?;
        Ok(Box::new(Self { budget, length: length as usize, whole_keys }))
    }
}

impl FilterPolicy for Prefix {
    /// Builds the filter. The first stored word contains the length of a prefix and the parameter `whole_keys`. The
    /// bits of the Bloom filter follow.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let mut entries: Vec<KeyHash> = Vec::new();
        let mut last: Option<&[u8]> = None;
        for (key, key_hash) in input.needed_keys().iter().zip(input.hashes) {
            let Some(prefix) = key.get(..self.length).filter(|prefix| last != Some(*prefix)) else {
                continue;
            };
            last = Some(prefix);
            let entry = hash(prefix);
            // A key that is its own prefix needs only one entry, if the tree uses the same hash function.
            if !self.whole_keys || entry != *key_hash {
                entries.push(entry);
            }
        }
        if self.whole_keys {
            entries.extend(input.hashes);
        }
        let words = self.budget.units(input, 64);
        let mut bits = BitArray::zeros(words);
        let probes = match entries.len() {
            0 => 1,
            count => theory::standard_probes(bits.len() as f64 / count as f64).min(MAX_PROBES),
        };
        entries.iter().for_each(|entry| bits.add(*entry, probes));
        let words: Vec<u64> = [self.front()].into_iter().chain(bits.words()).collect();
        Head::new(TAG, probes, &entries).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode_probed(&stored, TAG, 1)?;
        if words.next() != Some(self.front()) || words.len() == 0 {
            return Err(CorruptFilter(format!(
                "the stored filter was not built with the parameters length = {} and whole_keys = {}",
                self.length, self.whole_keys
            )));
        }
        let bits = BitArray::from_words(words);
        let Self { length, whole_keys, .. } = *self;
        Ok(Box::new(PrefixFilter { bits, probes: head.probes, entries: head.keys, length, whole_keys }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }

    fn needs_keys(&self) -> bool {
        true
    }
}

impl Prefix {
    /// Returns the first word of a stored filter, which encodes the parameters `length` and `whole_keys`.
    fn front(&self) -> u64 {
        self.length as u64 | u64::from(self.whole_keys) << 32
    }
}

/// Returns the hash of a key prefix. The hash function is fixed, because the hash function of the tree is for full
/// keys.
fn hash(prefix: &[u8]) -> KeyHash {
    KeyHash(xxh3_64(prefix))
}

/// A prefix filter in memory: a Bloom filter of key prefixes and, if `whole_keys` is on, of full keys.
struct PrefixFilter {
    bits: BitArray,
    probes: u32,
    /// The number of entries of the Bloom filter: the distinct prefixes, plus the keys if the filter also has full
    /// keys.
    entries: u64,
    length: usize,
    whole_keys: bool,
}

impl PrefixFilter {
    fn has_prefix(&self, prefix: &[u8]) -> bool {
        self.bits.may_contain(hash(prefix), self.probes)
    }
}

impl Filter for PrefixFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        !self.whole_keys || self.bits.may_contain(hash, self.probes)
    }

    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        match key.bytes.get(..self.length) {
            Some(prefix) if !self.whole_keys => self.has_prefix(prefix),
            _ => self.may_contain(key.hash),
        }
    }

    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        assert_eq!(
            keys.len(),
            answers.len(),
            "the lists of looked-up keys and answers must have equal lengths"
        );
        if self.whole_keys {
            keys.iter().for_each(|key| self.prefetch(key.hash));
        }
        answers.iter_mut().zip(keys).for_each(|(answer, key)| *answer = self.may_contain_key(*key));
    }

    fn prefetch(&self, hash: KeyHash) {
        self.bits.prefetch(hash);
    }

    fn answers_ranges(&self) -> bool {
        true
    }

    fn may_contain_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> bool {
        match shared_prefix(low, high, self.length) {
            Some(prefix) => self.has_prefix(prefix),
            None => true,
        }
    }

    fn expected_fpr(&self) -> f64 {
        theory::standard(self.bits.len() as u64, self.entries, self.probes)
    }

    fn memory_bytes(&self) -> usize {
        self.bits.memory_bytes()
    }
}

/// Returns the first `length` bytes of a range if all keys between the bounds begin with these bytes. Otherwise returns
/// `None`.
fn shared_prefix<'a>(low: Bound<&'a [u8]>, high: Bound<&[u8]>, length: usize) -> Option<&'a [u8]> {
    let (Bound::Included(low) | Bound::Excluded(low)) = low else { return None };
    let (Bound::Included(end) | Bound::Excluded(end)) = high else { return None };
    let prefix = low.get(..length)?;
    let is_next = matches!(high, Bound::Excluded(_)) && is_next(prefix, end);
    (end.starts_with(prefix) || is_next).then_some(prefix)
}

/// Whether `next` is the first string after all strings that begin with `prefix`.
fn is_next(prefix: &[u8], next: &[u8]) -> bool {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX);
    last.is_some_and(|at| next.strip_prefix(&prefix[..at]) == Some(&[prefix[at] + 1]))
}

#[cfg(test)]
mod tests {
    use types::KeyList;

    use super::*;
    use crate::position::mix;

    fn filter(params: Params, keys: &KeyList) -> Box<dyn Filter> {
        let policy = <Prefix as Build<_>>::build(params).ok().unwrap();
        let hashes: Vec<KeyHash> = (0..keys.len()).map(|i| KeyHash(mix(i as u64, 5))).collect();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    fn key(group: u64, number: u32) -> [u8; 12] {
        let mut key = [0; 12];
        key[..8].copy_from_slice(&group.to_be_bytes());
        key[8..].copy_from_slice(&number.to_be_bytes());
        key
    }

    #[test]
    fn ranges_within_one_prefix_are_told_and_no_others() {
        let low = Bound::Included(&b"abcd5"[..]);
        for (high, shared) in [
            (Bound::Included(&b"abcd7"[..]), true),
            (Bound::Excluded(&b"abcd"[..]), true),
            (Bound::Excluded(&b"abce"[..]), true),
            (Bound::Included(&b"abce"[..]), false),
            (Bound::Excluded(&b"abce\0"[..]), false),
            (Bound::Excluded(&b"abcf"[..]), false),
            (Bound::Unbounded, false),
        ] {
            assert_eq!(shared_prefix(low, high, 4), shared.then_some(&b"abcd"[..]), "{high:?}");
        }
        assert_eq!(shared_prefix(low, Bound::Included(b"abcd5"), 6), None);
        let low = Bound::Included(&b"a\xff\xff1"[..]);
        // The key "b" is below "b\0" and is too short to have a prefix.
        for (high, shared) in [(&b"b"[..], true), (b"b\0", false), (b"b\0\0", false)] {
            assert_eq!(shared_prefix(low, Bound::Excluded(high), 3).is_some(), shared, "{high:?}");
        }
        assert_eq!(shared_prefix(Bound::Included(b"\xff\xff"), Bound::Excluded(b""), 2), None);
    }

    /// Tests a filter of many keys with few prefixes. For ranges within absent prefixes, the false-positive rate is
    /// as in theory. The entries of prefixes have little effect on the rate of point lookups.
    #[test]
    fn rates_are_those_of_a_bloom_filter_of_keys_and_prefixes() {
        for whole_keys in [true, false] {
            let keys: KeyList = (0..20_000u64).map(|i| key(i / 10 * 7, (i % 10) as u32)).collect();
            let filter = filter(Params { bits_per_key: 8.0, length: 8, whole_keys }, &keys);
            let empty = |i: u64| {
                let group = i / 6 * 7 + 1 + i % 6;
                let (low, high) = (key(group, 3), key(group, 2_000_000));
                filter.may_contain_range(Bound::Included(&low), Bound::Included(&high))
            };
            let measured = (0..12_000).filter(|i| empty(*i)).count() as f64 / 12_000.0;
            let expected = filter.expected_fpr();
            assert!((measured - expected).abs() < 0.15 * expected + 0.003, "{measured} {expected}");
            assert!(whole_keys || expected < 1e-3);
        }
    }

    /// Tests that a key takes only one entry if it has the length of a prefix and both have the same hash function.
    #[test]
    fn keys_that_are_prefixes_are_counted_once() {
        let keys: KeyList = (0..20_000u64).map(|i| mix(i, 1).to_be_bytes()).collect();
        let mut hashes: Vec<KeyHash> = keys.iter().map(hash).collect();
        let rate = |hashes: &[KeyHash]| {
            let policy = <Prefix as Build<_>>::build(Params::default()).ok().unwrap();
            let stored = policy.build(&FilterInput { hashes, bits_per_key: None, keys: Some(&keys) });
            let filter = policy.open(Bytes::copy_from(&stored)).unwrap();
            assert!(hashes.iter().all(|hash| filter.may_contain(*hash)));
            assert!(
                keys.iter()
                    .all(|key| { filter.may_contain_range(Bound::Included(key), Bound::Included(key)) })
            );
            filter.expected_fpr()
        };
        let once = rate(&hashes);
        assert!((once - theory::standard(200_000, 20_000, 7)).abs() < 1e-4, "{once}");
        // With another hash function, the key has one entry and its prefix has another entry.
        hashes.iter_mut().for_each(|hash| *hash = KeyHash(mix(hash.0, 6)));
        assert!(rate(&hashes) > 5.0 * once);
    }

    #[test]
    fn impossible_lengths_are_refused() {
        for length in [0, 65_536] {
            assert!(<Prefix as Build<_>>::build(Params { length, ..Params::default() }).is_err());
        }
    }
}
