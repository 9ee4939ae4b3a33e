//! Chooses two lengths for a Proteus filter: the length of the prefixes in the exact set, and the length of the
//! prefixes in the Bloom filter. The chosen lengths have the lowest expected false-positive rate for sampled ranges.
//!
//! The model is the "contextual prefix false-positive rate" of the paper. The model considers the two keys next to an
//! empty range. If a number of the range has the same longer prefix as one of these keys, the range is certainly a
//! false positive. Otherwise, the filter probes the Bloom filter for some longer prefixes of the range: those that
//! begin with a prefix of the exact set. Each probe can then be a false positive of the Bloom filter.

use serde::{Deserialize, Serialize};

use crate::codes::smallest;
use crate::position::{mix, reduce};
use crate::theory;

/// The largest number of Bloom filter probes at each end of a queried range. The filter reports a range that would need
/// more probes as not empty.
pub(super) const MOST_PROBES: u64 = 256;

/// The number of random ranges with which the builder of a filter compares prefix lengths.
const SAMPLES: usize = 64;

/// The seed of the random ranges with which the builder of a filter compares prefix lengths.
const SEED: u64 = 0x72_616e_6765_7321;

/// The positions of the ranges for which a filter chooses its prefix lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Ranges {
    /// The ranges do not depend on the keys.
    Anywhere,
    /// Each range begins right after a key.
    AfterKeys,
}

/// A random range without keys, together with the keys before and after the range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    first: u64,
    last: u64,
    before: Option<u64>,
    after: Option<u64>,
}

impl Ranges {
    /// Returns random ranges of 2^`range_bits` numbers from 0 to `largest` that contain none of the sorted `numbers`.
    /// If the numbers are dense, the result may be empty.
    pub(super) fn sample(self, numbers: &[u64], largest: u64, range_bits: u32) -> Vec<Sample> {
        let draw = |index: u64| {
            let random = mix(index, SEED);
            let first = match self {
                Self::Anywhere => ((u128::from(random) * u128::from(largest)) >> u64::BITS) as u64,
                Self::AfterKeys => numbers[reduce(random, numbers.len())].checked_add(1)?,
            };
            let last = first.saturating_add((1 << range_bits) - 1).min(largest);
            let at = numbers.partition_point(|number| *number < first);
            let (before, after) = (at.checked_sub(1).map(|at| numbers[at]), numbers.get(at).copied());
            let is_empty = first <= last && after.is_none_or(|after| after > last);
            is_empty.then_some(Sample { first, last, before, after })
        };
        (0..8 * SAMPLES as u64).filter_map(draw).take(SAMPLES).collect()
    }
}

impl Sample {
    /// Returns the number of Bloom filter probes that a query of this range makes. The result is infinite if the filter
    /// always reports the range as not empty.
    fn probes(&self, set_bits: u32, filter_bits: u32) -> f64 {
        let Self { first, last, before, after } = *self;
        let prefix = |number: u64, bits: u32| number.checked_shr(bits).unwrap_or(0);
        let shared = |bits: u32| {
            let left = before.is_some_and(|key| prefix(key, bits) == prefix(first, bits));
            let right = after.is_some_and(|key| prefix(key, bits) == prefix(last, bits));
            (left, right)
        };
        let confused = shared(filter_bits);
        if confused.0 || confused.1 {
            return f64::INFINITY;
        }
        let (left, right) = shared(set_bits);
        let (from, to) = (prefix(first, set_bits), prefix(last, set_bits));
        let count = |first: u64, last: u64| match (last >> filter_bits) - (first >> filter_bits) {
            more if more >= MOST_PROBES => f64::INFINITY,
            more => more as f64 + 1.0,
        };
        if from == to {
            return if left || right { count(first, last) } else { 0.0 };
        }
        let end = ((from + 1) << set_bits) - 1;
        let start = to << set_bits;
        let left = if left { count(first, end) } else { 0.0 };
        left + if right { count(start, last) } else { 0.0 }
    }
}

/// Returns the number of different prefixes that the numbers from 0 to `largest` have. A prefix is a number without its
/// last `bits` bits.
pub(super) fn prefixes_of(largest: u64, bits: u32) -> u64 {
    (largest.checked_shr(bits).unwrap_or(0)).saturating_add(1)
}

/// Counts, for each prefix length, how many different prefixes the sorted, distinct `numbers` have. Element i of the
/// result is for prefixes without the last i bits.
pub(super) fn different_prefixes(numbers: &[u64]) -> [u64; 65] {
    let mut counts = [0; 65];
    // Two neighboring numbers have different prefixes if the prefixes include the highest bit in which the numbers
    // differ.
    for pair in numbers.windows(2) {
        counts[(pair[0] ^ pair[1]).ilog2() as usize] += 1;
    }
    for bits in (0..64).rev() {
        counts[bits] += counts[bits + 1];
    }
    counts.map(|count| count + 1)
}

/// The chosen prefix lengths of a Proteus filter, and the memory of its exact set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Design {
    /// The exact set omits this many last bits of the number to which a key is mapped.
    pub(super) set_bits: u32,
    /// The number that identifies the encoding of the exact set (see `codes.rs`): a bit array, or a sorted set.
    pub(super) form: u32,
    /// The size of the exact set in words. The size is 0 if the filter has no exact set.
    pub(super) set_words: u64,
    /// The Bloom filter omits this many last bits of the number to which a key is mapped.
    pub(super) filter_bits: u32,
    /// The expected false-positive rate of random ranges with these prefix lengths.
    pub(super) rate: f64,
}

impl Design {
    /// Returns the prefix lengths with the lowest false-positive rate for the ranges `samples`. The exact set and the
    /// Bloom filter together take `words` words of memory. `counts` is the result of [`different_prefixes`].
    pub(super) fn best(counts: &[u64; 65], largest: u64, words: u64, samples: &[Sample]) -> Self {
        let width = u64::BITS - largest.leading_zeros();
        let mut best =
            Self { set_bits: width.max(1), form: 0, set_words: 0, filter_bits: 0, rate: f64::INFINITY };
        for set_bits in (1..=width).rev() {
            let set = match set_bits == width {
                true => Some((0, 0)),
                false => smallest(counts[set_bits as usize], prefixes_of(largest, set_bits)),
            };
            let Some((form, set_words)) = set.filter(|(_, set_words)| *set_words < words) else { continue };
            for filter_bits in 0..set_bits {
                let bits = (words - set_words) * u64::from(u64::BITS);
                let prefixes = counts[filter_bits as usize];
                let probes = theory::standard_probes(bits as f64 / prefixes as f64);
                let one = theory::standard(bits, prefixes, probes);
                let rate = |sample: &Sample| (sample.probes(set_bits, filter_bits) * one).min(1.0);
                let rate = samples.iter().map(rate).sum::<f64>() / samples.len().max(1) as f64;
                if rate < best.rate {
                    best = Self { set_bits, form, set_words, filter_bits, rate };
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sorted;

    #[test]
    fn prefixes_are_counted() {
        let numbers = sorted((0..500).map(|i| mix(i, 1) >> (mix(i, 2) % 60)));
        for (bits, count) in different_prefixes(&numbers).into_iter().enumerate() {
            let mut prefixes: Vec<u64> =
                numbers.iter().map(|number| number.checked_shr(bits as u32).unwrap_or(0)).collect();
            prefixes.dedup();
            assert_eq!(count, prefixes.len() as u64, "{bits}");
        }
    }

    #[test]
    fn samples_are_empty_and_have_neighbours() {
        let numbers = sorted((0..1000).map(|i| mix(i, 1) >> 20));
        for ranges in [Ranges::Anywhere, Ranges::AfterKeys] {
            let samples = ranges.sample(&numbers, numbers[999], 6);
            assert_eq!(samples.len(), SAMPLES);
            for Sample { first, last, before, after } in samples {
                assert!(numbers.iter().all(|number| *number < first || *number > last));
                assert!(before.is_none_or(|key| key < first) && after.is_none_or(|key| key > last));
                assert!(ranges == Ranges::Anywhere || before.is_some_and(|key| key + 1 == first));
            }
        }
        assert!(Ranges::Anywhere.sample(&[0, 1, 2, 3], 3, 2).is_empty());
    }

    #[test]
    fn a_sample_needs_the_probes_under_its_prefixes() {
        let sample = Sample { first: 0b1010_0100, last: 0b1010_1011, before: Some(0b1010_0001), after: None };
        // The Bloom filter has prefixes without one bit, so four of them are under the prefix of the exact set.
        assert!((sample.probes(4, 1) - 4.0).abs() < f64::EPSILON);
        assert!((sample.probes(4, 0) - 8.0).abs() < f64::EPSILON);
        // The shared prefix ends at 0b1010_0111. The exact set does not have the other prefix.
        assert!((sample.probes(3, 1) - 2.0).abs() < f64::EPSILON);
        assert!(sample.probes(4, 3).is_infinite() && sample.probes(2, 0) < f64::EPSILON);
    }
}
