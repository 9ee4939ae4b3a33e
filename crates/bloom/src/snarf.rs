//! SNARF, a range filter with a model of the key distribution. The model maps each key to a code, and the filter
//! stores the sorted set of all codes.
//!
//! A [`Universe`] maps keys to numbers. A linear spline through every 128th number estimates the rank of any number.
//! The code of a number is its estimated rank times K, where K is the number of codes per key. Codes have the same
//! order as numbers, so a range of numbers corresponds to a range of codes. The range is empty if no key has one of
//! these codes. The codes are stored as a sorted set in the Elias–Fano encoding.
//!
//! The false-positive rate depends on the position of the ranges. A random number has the code of a key with
//! probability 1/K. A range that is much shorter than the distance between keys includes about one code. A range that
//! begins right after a key often includes the code of this key. For such ranges, the false-positive rate has an
//! upper bound in [`grafite`](crate::grafite), but not in SNARF.
//!
//! Source: Vaidya, Chatterjee, Knorr, Mitzenmacher, Idreos, Kraska, "SNARF: A Learning-Enhanced Range Filter" (VLDB
//! 2022), sections 3 and 4. The paper stores codes in blocks with the Golomb or the Elias–Fano encoding. This filter
//! has one Elias–Fano set.
//!
//! The filter takes `bits_per_key` / 8 bytes per key, including half a bit per key for the spline. A lookup or range
//! makes a binary search in the spline, and about three memory accesses in the set.

use catalog::{Build, Variant};
use types::Bytes;

use crate::budget::{Budget, BudgetParams};
use crate::codes::{Codes, different, layout};
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::no_keys::NoKeys;
use crate::number_set::{ByNumber, NumberSet};
use crate::stored::Head;
use crate::universe::Universe;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Snarf>(
    "snarf",
    "a range filter that learns the key distribution; weak for ranges that begin right after a key",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate, but the filter uses\n\
     # at most 34 bits per key.\n\
     bits_per_key = 12\n",
);

const TAG: [u8; 4] = *b"snrf";

/// The number of keys for which the spline has one segment (a straight line).
const SEGMENT: usize = 128;

/// The memory in bits per key that the spline takes.
const SPLINE_BITS: f64 = u64::BITS as f64 / SEGMENT as f64;

/// Builds SNARF filters, which learn the distribution of the keys.
struct Snarf {
    budget: Budget,
}

impl Build<dyn FilterPolicy> for Snarf {
    type Params = BudgetParams<12>;

    fn build(params: Self::Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self { budget: Budget::from_param(params.bits_per_key)? }))
    }
}

impl FilterPolicy for Snarf {
    /// Builds the filter. The stored form begins with three numbers: the possible codes, the keys and the distinct
    /// codes. The mapping from keys to numbers, the spline and the codes follow. The header field `probes` has the
    /// number that identifies the encoding of the codes (see [`Codes`]).
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys = input.needed_keys();
        if keys.is_empty() {
            return Head::new(TAG, 0, &[]).encode([0; 0].into_iter());
        }
        let universe = Universe::of(keys);
        let mut codes: Vec<u64> = keys.iter().map(|key| universe.number(key)).collect();
        codes.dedup();
        let bits = self.budget.bits_per_key(input) * keys.len() as f64;
        let segments = affordable_segments(bits, codes.len());
        let (range, form) = layout(bits - segments as f64 * 64.0, codes.len(), universe.largest());
        let spline = Spline::through(&codes, segments, range);
        codes.iter_mut().for_each(|number| *number = spline.code(*number));
        let mut words = vec![range, codes.len() as u64, different(&codes)];
        universe.encode(&mut words);
        words.push(spline.knots.len() as u64);
        words.extend(&spline.knots);
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
                "the key mapping, the spline or the codes of the stored filter are incomplete, or do not \
                 match the header"
                    .to_owned(),
            )
        };
        let [range, len, different] = [(); 3].map(|()| words.next().unwrap_or_default());
        let universe = Universe::decode(&mut words).ok_or_else(corrupt)?;
        let knots = words.next().filter(|knots| *knots <= words.len() as u64).ok_or_else(corrupt)?;
        let knots: Vec<u64> = words.by_ref().take(knots as usize).collect();
        let spline = Spline::checked(knots, range).ok_or_else(corrupt)?;
        if different == 0 || different > len.min(range) || len > head.keys {
            return Err(corrupt());
        }
        let codes = Codes::decode(&mut words, len, range, head.probes).ok_or_else(corrupt)?;
        Ok(Box::new(ByNumber(SnarfFilter { universe, spline, different, codes })))
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

/// Returns the number of segments of a spline for `numbers` keys: one segment per [`SEGMENT`] keys, or fewer if the
/// memory budget is small.
fn affordable_segments(bits: f64, numbers: usize) -> usize {
    let most = bits * SPLINE_BITS / f64::from(u64::BITS);
    numbers.div_ceil(SEGMENT).min(most as usize).max(1)
}

/// The model of the key distribution: a monotone, piecewise linear mapping from the numbers of keys (see [`Universe`])
/// to codes. Each segment covers an equal number of codes.
struct Spline {
    /// The key numbers at which the segments begin, and at the end the largest key number. The list is empty if the
    /// code of each number is the number itself. Otherwise the list has at least two elements.
    knots: Vec<u64>,
    /// The number of codes to which the spline maps key numbers, at least 1. All codes are below this number.
    range: u64,
}

impl Spline {
    /// Creates a spline with at most `segments` segments for the sorted key numbers `numbers`. Each segment covers the
    /// same number of elements of `numbers`, except the last segment, which may cover fewer.
    fn through(numbers: &[u64], segments: usize, range: u64) -> Self {
        if numbers.last().is_some_and(|largest| *largest < range) {
            return Self { knots: Vec::new(), range };
        }
        let step = numbers.len().div_ceil(segments);
        let mut knots: Vec<u64> = numbers.iter().copied().step_by(step).collect();
        knots.extend(numbers.last());
        Self { knots, range }
    }

    /// Creates a spline from decoded knots, the key numbers at which segments begin. Returns `None` if the knots are
    /// invalid.
    fn checked(knots: Vec<u64>, range: u64) -> Option<Self> {
        (range > 0 && knots.len() != 1 && knots.is_sorted()).then_some(Self { knots, range })
    }

    /// Returns the code of a key number. Numbers below the first knot have the first code, and numbers above the last
    /// knot have the last code.
    fn code(&self, number: u64) -> u64 {
        let Some(segments) = (self.knots.len() as u64).checked_sub(1) else {
            return number.min(self.range - 1);
        };
        let segment = (self.knots.partition_point(|knot| *knot <= number) as u64).clamp(1, segments) - 1;
        let (from, to) = (self.knots[segment as usize], self.knots[segment as usize + 1]);
        // The codes of this segment. All segments together have all codes of the range.
        let border = |segment: u64| u128::from(self.range) * u128::from(segment) / u128::from(segments);
        let (first, next) = (border(segment), border(segment + 1));
        let within = u128::from(number.clamp(from, to) - from);
        let width = u128::from(to - from) + 1;
        let code = first + within * (next - first) / width;
        (code as u64).min(self.range - 1)
    }
}

/// A SNARF filter in memory: a model of the key distribution, and the sorted set of the codes of all keys.
struct SnarfFilter {
    universe: Universe,
    spline: Spline,
    /// The number of distinct codes of the stored keys.
    different: u64,
    codes: Codes,
}

impl NumberSet for SnarfFilter {
    fn universe(&self) -> &Universe {
        &self.universe
    }

    fn has(&self, number: u64) -> bool {
        let code = self.spline.code(number);
        self.codes.has_between(code, code)
    }

    fn has_between(&self, first: u64, last: u64) -> bool {
        self.codes.has_between(self.spline.code(first), self.spline.code(last))
    }

    /// Returns the false-positive rate of point lookups whose keys are distributed like the keys of the SSTable. The
    /// rate is the fraction of codes that belong to stored keys, minus the fraction of key numbers that belong to
    /// stored keys. A lookup of a stored key is not a false positive.
    fn expected_fpr(&self) -> f64 {
        let numbers = self.universe.largest() as f64 + 1.0;
        let different = self.different as f64;
        (different / self.spline.range as f64 - different / numbers).max(0.0)
    }

    fn memory_bytes(&self) -> usize {
        self.codes.memory_bytes() + size_of_val(&*self.spline.knots)
    }
}

#[cfg(test)]
mod tests {
    use types::{KeyHash, KeyList};

    use super::*;
    use crate::position::mix;
    use crate::testing::{share_of_empty_ranges, sorted};

    const KEYS: u64 = 100_000;

    fn filter(bits_per_key: f64, numbers: &[u64]) -> Box<dyn Filter> {
        let keys: KeyList = numbers.iter().map(|number| number.to_be_bytes()).collect();
        let hashes = vec![KeyHash(0); numbers.len()];
        let policy = <Snarf as Build<_>>::build(BudgetParams { bits_per_key }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    /// Returns the fraction of empty ranges of `length` numbers that the filter reports as not empty.
    fn measured(filter: &dyn Filter, numbers: &[u64], starts: impl Iterator<Item = u64>, length: u64) -> f64 {
        share_of_empty_ranges((filter, u64::to_be_bytes), numbers, starts, length, 50_000)
    }

    /// Tests the claim of the authors that the false-positive rate is about 1/K for any distribution of keys. The
    /// claim is for ranges that are much shorter than the distance between keys. Also tests that the rate of ranges
    /// right after keys has no bound.
    #[test]
    fn the_rate_is_one_in_k_unless_ranges_follow_keys() {
        let uniform = sorted((0..KEYS).map(|i| mix(i, 1)));
        // Most numbers are small, so the distances between numbers differ by many orders of magnitude.
        let skewed = sorted((0..KEYS).map(|i| mix(i, 1) >> (mix(i, 2) % 30)));
        for (bits, cells) in [(10.0, 160.0), (14.0, 2560.0)] {
            let filter_of_uniform = filter(bits, &uniform);
            let random = measured(&*filter_of_uniform, &uniform, (0..100_000).map(|i| mix(i, 3)), 1 << 10);
            assert!(random < 1.5 / cells, "{bits} bits: {random}");
            let filter_of_skewed = filter(bits, &skewed);
            let starts = (0..100_000).map(|i| mix(i, 3) >> (mix(i, 4) % 30));
            let at_keys = measured(&*filter_of_skewed, &skewed, starts, 16);
            assert!(at_keys < 4.0 / cells, "{bits} bits: {at_keys}");
            let behind =
                measured(&*filter_of_uniform, &uniform, uniform.iter().map(|number| number + 1), 1 << 10);
            assert!(behind > 0.9, "{behind}");
        }
    }

    #[test]
    fn codes_ascend_and_cover_their_range() {
        let numbers = sorted((0..5000).map(|i| mix(i, 7) >> (mix(i, 8) % 50)));
        for (segments, range) in [(1, 1), (1, 40), (40, 1_000_000), (3, 1 << 40)] {
            let spline = Spline::through(&numbers, segments, range);
            let codes: Vec<u64> = numbers.iter().map(|number| spline.code(*number)).collect();
            assert!(codes.is_sorted() && codes[0] == 0 && codes.iter().all(|code| *code < range));
            assert!(spline.code(0) == 0 && spline.code(u64::MAX) < range);
        }
    }

    #[test]
    fn few_numbers_are_known_exactly() {
        let numbers: Vec<u64> = (0..10_000).map(|i| 5_000_000 + i * 40).collect();
        let filter = filter(10.0, &numbers);
        assert!(filter.expected_fpr().abs() < f64::EPSILON);
        assert!(measured(&*filter, &numbers, 4_999_990..5_400_100, 5).abs() < f64::EPSILON);
    }
}
