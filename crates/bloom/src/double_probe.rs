//! The double-probe Bloom filter. A key sets bits in pairs, so that one memory access tests two bits. The filter has
//! two layouts.
//!
//! **`words`**: every double probe sets two bits in one 64-bit word. The word can be anywhere in the array. The hash
//! selects the first word. The hash rotated by 21 bits selects the next word, and so on. Source: the document cs265,
//! sections 2.3.3 and 3.3.1, after `DynamicBloom` of `RocksDB`. A lookup makes up to `double_probes` memory accesses,
//! and about 1.3 for an absent key. Two bits in one word are not independent, so the false-positive rate is higher
//! than with `standard`.
//!
//! **`blocks`**: one half of a key's bits is in a block of 512 bits, and the other half is in the partner of this
//! block. The first seven bits of a block identify its partner. The construction chooses partners within batches of
//! 128 blocks. The block with the most keys becomes the partner of the block with the fewest keys, and so on. Every
//! pair of blocks therefore has about the same number of keys. Blocked filters without this balance have a higher
//! false-positive rate. Source: the paired Bloom filter of `SpeedB`
//! (<https://docs.speedb.io/speedb-features/paired-bloom-filter>), whose name the document cs265 uses. A probe makes
//! one or two memory accesses, and the second access can start only after the first access.
//!
//! Both layouts need at least as much memory as the lower bound for all Bloom filters. A false-positive rate of 1 %
//! needs 9.6 bits per key, although section 4.3.4 of the document cs265 states 7.8 bits.
//!
//! The filter takes `bits_per_key` / 8 bytes per key.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::filter_builder::{BitArrayBuilder, FilterBuilder, Places};
use crate::position::{reduce, remix};
use crate::stored::{Head, MAX_PROBES};
use crate::theory;
use prefetch::large;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<DoubleProbe>(
    "double-probe",
    "a Bloom filter that sets its bits in pairs: in one 64-bit word, or in two paired blocks as in SpeedB",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n\
     # Number of bit pairs that each key sets, 1 to 32. 0 selects the number of pairs with the lowest\n\
     # false-positive rate.\n\
     double_probes = 0\n\
     # Layout of the bit pairs. With \"words\", both bits of a pair are in one 64-bit word. With \"blocks\",\n\
     # the bits of a pair are in two cache lines, so all cache lines have similar numbers of bits set.\n\
     form = \"words\"\n",
);

const WORDS_TAG: [u8; 4] = *b"bldw";
const BLOCKS_TAG: [u8; 4] = *b"bldb";
const WORD_BITS: u64 = 64;
const BLOCK_BITS: u64 = 512;
const BLOCK_WORDS: usize = 8;

/// The length in bits of the number at the start of a block. This number selects the partner of the block among the 128
/// blocks of a batch.
const PARTNER_BITS: u32 = 7;
const BATCH: usize = 1 << PARTNER_BITS;

/// Builds Bloom filters in which one memory access tests two bits of a key.
struct DoubleProbe {
    budget: Budget,
    double_probes: Option<u32>,
    form: Form,
}

/// The layout of the filter: where the bits of a key are.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Form {
    Words,
    Blocks,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    double_probes: u32,
    form: Form,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 10.0, double_probes: 0, form: Form::Words }
    }
}

impl Build<dyn FilterPolicy> for DoubleProbe {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        const MOST: u32 = MAX_PROBES / 2;
        if params.double_probes > MOST {
            return Err(format!("double_probes is {}; it must be from 0 to {MOST}", params.double_probes));
        }
        let double_probes = (params.double_probes > 0).then_some(params.double_probes);
        let budget = Budget::from_param(params.bits_per_key)?;
        Ok(Box::new(Self { budget, double_probes, form: params.form }))
    }
}

impl DoubleProbe {
    /// Returns the number of bit pairs that each key of one SSTable sets. If the parameter `double_probes` is 0, the
    /// result is the best number for the bits per key of the SSTable. Otherwise, the result is the parameter.
    fn pairs(&self, input: &FilterInput<'_>) -> u32 {
        let best = (theory::standard_probes(self.budget.bits_per_key(input)) / 2).max(1);
        self.double_probes.unwrap_or(best)
    }
}

impl FilterPolicy for DoubleProbe {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let pairs = self.pairs(input);
        let head = |tag| Head::new(tag, pairs, input.hashes);
        match self.form {
            Form::Words => {
                let mut words: Vec<u64> = large::zeros(self.budget.units(input, WORD_BITS));
                let count = words.len();
                for hash in input.hashes {
                    word_probes(*hash, pairs, count).for_each(|(word, mask)| words[word] |= mask);
                }
                head(WORDS_TAG).encode(words.into_iter())
            }
            Form::Blocks => {
                let blocks = build_blocks(input.hashes, pairs, self.budget.units(input, BLOCK_BITS));
                let words = (0..blocks.len() * BLOCK_WORDS)
                    .map(|word| blocks[word / BLOCK_WORDS].0[word % BLOCK_WORDS]);
                head(BLOCKS_TAG).encode(words)
            }
        }
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        match self.form {
            Form::Words => {
                let (Head { probes: pairs, keys, .. }, words) = Head::decode_probed(&stored, WORDS_TAG, 1)?;
                Ok(Box::new(WordsFilter { words: large::collected(words), pairs, keys }))
            }
            Form::Blocks => {
                let (head, mut words) = Head::decode_probed(&stored, BLOCKS_TAG, BLOCK_WORDS)?;
                let mut blocks: Vec<Block> = large::zeros(words.len() / BLOCK_WORDS);
                let places = blocks.iter_mut().flat_map(|block| &mut block.0);
                places.zip(&mut words).for_each(|(to, from)| *to = from);
                if (0..blocks.len()).any(|index| blocks[index].partner(index) >= blocks.len()) {
                    return Err(CorruptFilter(
                        "a block of the stored filter states the number of a partner block that does not \
                         exist"
                            .to_owned(),
                    ));
                }
                Ok(Box::new(BlocksFilter { blocks, pairs: head.probes, keys: head.keys }))
            }
        }
    }

    /// Returns a builder only for the layout `words`. In the layout `blocks`, the partners of blocks depend on all
    /// keys.
    fn grow(&self, input: &FilterInput<'_>) -> Option<Box<dyn FilterBuilder>> {
        let pairs = self.pairs(input);
        let bits = || {
            let words = self.budget.units(input, WORD_BITS);
            Box::new(BitArrayBuilder::new(
                Head::new(WORDS_TAG, pairs, input.hashes),
                words,
                DoubleProbes(pairs),
            ))
        };
        matches!(self.form, Form::Words).then(|| bits() as Box<dyn FilterBuilder>)
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }
}

/// Returns the `pairs` words in which a key sets two bits each, among `count` words. Each result is the index of a word
/// and a mask with the two bits.
#[inline]
fn word_probes(hash: KeyHash, pairs: u32, count: usize) -> impl Iterator<Item = (usize, u64)> {
    (0..pairs).scan(hash.0, move |turned, _| {
        let derived = remix(*turned);
        let mask = 1 << (derived >> 58) | 1 << (derived >> 52 & 63);
        let word = reduce(*turned, count);
        // Three rotations by 21 bits together rotate the hash by only one bit (63 of 64). The multiplication makes
        // the rotations independent.
        *turned = derived.rotate_right(21);
        Some((word, mask))
    })
}

/// The rule that selects the bits of a key in the layout `words`. The field is the number of words in which each key
/// sets two bits.
struct DoubleProbes(u32);

impl Places for DoubleProbes {
    #[inline]
    fn of(&self, hash: KeyHash, words: usize) -> impl Iterator<Item = (usize, u64)> {
        word_probes(hash, self.0, words)
    }
}

/// A double-probe Bloom filter with the layout `words` in memory. A key sets two bits in each of several 64-bit words.
struct WordsFilter {
    words: Vec<u64>,
    pairs: u32,
    keys: u64,
}

impl Filter for WordsFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        word_probes(hash, self.pairs, self.words.len()).all(|(word, mask)| self.words[word] & mask == mask)
    }

    /// Prefetches the first two words in which a key sets bits, as in the document cs265.
    fn prefetch(&self, hash: KeyHash) {
        word_probes(hash, self.pairs.min(2), self.words.len())
            .for_each(|(word, _)| prefetch(&self.words, word));
    }

    /// Returns the false-positive rate: the probability that all bits of an absent key are set. Each key sets two bits
    /// in each of its words.
    fn expected_fpr(&self) -> f64 {
        let rates = theory::word_rates(WORD_BITS as u32, 2);
        let pairs = self.keys.saturating_mul(self.pairs.into());
        let rate = theory::blocked(pairs, self.words.len() as u64, |load| {
            rates.get(load as usize).copied().unwrap_or(1.0)
        });
        rate.powf(self.pairs.into())
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

/// A block of one cache line. The first bits of a block are the number of its partner block, and all other bits are
/// filter bits.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Block([u64; BLOCK_WORDS]);

impl Block {
    /// Returns the index of the partner of a block. A key sets half of its bits in a block, and the other half in the
    /// partner of this block.
    #[inline]
    fn partner(&self, index: usize) -> usize {
        index / BATCH * BATCH + (self.0[0] as usize % BATCH)
    }

    #[inline]
    fn set(&mut self, places: impl Iterator<Item = usize>) {
        places.for_each(|place| self.0[place / 64] |= 1 << (place % 64));
    }

    #[inline]
    fn has(&self, mut places: impl Iterator<Item = usize>) -> bool {
        places.all(|place| self.0[place / 64] >> (place % 64) & 1 == 1)
    }
}

/// Returns the bits that a key sets in the layout `blocks`: `pairs` positions in the block of the key, and `pairs`
/// positions in the partner of this block.
#[inline]
fn places(hash: KeyHash, pairs: u32) -> [impl Iterator<Item = usize>; 2] {
    const PLACES: usize = BLOCK_BITS as usize - PARTNER_BITS as usize;
    // The hash itself selects the block, so the partner must use other bits of the hash.
    [hash.0, remix(hash.0).rotate_left(32)].map(|hash| {
        (0..pairs).scan(hash, |derived, _| {
            *derived = remix(*derived);
            Some(PARTNER_BITS as usize + reduce(*derived, PLACES))
        })
    })
}

/// Builds the blocks of a filter with the layout `blocks`. The function counts the keys of each block, chooses a
/// partner for each block, and then sets the bits.
fn build_blocks(hashes: &[KeyHash], pairs: u32, count: usize) -> Vec<Block> {
    let mut loads = vec![0u32; count];
    hashes.iter().for_each(|hash| loads[reduce(hash.0, count)] += 1);
    let mut blocks: Vec<Block> = large::zeros(count);
    for (blocks, loads) in blocks.chunks_mut(BATCH).zip(loads.chunks(BATCH)) {
        let mut by_load: Vec<usize> = (0..blocks.len()).collect();
        by_load.sort_by_key(|index| loads[*index]);
        for (index, partner) in by_load.iter().zip(by_load.iter().rev()) {
            blocks[*index].0[0] = *partner as u64;
        }
    }
    for hash in hashes {
        let index = reduce(hash.0, count);
        let partner = blocks[index].partner(index);
        let [own, far] = places(*hash, pairs);
        blocks[index].set(own);
        blocks[partner].set(far);
    }
    blocks
}

/// A double-probe Bloom filter with the layout `blocks` in memory. A key sets bits in a block and in its partner block.
struct BlocksFilter {
    blocks: Vec<Block>,
    pairs: u32,
    keys: u64,
}

impl Filter for BlocksFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        let index = reduce(hash.0, self.blocks.len());
        let block = &self.blocks[index];
        let [own, far] = places(hash, self.pairs);
        block.has(own) && self.blocks[block.partner(index)].has(far)
    }

    fn prefetch(&self, hash: KeyHash) {
        prefetch(&self.blocks, reduce(hash.0, self.blocks.len()));
    }

    /// Returns the expected false-positive rate, under the assumption that all pairs of partner blocks have equally
    /// many keys.
    fn expected_fpr(&self) -> f64 {
        let bits = BLOCK_BITS - u64::from(PARTNER_BITS);
        let blocks = self.blocks.len() as u64;
        theory::small(bits, self.keys.saturating_mul(2).div_ceil(blocks), self.pairs).powi(2)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(count: u64) -> Vec<KeyHash> {
        (1..=count).map(|i| KeyHash(remix(i ^ i << 40).rotate_left(29))).collect()
    }

    #[test]
    fn partners_are_mutual_and_their_loads_even_out() {
        let (hashes, count) = (hashes(20_000), 300);
        let blocks = build_blocks(&hashes, 3, count);
        let mut loads = vec![0i64; count];
        hashes.iter().for_each(|hash| loads[reduce(hash.0, count)] += 1);
        let mean = hashes.len() as f64 / count as f64;
        let spread = |of: &dyn Fn(usize) -> f64| (0..count).map(|i| (of(i) - mean).powi(2)).sum::<f64>();
        let alone = spread(&|index| loads[index] as f64);
        let paired = spread(&|index| {
            let partner = blocks[index].partner(index);
            assert_eq!(blocks[partner].partner(partner), index);
            assert_eq!(index / BATCH, partner / BATCH);
            (loads[index] + loads[partner]) as f64 / 2.0
        });
        assert!(paired < 0.2 * alone, "{paired} {alone}");
    }

    #[test]
    fn a_partner_beyond_the_end_is_corruption() {
        let policy = <DoubleProbe as Build<_>>::build(Params { form: Form::Blocks, ..Params::default() })
            .ok()
            .unwrap();
        let stored = policy.build(&FilterInput { hashes: &hashes(500), bits_per_key: None, keys: None });
        assert!(policy.open(Bytes::copy_from(&stored)).is_ok());
        let mut corrupt = stored;
        corrupt[24] |= 0x7f;
        assert!(policy.open(Bytes::copy_from(&corrupt)).is_err());
    }
}
