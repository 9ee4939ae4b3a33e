//! The Bloom filter of the crate `fastbloom`. The tree passes the hash of a key to the filter, so the filter does not
//! hash the key again.
//!
//! Since version 0.17, the crate implements a standard Bloom filter instead of a blocked Bloom filter. The expected
//! false-positive rate therefore equals the rate of `standard`. The crate derives the k positions of a key from the
//! 64-bit hash of the tree by double hashing. Source: <https://docs.rs/fastbloom/0.17>.

use ::fastbloom::BloomFilter;
use catalog::{Build, Variant};
use types::{Bytes, KeyHash};

use crate::budget::{Budget, BudgetParams};
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::reduce;
use crate::stored::Head;
use crate::theory;
use prefetch::large;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<FastBloom>(
    "fastbloom",
    "the standard Bloom filter of the Rust crate fastbloom",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n",
);

const TAG: [u8; 4] = *b"fbl1";

/// Builds the Bloom filters of the crate `fastbloom`.
struct FastBloom {
    budget: Budget,
}

impl Build<dyn FilterPolicy> for FastBloom {
    type Params = BudgetParams<10>;

    fn build(params: Self::Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self { budget: Budget::from_param(params.bits_per_key)? }))
    }
}

impl FilterPolicy for FastBloom {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let probes = theory::standard_probes(self.budget.bits_per_key(input));
        let words = large::zeros(self.budget.units(input, 64));
        let mut bits = BloomFilter::from_vec(words).hashes(probes);
        for hash in input.hashes {
            bits.insert_hash(hash.0);
        }
        Head::new(TAG, probes, input.hashes).encode(bits.as_slice().iter().copied())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, words) = Head::decode_probed(&stored, TAG, 1)?;
        let bits = BloomFilter::from_vec(large::collected(words)).hashes(head.probes);
        Ok(Box::new(FastBloomFilter { bits, keys: head.keys }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }
}

/// A Bloom filter of the crate `fastbloom`, together with the number of its keys.
struct FastBloomFilter {
    bits: BloomFilter,
    keys: u64,
}

impl Filter for FastBloomFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.bits.contains_hash(hash.0)
    }

    /// Prefetches the word that the first probe of the crate `fastbloom` reads.
    fn prefetch(&self, hash: KeyHash) {
        prefetch(self.bits.as_slice(), reduce(hash.0, self.bits.num_bits()) / 64);
    }

    fn expected_fpr(&self) -> f64 {
        theory::standard(self.bits.num_bits() as u64, self.keys, self.bits.num_hashes())
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(self.bits.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_filter_is_the_one_built_by_the_crate() {
        let hashes: Vec<KeyHash> =
            (1..=500u64).map(|i| KeyHash(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let policy = <FastBloom as Build<_>>::build(BudgetParams::default()).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
        let filter = policy.open(Bytes::copy_from(&stored)).unwrap();
        let mut own = BloomFilter::with_num_bits(5000).expected_items(500);
        for hash in &hashes {
            own.insert_hash(hash.0);
        }
        assert_eq!(filter.memory_bytes() * 8, own.num_bits());
        for i in 0..10_000u64 {
            let probe = i.wrapping_mul(0xd134_2543_de82_ef95);
            assert_eq!(filter.may_contain(KeyHash(probe)), own.contains_hash(probe));
        }
    }
}
