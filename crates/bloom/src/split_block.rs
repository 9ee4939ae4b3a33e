//! The split-block Bloom filter. A block has 256 bits in eight lanes, and a key sets one bit in each lane.
//!
//! A few vector instructions set or test all eight bits at once. A key always sets eight bits, which is best for
//! about 8 to 14 bits per key. Compared with `blocked`, the false-positive rate is higher and a lookup is faster.
//! Source: the Parquet format ("Parquet Bloom Filter") for the layout and the eight odd multipliers, after Putze,
//! Sanders & Singler (2007), section 4.
#![allow(clippy::inline_always)] // The lookup is compiled for any CPU and for AVX2.

use catalog::{Build, Variant};
use types::{Bytes, KeyHash};

use crate::batch::in_groups;
use crate::budget::{Budget, BudgetParams};
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::reduce;
#[cfg(target_arch = "x86_64")]
use crate::processor::Avx2;
use crate::processor::Portable;
use crate::stored::Head;
use crate::theory;
use prefetch::large;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<SplitBlock>(
    "split-block",
    "sets eight bits per key in half a cache line; faster lookups but more false positives than \
     \"blocked\"",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n",
);

const TAG: [u8; 4] = *b"sbbf";
const LANES: usize = 8;
const LANE_BITS: u32 = u32::BITS;
const BLOCK_BITS: u64 = LANES as u64 * LANE_BITS as u64;
const BLOCK_WORDS: usize = LANES / 2;

/// The odd multipliers of the Parquet format, which select one bit of a key in each of the eight lanes.
const SALTS: [u32; LANES] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// Builds split-block Bloom filters, in which a key sets one bit in each of eight lanes of a block.
struct SplitBlock {
    budget: Budget,
}

impl Build<dyn FilterPolicy> for SplitBlock {
    type Params = BudgetParams<10>;

    fn build(params: Self::Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self { budget: Budget::from_param(params.bits_per_key)? }))
    }
}

impl FilterPolicy for SplitBlock {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let mut blocks: Vec<Block> = large::zeros(self.budget.units(input, BLOCK_BITS));
        let count = blocks.len();
        for hash in input.hashes {
            let block = &mut blocks[reduce(hash.0, count)];
            block.0.iter_mut().zip(Block::of(*hash).0).for_each(|(lane, bit)| *lane |= bit);
        }
        let words = (0..count * BLOCK_WORDS).map(|word| {
            let [low, high] = [0, 1].map(|half| blocks[word / BLOCK_WORDS].0[word % BLOCK_WORDS * 2 + half]);
            u64::from(high) << LANE_BITS | u64::from(low)
        });
        Head::new(TAG, LANES as u32, input.hashes).encode(words)
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, words) = Head::decode_probed(&stored, TAG, BLOCK_WORDS)?;
        let mut blocks: Vec<Block> = large::zeros(words.len() / BLOCK_WORDS);
        let lanes = words.flat_map(|word| [word as u32, (word >> LANE_BITS) as u32]);
        blocks.iter_mut().flat_map(|block| &mut block.0).zip(lanes).for_each(|(to, from)| *to = from);
        let keys = head.keys;
        #[cfg(target_arch = "x86_64")]
        if let Some(lookup) = Avx2::detect() {
            return Ok(Box::new(SplitBlockFilter { blocks, keys, lookup }));
        }
        Ok(Box::new(SplitBlockFilter { blocks, keys, lookup: Portable }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }
}

/// A split-block Bloom filter in memory. A key sets one bit in each of the eight lanes of a block.
struct SplitBlockFilter<L> {
    blocks: Vec<Block>,
    keys: u64,
    lookup: L,
}

impl<L: Lookup> Filter for SplitBlockFilter<L> {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.lookup.may_contain(&self.blocks, hash)
    }

    fn prefetch(&self, hash: KeyHash) {
        prefetch(&self.blocks, reduce(hash.0, self.blocks.len()));
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.lookup.may_contain_batch(&self.blocks, hashes, answers);
    }

    fn expected_fpr(&self) -> f64 {
        // In a lane where j keys have set a random bit, a given bit is 0 with probability (31/32)^j. The lanes are
        // independent.
        theory::blocked(self.keys, self.blocks.len() as u64, |load| {
            let missed = (load as f64 * (-1.0 / f64::from(LANE_BITS)).ln_1p()).exp();
            (1.0 - missed).powf(LANES as f64)
        })
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.blocks)
    }
}

/// A block with eight lanes of 32 bits. Two blocks share a cache line, and no block extends over two cache lines.
#[derive(Clone, Copy, Default)]
#[repr(align(32))]
struct Block([u32; LANES]);

impl Block {
    /// Returns a block in which only the bits of this key are set: one bit in each lane. The low half of the hash
    /// selects these bits.
    #[inline(always)]
    fn of(hash: KeyHash) -> Self {
        Self(SALTS.map(|salt| 1 << ((hash.0 as u32).wrapping_mul(salt) >> (LANE_BITS - LANE_BITS.ilog2()))))
    }
}

/// Tests whether keys may be in the filter, with code that is compiled for one CPU feature set. The answers are equal
/// for every set of CPU features.
trait Lookup: Copy + Send + Sync {
    fn may_contain(self, blocks: &[Block], hash: KeyHash) -> bool;
    fn may_contain_batch(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]);
}

impl Lookup for Portable {
    fn may_contain(self, blocks: &[Block], hash: KeyHash) -> bool {
        may_contain(blocks, hash)
    }

    fn may_contain_batch(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        may_contain_batch(blocks, hashes, answers);
    }
}

/// The lookups compiled for AVX2. They are two to three times as fast as the portable lookups.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
impl Lookup for Avx2 {
    #[inline]
    fn may_contain(self, blocks: &[Block], hash: KeyHash) -> bool {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn compiled_for_avx2(blocks: &[Block], hash: KeyHash) -> bool {
            may_contain(blocks, hash)
        }
        // SAFETY: `self` exists only where AVX2 was detected.
        unsafe { compiled_for_avx2(blocks, hash) }
    }

    fn may_contain_batch(self, blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn compiled_for_avx2(blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
            may_contain_batch(blocks, hashes, answers);
        }
        // SAFETY: `self` exists only where AVX2 was detected.
        unsafe { compiled_for_avx2(blocks, hashes, answers) }
    }
}

/// Whether a key may be in the blocks. The function has neither branches nor calls, so the compiler can vectorize the
/// function.
#[inline(always)]
fn may_contain(blocks: &[Block], hash: KeyHash) -> bool {
    let (block, key) = (&blocks[reduce(hash.0, blocks.len())], Block::of(hash));
    (0..LANES).fold(0, |missing, lane| missing | (key.0[lane] & !block.0[lane])) == 0
}

/// Tests for each hash whether its key may be in the blocks, and writes the answers to `answers`. `answers` and
/// `hashes` have equal lengths.
#[inline(always)]
fn may_contain_batch(blocks: &[Block], hashes: &[KeyHash], answers: &mut [bool]) {
    let place = |hash: KeyHash| reduce(hash.0, blocks.len());
    in_groups(hashes, answers, |hash| prefetch(blocks, place(hash)), |hash| may_contain(blocks, hash));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashes(count: u64, seed: u64) -> Vec<KeyHash> {
        (1..=count).map(|i| KeyHash((i + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17))).collect()
    }

    #[test]
    fn both_ways_to_look_up_agree() {
        let keys = hashes(5000, 0);
        let policy = <SplitBlock as Build<_>>::build(BudgetParams { bits_per_key: 4.0 }).ok().unwrap();
        let stored = policy.build(&FilterInput { hashes: &keys, bits_per_key: None, keys: None });
        let (_, words) = Head::decode(&stored, TAG).unwrap();
        let words: Vec<u64> = words.collect();
        let blocks: Vec<Block> = words
            .chunks(BLOCK_WORDS)
            .map(|words| Block(std::array::from_fn(|lane| (words[lane / 2] >> (lane % 2 * 32)) as u32)))
            .collect();
        let probes = [keys, hashes(5000, 1 << 40)].concat();
        let portable: Vec<bool> = probes.iter().map(|hash| may_contain(&blocks, *hash)).collect();
        let (yes, no) = portable.iter().partition::<Vec<bool>, _>(|answer| **answer);
        assert!(yes.len() >= 5000 && no.len() >= 3000);
        let opened = policy.open(Bytes::copy_from(&stored)).unwrap();
        let mut batch = vec![false; probes.len()];
        opened.may_contain_batch(&probes, &mut batch);
        assert_eq!(portable, batch);
        assert!(probes.iter().zip(&portable).all(|(hash, answer)| opened.may_contain(*hash) == *answer));
        may_contain_batch(&blocks, &probes, &mut batch);
        assert_eq!(portable, batch);
    }

    #[test]
    fn a_key_has_one_bit_in_each_lane() {
        for hash in hashes(100, 0) {
            assert!(Block::of(hash).0.iter().all(|lane| lane.is_power_of_two()));
        }
    }
}
