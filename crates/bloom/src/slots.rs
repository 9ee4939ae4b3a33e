//! The slots of a quotient filter. The quotient of a key selects a slot. The remainder of the key is in this slot, or
//! in the next free slot.
//!
//! All remainders of one quotient form a run of adjacent slots, and the runs are in the order of their quotients. Two
//! bits per slot delimit the runs. One bit marks a quotient that has a run, and the other bit marks the end of a run.
//! Slots are grouped in blocks of 64. To find the end of a run, a lookup counts the runs from the start of the block to
//! which the quotient belongs. Source: Pandey, Bender, Johnson & Patro, "A general-purpose counting filter: making
//! every bit count" (2017), section 3.
#![allow(clippy::inline_always)] // The lookup is compiled for two CPU feature sets.

use prefetch::{large, prefetch};

use crate::corrupt::CorruptFilter;
use crate::packed::{MOST_WIDTH, Packed};

/// The fraction of slots that have a remainder after construction.
pub(crate) const LOAD: f64 = 0.95;

/// The approximate number of bits per slot that a quotient filter needs in addition to the remainder.
pub(crate) const EXTRA_BITS: f64 = 2.2;

const BLOCK: usize = 64;

/// Returns the number of quotients of a filter with `keys` keys. One slot belongs to each quotient.
pub(crate) fn quotients(keys: usize) -> usize {
    ((keys as f64 / LOAD).ceil() as usize).max(1).next_multiple_of(BLOCK)
}

/// The metadata of 64 slots, which shows where the remainders of each quotient begin and end.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Bit `i` is set if a key has the quotient with position `i` in the block. The remainders of a quotient form a run
    /// of adjacent slots.
    occupied: u64,
    /// Bit `i` is set if the slot with position `i` in the block is the last slot of a run, the adjacent slots with the
    /// remainders of one quotient.
    ends: u64,
}

/// The slots of a quotient filter, with metadata that shows which slots store the remainders of each quotient.
pub(crate) struct Slots {
    blocks: Vec<Block>,
    /// For each block, the number of slots at its start that store remainders of quotients of earlier blocks.
    offsets: Packed,
    /// The remainders in all slots of the filter.
    remainders: Packed,
    pub(crate) quotients: usize,
    pub(crate) keys: u64,
}

impl Slots {
    /// Creates the slots for these keys. Each key is a pair of its quotient and its remainder of `width` bits. The keys
    /// are sorted and unique.
    pub(crate) fn filled(keys: &[(usize, u64)], quotients: usize, width: u32) -> Self {
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
            // The blocks after the block of the quotient, up to the block in which the run ends.
            let reached =
                offsets.iter_mut().enumerate().take(free.div_ceil(BLOCK)).skip(quotient / BLOCK + 1);
            reached.for_each(|(block, offset)| *offset = (free - block * BLOCK) as u64);
        }
        let most = offsets.iter().max().map_or(0, |most| u64::BITS - most.leading_zeros());
        let mut packed = Packed::zeros(offsets.len(), most.clamp(1, MOST_WIDTH));
        offsets.iter().enumerate().for_each(|(block, offset)| packed.set(block, *offset));
        Self { blocks, offsets: packed, remainders, quotients, keys: keys.len() as u64 }
    }

    /// Appends the slots to the stored words: the number of quotients, the width of offsets, the blocks, the offsets
    /// and the remainders.
    pub(crate) fn encode(&self, words: &mut Vec<u64>) {
        words.extend([self.quotients as u64, self.offsets.width().into()]);
        words.extend(self.blocks.iter().flat_map(|block| [block.occupied, block.ends]));
        words.extend(self.offsets.to_words());
        words.extend(self.remainders.to_words());
    }

    /// Decodes the slots of a filter with `keys` keys and remainders of `width` bits. The function reads all words.
    ///
    /// # Errors
    /// Returns an error if the lengths of the parts do not match each other.
    pub(crate) fn decode(
        words: &mut impl ExactSizeIterator<Item = u64>,
        keys: u64,
        width: u32,
    ) -> Result<Self, CorruptFilter> {
        let corrupt = || {
            CorruptFilter(
                "the stored filter has numbers of blocks, offsets and remainders that do not match each other"
                    .to_owned(),
            )
        };
        let (Some(quotients), Some(offset_bits)) = (words.next(), words.next()) else {
            return Err(corrupt());
        };
        let widths = 1..=u64::from(MOST_WIDTH);
        if !widths.contains(&width.into()) || !widths.contains(&offset_bits) {
            return Err(corrupt());
        }
        let offset_bits = offset_bits as u32;
        // The number of blocks determines the number of words. A bisection finds the number of blocks for the given
        // number of words.
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
            keys,
        })
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.blocks) + self.offsets.memory_bytes() + self.remainders.memory_bytes()
    }

    /// Returns the last slot that stores a remainder of a quotient. The quotient must have a remainder. Returns `None`
    /// if the filter is corrupt.
    #[inline(always)]
    fn end_of_run(&self, quotient: usize, select: impl Fn(u64, u32) -> u32) -> Option<usize> {
        let block = quotient / BLOCK;
        let upto = u64::MAX >> (BLOCK - 1 - quotient % BLOCK);
        // The runs of this block begin after the last run of earlier blocks.
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

    /// Whether a stored key has this quotient and a remainder for which `matches` is true. The result is also true if
    /// the filter is corrupt and the end of the run is missing.
    #[inline(always)]
    pub(crate) fn has(
        &self,
        quotient: usize,
        matches: impl Fn(u64) -> bool,
        select: impl Fn(u64, u32) -> u32,
    ) -> bool {
        if self.blocks[quotient / BLOCK].occupied >> (quotient % BLOCK) & 1 == 0 {
            return false;
        }
        let Some(end) = self.end_of_run(quotient, select) else { return true };
        // The search goes back to the end of the previous run. No run begins before the slot of its quotient.
        let mut slot = end;
        loop {
            if matches(self.remainders.get(slot)) {
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

    /// Returns the width of the remainders in bits.
    pub(crate) fn width(&self) -> u32 {
        self.remainders.width()
    }

    /// Prefetches the memory that a lookup reads first for the slot `quotient`.
    pub(crate) fn prefetch(&self, quotient: usize) {
        prefetch(&self.blocks, quotient / BLOCK);
        self.offsets.prefetch(quotient / BLOCK);
        self.remainders.prefetch(quotient);
    }

    /// Returns the fraction of all possible pairs of quotient and remainder that are stored. In a quotient filter, this
    /// fraction is the false-positive rate.
    pub(crate) fn fill(&self) -> f64 {
        let pairs = self.quotients as f64 * 2f64.powf(self.width().into());
        (self.keys as f64 / pairs).min(1.0)
    }
}

/// Returns the position in `word` of the set bit with the index `rank`, counted from 0. Returns 64 if too few bits are
/// set.
#[inline]
pub(crate) fn select(mut word: u64, rank: u32) -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::mix;

    #[test]
    fn the_nth_bit_is_found() {
        for word in [0, 1, u64::MAX, 1 << 63, mix(1, 1), mix(2, 1) & mix(3, 1)] {
            let bits: Vec<u32> = (0..64).filter(|bit| word >> bit & 1 == 1).collect();
            assert!((0..64).all(|rank| select(word, rank) == *bits.get(rank as usize).unwrap_or(&64)));
        }
    }
}
