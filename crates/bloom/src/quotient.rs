//! The quotient filter: every key's remainder in the slot of its quotient, or in the next free slot after it.
//!
//! Remainders of one quotient form a run, and runs are in the order of quotients. Two bits per slot delimit them:
//! one marks a quotient that has a run, one marks the end of a run. A lookup counts the runs since the start of its
//! block of 64 slots and finds the end of its own. Sources: Bender et al., "Don't thrash: how to cache your hash on
//! flash" (VLDB 2012); Pandey, Bender, Johnson & Patro, "A general-purpose counting filter: making every bit count"
//! (2017), section 3, for the two bits and the offsets. Here it is built once, 95 % full, with any number of
//! quotients.
//!
//! Bytes: (`remainder_bits` + 2.2) / 8 / 0.95 per key. Memory accesses per probe: one for most absent keys that hit
//! an empty quotient, three otherwise. The false-positive rate is about 0.95 / 2^`remainder_bits`.
#![allow(clippy::inline_always)] // One body, compiled for two CPU feature sets.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::packed::{MOST_WIDTH, Packed};
use crate::position::{mix, reduce, remix};
#[cfg(target_arch = "x86_64")]
use crate::processor::Bmi2;
use crate::processor::Portable;
use crate::stored::Head;
use prefetch::large;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Quotient>(
    "quotient",
    "remainders in the order of quotients, found by counting bits: keys stay in order, so filters can merge",
    "# Bits of a remainder, 1 to 32. An allocation over levels overrides it within its budget.\n\
     remainder_bits = 8\n",
);

const TAG: [u8; 4] = *b"quot";
const LOAD: f64 = 0.95;
const BLOCK: usize = 64;

/// The approximate bits per slot in addition to the remainder.
const EXTRA_BITS: f64 = 2.2;

/// Builds quotient filters.
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
        let quotients = ((input.hashes.len() as f64 / LOAD).ceil() as usize).max(1).next_multiple_of(BLOCK);
        let mut keys: Vec<(usize, u64)> =
            input.hashes.iter().map(|hash| split(*hash, quotients, (1 << width) - 1)).collect();
        keys.sort_unstable();
        keys.dedup();
        let stored = Slots::filled(&keys, quotients, width);
        let meta = [quotients as u64, stored.offsets.width().into()];
        let words: Vec<u64> = meta
            .into_iter()
            .chain(stored.blocks.iter().flat_map(|block| [block.occupied, block.ends]))
            .chain(stored.offsets.to_words())
            .chain(stored.remainders.to_words())
            .collect();
        Head { tag: TAG, probes: width, keys: keys.len() as u64 }.encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let slots = Slots::decode(&stored)?;
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

/// The quotient and the remainder of a key.
#[inline]
fn split(hash: KeyHash, quotients: usize, mask: u64) -> (usize, u64) {
    let mixed = mix(hash.0, 0);
    (reduce(mixed, quotients), remix(mixed) >> 24 & mask)
}

/// The metadata of 64 slots.
#[derive(Clone, Copy, Default)]
struct Block {
    /// The quotients that have a run, one bit each.
    occupied: u64,
    /// The slots at which a run ends, one bit each.
    ends: u64,
}

/// The slots of a quotient filter, with the metadata that delimits its runs.
struct Slots {
    blocks: Vec<Block>,
    /// For each block, the number of slots from its start on that belong to quotients of earlier blocks.
    offsets: Packed,
    /// The remainders, one per slot of all blocks.
    remainders: Packed,
    quotients: usize,
    keys: u64,
}

impl Slots {
    /// Fills the slots with these keys, which are sorted and unique.
    fn filled(keys: &[(usize, u64)], quotients: usize, width: u32) -> Self {
        let slots = keys.iter().fold(0, |free: usize, (quotient, _)| free.max(*quotient) + 1);
        let slots = slots.max(quotients).next_multiple_of(BLOCK);
        let mut blocks: Vec<Block> = large::zeros(slots / BLOCK);
        let mut remainders = Packed::zeros(slots, width);
        let mut offsets = vec![0u64; blocks.len()];
        let mut free = 0;
        for run in keys.chunk_by(|a, b| a.0 == b.0) {
            let quotient = run[0].0;
            blocks[quotient / BLOCK].occupied |= 1 << (quotient % BLOCK);
            free = free.max(quotient);
            for (_, remainder) in run {
                remainders.set(free, *remainder);
                free += 1;
            }
            blocks[(free - 1) / BLOCK].ends |= 1 << ((free - 1) % BLOCK);
            // The blocks after the quotient's own that the run extends into.
            let reached =
                offsets.iter_mut().enumerate().take(free.div_ceil(BLOCK)).skip(quotient / BLOCK + 1);
            reached.for_each(|(block, offset)| *offset = (free - block * BLOCK) as u64);
        }
        let most = offsets.iter().max().map_or(0, |most| u64::BITS - most.leading_zeros());
        let mut packed = Packed::zeros(offsets.len(), most.clamp(1, MOST_WIDTH));
        offsets.iter().enumerate().for_each(|(block, offset)| packed.set(block, *offset));
        Self { blocks, offsets: packed, remainders, quotients, keys: keys.len() as u64 }
    }

    /// Decodes the stored form. The header's number of probes is the width of remainders. Then follow the number of
    /// quotients, the width of offsets, the blocks, the offsets and the remainders.
    fn decode(stored: &[u8]) -> Result<Self, CorruptFilter> {
        let corrupt = || CorruptFilter("the parts of a quotient filter have inconsistent lengths".to_owned());
        let (head, mut words) = Head::decode(stored, TAG)?;
        let (Some(quotients), Some(offset_bits)) = (words.next(), words.next()) else {
            return Err(corrupt());
        };
        let widths = 1..=u64::from(MOST_WIDTH);
        if !widths.contains(&head.probes.into()) || !widths.contains(&offset_bits) {
            return Err(corrupt());
        }
        let (width, offset_bits) = (head.probes, offset_bits as u32);
        // The number of words follows from the number of blocks. The number of blocks that fits is found by
        // bisection.
        let parts = |blocks: u64| -> Option<[u64; 3]> {
            let offsets = Packed::checked_words(blocks, offset_bits)?;
            let remainders = Packed::checked_words(blocks.checked_mul(BLOCK as u64)?, width)?;
            Some([blocks.checked_mul(2)?, offsets, remainders])
        };
        let len = words.len() as u64;
        let total = |blocks: u64| parts(blocks).map(|parts| parts.iter().sum::<u64>());
        let (mut low, mut high) = (0, len);
        while low < high {
            let middle = low + (high - low) / 2;
            if total(middle).is_some_and(|total| total < len) { low = middle + 1 } else { high = middle }
        }
        let Some([_, offsets, _]) = parts(low).filter(|parts| parts.iter().sum::<u64>() == len) else {
            return Err(corrupt());
        };
        if quotients == 0 || quotients > low * BLOCK as u64 {
            return Err(corrupt());
        }
        let mut next = || words.next().unwrap_or_default();
        let mut blocks: Vec<Block> = large::with_room(low as usize);
        blocks.extend((0..low).map(|_| Block { occupied: next(), ends: next() }));
        let offsets: Vec<u64> = words.by_ref().take(offsets as usize).collect();
        Ok(Self {
            blocks,
            offsets: Packed::from_words(offsets.into_iter(), offset_bits),
            remainders: Packed::from_words(words, width),
            quotients: quotients as usize,
            keys: head.keys,
        })
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.blocks) + self.offsets.memory_bytes() + self.remainders.memory_bytes()
    }

    /// The slot at which the run of an occupied quotient ends. `None` in a corrupt filter.
    #[inline(always)]
    fn end_of_run(&self, quotient: usize, select: impl Fn(u64, u32) -> u32) -> Option<usize> {
        let block = quotient / BLOCK;
        let upto = u64::MAX >> (BLOCK - 1 - quotient % BLOCK);
        // The runs of this block begin after those of earlier blocks.
        let mut left = (self.blocks[block].occupied & upto).count_ones();
        let start = block * BLOCK + self.offsets.get(block) as usize;
        let mut at = start / BLOCK;
        let mut ends = self.blocks.get(at)?.ends & u64::MAX << (start % BLOCK);
        while ends.count_ones() < left {
            left -= ends.count_ones();
            at += 1;
            ends = self.blocks.get(at)?.ends;
        }
        Some(at * BLOCK + select(ends, left.saturating_sub(1)) as usize % BLOCK)
    }

    #[inline(always)]
    fn may_contain(&self, hash: KeyHash, select: impl Fn(u64, u32) -> u32) -> bool {
        let (quotient, remainder) = split(hash, self.quotients, self.remainders.mask());
        if self.blocks[quotient / BLOCK].occupied >> (quotient % BLOCK) & 1 == 0 {
            return false;
        }
        let Some(end) = self.end_of_run(quotient, select) else { return true };
        // Go back to the end of the previous run. No run begins before its quotient.
        let mut slot = end;
        loop {
            if self.remainders.get(slot) == remainder {
                return true;
            }
            if slot <= quotient {
                return false;
            }
            slot -= 1;
            if self.blocks[slot / BLOCK].ends >> (slot % BLOCK) & 1 == 1 {
                return false;
            }
        }
    }
}

/// The position of the set bit number `rank`. 64 if fewer bits are set.
#[inline]
fn select(mut word: u64, rank: u32) -> u32 {
    let (mut place, mut left) = (0, rank);
    for width in [32, 16, 8] {
        let below = (word & ((1 << width) - 1)).count_ones();
        if below <= left {
            left -= below;
            place += width;
            word >>= width;
        }
    }
    for _ in 0..left {
        word &= word.wrapping_sub(1);
    }
    if word == 0 { u64::BITS } else { place + word.trailing_zeros() }
}

/// A lookup for one CPU feature set. All give the same answers.
trait Lookup: Copy + Send + Sync {
    fn may_contain(self, slots: &Slots, hash: KeyHash) -> bool;
}

impl Lookup for Portable {
    fn may_contain(self, slots: &Slots, hash: KeyHash) -> bool {
        slots.may_contain(hash, select)
    }
}

/// The lookup with one instruction to count bits and one to find the n-th set bit.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
impl Lookup for Bmi2 {
    #[inline]
    fn may_contain(self, slots: &Slots, hash: KeyHash) -> bool {
        #[inline]
        #[target_feature(enable = "bmi2,popcnt")]
        fn compiled(slots: &Slots, hash: KeyHash) -> bool {
            slots.may_contain(hash, |word, rank| {
                std::arch::x86_64::_pdep_u64(1 << (rank % u64::BITS), word).trailing_zeros()
            })
        }
        // SAFETY: `self` exists only where the instructions were detected.
        unsafe { compiled(slots, hash) }
    }
}

/// A quotient filter in memory.
struct QuotientFilter<L> {
    slots: Slots,
    lookup: L,
}

impl<L: Lookup> Filter for QuotientFilter<L> {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.lookup.may_contain(&self.slots, hash)
    }

    fn prefetch(&self, hash: KeyHash) {
        let slots = &self.slots;
        let (quotient, _) = split(hash, slots.quotients, 0);
        prefetch(&slots.blocks, quotient / BLOCK);
        slots.offsets.prefetch(quotient / BLOCK);
        slots.remainders.prefetch(quotient);
    }

    /// The share of all pairs of quotient and remainder that are stored.
    fn expected_fpr(&self) -> f64 {
        let pairs = self.slots.quotients as f64 * 2f64.powf(self.slots.remainders.width().into());
        (self.slots.keys as f64 / pairs).min(1.0)
    }

    fn memory_bytes(&self) -> usize {
        self.slots.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The slots give the same answers as a set of pairs of quotient and remainder.
    #[test]
    fn it_is_the_set_of_quotients_and_remainders() {
        for (count, width) in [(0u64, 3), (1, 1), (60, 2), (1000, 1), (20_000, 4)] {
            let hashes: Vec<KeyHash> = (0..count).map(|i| KeyHash(mix(i, 2))).collect();
            let policy = Quotient { remainder_bits: width };
            let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
            let slots = Slots::decode(&stored).unwrap();
            let pair = |hash: KeyHash| split(hash, slots.quotients, slots.remainders.mask());
            let set: HashSet<(usize, u64)> = hashes.iter().map(|hash| pair(*hash)).collect();
            assert_eq!(slots.keys, set.len() as u64);
            for hash in hashes.iter().copied().chain((0..20_000).map(|i| KeyHash(mix(i, 77)))) {
                assert_eq!(slots.may_contain(hash, select), set.contains(&pair(hash)));
                #[cfg(target_arch = "x86_64")]
                if let Some(lookup) = Bmi2::detect() {
                    assert_eq!(lookup.may_contain(&slots, hash), set.contains(&pair(hash)));
                }
            }
        }
    }

    #[test]
    fn the_nth_bit_is_found() {
        for word in [0, 1, u64::MAX, 1 << 63, mix(1, 1), mix(2, 1) & mix(3, 1)] {
            let bits: Vec<u32> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
            assert!((0..64).all(|rank| select(word, rank) == *bits.get(rank as usize).unwrap_or(&64)));
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
        let bits = Slots::decode(&stored).unwrap().memory_bytes() as f64 * 8.0 / hashes.len() as f64;
        assert!(bits < (8.0 + EXTRA_BITS) / LOAD * 1.01, "{bits}");
    }
}
