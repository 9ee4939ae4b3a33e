//! Grafite, a range filter with an upper bound on the false-positive rate that holds for every workload.
//!
//! A [`Universe`] maps keys to numbers. The hash h(x) = (q(⌊x / r⌋) + x) mod r maps a number x to a code below r, where
//! q is another hash function. Neighboring numbers in an aligned group of r numbers have neighboring codes, so a range
//! of numbers becomes one or two ranges of codes. The filter stores the codes of all keys as a sorted set. A range
//! without any stored code is empty. If the filter has n keys, an empty range of ℓ numbers is a false positive with
//! probability at most nℓ/r. With B bits per key, the false-positive rate is ε ≤ ℓ / 2^(B − 2) for any keys and ranges.
//! The samples that speed up the search in the set take at most an eighth of a bit per key. A point lookup is a range
//! of one number. If r is larger than all numbers of an SSTable, different numbers have different codes, and the filter
//! is exact for numbers.
//!
//! The mapping from strings to numbers loses information. A number depends only on the eight bytes after the common
//! prefix of the SSTable's keys, without the low bits that all keys share. Keys that differ only in later bytes have
//! the same number. The bound depends on how many numbers a range includes, so the bound is weak for strings. For
//! example, `user10` and `user20` are 256 numbers apart. The mapping loses no information for big-endian integers,
//! with or without padding.
//!
//! With fewer than four bits per key, the codes are stored in a bit array. In this case, a bit array has a lower
//! false-positive rate than a sorted set, at ε ≈ ℓ / B. The filter takes at most 34 bits per key, because more bits
//! bring no benefit.
//!
//! Source: Costa, Ferragina & Vinciguerra, "Grafite: taming adversarial queries with optimal range filters" (SIGMOD
//! 2024, arXiv 2311.15380), sections 3 and 4. As in the paper, the set has the Elias–Fano encoding.
//!
//! The filter takes `bits_per_key` / 8 bytes per key. A lookup or range makes about three memory accesses.

use catalog::{Build, Variant};
use types::Bytes;

use crate::budget::{Budget, BudgetParams};
use crate::codes::{Codes, different, layout};
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::no_keys::NoKeys;
use crate::number_set::{ByNumber, NumberSet};
use crate::position::{mix, reduce};
use crate::stored::Head;
use crate::theory;
use crate::universe::Universe;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Grafite>(
    "grafite",
    "a range filter of sorted hash codes, with a bound on the false-positive rate for every range",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate, but the filter uses\n\
     # at most 34 bits per key.\n\
     bits_per_key = 12\n",
);

const TAG: [u8; 4] = *b"graf";

/// The seed of the hash function from which the codes of keys are computed.
const SEED: u64 = 0x67_7261_6669_7465;

/// Builds Grafite filters, which are sorted sets of hash codes.
struct Grafite {
    budget: Budget,
}

impl Build<dyn FilterPolicy> for Grafite {
    type Params = BudgetParams<12>;

    fn build(params: Self::Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self { budget: Budget::from_param(params.bits_per_key)? }))
    }
}

impl FilterPolicy for Grafite {
    /// Builds the filter. The stored form begins with three numbers: the possible codes, the keys and the distinct
    /// codes. The mapping from keys to numbers and the codes follow. The header field `probes` has the number that
    /// identifies the encoding of the codes (see [`Codes`]).
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys = input.needed_keys();
        if keys.is_empty() {
            return Head::new(TAG, 0, &[]).encode([0; 0].into_iter());
        }
        let universe = Universe::of(keys);
        let mut codes: Vec<u64> = keys.iter().map(|key| universe.number(key)).collect();
        codes.dedup();
        let bits = self.budget.bits_per_key(input) * keys.len() as f64;
        let (range, form) = layout(bits, codes.len(), universe.largest());
        codes.iter_mut().for_each(|number| *number = code(*number, range));
        codes.sort_unstable();
        let mut words = vec![range, codes.len() as u64, different(&codes)];
        universe.encode(&mut words);
        Codes::encode(&codes, range, form, &mut words);
        Head::new(TAG, form, input.hashes).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode(&stored, TAG)?;
        if head.keys == 0 && words.len() == 0 {
            return Ok(Box::new(NoKeys));
        }
        let corrupt = || {
            CorruptFilter(
                "the key mapping or the hash codes of the stored filter are incomplete, or do not match the \
                 header"
                    .to_owned(),
            )
        };
        let [range, len, different] = [(); 3].map(|()| words.next().unwrap_or_default());
        let universe = Universe::decode(&mut words).ok_or_else(corrupt)?;
        let numbers_fit = 0 < different && different <= len.min(range) && len <= head.keys;
        if !numbers_fit {
            return Err(corrupt());
        }
        let codes = Codes::decode(&mut words, len, range, head.probes).ok_or_else(corrupt)?;
        Ok(Box::new(ByNumber(GrafiteFilter { universe, range, different, codes })))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }

    fn needs_keys(&self) -> bool {
        true
    }
}

/// Returns the hash code that the filter stores for a key that is mapped to `number`. `range` is the number of possible
/// codes.
#[inline]
fn code(number: u64, range: u64) -> u64 {
    let (stretch, within) = (number / range, number % range);
    let offset = reduce(mix(stretch, SEED), range as usize) as u64;
    let sum = u128::from(offset) + u128::from(within);
    if sum >= range.into() { (sum - u128::from(range)) as u64 } else { sum as u64 }
}

/// A Grafite filter in memory: the sorted hash codes of all keys.
struct GrafiteFilter {
    universe: Universe,
    /// The number of possible hash codes. All codes are below this number.
    range: u64,
    /// The number of distinct hash codes.
    different: u64,
    codes: Codes,
}

impl GrafiteFilter {
    /// Returns whether a stored key may have a number from `first` to `last`, inclusive. Both numbers must have the
    /// same quotient by `range`, so that the codes from `first` to `last` are consecutive modulo `range`.
    fn has_codes(&self, first: u64, last: u64) -> bool {
        let (first, last) = (code(first, self.range), code(last, self.range));
        if first <= last {
            return self.codes.has_between(first, last);
        }
        self.codes.has_between(first, self.range - 1) || self.codes.has_between(0, last)
    }
}

impl NumberSet for GrafiteFilter {
    fn universe(&self) -> &Universe {
        &self.universe
    }

    fn has(&self, number: u64) -> bool {
        let code = code(number, self.range);
        self.codes.has_between(code, code)
    }

    fn has_between(&self, first: u64, last: u64) -> bool {
        if last - first >= self.range - 1 {
            return true;
        }
        let (stretch, last_stretch) = (first / self.range, last / self.range);
        if stretch == last_stretch {
            return self.has_codes(first, last);
        }
        let border = last_stretch * self.range;
        self.has_codes(first, border - 1) || self.has_codes(border, last)
    }

    /// Returns the false-positive rate of point lookups. The rate assumes that looked-up keys are mapped to random
    /// numbers between the smallest and the largest number of a stored key.
    fn expected_fpr(&self) -> f64 {
        theory::codes(self.different, self.range, self.universe.largest(), 1)
    }

    fn memory_bytes(&self) -> usize {
        self.codes.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use types::{KeyHash, KeyList};

    use super::*;
    use crate::testing::{share_of_empty_ranges, sorted};

    const KEYS: u64 = 100_000;

    fn key(number: u64) -> Vec<u8> {
        [&number.to_be_bytes()[..], b"00000000"].concat()
    }

    fn filter(bits_per_key: f64, numbers: &[u64]) -> Box<dyn Filter> {
        let keys: KeyList = numbers.iter().map(|number| key(*number)).collect();
        let hashes = vec![KeyHash(0); numbers.len()];
        let policy = <Grafite as Build<_>>::build(BudgetParams { bits_per_key }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    /// Returns the fraction of empty ranges of `length` numbers that the filter reports as not empty.
    fn measured(filter: &dyn Filter, numbers: &[u64], starts: impl Iterator<Item = u64>, length: u64) -> f64 {
        share_of_empty_ranges((filter, key), numbers, starts, length, 50_000)
    }

    /// Tests random ranges and ranges directly after keys. Heuristic filters have a high false-positive rate for
    /// ranges directly after keys. Grafite has the theoretical rate for both kinds of range. This rate is below the
    /// upper bound of the paper.
    #[test]
    fn every_kind_of_range_keeps_the_bound() {
        let numbers = sorted((0..KEYS).map(|i| mix(i, 1)));
        for (bits, exponent) in [(10.0, 0), (12.0, 5), (16.0, 5), (16.0, 10), (20.0, 10), (14.5, 5)] {
            let (filter, length) = (filter(bits, &numbers), 1u64 << exponent);
            let theory =
                theory::codes(KEYS, layout(bits * KEYS as f64, KEYS as usize, u64::MAX).0, u64::MAX, length);
            // The samples of the set use less than an eighth of a bit per key.
            let bound = length as f64 / (bits - 2.0 - 1.0 / 8.0).exp2();
            assert!(theory <= bound, "{theory} {bound}");
            let random = measured(&*filter, &numbers, (0..200_000).map(|i| mix(i, 2)), length);
            let behind = measured(&*filter, &numbers, numbers.iter().map(|number| number + 1), length);
            for measured in [random, behind] {
                let sampling = 4.0 * (theory * (1.0 - theory) / 100_000.0).sqrt();
                assert!(
                    (measured - theory).abs() < 0.03 * theory + sampling,
                    "{bits} bits: {measured}, {theory}"
                );
            }
        }
    }

    #[test]
    fn few_numbers_are_known_exactly() {
        let numbers = sorted((0..10_000).map(|i| 5_000_000 + i * 40 + mix(i, 3) % 40));
        let filter = filter(10.0, &numbers);
        assert!(filter.expected_fpr().abs() < f64::EPSILON);
        let starts = 4_999_990..5_400_100;
        assert!(measured(&*filter, &numbers, starts, 5).abs() < f64::EPSILON);
    }

    #[test]
    fn no_more_bits_are_spent_than_numbers_need() {
        let numbers: Vec<u64> = (0..10_000).collect();
        for bits in [0.5, 3.0, 12.0, 40.0] {
            let bytes = filter(bits, &numbers).memory_bytes() as f64;
            assert!(bytes * 8.0 <= bits * 10_000.0 * 1.01 + 300.0, "{bits}: {bytes}");
        }
    }
}
