//! The quotient filter. The hash of a key is split into a quotient and a remainder. The quotient selects a slot. The
//! remainder is stored in this slot, or in the next free slot.
//!
//! The module `slots.rs` stores the remainders. Sources: Bender et al., "Don't thrash: how to cache your hash on
//! flash" (VLDB 2012); Pandey, Bender, Johnson & Patro, "A general-purpose counting filter: making every bit count"
//! (2017), section 3, for the two metadata bits per slot and the offsets. This filter is built once, and 95 % of its
//! slots are filled. The number of quotients need not be a power of two.
//!
//! The filter takes (`remainder_bits` + 2.2) / 8 / 0.95 bytes per key. If no stored key has the quotient of the probed
//! key, a probe usually makes one memory access. Any other probe makes three memory accesses. The false-positive rate
//! is about 0.95 / 2^`remainder_bits`.
#![allow(clippy::inline_always)] // The lookup is compiled for two CPU feature sets.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::packed::MOST_WIDTH;
use crate::position::{mix, reduce, remix};
#[cfg(target_arch = "x86_64")]
use crate::processor::Bmi2;
use crate::processor::Portable;
use crate::slots::{self, EXTRA_BITS, LOAD, Slots, select};
use crate::stored::Head;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Quotient>(
    "quotient",
    "sorted key hashes, each stored as a position (quotient) and a remainder; two such filters can be merged",
    "# Remainder length in bits, 1 to 32. A longer remainder lowers the false-positive rate. An\n\
     # allocation such as \"monkey\" can replace the remainder length, to meet its memory budget.\n\
     remainder_bits = 8\n",
);

const TAG: [u8; 4] = *b"quot";

/// Builds quotient filters, in which a part of the hash selects a slot and the rest is stored in the slot.
struct Quotient {
    remainder_bits: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    remainder_bits: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { remainder_bits: 8 }
    }
}

impl Build<dyn FilterPolicy> for Quotient {
    type Params = Params;

    fn build(Params { remainder_bits }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        if !(1..=MOST_WIDTH).contains(&remainder_bits) {
            return Err(format!("remainder_bits is {remainder_bits}; it must be from 1 to {MOST_WIDTH}"));
        }
        Ok(Box::new(Self { remainder_bits }))
    }
}

impl FilterPolicy for Quotient {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let width = match input.bits_per_key {
            Some(bits) => Budget::width(bits * LOAD - EXTRA_BITS).clamp(1, MOST_WIDTH),
            None => self.remainder_bits,
        };
        let quotients = slots::quotients(input.hashes.len());
        let mut keys: Vec<(usize, u64)> =
            input.hashes.iter().map(|hash| split(*hash, quotients, (1 << width) - 1)).collect();
        keys.sort_unstable();
        keys.dedup();
        let mut words = Vec::new();
        Slots::filled(&keys, quotients, width).encode(&mut words);
        Head { tag: TAG, probes: width, keys: keys.len() as u64 }.encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let slots = decode(&stored)?;
        #[cfg(target_arch = "x86_64")]
        if let Some(lookup) = Bmi2::detect() {
            return Ok(Box::new(QuotientFilter { slots, lookup }));
        }
        Ok(Box::new(QuotientFilter { slots, lookup: Portable }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some((f64::from(self.remainder_bits) + EXTRA_BITS) / LOAD)
    }
}

/// Decodes the slots of a stored quotient filter. The field `probes` of the header is the width of remainders in bits.
fn decode(stored: &[u8]) -> Result<Slots, CorruptFilter> {
    let (head, mut words) = Head::decode(stored, TAG)?;
    Slots::decode(&mut words, head.keys, head.probes)
}

/// Whether a quotient filter contains the quotient and the remainder of a key.
#[inline(always)]
fn may_contain(slots: &Slots, hash: KeyHash, select: impl Fn(u64, u32) -> u32) -> bool {
    let (quotient, remainder) = split(hash, slots.quotients, (1 << slots.width()) - 1);
    slots.has(quotient, |other| other == remainder, select)
}

/// Splits the hash of a key into its quotient, which selects a slot, and its remainder.
#[inline]
fn split(hash: KeyHash, quotients: usize, mask: u64) -> (usize, u64) {
    let mixed = mix(hash.0, 0);
    (reduce(mixed, quotients), remix(mixed) >> 24 & mask)
}

/// Looks up a key, with code that is compiled for one CPU feature set. The answers are equal for every set of CPU
/// features.
trait Lookup: Copy + Send + Sync {
    fn may_contain(self, slots: &Slots, hash: KeyHash) -> bool;
}

impl Lookup for Portable {
    fn may_contain(self, slots: &Slots, hash: KeyHash) -> bool {
        may_contain(slots, hash, select)
    }
}

/// The lookup for CPUs with an instruction that counts bits and an instruction that finds the n-th set bit.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
impl Lookup for Bmi2 {
    #[inline]
    fn may_contain(self, slots: &Slots, hash: KeyHash) -> bool {
        #[inline]
        #[target_feature(enable = "bmi2,popcnt")]
        fn compiled(slots: &Slots, hash: KeyHash) -> bool {
            may_contain(slots, hash, |word, rank| {
                std::arch::x86_64::_pdep_u64(1 << (rank % u64::BITS), word).trailing_zeros()
            })
        }
        // SAFETY: `self` exists only if the CPU has the instructions.
        unsafe { compiled(slots, hash) }
    }
}

/// A quotient filter in memory, with lookup code for the features of the CPU.
struct QuotientFilter<L> {
    slots: Slots,
    lookup: L,
}

impl<L: Lookup> Filter for QuotientFilter<L> {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.lookup.may_contain(&self.slots, hash)
    }

    fn prefetch(&self, hash: KeyHash) {
        self.slots.prefetch(split(hash, self.slots.quotients, 0).0);
    }

    fn expected_fpr(&self) -> f64 {
        self.slots.fill()
    }

    fn memory_bytes(&self) -> usize {
        self.slots.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Tests that the slots give the same answers as a set of pairs of quotient and remainder.
    #[test]
    fn it_is_the_set_of_quotients_and_remainders() {
        for (count, width) in [(0u64, 3), (1, 1), (60, 2), (1000, 1), (20_000, 4)] {
            let hashes: Vec<KeyHash> = (0..count).map(|i| KeyHash(mix(i, 2))).collect();
            let policy = Quotient { remainder_bits: width };
            let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
            let slots = decode(&stored).unwrap();
            let pair = |hash: KeyHash| split(hash, slots.quotients, (1 << width) - 1);
            let set: HashSet<(usize, u64)> = hashes.iter().map(|hash| pair(*hash)).collect();
            assert_eq!(slots.keys, set.len() as u64);
            for hash in hashes.iter().copied().chain((0..20_000).map(|i| KeyHash(mix(i, 77)))) {
                assert_eq!(may_contain(&slots, hash, select), set.contains(&pair(hash)));
                #[cfg(target_arch = "x86_64")]
                if let Some(lookup) = Bmi2::detect() {
                    assert_eq!(lookup.may_contain(&slots, hash), set.contains(&pair(hash)));
                }
            }
        }
    }

    #[test]
    fn two_bits_and_a_little_besides_the_remainder() {
        let hashes: Vec<KeyHash> = (0..200_000).map(|i| KeyHash(mix(i, 2))).collect();
        let stored = Quotient { remainder_bits: 8 }.build(&FilterInput {
            hashes: &hashes,
            bits_per_key: None,
            keys: None,
        });
        let bits = decode(&stored).unwrap().memory_bytes() as f64 * 8.0 / hashes.len() as f64;
        assert!(bits < (8.0 + EXTRA_BITS) / LOAD * 1.01, "{bits}");
    }
}
