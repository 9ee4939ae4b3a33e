//! The binary fuse filter. A key selects three or four integers in adjacent segments of an array, and the XOR of these
//! integers is the fingerprint of the key.
//!
//! With fingerprints of w bits, the false-positive rate is 2^−w. The filter takes 1.125 · w bits per key with three
//! integers, and 1.075 · w bits with four. The integers of a key are in adjacent segments, so construction (peeling,
//! see `peel.rs`) proceeds from both ends of the array to its middle. Peeling then succeeds with less space than in the
//! filter `xor`, and has fewer cache misses. Source: Graf & Lemire, "Binary fuse filters: fast and smaller than xor
//! filters" (2022), after Dietzfelbinger & Walzer (2019).
//!
//! The filter takes 1.125 or 1.075 · `fingerprint_bits` / 8 bytes per key for a million keys, and more bytes per key
//! for fewer keys. A probe makes three or four memory accesses, which overlap.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::peel::{self, Selection};
use crate::position::{reduce, remix};

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<BinaryFuse>(
    "binary-fuse",
    "like \"xor\", but the array entries of a key are close together; less memory than a Bloom filter of \
     equal accuracy",
    "# Fingerprint length f in bits, 1 to 32. A longer fingerprint lowers the false-positive rate, which\n\
     # is 2^-f. An allocation such as \"monkey\" can replace the fingerprint length, to meet its memory\n\
     # budget.\n\
     fingerprint_bits = 8\n\
     # Number of array positions that the filter reads per key, 3 or 4. Lookups are faster with 3, and\n\
     # the filter is smaller with 4.\n\
     arity = 3\n",
);

const TAG_OF_THREE: [u8; 4] = *b"fus3";
const TAG_OF_FOUR: [u8; 4] = *b"fus4";

/// The base-2 logarithm of the largest length of a segment of the fingerprint array. A segment of this length fits into
/// the L2 cache.
const MOST_SEGMENT_BITS: u32 = 18;

/// Builds binary fuse filters, in which the XOR of three or four array entries is the fingerprint of a key.
struct BinaryFuse {
    fingerprint_bits: u32,
    arity: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    fingerprint_bits: u32,
    arity: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { fingerprint_bits: 8, arity: 3 }
    }
}

impl Build<dyn FilterPolicy> for BinaryFuse {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        let Params { fingerprint_bits, arity } = params;
        if !(3..=4).contains(&arity) {
            return Err(format!("arity is {arity}; it must be 3 or 4"));
        }
        Ok(Box::new(Self { fingerprint_bits: peel::check_width(fingerprint_bits)?, arity }))
    }
}

impl FilterPolicy for BinaryFuse {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let width = peel::width(self.fingerprint_bits, overhead(self.arity), input);
        match self.arity {
            3 => peel::build::<3, Segments<3>>(TAG_OF_THREE, width, input),
            _ => peel::build::<4, Segments<4>>(TAG_OF_FOUR, width, input),
        }
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        match self.arity {
            3 => peel::open::<3, Segments<3>>(TAG_OF_THREE, &stored),
            _ => peel::open::<4, Segments<4>>(TAG_OF_FOUR, &stored),
        }
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(overhead(self.arity) * f64::from(self.fingerprint_bits))
    }
}

/// Returns the length of the fingerprint array divided by the number of keys, for a filter with many keys.
fn overhead(arity: u32) -> f64 {
    if arity == 3 { 1.125 } else { 1.075 }
}

/// The rule by which a key selects one array entry in each of N adjacent segments.
struct Segments<const N: usize> {
    /// The base-2 logarithm of the length of a segment of the fingerprint array.
    segment_bits: u32,
    /// The number of segments that can contain the first array entry of a key.
    firsts: u64,
}

impl<const N: usize> Selection<N> for Segments<N> {
    /// Computes the lengths of the segments for `keys` keys with the empirical formulas of Graf & Lemire, "Binary fuse
    /// filters", section 4.
    fn sized(keys: usize, attempt: u64) -> Self {
        let keys = (keys as f64).max(2.0);
        let (base, shift, least, slope, room) =
            if N == 3 { (3.33f64, 2.25, 1.125, 0.25, 1e6f64) } else { (2.91, -0.5, 1.075, 0.305, 6e5) };
        let segment_bits = ((keys.ln() / base.ln() + shift).max(0.0) as u32).min(MOST_SEGMENT_BITS);
        let factor = least + (slope * (room.ln() / keys.ln() - 1.0)).max(0.0);
        let len = keys * (factor + 0.01 * attempt as f64);
        let segments = (len / f64::from(1u32 << segment_bits)).ceil() as u64;
        Self { segment_bits, firsts: segments.saturating_sub(N as u64 - 1).max(1) }
    }

    fn params(&self) -> [u64; 2] {
        [self.segment_bits.into(), self.firsts]
    }

    fn from_params([segment_bits, firsts]: [u64; 2]) -> Option<Self> {
        let possible = segment_bits <= MOST_SEGMENT_BITS.into() && (1..1 << 40).contains(&firsts);
        possible.then_some(Self { segment_bits: segment_bits as u32, firsts })
    }

    fn len(&self) -> u64 {
        (self.firsts + N as u64 - 1) << self.segment_bits
    }

    /// Returns the indices of the N array entries that a key selects. The high bits of the hash select the first entry,
    /// and each further entry is in the next segment. Other bits of the hash select the position in the segment.
    #[inline]
    fn select(&self, mixed: u64) -> [usize; N] {
        let first = reduce(mixed, (self.firsts as usize) << self.segment_bits);
        let (turns, mask) = (remix(mixed), (1 << self.segment_bits) - 1);
        std::array::from_fn(|part| {
            let place = first + (part << self.segment_bits);
            if part == 0 { place } else { place ^ (turns >> (64 - 18 * part)) as usize & mask }
        })
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    #[test]
    fn four_numbers_take_less_room_than_three_and_these_less_than_the_xor_filter() {
        let hashes: Vec<KeyHash> = (0..1_000_000).map(|i| KeyHash(crate::position::mix(i, 5))).collect();
        for (arity, most) in [(3, 1.135), (4, 1.085)] {
            let policy = <BinaryFuse as Build<_>>::build(Params { fingerprint_bits: 8, arity }).ok().unwrap();
            let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
            let filter = policy.open(Bytes::copy_from(&stored)).unwrap();
            assert!(hashes.iter().all(|hash| filter.may_contain(*hash)));
            let numbers = filter.memory_bytes() as f64 / hashes.len() as f64;
            assert!(numbers <= most, "{arity}: {numbers}");
        }
    }

    #[test]
    fn numbers_of_a_key_are_different_and_inside() {
        for keys in [1, 2, 10, 1000, 100_000] {
            let segments = Segments::<4>::sized(keys, 0);
            for hash in 0..1000 {
                let places = segments.select(crate::position::mix(hash, 0));
                assert!(places.is_sorted_by(|a, b| a < b) && (places[3] as u64) < segments.len());
            }
        }
    }
}
