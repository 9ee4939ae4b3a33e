//! The xor filter, a static filter that stores fingerprints. A key selects three integers, one in each third of an
//! array. The XOR of these integers is the fingerprint of the key.
//!
//! With fingerprints of w bits, the false-positive rate is 2^−w at 1.23 · w bits per key. A Bloom filter of equal
//! size has a far higher rate. Construction needs all keys at once, and causes CPU cache misses for every key.
//! `binary-fuse` is the successor of this filter. Source: Graf & Lemire, "Xor filters: faster and smaller than Bloom
//! and cuckoo filters" (2020).
//!
//! The filter takes slightly more than 1.23 · `fingerprint_bits` / 8 bytes per key. A probe makes three memory
//! accesses, which overlap.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::peel::{self, Selection};
use crate::position::reduce;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Xor>(
    "xor",
    "the XOR of three array entries is the fingerprint of a key; needs 1.23 fingerprints of memory per key",
    "# Fingerprint length f in bits, 1 to 32. A longer fingerprint lowers the false-positive rate, which\n\
     # is 2^-f. An allocation such as \"monkey\" can replace the fingerprint length, to meet its memory\n\
     # budget.\n\
     fingerprint_bits = 8\n",
);

const TAG: [u8; 4] = *b"xorf";
const OVERHEAD: f64 = 1.23;

/// The number of additional entries of every fingerprint array. Without these entries, the construction (peeling) often
/// fails if the filter has few keys.
const SPARE: f64 = 32.0;

/// Builds xor filters, in which the XOR of three array entries is the fingerprint of a key.
struct Xor {
    fingerprint_bits: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    fingerprint_bits: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { fingerprint_bits: 8 }
    }
}

impl Build<dyn FilterPolicy> for Xor {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self { fingerprint_bits: peel::check_width(params.fingerprint_bits)? }))
    }
}

impl FilterPolicy for Xor {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let width = peel::width(self.fingerprint_bits, OVERHEAD, input);
        peel::build::<3, Thirds>(TAG, width, input)
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        peel::open::<3, Thirds>(TAG, &stored)
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(OVERHEAD * f64::from(self.fingerprint_bits))
    }
}

/// The rule by which a key selects one entry in each third of the fingerprint array.
struct Thirds {
    /// The length of a third of the fingerprint array.
    third: u64,
}

impl Selection<3> for Thirds {
    fn sized(keys: usize, attempt: u64) -> Self {
        let len = OVERHEAD * keys as f64 * (1.0 + 0.01 * attempt as f64) + SPARE;
        Self { third: (len / 3.0).ceil() as u64 }
    }

    fn params(&self) -> [u64; 2] {
        [self.third, 0]
    }

    fn from_params([third, none]: [u64; 2]) -> Option<Self> {
        (third < 1 << 40 && none == 0).then_some(Self { third })
    }

    fn len(&self) -> u64 {
        3 * self.third
    }

    #[inline]
    fn select(&self, mixed: u64) -> [usize; 3] {
        let third = self.third as usize;
        [0, 1, 2].map(|part| part * third + reduce(mixed.rotate_left(21 * part as u32), third))
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    #[test]
    fn eight_bits_cost_ten_and_sixteen_twenty() {
        let hashes: Vec<KeyHash> = (0..100_000).map(|i| KeyHash(crate::position::mix(i, 5))).collect();
        for fingerprint_bits in [8, 16] {
            let policy = <Xor as Build<_>>::build(Params { fingerprint_bits }).ok().unwrap();
            let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
            let filter = policy.open(Bytes::copy_from(&stored)).unwrap();
            let bits = filter.memory_bytes() as f64 * 8.0 / hashes.len() as f64;
            let expected = OVERHEAD * f64::from(fingerprint_bits);
            assert!((expected..expected * 1.02).contains(&bits), "{bits}");
        }
    }
}
