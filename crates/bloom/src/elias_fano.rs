//! A sorted set of integers with fast search, in the Elias–Fano encoding. In addition to the low bits of each integer,
//! the set takes slightly more than two bits per integer.
//!
//! The low bits of all numbers are in an array. The high bits are encoded in unary. For each possible value of the high
//! bits, in ascending order, the encoding has one `1` bit per number with this value, and then a `0` bit. The numbers
//! with high bits h therefore begin after h zero bits. The position of every 512th zero bit is stored as a sample.
//! Sources: Elias, "Efficient storage and retrieval by content and address of static files" (1974); Vigna,
//! "Quasi-succinct indices" (WSDM 2013), section 3.

use prefetch::large;

use crate::packed::Packed;

/// The number of `0` bits in the encoded high bits from one sample to the next. A sample is a stored bit position at
/// which a search can begin.
const ZEROS_PER_SAMPLE: u64 = 512;

/// The size in bits of a sample, which is the stored position of a `0` bit.
const PLACE_BITS: u32 = 32;

/// A sorted set of numbers that are below a bound, in the Elias–Fano encoding. The set takes little memory.
pub(crate) struct EliasFano {
    lows: Packed,
    low_bits: u32,
    /// The high bits of all numbers, encoded in unary. Each number is represented by a `1` bit. A `0` bit follows after
    /// all numbers with equal high bits.
    highs: Vec<u64>,
    /// Positions in `highs`: after the 512th `0` bit, after the 1024th `0` bit, and so on. With these positions, a
    /// search skips most `0` bits.
    samples: Packed,
    len: u64,
}

/// The lengths, in words, of the three arrays of an Elias–Fano set: low bits, high bits and samples.
#[derive(Clone, Copy)]
struct Parts {
    lows: u64,
    highs: u64,
    samples: u64,
}

impl Parts {
    /// Returns the lengths of the arrays of a set with `len` numbers below `bound`. Returns `None` if the lengths are
    /// too large.
    fn of(len: u64, bound: u64, low_bits: u32) -> Option<Self> {
        let zeros = (bound >> low_bits).checked_add(1)?;
        let bits = len.checked_add(zeros).filter(|bits| u32::try_from(*bits).is_ok())?;
        // An array of numbers of 0 bits takes no words.
        let lows = if low_bits == 0 { 0 } else { Packed::checked_words(len, low_bits)? };
        let samples = Packed::checked_words(zeros / ZEROS_PER_SAMPLE, PLACE_BITS)?;
        Some(Self { lows, highs: bits.div_ceil(64), samples })
    }
}

impl EliasFano {
    /// The memory in bits for each `0` bit of the encoded high bits: the bit itself, and its share of the samples. In
    /// addition, each number of the set takes one `1` bit and its low bits.
    pub(crate) const BITS_PER_ZERO: f64 = 1.0 + PLACE_BITS as f64 / ZEROS_PER_SAMPLE as f64;

    /// Creates the set of `numbers`, which are sorted and below `bound`.
    pub(crate) fn new(numbers: &[u64], bound: u64, low_bits: u32) -> Self {
        let len = numbers.len() as u64;
        let parts = Parts::of(len, bound, low_bits)
            .expect("the bit positions of an Elias–Fano set must be below 2^32");
        let mut lows = Packed::zeros(if low_bits == 0 { 0 } else { numbers.len() }, low_bits.max(1));
        let mut highs = large::zeros(parts.highs as usize);
        for (index, number) in numbers.iter().enumerate() {
            let place = (number >> low_bits) as usize + index;
            highs[place / 64] |= 1u64 << (place % 64);
            if low_bits > 0 {
                lows.set(index, *number);
            }
        }
        let zeros = (bound >> low_bits) + 1;
        let mut samples = Packed::zeros((zeros / ZEROS_PER_SAMPLE) as usize, PLACE_BITS);
        let (mut seen, mut place) = (0, 0);
        // All numbers whose high bits are below `next` are before the zero bit number `next`.
        for next in (1..=zeros / ZEROS_PER_SAMPLE).map(|sample| sample * ZEROS_PER_SAMPLE) {
            seen += numbers[seen..].partition_point(|number| number >> low_bits < next);
            samples.set(place, next + seen as u64);
            place += 1;
        }
        Self { lows, low_bits, highs, samples, len }
    }

    /// Returns the size of a stored set of `len` numbers below `bound` in words. Returns `None` if the set is too
    /// large.
    pub(crate) fn words(len: u64, bound: u64, low_bits: u32) -> Option<u64> {
        let Parts { lows, highs, samples } = Parts::of(len, bound, low_bits)?;
        lows.checked_add(highs)?.checked_add(samples)
    }

    /// Whether the set has a number from `first` to `last`, inclusive. `last` is not below `first`.
    pub(crate) fn has_between(&self, first: u64, last: u64) -> bool {
        let mask = (1 << self.low_bits) - 1;
        let (high, last_high) = (first >> self.low_bits, last >> self.low_bits);
        let (start, place) = self.start(high);
        let end = start + self.ones_from(place);
        if high == last_high {
            let at = self.first_low(start, end, first & mask);
            return at < end && self.low(at) <= last & mask;
        }
        if start < end && self.low(end - 1) >= first & mask {
            return true;
        }
        let (last_start, place) = self.start(last_high);
        last_start > end || self.ones_from(place) > 0 && self.low(last_start) <= last & mask
    }

    /// Returns the index of the first number of the set whose high bits are at least `high`. Also returns the position
    /// of this number's `1` bit among the encoded high bits.
    fn start(&self, high: u64) -> (u64, u64) {
        let sample = high / ZEROS_PER_SAMPLE;
        let mut place = match sample {
            0 => 0,
            sample => self.samples.get(sample as usize - 1),
        };
        let mut left = high % ZEROS_PER_SAMPLE;
        while left > 0 {
            let Some(word) = self.highs.get(place as usize / 64) else { break };
            let zeros = !word >> (place % 64);
            let count = u64::from(zeros.count_ones()).min(64 - place % 64);
            if count >= left {
                place += u64::from(nth_one(zeros, left as u32 - 1)) + 1;
                break;
            }
            left -= count;
            place = (place / 64 + 1) * 64;
        }
        (place.saturating_sub(high), place)
    }

    /// Returns the number of consecutive `1` bits that begin at position `place` of the encoded high bits.
    fn ones_from(&self, place: u64) -> u64 {
        let mut ones = 0;
        while let Some(word) = self.highs.get((place + ones) as usize / 64) {
            let shift = (place + ones) % 64;
            let run = u64::from((word >> shift).trailing_ones());
            ones += run;
            if run < 64 - shift {
                break;
            }
        }
        ones
    }

    /// Searches the numbers with the indexes `start` to `end` (exclusive), whose low bits must be sorted. Returns the
    /// index of the first number whose low bits are at least `low`, or `end` if there is no such number.
    fn first_low(&self, mut start: u64, mut end: u64, low: u64) -> u64 {
        while start < end {
            let middle = start + (end - start) / 2;
            if self.low(middle) < low {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        start
    }

    /// Returns the low bits of the number with this index. Returns 0 if the index is too large, which happens only in a
    /// corrupt set.
    fn low(&self, index: u64) -> u64 {
        if self.low_bits > 0 && index < self.len { self.lows.get(index as usize) } else { 0 }
    }

    /// Appends all arrays of the set to `words`.
    pub(crate) fn to_words(&self, words: &mut Vec<u64>) {
        if self.low_bits > 0 {
            words.extend(self.lows.to_words());
        }
        words.extend(&self.highs);
        words.extend(self.samples.to_words());
    }

    /// Decodes a set from all words that [`to_words`](Self::to_words) wrote. Returns `None` if the number of words is
    /// wrong.
    pub(crate) fn from_words(
        words: &mut impl ExactSizeIterator<Item = u64>,
        len: u64,
        bound: u64,
        low_bits: u32,
    ) -> Option<Self> {
        let parts = Parts::of(len, bound, low_bits)?;
        if words.len() as u64 != Self::words(len, bound, low_bits)? {
            return None;
        }
        let mut take = |count: u64| -> Vec<u64> { words.take(count as usize).collect() };
        let lows = match low_bits {
            0 => Packed::zeros(0, 1),
            bits => Packed::from_words(take(parts.lows).into_iter(), bits),
        };
        let highs = large::collected(take(parts.highs).into_iter());
        let samples = Packed::from_words(take(parts.samples).into_iter(), PLACE_BITS);
        Some(Self { lows, low_bits, highs, samples, len })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.lows.memory_bytes() + size_of_val(&*self.highs) + self.samples.memory_bytes()
    }
}

/// Returns the position in `word` of the `1` bit with the index `nth`, counted from 0. The word must have more than
/// `nth` bits that are 1.
fn nth_one(word: u64, nth: u32) -> u32 {
    let (mut left, mut place) = (nth, 0);
    for half in [32, 16, 8, 4, 2, 1] {
        let ones = (word >> place & ((1 << half) - 1)).count_ones();
        if left >= ones {
            left -= ones;
            place += half;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::mix;

    #[test]
    fn ones_are_found_by_their_number() {
        for word in [1, u64::MAX, 1 << 63, 0x8000_0000_0000_0001, mix(7, 7)] {
            let places = (0..64).filter(|place| word >> place & 1 == 1);
            for (nth, place) in places.enumerate() {
                assert_eq!(nth_one(word, nth as u32), place);
            }
        }
    }

    /// Compares the answer for every range with a linear search. The sets are random, partly dense, empty or full.
    #[test]
    fn ranges_are_those_of_a_plain_search() {
        let random = |count: u64, bound: u64| (0..count).map(move |i| mix(i, 9) % bound).collect::<Vec<_>>();
        let sets = [
            (vec![], 1),
            (vec![0], 1),
            (random(300, 4000), 4000),
            (random(2000, 1 << 40), 1 << 40),
            ((70_000..73_000).chain([99_999]).collect(), 100_000),
            ((0..3000).collect(), 3000),
        ];
        for (mut set, bound) in sets {
            set.sort_unstable();
            set.dedup();
            for low_bits in [0, 1, 5, 8, 20].into_iter().filter(|bits| bound >> bits < 1 << 22) {
                let mut words = Vec::new();
                EliasFano::new(&set, bound, low_bits).to_words(&mut words);
                let mut words = words.into_iter();
                let read = EliasFano::from_words(&mut words, set.len() as u64, bound, low_bits).unwrap();
                for i in 0..6000 {
                    let first = match set.get(i as usize % (set.len() + 7)) {
                        Some(number) => (number + i % 3).saturating_sub(1).min(bound - 1),
                        None => mix(i, 11) % bound,
                    };
                    let last = (first + ((mix(i, 12) % bound) >> (i % 40))).min(bound - 1);
                    let at = set.partition_point(|number| *number < first);
                    let expected = set.get(at).is_some_and(|number| *number <= last);
                    let what = format!("{first}..={last} of {} below {bound}, {low_bits} bits", set.len());
                    assert_eq!(read.has_between(first, last), expected, "{what}");
                }
            }
        }
    }
}
