//! An adaptive Bloom filter. The filter remembers each key that was a false positive. Later lookups of a remembered
//! key answer "absent".
//!
//! A Bloom filter without adaptation repeats its errors: each lookup of the same false positive reads a data block
//! that does not contain the key. In a skewed workload, a few false positives that are looked up often cost more than
//! all other absent keys. After a lookup has read a block without finding its key, the tree reports the key to the
//! filter ([`Filter::report_false_positive`]). The filter keeps all bytes of the key, so a key of the SSTable is
//! never reported absent. The memory for remembered keys is part of the filter's memory budget. The hash of a key
//! selects two slots for remembered keys. If both slots are taken, the key is not remembered. Frequent keys tend to
//! be reported first, but keys that are no longer looked up keep their slots.
//!
//! For the first lookup of an absent key, the false-positive rate is the rate of a textbook Bloom filter. The Bloom
//! filter itself gets the part of the memory budget that remembered keys do not take. Source: Bender, Farach-Colton,
//! Goswami, Johnson, `McCauley`, Singh, "Bloom Filters, Adaptivity, and the Dictionary Problem" (FOCS 2018). The
//! filters of the paper read the stored keys and lengthen fingerprints to correct a false positive. This filter keeps
//! the remembered absent keys in memory, because the stored keys of an SSTable are on storage.
//!
//! The remembered keys are in memory only, and are lost when the SSTable is opened again.
//!
//! The filter takes `bits_per_key` / 8 bytes per key. A probe makes as many memory accesses as a probe of
//! [`standard`](crate::standard). If the Bloom filter answers "maybe", the probe also reads two slots of remembered
//! keys.

use std::sync::OnceLock;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, HashedKey, KeyHash};

use crate::bits::BitArray;
use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::{mix, reduce};
use crate::stored::{Head, MAX_PROBES};
use crate::theory;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Adaptive>(
    "adaptive",
    "a Bloom filter that remembers its false positives; effective if lookups repeat the same absent keys",
    "# Memory in bits per key, 0.001 to 64, including the memory for remembered keys. More bits lower the\n\
     # false-positive rate.\n\
     bits_per_key = 10\n\
     # Share of the memory for remembered keys, 0 to 0.5. A larger share avoids more repeated false\n\
     # positives, but raises the false-positive rate of new absent keys.\n\
     remembered = 0.05\n",
);

const TAG: [u8; 4] = *b"adap";

/// The largest share of the memory budget that remembered keys may take.
const MOST_SHARE: f64 = 0.5;

/// The memory for one remembered key in bytes: its slot and the bytes of the key. The filter does not remember a key
/// that needs more memory.
const PLACE_BYTES: usize = 64;
const MOST_KEY_BYTES: usize = PLACE_BYTES - size_of::<OnceLock<Box<[u8]>>>();

/// Builds Bloom filters that remember their false positives.
struct Adaptive {
    budget: Budget,
    remembered: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    remembered: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 10.0, remembered: 0.05 }
    }
}

impl Build<dyn FilterPolicy> for Adaptive {
    type Params = Params;

    fn build(Params { bits_per_key, remembered }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        if !(0.0..=MOST_SHARE).contains(&remembered) {
            return Err(format!(
                "remembered is {remembered}; it must be from 0 to {MOST_SHARE}, as a share of the filter memory"
            ));
        }
        Ok(Box::new(Self { budget: Budget::from_param(bits_per_key)?, remembered }))
    }
}

impl FilterPolicy for Adaptive {
    /// Builds the filter. The stored form has the number of slots for remembered false positives, and the bits of the
    /// Bloom filter. The slots themselves are not stored, because they are empty at first.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let words = self.budget.units(input, 64);
        let places = (words as f64 * self.remembered / WORDS_PER_PLACE as f64) as usize;
        let mut bits = BitArray::zeros(words - places * WORDS_PER_PLACE);
        let probes = theory::standard_probes(bits.len() as f64 / input.hashes.len().max(1) as f64);
        let probes = probes.min(MAX_PROBES);
        input.hashes.iter().for_each(|hash| bits.add(*hash, probes));
        let words: Vec<u64> = std::iter::once(places as u64).chain(bits.words()).collect();
        Head::new(TAG, probes, input.hashes).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode_probed(&stored, TAG, 1)?;
        let places = words.next().unwrap_or_default();
        // At least half of the memory is for the bits of the Bloom filter.
        let most = words.len() / WORDS_PER_PLACE;
        if words.len() == 0 || places > most as u64 {
            return Err(CorruptFilter(format!(
                "the stored filter states {places} slots for remembered keys, but the filter has room for at \
                 most {most}"
            )));
        }
        let remembered = (0..places).map(|_| OnceLock::new()).collect();
        let bits = BitArray::from_words(words);
        Ok(Box::new(AdaptiveFilter { bits, probes: head.probes, keys: head.keys, remembered }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }

    fn adapts(&self) -> bool {
        true
    }
}

/// The memory for one remembered key, in 64-bit words.
const WORDS_PER_PLACE: usize = PLACE_BYTES / size_of::<u64>();

/// An adaptive filter in memory: a Bloom filter and the false positives that it remembers.
struct AdaptiveFilter {
    bits: BitArray,
    probes: u32,
    keys: u64,
    /// The remembered false positives: keys that are not in the SSTable. Each slot is written at most once.
    remembered: Box<[OnceLock<Box<[u8]>>]>,
}

impl AdaptiveFilter {
    /// Returns the two slots in which the filter can remember a false positive with this hash. Returns no slot if the
    /// filter has no memory for false positives.
    fn places(&self, hash: KeyHash) -> impl Iterator<Item = &OnceLock<Box<[u8]>>> {
        let places = if self.remembered.is_empty() { 0..0 } else { 0..2 };
        places.map(move |which| &self.remembered[reduce(mix(hash.0, which), self.remembered.len())])
    }

    fn remembers(&self, key: HashedKey<'_>) -> bool {
        self.places(key.hash).any(|place| place.get().is_some_and(|absent| **absent == *key.bytes))
    }
}

impl Filter for AdaptiveFilter {
    /// Tests only the Bloom filter and not the remembered false positives, because a hash does not identify its key.
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.bits.may_contain(hash, self.probes)
    }

    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        self.may_contain(key.hash) && !self.remembers(key)
    }

    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        assert_eq!(
            keys.len(),
            answers.len(),
            "the lists of looked-up keys and answers must have equal lengths"
        );
        let hashes: Vec<KeyHash> = keys.iter().map(|key| key.hash).collect();
        self.may_contain_batch(&hashes, answers);
        for (key, answer) in keys.iter().zip(answers) {
            *answer = *answer && !self.remembers(*key);
        }
    }

    fn report_false_positive(&self, key: HashedKey<'_>) {
        if key.bytes.len() <= MOST_KEY_BYTES && !self.remembers(key) {
            // If another thread takes the slot first, the key can be remembered after its next lookup.
            let free = self.places(key.hash).find(|place| place.get().is_none());
            let _ = free.map(|place| place.set(key.bytes.into()));
        }
    }

    fn prefetch(&self, hash: KeyHash) {
        self.bits.prefetch(hash);
    }

    /// Returns the false-positive rate for absent keys that are looked up for the first time. The filter has not
    /// remembered these keys yet.
    fn expected_fpr(&self) -> f64 {
        theory::standard(self.bits.len() as u64, self.keys, self.probes)
    }

    /// Returns the memory of the filter in bytes. Every slot counts as if it had a remembered key of the largest size,
    /// so the result does not change while the filter remembers keys.
    fn memory_bytes(&self) -> usize {
        self.bits.memory_bytes() + self.remembered.len() * PLACE_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    const KEYS: u64 = 20_000;

    fn hash(number: u64) -> KeyHash {
        KeyHash(mix(number, 1))
    }

    fn filter(remembered: f64) -> Box<dyn Filter> {
        let hashes: Vec<KeyHash> = (0..KEYS).map(hash).collect();
        let policy = <Adaptive as Build<_>>::build(Params { bits_per_key: 10.0, remembered }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    /// Looks up absent keys, and reports false positives as a tree does. Returns the number of false positives.
    fn errors(filter: &dyn Filter, absent: impl Iterator<Item = u64>) -> usize {
        let is_wrong = |number: &u64| {
            let (bytes, hash) = (number.to_be_bytes(), hash(KEYS + number));
            let key = HashedKey { bytes: &bytes, hash };
            let wrong = filter.may_contain_key(key);
            if wrong {
                filter.report_false_positive(key);
            }
            wrong
        };
        absent.filter(is_wrong).count()
    }

    /// Tests the claim for adaptive filters: few keys are false positives a second time. The first lookups of absent
    /// keys have the false-positive rate of a Bloom filter.
    #[test]
    fn an_error_is_made_once() {
        let first = errors(&*filter(0.05), 0..20_000) as f64;
        let expected = filter(0.05).expected_fpr() * 20_000.0;
        assert!((first / expected - 1.0).abs() < 0.25, "{first}, expected {expected}");
        // The filter has 117 slots. Each key selects two of these slots.
        let filter = filter(0.3);
        let (first, second) = (errors(&*filter, 0..2_000), errors(&*filter, 0..2_000));
        assert!(first > 40 && second < first / 5, "{second} of {first}");
        let none = self::filter(0.0);
        assert_eq!(errors(&*none, 0..20_000), errors(&*none, 0..20_000));
    }

    #[test]
    fn keys_are_remembered_whole_and_only_with_room() {
        let filter = filter(0.05);
        let hash = hash(7);
        let asks = |bytes: &[u8]| filter.may_contain_key(HashedKey { bytes, hash });
        filter.report_false_positive(HashedKey { bytes: b"absent", hash });
        // A key of the SSTable may have the hash of an absent key.
        assert!(!asks(b"absent") && asks(b"present") && asks(b"absen") && filter.may_contain(hash));
        let long = [b'a'; MOST_KEY_BYTES + 1];
        filter.report_false_positive(HashedKey { bytes: &long, hash });
        assert!(asks(&long));
        filter.report_false_positive(HashedKey { bytes: b"second", hash });
        filter.report_false_positive(HashedKey { bytes: b"third", hash });
        assert!(!asks(b"second") && asks(b"third"));
    }

    #[test]
    fn threads_remember_at_once() {
        let filter = filter(0.3);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| errors(&*filter, 0..1_000));
            }
        });
        errors(&*filter, 0..1_000);
        assert!(errors(&*filter, 0..1_000) < 10);
    }

    #[test]
    fn impossible_shares_are_refused() {
        for remembered in [-0.1, 0.6, f64::NAN] {
            let error =
                <Adaptive as Build<_>>::build(Params { bits_per_key: 10.0, remembered }).err().unwrap();
            assert!(error.contains("it must be from 0 to 0.5"), "{error}");
        }
    }
}
