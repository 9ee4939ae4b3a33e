//! The hits of an LRU cache of any capacity, from a sample of the requests for blocks.
//!
//! The reuse distance of a request is a number of bytes. It is the total length of the distinct blocks that were
//! requested since the last request for the same block, including this block. An LRU cache hits the request if its
//! capacity is at least the reuse distance (Mattson, Gecsei, Slutz, Traiger, "Evaluation techniques for storage
//! hierarchies", IBM Systems Journal 9(2), 1970). The sample consists of the blocks whose hash is below a threshold. A
//! distance within the sample, divided by the sampling rate, is an estimate of the true distance (Waldspurger, Park,
//! Garthwaite, Ahmad, "Efficient MRC Construction with SHARDS", FAST 2015, section 3). If the sample has too many
//! blocks, the rate is halved. The rate is a power of two, so all sums are exact, and equal requests give equal curves
//! on every machine.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::cache::BlockId;
use crate::hasher::Xxh3;

/// The number of bins of a reuse curve, which counts requests by their reuse distance.
const BINS: usize = 64;

/// The number of bits of a hash that decide whether a block is in the sample.
const SAMPLE_BITS: u32 = 24;

/// The estimated memory of a block in the sample, in bytes: an entry of the hash table, two list elements, and two
/// sums.
const BYTES_PER_BLOCK: u64 = 150;

/// A histogram of requests for blocks by reuse distance. From this histogram, the misses of an LRU cache of any
/// capacity can be computed. The reuse distance is the total length of the distinct blocks that were requested since
/// the last request for the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseCurve {
    /// The width of a bin of reuse distances in bytes.
    bin_bytes: u64,
    /// The total number of requested bytes in each bin. Bin i is for requests whose reuse distance is above i ·
    /// `bin_bytes` and at most (i + 1) · `bin_bytes`.
    requested: Vec<u64>,
}

impl ReuseCurve {
    /// Creates an empty reuse curve for caches of up to `most_bytes` bytes.
    pub fn new(most_bytes: u64) -> Self {
        Self { bin_bytes: most_bytes.div_ceil(BINS as u64).max(1), requested: vec![0; BINS] }
    }

    /// Counts a request for `bytes` bytes with the reuse distance `distance`. Ignores requests whose distance exceeds
    /// the largest capacity of the curve.
    pub fn add(&mut self, distance: u64, bytes: u64) {
        let bin = (distance.saturating_sub(1) / self.bin_bytes) as usize;
        if let Some(requested) = self.requested.get_mut(bin) {
            *requested += bytes;
        }
    }

    /// Halves the weight of the requests so far, so that old requests have less effect, and adds the requests of a
    /// newer curve for the same capacities.
    pub fn age(&mut self, newer: &Self) {
        let pairs = self.requested.iter_mut().zip(&newer.requested);
        pairs.for_each(|(requested, newer)| *requested = *requested / 2 + newer);
    }

    /// Estimates the bytes of the counted requests that miss in an LRU cache of `capacity` bytes. The reuse distances
    /// in a bin are assumed to be evenly spread.
    pub fn missed_bytes(&self, capacity: u64) -> f64 {
        let bins = self.requested.iter().zip(0..);
        let missed = bins.map(|(requested, bin): (&u64, u64)| {
            let hit = capacity.saturating_sub(bin * self.bin_bytes).min(self.bin_bytes);
            *requested as f64 * (1.0 - hit as f64 / self.bin_bytes as f64)
        });
        missed.sum()
    }
}

/// A sampled block: its length, and the position of its last request.
#[derive(Clone, Copy)]
struct SampledBlock {
    /// The index in [`ReuseSampler::places`] of the last request for this block.
    place: usize,
    bytes: u64,
    hash: u64,
}

/// Measures the reuse distances of requests for a sample of the blocks.
pub(crate) struct ReuseSampler {
    blocks: HashMap<BlockId, SampledBlock, BuildHasherDefault<Xxh3>>,
    /// The sampled blocks in the order of their last requests. An element is `None` if its block was requested again
    /// later, or is no longer sampled.
    places: Vec<Option<BlockId>>,
    /// The index of the first element of `places` that may still contain a block.
    oldest: usize,
    /// The lengths of the sampled blocks, in the order of `places`.
    lengths: PrefixSums,
    /// The total length of the sampled blocks.
    sampled_bytes: u64,
    /// The number of times that the sampling rate was halved, because the sample had too many blocks. The rate is
    /// 2^-`halvings`.
    halvings: u32,
    most_blocks: usize,
    most_bytes: u64,
    curve: ReuseCurve,
}

impl ReuseSampler {
    /// Creates a sampler of at most `most_blocks` blocks, for capacities up to `most_bytes`.
    pub(crate) fn new(most_blocks: usize, most_bytes: u64) -> Self {
        let most_blocks = most_blocks.max(1);
        Self {
            blocks: HashMap::default(),
            places: Vec::new(),
            oldest: 0,
            lengths: PrefixSums(vec![0; 2 * most_blocks + 3]),
            sampled_bytes: 0,
            halvings: 0,
            most_blocks,
            most_bytes,
            curve: ReuseCurve::new(most_bytes),
        }
    }

    /// Returns whether a block with this hash is in the sample at a sampling rate of 2^-`halvings`.
    pub(crate) fn is_sampled(hash: u64, halvings: u32) -> bool {
        (hash >> (u64::BITS - SAMPLE_BITS)) << halvings < 1 << SAMPLE_BITS
    }

    /// Returns the number of times that the sampling rate was halved. The rate is 2^-`halvings`.
    pub(crate) fn halvings(&self) -> u32 {
        self.halvings
    }

    /// Returns the memory of the sampler in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.blocks.len() as u64 * BYTES_PER_BLOCK
    }

    /// Counts a request for a block. `bytes` is the length of the block, or `None` if the block is not cached. If the
    /// block is not cached and not in the sample, the request has no effect.
    pub(crate) fn request(&mut self, id: BlockId, hash: u64, bytes: Option<u64>) {
        let newer = |block: &SampledBlock| self.sampled_bytes - self.lengths.up_to(block.place);
        let before = self.blocks.get(&id).map(|block| (newer(block), block.bytes));
        if let Some((newer, length)) = before {
            self.curve.add((newer + length) << self.halvings, length << self.halvings);
        }
        if let Some(bytes) = bytes.or(before.map(|(_, length)| length)) {
            self.renew(id, hash, bytes);
        }
    }

    /// Makes a block the most recently requested block, without counting a request.
    pub(crate) fn renew(&mut self, id: BlockId, hash: u64, bytes: u64) {
        self.forget(&id);
        if !Self::is_sampled(hash, self.halvings) {
            return;
        }
        if self.places.len() == self.lengths.len() {
            self.renumber();
        }
        let place = self.places.len();
        self.places.push(Some(id));
        self.lengths.add(place, bytes);
        self.sampled_bytes += bytes;
        self.blocks.insert(id, SampledBlock { place, bytes, hash });
        while self.blocks.len() > self.most_blocks && self.halvings < SAMPLE_BITS {
            self.halve_rate();
        }
        while self.blocks.len() > self.most_blocks || self.sampled_bytes << self.halvings > self.most_bytes {
            match self.places.get(self.oldest).copied() {
                None => break,
                Some(None) => self.oldest += 1,
                Some(Some(oldest)) => self.forget(&oldest),
            }
        }
    }

    /// Removes the blocks of an SSTable from the sample.
    pub(crate) fn forget_table(&mut self, tree: u64, table: u64) {
        self.forget_all(|id, _| (id.tree, id.table) == (tree, table));
    }

    /// Returns the reuse curve of the requests since the last call of this function.
    pub(crate) fn take_curve(&mut self) -> ReuseCurve {
        std::mem::replace(&mut self.curve, ReuseCurve::new(self.most_bytes))
    }

    fn halve_rate(&mut self) {
        self.halvings += 1;
        let halvings = self.halvings;
        self.forget_all(|_, block| !Self::is_sampled(block.hash, halvings));
    }

    fn forget_all(&mut self, is_gone: impl Fn(&BlockId, &SampledBlock) -> bool) {
        let gone: Vec<BlockId> =
            self.blocks.iter().filter(|(id, block)| is_gone(id, block)).map(|(id, _)| *id).collect();
        gone.iter().for_each(|id| self.forget(id));
    }

    fn forget(&mut self, id: &BlockId) {
        if let Some(block) = self.blocks.remove(id) {
            self.places[block.place] = None;
            self.lengths.subtract(block.place, block.bytes);
            self.sampled_bytes -= block.bytes;
        }
    }

    /// Removes the empty elements of `places`, and keeps the order of the others. The indexes of all sampled blocks
    /// change.
    fn renumber(&mut self) {
        self.places.retain(Option::is_some);
        self.oldest = 0;
        self.lengths.0.fill(0);
        for (place, id) in self.places.iter().flatten().enumerate() {
            let block = self
                .blocks
                .get_mut(id)
                .expect("each used element of the reuse sampler must belong to a sampled block");
            block.place = place;
            self.lengths.add(place, block.bytes);
        }
    }
}

/// A list of numbers whose prefix sums are available in logarithmic time (a Fenwick tree). Changes of a number also
/// take logarithmic time. Source: Fenwick, "A New Data Structure for Cumulative Frequency Tables" (Software: Practice
/// and Experience 24(3), 1994).
struct PrefixSums(Vec<u64>);

impl PrefixSums {
    fn len(&self) -> usize {
        self.0.len() - 1
    }

    /// Adds `number` to the number at the index `at`.
    fn add(&mut self, at: usize, number: u64) {
        self.update(at, |sum| *sum += number);
    }

    /// Subtracts `number` from the number at the index `at`.
    fn subtract(&mut self, at: usize, number: u64) {
        self.update(at, |sum| *sum -= number);
    }

    fn update(&mut self, at: usize, change: impl Fn(&mut u64)) {
        let mut node = at + 1;
        while let Some(sum) = self.0.get_mut(node) {
            change(sum);
            node += node & node.wrapping_neg();
        }
    }

    /// Returns the sum of the numbers up to the index `at`, inclusive.
    fn up_to(&self, at: usize) -> u64 {
        let (mut node, mut sum) = (at + 1, 0);
        while node > 0 {
            sum += self.0[node];
            node &= node - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    const BLOCK_BYTES: u64 = 100;

    fn id(number: u64) -> BlockId {
        BlockId { tree: 0, table: number / 50, offset: number % 50 * 4096 }
    }

    /// Sends a request for each number to the sampler. Every request is a miss, after which the block is inserted.
    fn request_all(sampler: &mut ReuseSampler, numbers: &[u64]) {
        for number in numbers {
            let hash = xxh3_64(&number.to_le_bytes());
            sampler.request(id(*number), hash, None);
            sampler.renew(id(*number), hash, BLOCK_BYTES);
        }
    }

    /// The bytes of the repeated requests that an LRU cache of `capacity` bytes misses.
    fn lru_misses(numbers: &[u64], capacity: u64) -> u64 {
        let (mut held, mut seen, mut missed) = (Vec::new(), std::collections::HashSet::new(), 0);
        for number in numbers {
            let place = held.iter().position(|held| held == number);
            missed += u64::from(!seen.insert(*number) && place.is_none()) * BLOCK_BYTES;
            place.map(|place| held.remove(place));
            held.push(*number);
            if held.len() as u64 > capacity / BLOCK_BYTES {
                held.remove(0);
            }
        }
        missed
    }

    fn skewed(requests: usize, blocks: u64) -> Vec<u64> {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        let mut one = || random.random_range(0..blocks).min(random.random_range(0..blocks));
        (0..requests).map(|_| one()).collect()
    }

    #[test]
    fn a_curve_of_all_blocks_is_that_of_lru() {
        let numbers = skewed(4000, 300);
        // 64 bins of one block each.
        let mut sampler = ReuseSampler::new(1000, 64 * BLOCK_BYTES);
        request_all(&mut sampler, &numbers);
        let curve = sampler.take_curve();
        let all = lru_misses(&numbers, 64 * BLOCK_BYTES) as f64;
        for blocks in [0, 1, 5, 20, 64] {
            let expected = lru_misses(&numbers, blocks * BLOCK_BYTES) as f64 - all;
            let missed = curve.missed_bytes(blocks * BLOCK_BYTES);
            assert!((missed - expected).abs() < 1e-6, "{blocks} blocks: {missed}, not {expected}");
        }
        assert!(sampler.blocks.len() <= 64, "blocks beyond the largest capacity are forgotten");
        assert_eq!(sampler.take_curve(), ReuseCurve::new(64 * BLOCK_BYTES), "a curve is taken once");
    }

    #[test]
    fn a_sample_estimates_the_curve() {
        let numbers = skewed(100_000, 4000);
        let mut sampler = ReuseSampler::new(500, 4000 * BLOCK_BYTES);
        request_all(&mut sampler, &numbers);
        assert!(sampler.halvings() > 0 && sampler.blocks.len() <= 500);
        assert!(sampler.memory_bytes() <= 500 * BYTES_PER_BLOCK);
        let mut whole = ReuseSampler::new(4000, 4000 * BLOCK_BYTES);
        request_all(&mut whole, &numbers);
        let (estimated, exact) = (sampler.take_curve(), whole.take_curve());
        let all = exact.missed_bytes(0);
        for blocks in [0, 500, 1000, 2000] {
            let [estimate, truth] =
                [&estimated, &exact].map(|curve| curve.missed_bytes(blocks * BLOCK_BYTES));
            assert!(
                (estimate - truth).abs() < 0.1 * all,
                "{blocks} blocks: {estimate}, not {truth} of {all}"
            );
        }
    }

    #[test]
    fn removed_tables_have_no_reuse_and_old_requests_lose_weight() {
        let mut sampler = ReuseSampler::new(100, 6400);
        request_all(&mut sampler, &[1, 2, 60]);
        sampler.forget_table(0, 0);
        request_all(&mut sampler, &[1, 2, 60]);
        let mut curve = sampler.take_curve();
        // Only block 60 was requested twice in one table. Its distance is three blocks.
        assert_eq!((curve.missed_bytes(200), curve.missed_bytes(300)), (100.0, 0.0));
        curve.age(&ReuseCurve::new(6400));
        assert!((curve.missed_bytes(0) - 50.0).abs() < 1e-9);
    }
}
