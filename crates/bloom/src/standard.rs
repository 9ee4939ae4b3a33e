//! The textbook Bloom filter. Each key sets k bits at any positions of one bit array.
//!
//! Source: Bloom, "Space/time trade-offs in hash coding with allowable errors" (1970). One 64-bit hash gives k
//! derived hashes by multiplications with odd numbers. The high bits of each derived hash select a position, so the
//! array may have any length. The measured false-positive rate is within sampling error of theory from 0.1 to 24 bits
//! per key.

use catalog::{Build, Variant};
use types::{Bytes, KeyHash};

use crate::bits::{BitArray, places};
use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::filter_builder::{BitArrayBuilder, FilterBuilder, Places};
use crate::probed::{Params, Probed};
use crate::stored::{Head, MAX_PROBES};
use crate::theory;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Standard>(
    "standard",
    "the textbook Bloom filter; lowest false-positive rate of all Bloom filters, one cache miss per probe",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n\
     # Number of bits that each key sets, 1 to 64. 0 selects the number of bits with the lowest\n\
     # false-positive rate, ln 2 · bits_per_key.\n\
     probes = 0\n",
);

const TAG: [u8; 4] = *b"blms";

/// Builds textbook Bloom filters.
pub(crate) struct Standard(Probed);

impl Standard {
    /// Creates the policy `standard` with `bits_per_key` bits per key and the best number of bits that each key sets.
    ///
    /// # Errors
    /// Returns an error if `bits_per_key` is out of range.
    pub(crate) fn with_bits(bits_per_key: f64) -> Result<Self, String> {
        Ok(Self(Probed::from_params(&Params { bits_per_key, ..Params::default() }, MAX_PROBES)?))
    }

    /// Returns the stored size in bytes of a filter with `keys` keys.
    pub(crate) fn stored_bytes(&self, keys: usize) -> usize {
        Head::stored_bytes(Budget::units_for(self.0.budget.param(), keys, 64))
    }
}

impl Build<dyn FilterPolicy> for Standard {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self(Probed::from_params(&params, MAX_PROBES)?)))
    }
}

impl FilterPolicy for Standard {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let probes = self.0.probes(input, theory::standard_probes);
        let mut bits = BitArray::zeros(self.0.budget.units(input, 64));
        input.hashes.iter().for_each(|hash| bits.add(*hash, probes));
        Head::new(TAG, probes, input.hashes).encode(bits.words())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        Ok(Box::new(StandardFilter::open(&stored)?))
    }

    fn grow(&self, input: &FilterInput<'_>) -> Option<Box<dyn FilterBuilder>> {
        let probes = self.0.probes(input, theory::standard_probes);
        let head = Head::new(TAG, probes, input.hashes);
        Some(Box::new(BitArrayBuilder::new(head, self.0.budget.units(input, 64), Probes(probes))))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.0.budget.param())
    }
}

/// The rule that selects the bits of a key anywhere in the bit array. The field is the number of bits that each key
/// sets.
struct Probes(u32);

impl Places for Probes {
    #[inline]
    fn of(&self, hash: KeyHash, words: usize) -> impl Iterator<Item = (usize, u64)> {
        places(hash, self.0, words)
    }
}

/// A textbook Bloom filter in memory.
pub(crate) struct StandardFilter {
    bits: BitArray,
    probes: u32,
    keys: u64,
}

impl StandardFilter {
    /// Opens a filter from stored bytes.
    ///
    /// # Errors
    /// Returns an error if the bytes are corrupt or belong to another kind of filter.
    pub(crate) fn open(stored: &[u8]) -> Result<Self, CorruptFilter> {
        let (head, words) = Head::decode_probed(stored, TAG, 1)?;
        Ok(Self { bits: BitArray::from_words(words), probes: head.probes, keys: head.keys })
    }
}

impl Filter for StandardFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.bits.may_contain(hash, self.probes)
    }

    fn prefetch(&self, hash: KeyHash) {
        self.bits.prefetch(hash);
    }

    fn expected_fpr(&self) -> f64 {
        theory::standard(self.bits.len() as u64, self.keys, self.probes)
    }

    fn memory_bytes(&self) -> usize {
        self.bits.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::remix;

    fn filter(probes: u32, bits_per_key: f64, hashes: &[KeyHash]) -> (u32, Box<dyn Filter>) {
        let policy = <Standard as Build<_>>::build(Params { bits_per_key, probes }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes, bits_per_key: None, keys: None });
        let (head, _) = Head::decode(&stored, TAG).unwrap();
        (head.probes, policy.open(Bytes::copy_from(&stored)).unwrap())
    }

    #[test]
    fn the_number_of_probes_is_the_best_or_the_one_asked_for() {
        let hashes: Vec<KeyHash> = (1..=1000).map(|i| KeyHash(remix(i))).collect();
        assert_eq!(filter(0, 10.0, &hashes).0, 7);
        assert_eq!(filter(0, 0.1, &hashes).0, 1);
        assert_eq!(filter(0, 64.0, &hashes).0, 44);
        assert_eq!(filter(3, 10.0, &hashes).0, 3);
        assert!(<Standard as Build<_>>::build(Params { bits_per_key: 10.0, probes: 65 }).is_err());
    }

    #[test]
    fn expected_rate_is_that_of_the_bits_built() {
        let hashes: Vec<KeyHash> = (1..=1000).map(|i| KeyHash(remix(i))).collect();
        let (_, filter) = filter(0, 10.0, &hashes);
        // 10 000 bits fill 157 words, which are 10 048 bits.
        assert_eq!(filter.memory_bytes(), 157 * 8);
        assert!((filter.expected_fpr() / theory::standard(10_048, 1000, 7) - 1.0).abs() < 1e-12);
    }
}
