//! Proteus, a range filter that consists of an exact set of short prefixes and a Bloom filter of longer prefixes. The
//! filter chooses the lengths of both kinds of prefixes.
//!
//! A [`Universe`] maps keys to numbers. The first part is the exact set of the numbers without their last t bits. The
//! second part is a Bloom filter of the numbers without their last b bits, where b < t. A range is empty if no prefix
//! of the range is in the exact set. If the exact set has prefixes of the range, the filter probes the Bloom filter.
//! The probes test all longer prefixes of the range that begin with a prefix of the exact set. If one of these probes
//! succeeds, the range is reported as not empty.
//!
//! Long ranges need a small b or a large exact set, and ranges next to keys need a small b. The builder draws random
//! ranges according to the parameters, and chooses the lengths with the lowest expected false-positive rate for the
//! memory (see `design.rs`). A range that would need more than 256 probes at one of its ends is reported as not empty.
//!
//! Source: Knorr, Lemaire, Lim, Luo, Zhang, Idreos, Mitzenmacher, "Proteus: A Self-Designing Range Filter" (SIGMOD
//! 2022), sections 3 and 4. The filter of the paper samples the ranges of the workload. This filter draws ranges of
//! one length, at random positions or right after keys. In the paper, the first part is a `SuRF` trie of uniform
//! depth. In this implementation, the exact set is stored in the Elias–Fano encoding.
//!
//! The filter takes `bits_per_key` / 8 bytes per key. A point lookup makes about three memory accesses in the set,
//! plus the memory accesses of a [`standard`](crate::standard) filter.

mod design;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use self::design::{Design, MOST_PROBES, Ranges, different_prefixes, prefixes_of};
use crate::bits::BitArray;
use crate::budget::Budget;
use crate::codes::Codes;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::no_keys::NoKeys;
use crate::number_set::{ByNumber, NumberSet};
use crate::position::mix;
use crate::stored::{Head, MAX_PROBES};
use crate::theory;
use crate::universe::Universe;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Proteus>(
    "proteus",
    "a range filter with a set of short key prefixes and a Bloom filter of longer prefixes; selects both \
     lengths itself",
    "# Memory in bits per key, 0.001 to 64, shared by the set of short prefixes and the Bloom filter. More\n\
     # bits lower the false-positive rate.\n\
     bits_per_key = 16\n\
     # Length of the expected ranges, 0 to 40. The filter chooses its prefixes for ranges of 2^range_bits\n\
     # key numbers.\n\
     range_bits = 6\n\
     # Start of the expected ranges. \"anywhere\" expects ranges that do not depend on the keys. \"after-keys\"\n\
     # expects ranges that begin right after a key.\n\
     ranges = \"anywhere\"\n",
);

const TAG: [u8; 4] = *b"prot";

/// The seed of the hash function for the prefixes of key numbers.
const SEED: u64 = 0x70_726f_7465_7573;

/// The largest valid value of the parameter `range_bits`, the base-2 logarithm of the expected range length.
const MOST_RANGE_BITS: u32 = 40;

/// Builds Proteus filters: an exact set of short key prefixes and a Bloom filter of longer prefixes.
struct Proteus {
    budget: Budget,
    range_bits: u32,
    ranges: Ranges,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    range_bits: u32,
    ranges: Ranges,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 16.0, range_bits: 6, ranges: Ranges::Anywhere }
    }
}

impl Build<dyn FilterPolicy> for Proteus {
    type Params = Params;

    fn build(Params { bits_per_key, range_bits, ranges }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        if range_bits > MOST_RANGE_BITS {
            return Err(format!("range_bits is {range_bits}; it must be from 0 to {MOST_RANGE_BITS}"));
        }
        Ok(Box::new(Self { budget: Budget::from_param(bits_per_key)?, range_bits, ranges }))
    }
}

impl FilterPolicy for Proteus {
    /// Builds the filter. The header has the number of probes of the Bloom filter. The stored words are, in this order:
    ///
    /// * the numbers of omitted bits of both kinds of prefixes, and then the numbers of both kinds of prefixes
    /// * the number that identifies the encoding of the exact set, and the size of the exact set
    /// * the mapping from keys to numbers, the exact set and the Bloom filter
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys = input.needed_keys();
        if keys.is_empty() {
            return Head::new(TAG, 0, &[]).encode([0; 0].into_iter());
        }
        let universe = Universe::of(keys);
        let mut numbers: Vec<u64> = keys.iter().map(|key| universe.number(key)).collect();
        numbers.dedup();
        let counts = different_prefixes(&numbers);
        let words = self.budget.units(input, 64) as u64;
        let samples = self.ranges.sample(&numbers, universe.largest(), self.range_bits);
        let Design { set_bits, filter_bits, form, set_words, .. } =
            Design::best(&counts, universe.largest(), words, &samples);
        let (set_len, filter_len) = (counts[set_bits as usize], counts[filter_bits as usize]);
        let mut stored =
            vec![set_bits.into(), filter_bits.into(), set_len, filter_len, form.into(), set_words];
        universe.encode(&mut stored);
        if set_words > 0 {
            let mut prefixes: Vec<u64> = numbers.iter().map(|number| number >> set_bits).collect();
            prefixes.dedup();
            Codes::encode(&prefixes, prefixes_of(universe.largest(), set_bits), form, &mut stored);
        }
        let mut bits = BitArray::zeros((words - set_words) as usize);
        let probes = theory::standard_probes(bits.len() as f64 / filter_len as f64).min(MAX_PROBES);
        numbers.iter_mut().for_each(|number| *number >>= filter_bits);
        numbers.dedup();
        numbers.iter().for_each(|prefix| bits.add(hash(*prefix), probes));
        stored.extend(bits.words());
        Head::new(TAG, probes, input.hashes).encode(stored.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode(&stored, TAG)?;
        if head.keys == 0 && words.len() == 0 {
            return Ok(Box::new(NoKeys));
        }
        let corrupt = || {
            CorruptFilter(
                "the lengths of the prefixes, the key mapping or the set of prefixes in the stored filter are \
                 corrupt, or do not match the header"
                    .to_owned(),
            )
        };
        let filter = ProteusFilter::decode(&mut words, head.probes).ok_or_else(corrupt)?;
        Ok(Box::new(ByNumber(filter)))
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

/// Returns the hash of a key prefix for the Bloom filter.
fn hash(prefix: u64) -> KeyHash {
    KeyHash(mix(prefix, SEED))
}

/// A Proteus filter in memory: an exact set of short prefixes and a Bloom filter of longer prefixes.
struct ProteusFilter {
    universe: Universe,
    /// The exact set of the numbers to which keys are mapped, without their last `set_bits` bits. `None` if the filter
    /// has no exact set.
    set: Option<Codes>,
    set_bits: u32,
    set_len: u64,
    bits: BitArray,
    probes: u32,
    filter_bits: u32,
    filter_len: u64,
}

impl ProteusFilter {
    /// Decodes a filter from stored words. Returns `None` if the words are corrupt.
    fn decode(words: &mut impl ExactSizeIterator<Item = u64>, probes: u32) -> Option<Self> {
        let [set_bits, filter_bits, set_len, filter_len, form, set_words] = [(); 6].map(|()| words.next());
        let (set_bits, filter_bits, form) = (set_bits?, filter_bits?, u32::try_from(form?).ok()?);
        let (set_len, filter_len, set_words) = (set_len?, filter_len?, set_words?);
        let universe = Universe::decode(words)?;
        let are_prefixes =
            filter_bits < set_bits.max(1) && set_bits <= u64::BITS.into() && probes <= MAX_PROBES;
        if !are_prefixes || probes == 0 || set_words >= words.len() as u64 {
            return None;
        }
        let (set_bits, filter_bits) = (set_bits as u32, filter_bits as u32);
        let range = prefixes_of(universe.largest(), set_bits);
        if set_len == 0 || set_len > range || filter_len == 0 {
            return None;
        }
        let mut set = words.by_ref().take(set_words as usize);
        let set = if set_words > 0 { Some(Codes::decode(&mut set, set_len, range, form)?) } else { None };
        let bits = BitArray::from_words(words.collect::<Vec<u64>>().into_iter());
        Some(Self { universe, set, set_bits, set_len, bits, probes, filter_bits, filter_len })
    }

    /// Whether the exact set has a prefix from `first` to `last`, inclusive. Always true if the filter has no exact
    /// set.
    fn set_has(&self, first: u64, last: u64) -> bool {
        self.set.as_ref().is_none_or(|set| set.has_between(first, last))
    }

    /// Returns the prefix that the exact set stores for a key: the number to which the key is mapped, without its last
    /// `set_bits` bits.
    fn prefix(&self, number: u64) -> u64 {
        number.checked_shr(self.set_bits).unwrap_or(0)
    }

    fn filter_has(&self, prefix: u64) -> bool {
        self.bits.may_contain(hash(prefix), self.probes)
    }

    fn filter_has_between(&self, first: u64, last: u64) -> bool {
        last - first >= MOST_PROBES || (first..=last).any(|prefix| self.filter_has(prefix))
    }
}

impl NumberSet for ProteusFilter {
    fn universe(&self) -> &Universe {
        &self.universe
    }

    fn has(&self, number: u64) -> bool {
        let prefix = self.prefix(number);
        self.set_has(prefix, prefix) && self.filter_has(number >> self.filter_bits)
    }

    fn has_between(&self, first: u64, last: u64) -> bool {
        let (from, to) = (self.prefix(first), self.prefix(last));
        if !self.set_has(from, to) {
            return false;
        }
        // All prefixes between the first and the last prefix are entirely within the range.
        if to - from > 1 && self.set_has(from + 1, to - 1) {
            return true;
        }
        let (first, last) = (first >> self.filter_bits, last >> self.filter_bits);
        if from == to {
            return self.filter_has_between(first, last);
        }
        let (end, start) = (((from + 1) << self.set_bits) - 1, to << self.set_bits);
        let (end, start) = (end >> self.filter_bits, start >> self.filter_bits);
        (self.set_has(from, from) && self.filter_has_between(first, end))
            || (self.set_has(to, to) && self.filter_has_between(start, last))
    }

    /// Returns the false-positive rate of point lookups. The rate assumes that looked-up keys are mapped to random
    /// numbers between the smallest and the largest number of a stored key. A number that has the longer prefix of a
    /// key is a false positive. If a number has only the shorter prefix of a key, the Bloom filter decides.
    fn expected_fpr(&self) -> f64 {
        let largest = self.universe.largest();
        let share = |len: u64, bits: u32| len as f64 / prefixes_of(largest, bits) as f64;
        let passed = if self.set.is_some() { share(self.set_len, self.set_bits) } else { 1.0 };
        let confused = share(self.filter_len, self.filter_bits);
        // At least one number with each stored prefix is the number of a key.
        let keys = self.filter_len as f64 / (largest as f64 + 1.0);
        let rate = theory::standard(self.bits.len() as u64, self.filter_len, self.probes);
        (confused - keys).max(0.0) + (passed - confused).max(0.0) * rate
    }

    fn memory_bytes(&self) -> usize {
        let set = self.set.as_ref().map_or(0, Codes::memory_bytes);
        set + self.bits.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use types::KeyList;

    use super::*;
    use crate::testing::{share_of_empty_ranges, sorted};

    const KEYS: u64 = 20_000;

    fn filter(label: &str, numbers: &[u64]) -> Box<dyn Filter> {
        let keys: KeyList = numbers.iter().map(|number| number.to_be_bytes()).collect();
        let hashes = vec![KeyHash(0); numbers.len()];
        let choice = crate::CATALOG.choose(&label.to_owned().into()).unwrap();
        let policy = crate::CATALOG.build(&choice).unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    /// Tests the claim of the authors that a filter designed for the expected ranges is at least as good as filters
    /// with a fixed design. The tested ranges are long or next to keys.
    #[test]
    fn the_design_fits_the_ranges() {
        let numbers = sorted((0..KEYS).map(|i| mix(i, 1) >> 20));
        let anywhere: Vec<u64> = (0..20_000).map(|i| mix(i, 2) >> 20).collect();
        let behind: Vec<u64> = numbers.iter().map(|number| number + 1).collect();
        let rate = |label: &str, starts: &[u64], length: u64| {
            let filter = filter(label, &numbers);
            let starts = starts.iter().copied();
            share_of_empty_ranges((&*filter, u64::to_be_bytes), &numbers, starts, length, 15_000)
        };
        let long = rate("proteus(bits_per_key=14, range_bits=12)", &anywhere, 1 << 12);
        let rosetta = rate("rosetta(bits_per_key=14, range_bits=12)", &anywhere, 1 << 12);
        assert!(long < 0.02 && long < 0.1 * rosetta, "{long}, rosetta {rosetta}");
        let near = rate("proteus(bits_per_key=18, range_bits=3, ranges=after-keys)", &behind, 8);
        let snarf = rate("snarf(bits_per_key=18)", &behind, 8);
        let unfit = rate("proteus(bits_per_key=18, range_bits=12)", &behind, 8);
        assert!(near < 0.01 && snarf > 0.9 && unfit > 10.0 * near, "{near}, snarf {snarf}, unfit {unfit}");
    }

    #[test]
    fn long_ranges_end_at_a_limit() {
        let numbers = sorted((0..KEYS).map(|i| mix(i, 1) >> 20));
        let filter = filter("proteus(bits_per_key=18, range_bits=3, ranges=after-keys)", &numbers);
        let start = numbers[7] + 1;
        let asks = |length: u64| {
            let (low, high) = (start.to_be_bytes(), (start + length).to_be_bytes());
            filter.may_contain_range(Bound::Included(&low), Bound::Excluded(&high))
        };
        assert!(!asks(8) && asks(MOST_PROBES + 1));
    }

    #[test]
    fn impossible_lengths_are_refused() {
        assert!(<Proteus as Build<_>>::build(Params { range_bits: 41, ..Params::default() }).is_err());
    }
}
