//! Rosetta, a range filter with a Bloom filter for each length of number prefixes. A range query probes short
//! prefixes first, and then longer prefixes down to whole numbers.
//!
//! A [`Universe`] maps keys to numbers. The Bloom filter of level l has the numbers without their last l bits. A
//! range of numbers is divided into dyadic intervals, so that each interval is one prefix. If the Bloom filter
//! reports the prefix absent, the interval is empty. Otherwise both halves of the interval are probed in the next
//! lower level, down to single numbers ("doubting"). A range is reported as not empty only if a single number in the
//! range is reported present. Point lookups probe only level 0.
//!
//! The levels above level 0 save probes, and level 0 determines the false-positive rate. If ε is the rate of level 0,
//! each upper level needs only enough bits for a false-positive rate of 1/(2 − ε). About half of the two children of a
//! false positive are then reported absent, so false positives do not multiply. The filter reports a range as not empty
//! if the range has more than a few times 2^`range_bits` numbers. A range costs up to two probes per number in the
//! range.
//!
//! Source: Luo, Chatterjee, Ketsetsidis, Dayan, Qin, Idreos, "Rosetta: A Robust Space-Time Optimized Range Filter for
//! Key-Value Stores" (SIGMOD 2020), sections 3 and 4, with the "first-cut" allocation of memory to levels. If the
//! budget is too small for all levels, the shorter prefixes get no filter. At least half of the budget goes to level
//! 0.
//!
//! The filter takes `bits_per_key` / 8 bytes per key. A point lookup makes as many memory accesses as a lookup of
//! [`standard`](crate::standard).

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::bits::BitArray;
use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::no_keys::NoKeys;
use crate::number_set::{ByNumber, NumberSet};
use crate::position::mix;
use crate::stored::{Head, MAX_PROBES};
use crate::theory;
use crate::universe::Universe;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Rosetta>(
    "rosetta",
    "a range filter of one Bloom filter per prefix length; robust for short ranges, but with many probes",
    "# Memory in bits per key, 0.001 to 64, shared by the Bloom filters of all prefix lengths. More bits\n\
     # lower the false-positive rate.\n\
     bits_per_key = 16\n\
     # Number of bits that the shortest prefix omits, 0 to 20. The filter is effective for ranges of up\n\
     # to 2^range_bits key numbers.\n\
     range_bits = 6\n",
);

const TAG: [u8; 4] = *b"rose";

/// The largest number of prefixes of the shortest length that the filter tests for one range. The filter reports a
/// range with more of these prefixes as not empty.
const MOST_INTERVALS: u64 = 4;

/// The largest valid value of the parameter `range_bits`: the number of last bits that the shortest prefixes omit.
const MOST_RANGE_BITS: u32 = 20;

/// Builds Rosetta filters, which have one Bloom filter for each length of key prefixes.
struct Rosetta {
    budget: Budget,
    range_bits: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    range_bits: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 16.0, range_bits: 6 }
    }
}

impl Build<dyn FilterPolicy> for Rosetta {
    type Params = Params;

    fn build(Params { bits_per_key, range_bits }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        if range_bits > MOST_RANGE_BITS {
            return Err(format!("range_bits is {range_bits}; it must be from 0 to {MOST_RANGE_BITS}"));
        }
        Ok(Box::new(Self { budget: Budget::from_param(bits_per_key)?, range_bits }))
    }
}

impl FilterPolicy for Rosetta {
    /// Builds the filter. The stored form begins with the mapping from keys to numbers. For each prefix length, the
    /// numbers of prefixes, probes and words follow, and then the words of the Bloom filter. The header field `probes`
    /// is the number of prefix lengths.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys = input.needed_keys();
        if keys.is_empty() {
            return Head::new(TAG, 0, &[]).encode([0; 0].into_iter());
        }
        let universe = Universe::of(keys);
        let mut prefixes: Vec<u64> = keys.iter().map(|key| universe.number(key)).collect();
        let words = self.budget.units(input, 64);
        let mut stored = Vec::with_capacity(words);
        universe.encode(&mut stored);
        let counts: Vec<u64> = (0..=self.range_bits).map(|level| different(&prefixes, level)).collect();
        let shares = shares(words, &counts);
        for (level, (words, count)) in shares.iter().zip(&counts).enumerate() {
            prefixes.iter_mut().for_each(|prefix| *prefix >>= u32::from(level > 0));
            prefixes.dedup();
            let probes = theory::standard_probes(*words as f64 * 64.0 / *count as f64).min(MAX_PROBES);
            let mut bits = BitArray::zeros(*words);
            prefixes.iter().for_each(|prefix| bits.add(hash(*prefix, level as u32), probes));
            stored.extend([*count, probes.into(), *words as u64]);
            stored.extend(bits.words());
        }
        Head::new(TAG, shares.len() as u32, input.hashes).encode(stored.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode(&stored, TAG)?;
        if head.keys == 0 && words.len() == 0 {
            return Ok(Box::new(NoKeys));
        }
        let corrupt = || {
            CorruptFilter(
                "the key mapping or the Bloom filters of the stored filter are incomplete, or do not match \
                 the header"
                    .to_owned(),
            )
        };
        let universe = Universe::decode(&mut words).ok_or_else(corrupt)?;
        if head.probes == 0 || head.probes > MOST_RANGE_BITS + 1 {
            return Err(corrupt());
        }
        let levels = (0..head.probes).map(|_| Level::decode(&mut words));
        let levels = levels.collect::<Option<Vec<Level>>>().ok_or_else(corrupt)?;
        if words.len() > 0 {
            return Err(corrupt());
        }
        Ok(Box::new(ByNumber(RosettaFilter { universe, levels })))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }

    fn needs_keys(&self) -> bool {
        true
    }
}

/// Counts the different prefixes of the sorted `numbers`, to which keys are mapped. A prefix is a number without its
/// last `level` bits.
fn different(numbers: &[u64], level: u32) -> u64 {
    numbers.chunk_by(|one, other| one >> level == other >> level).count() as u64
}

/// Divides `words` words of memory among the Bloom filters. Bloom filter l has the key numbers without their last l
/// bits, and `counts` has the number of its different prefixes. If the memory is too small for all, the Bloom filters
/// of the shortest prefixes get no memory.
fn shares(words: usize, counts: &[u64]) -> Vec<usize> {
    // The number of bits per prefix of a Bloom filter with the false-positive rate `rate`.
    let bits = |rate: f64| -rate.ln() / std::f64::consts::LN_2.powi(2);
    let mut shares = vec![words];
    let mut rate = 1.0f64;
    // The rate of level 0 and the shares of the other levels depend on each other, so the computation is iterated.
    for _ in 0..4 {
        let mut left = words;
        let mut upper = Vec::new();
        for count in &counts[1..] {
            let share = ((*count as f64 * bits(1.0 / (2.0 - rate))) / 64.0).ceil().max(1.0) as usize;
            if left < share + words.div_ceil(2) {
                break;
            }
            left -= share;
            upper.push(share);
        }
        let per_number = left as f64 * 64.0 / counts[0] as f64;
        rate = (-per_number * std::f64::consts::LN_2.powi(2)).exp();
        shares = std::iter::once(left).chain(upper).collect();
    }
    shares
}

/// Returns the hash of a key prefix in the Bloom filter number `level`.
fn hash(prefix: u64, level: u32) -> KeyHash {
    KeyHash(mix(prefix, level.into()))
}

/// One level of a Rosetta filter: a Bloom filter with the prefixes of one length of all key numbers.
struct Level {
    bits: BitArray,
    probes: u32,
    prefixes: u64,
}

impl Level {
    fn decode(words: &mut impl ExactSizeIterator<Item = u64>) -> Option<Self> {
        let [prefixes, probes, len] = [(); 3].map(|()| words.next());
        let (prefixes, probes, len) = (prefixes?, probes?, len?);
        if probes == 0 || probes > MAX_PROBES.into() || len == 0 || len > words.len() as u64 {
            return None;
        }
        let array: Vec<u64> = words.take(len as usize).collect();
        Some(Self { bits: BitArray::from_words(array.into_iter()), probes: probes as u32, prefixes })
    }
}

/// A Rosetta filter in memory: one Bloom filter for each length of key prefixes.
struct RosettaFilter {
    universe: Universe,
    /// The Bloom filters of the levels. The first Bloom filter, level 0, contains complete key numbers.
    levels: Vec<Level>,
}

impl RosettaFilter {
    fn has_at(&self, prefix: u64, level: usize) -> bool {
        let Level { bits, probes, .. } = &self.levels[level];
        bits.may_contain(hash(prefix, level as u32), *probes)
    }

    /// Returns whether a stored key may have a number from `first` to `last`, inclusive. All numbers of this range must
    /// have the prefix `prefix`, which omits their last `level` bits. If the Bloom filter of the level has this prefix,
    /// the function repeats the test for the two prefixes that are one bit longer.
    fn doubt(&self, prefix: u64, level: usize, first: u64, last: u64) -> bool {
        // The Bloom filter has the prefix of the whole interval, even if only a part of the interval is in the range.
        if !self.has_at(prefix, level) {
            return false;
        }
        let Some(below) = level.checked_sub(1) else { return true };
        let border = (2 * prefix + 1) << below;
        (first < border && self.doubt(2 * prefix, below, first, last.min(border - 1)))
            || (last >= border && self.doubt(2 * prefix + 1, below, first.max(border), last))
    }
}

impl NumberSet for RosettaFilter {
    fn universe(&self) -> &Universe {
        &self.universe
    }

    fn has(&self, number: u64) -> bool {
        self.has_at(number, 0)
    }

    fn has_between(&self, first: u64, last: u64) -> bool {
        let top = self.levels.len() - 1;
        if (last >> top) - (first >> top) >= MOST_INTERVALS {
            return true;
        }
        (first >> top..=last >> top).any(|prefix| {
            let end = (prefix << top) | ((1 << top) - 1);
            self.doubt(prefix, top, first.max(prefix << top), last.min(end))
        })
    }

    /// Returns the false-positive rate of point lookups. The rate assumes that looked-up keys are mapped to random
    /// numbers between the smallest and the largest number of a stored key.
    fn expected_fpr(&self) -> f64 {
        let Level { bits, probes, prefixes } = &self.levels[0];
        let absent = 1.0 - *prefixes as f64 / (self.universe.largest() as f64 + 1.0);
        absent.max(0.0) * theory::standard(bits.len() as u64, *prefixes, *probes)
    }

    fn memory_bytes(&self) -> usize {
        let levels = self.levels.iter().map(|level| level.bits.memory_bytes());
        levels.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use types::KeyList;

    use super::*;
    use crate::testing::{share_of_empty_ranges, sorted};

    const KEYS: u64 = 50_000;

    fn filter(bits_per_key: f64, range_bits: u32, numbers: &[u64]) -> Box<dyn Filter> {
        let keys: KeyList = numbers.iter().map(|number| number.to_be_bytes()).collect();
        let hashes = vec![KeyHash(0); numbers.len()];
        let policy = <Rosetta as Build<_>>::build(Params { bits_per_key, range_bits }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    fn numbers() -> Vec<u64> {
        sorted((0..KEYS).map(|i| mix(i, 1) >> 20))
    }

    /// Returns the fraction of empty ranges that the filter reports as not empty. The ranges have `length` numbers
    /// and begin at `starts`.
    fn measured(filter: &dyn Filter, numbers: &[u64], starts: impl Iterator<Item = u64>, length: u64) -> f64 {
        share_of_empty_ranges((filter, u64::to_be_bytes), numbers, starts, length, 10_000)
    }

    /// Tests the claim of the authors that short ranges have a low false-positive rate, including ranges right after
    /// keys. Longer ranges have a higher rate.
    #[test]
    fn short_ranges_are_answered_wherever_they_are() {
        let numbers = numbers();
        let filter = filter(20.0, 6, &numbers);
        let point = filter.expected_fpr();
        for (length, most) in [(1, 1.3 * point), (8, 12.0 * point), (64, 0.25)] {
            let random = measured(&*filter, &numbers, (0..20_000).map(|i| mix(i, 2) >> 20), length);
            let behind = measured(&*filter, &numbers, numbers.iter().map(|number| number + 1), length);
            let sampling = 4.0 * (most / 20_000f64).sqrt();
            assert!(random < most + sampling, "{length}: {random} of {most}");
            // Next to a key, the upper levels correctly report their prefixes present, so only level 0 can report the
            // range empty.
            assert!(behind < 2.0 * length as f64 * point + sampling, "{length}: {behind} of {point}");
        }
    }

    #[test]
    fn ranges_that_are_too_long_are_not_answered() {
        let numbers = numbers();
        let filter = filter(16.0, 4, &numbers);
        let start = numbers[7] + 1;
        let ask = |length: u64| {
            let (low, high) = (start.to_be_bytes(), (start + length).to_be_bytes());
            filter.may_contain_range(Bound::Included(&low), Bound::Excluded(&high))
        };
        assert!(ask(16 * MOST_INTERVALS + 1) && !ask(2));
    }

    #[test]
    fn level_0_has_at_least_half_of_the_budget() {
        let counts = [1000; 7];
        for words in [1, 2, 40, 80, 200, 400] {
            let shares = shares(words, &counts);
            assert_eq!(shares.iter().sum::<usize>(), words);
            // A budget of one word goes to level 0 only. A large budget also serves all six upper levels.
            assert!((1..=7).contains(&shares.len()) && (words > 1 || shares.len() == 1), "{words}");
            assert!(words < 400 || shares.len() == 7, "{words}");
            assert!(shares[0] * 2 >= words);
        }
    }

    #[test]
    fn impossible_lengths_are_refused() {
        assert!(<Rosetta as Build<_>>::build(Params { range_bits: 21, ..Params::default() }).is_err());
    }
}
