//! Hit rates of caches under Zipf(0.99), and the hit rate that theory predicts for LRU.

use std::collections::HashSet;

use rand::distr::Distribution;
use rand::{RngExt, SeedableRng};
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;
use types::Bytes;

use crate::{BlockId, Cache};

const BLOCKS: usize = 20_000;
const REQUESTS: usize = 200_000;
const THETA: f64 = 0.99;
const BLOCK_BYTES: u64 = 1024;

/// Capacity in bytes, enough for a tenth of all blocks.
pub(crate) const CAPACITY_BYTES: u64 = BLOCKS as u64 / 10 * BLOCK_BYTES;

/// The results of the second half of the requests, as fractions of these requests.
pub(crate) struct Rates {
    pub(crate) hits: f64,
    /// The fraction of requests for a block that was requested before. The fraction is an upper bound on the hit
    /// rate of any cache.
    pub(crate) repeats: f64,
}

/// Gets blocks, and inserts the missed blocks. The fraction `one_touch` of the requests is for blocks that are
/// requested only once.
pub(crate) fn run(cache: &dyn Cache, one_touch: f64) -> Rates {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(3);
    let zipf = Zipf::new(BLOCKS as f64, THETA).unwrap();
    let block = Bytes::copy_from(&[0; BLOCK_BYTES as usize]);
    let mut seen = HashSet::new();
    let (mut hits, mut repeats) = (0, 0);
    for number in 0..REQUESTS {
        let is_one_touch = random.random_bool(one_touch);
        let rank: f64 = zipf.sample(random);
        let offset = if is_one_touch { (BLOCKS + number) as u64 } else { rank as u64 };
        let id = BlockId { tree: 0, table: offset / 100, offset };
        let (is_repeat, is_hit) = (!seen.insert(id), cache.get(&id).is_some());
        if !is_hit {
            cache.insert(id, block.clone());
        }
        if number >= REQUESTS / 2 {
            hits += u32::from(is_hit);
            repeats += u32::from(is_repeat);
        }
    }
    let share = |count: u32| f64::from(count) / (REQUESTS / 2) as f64;
    Rates { hits: share(hits), repeats: share(repeats) }
}

/// Returns the hit rate of LRU by the approximation of Che, Tung and Wang (IEEE JSAC 2002). A block is cached if its
/// last request is not older than the time in which the cache fills up.
pub(crate) fn lru_hit_rate() -> f64 {
    let weights: Vec<f64> = (1..=BLOCKS).map(|rank| (rank as f64).powf(-THETA)).collect();
    let total: f64 = weights.iter().sum();
    let held = |time: f64| weights.iter().map(move |weight| 1.0 - (-weight / total * time).exp());
    let capacity = (CAPACITY_BYTES / BLOCK_BYTES) as f64;
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if held(middle).sum::<f64>() < capacity { low = middle } else { high = middle }
    }
    held(low).zip(&weights).map(|(held, weight)| held * weight / total).sum()
}
