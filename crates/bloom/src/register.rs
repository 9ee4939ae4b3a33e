//! The register-blocked Bloom filter. All bits of a key are in one 64-bit word.
//!
//! A lookup is one load, one mask and one comparison without vector instructions. No other Bloom filter needs fewer
//! instructions. Some words have many more keys than others, so this filter has the highest false-positive rate of
//! all Bloom filters in this crate. Sources: Putze, Sanders & Singler, "Cache-, hash- and space-efficient Bloom
//! filters" (2007), with blocks of a machine word; Lang et al., "Performance-optimal filtering: Bloom overtakes
//! cuckoo at high throughput" (VLDB 2019), section 3.
//!
//! The filter takes `bits_per_key` / 8 bytes per key. A probe makes one memory access.

use catalog::{Build, Variant};
use types::{Bytes, KeyHash};

use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::{reduce, remix};
use crate::probed::{Params, Probed};
use crate::stored::Head;
use crate::theory;
use prefetch::large;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Register>(
    "register",
    "sets all bits of a key in one 64-bit word; fewest instructions and most false positives of all Bloom \
     filters",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n\
     # Number of bits that each key sets in its word, 1 to 10. 0 selects the number of bits with the\n\
     # lowest false-positive rate for words of 64 bits.\n\
     probes = 0\n",
);

const TAG: [u8; 4] = *b"blmr";
const WORD_BITS: u32 = u64::BITS;
const PLACE_BITS: u32 = WORD_BITS.ilog2();

/// The largest number of bits that a key can set in its word. One hash has enough bits to select this number of
/// positions.
const MOST_PROBES: u32 = WORD_BITS / PLACE_BITS;

/// Builds Bloom filters in which all bits of a key are in one 64-bit word.
struct Register(Probed);

impl Build<dyn FilterPolicy> for Register {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self(Probed::from_params(&params, MOST_PROBES)?)))
    }
}

impl FilterPolicy for Register {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let probes = self.0.probes(input, best_probes);
        let mut words: Vec<u64> = large::zeros(self.0.budget.units(input, WORD_BITS.into()));
        let count = words.len();
        for hash in input.hashes {
            words[reduce(hash.0, count)] |= mask(*hash, probes);
        }
        Head::new(TAG, probes, input.hashes).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, words) = Head::decode_probed(&stored, TAG, 1)?;
        let (words, keys) = (large::collected(words), head.keys);
        Ok(match head.probes {
            1 => Box::new(RegisterFilter::<1> { words, keys }),
            2 => Box::new(RegisterFilter::<2> { words, keys }),
            3 => Box::new(RegisterFilter::<3> { words, keys }),
            4 => Box::new(RegisterFilter::<4> { words, keys }),
            5 => Box::new(RegisterFilter::<5> { words, keys }),
            6 => Box::new(RegisterFilter::<6> { words, keys }),
            7 => Box::new(RegisterFilter::<7> { words, keys }),
            8 => Box::new(RegisterFilter::<8> { words, keys }),
            9 => Box::new(RegisterFilter::<9> { words, keys }),
            MOST_PROBES => Box::new(RegisterFilter::<MOST_PROBES> { words, keys }),
            probes => {
                return Err(CorruptFilter(format!(
                    "the header of the stored filter states {probes} probes per key; the number must be from \
                     1 to {MOST_PROBES}"
                )));
            }
        })
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.0.budget.param())
    }
}

/// Returns the number of bits that a key sets for the lowest false-positive rate in a large filter.
fn best_probes(bits_per_key: f64) -> u32 {
    const WORDS: u64 = 1 << 32;
    let keys = (f64::from(WORD_BITS) / bits_per_key * WORDS as f64) as u64;
    let rates: Vec<f64> = (1..=MOST_PROBES).map(|probes| rate(keys, WORDS, probes)).collect();
    let best = (0..rates.len()).min_by(|a, b| rates[*a].total_cmp(&rates[*b]));
    best.map_or(1, |index| index as u32 + 1)
}

fn rate(keys: u64, words: u64, probes: u32) -> f64 {
    let rates = theory::word_rates(WORD_BITS, probes);
    theory::blocked(keys, words, |load| rates.get(load as usize).copied().unwrap_or(1.0))
}

/// Returns a mask with the bits that a key sets in its word. Six bits of a derived hash select each of these bits.
#[inline]
fn mask(hash: KeyHash, probes: u32) -> u64 {
    let derived = remix(hash.0);
    (1..=probes).fold(0, |mask, probe| mask | 1 << (derived >> (WORD_BITS - PLACE_BITS * probe) & 63))
}

/// A register-blocked Bloom filter in memory. All bits of a key are in one 64-bit word.
///
/// The number of bits that a key sets is known at compile time. A lookup then has fewer instructions, so the cache
/// misses of more lookups overlap.
struct RegisterFilter<const PROBES: u32> {
    words: Vec<u64>,
    keys: u64,
}

impl<const PROBES: u32> Filter for RegisterFilter<PROBES> {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let mask = mask(hash, PROBES);
        self.words[reduce(hash.0, self.words.len())] & mask == mask
    }

    fn prefetch(&self, hash: KeyHash) {
        prefetch(&self.words, reduce(hash.0, self.words.len()));
    }

    fn expected_fpr(&self) -> f64 {
        rate(self.keys, self.words.len() as u64, PROBES)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_probes_than_a_blocked_filter() {
        let best = [0.1, 4.0, 8.0, 10.0, 16.0, 64.0].map(best_probes);
        assert!(best.is_sorted(), "{best:?}");
        assert_eq!((best[0], best[3]), (1, 5));
    }

    #[test]
    fn a_mask_has_at_most_as_many_bits_as_probes() {
        for probes in 1..=MOST_PROBES {
            let counts = (0..1000).map(|i| mask(KeyHash(remix(i)), probes).count_ones());
            assert_eq!(counts.clone().max(), Some(probes));
            assert!(counts.min() >= Some(1));
        }
    }

    #[test]
    fn probes_beyond_one_hash_are_refused() {
        assert!(<Register as Build<_>>::build(Params { bits_per_key: 10.0, probes: 11 }).is_err());
        let stored = Head::new(TAG, 11, &[]).encode([0u64].into_iter());
        let policy = <Register as Build<_>>::build(Params::default()).ok().unwrap();
        assert!(policy.open(Bytes::copy_from(&stored)).is_err());
    }
}
