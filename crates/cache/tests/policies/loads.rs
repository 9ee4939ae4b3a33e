//! Seeded workloads for which policies have different hits: skew, drift, scans and loops.

use rand::distr::Distribution;
use rand::{RngExt, SeedableRng};
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;

const REQUESTS: u64 = 12_000;

/// Returns named workloads for a cache of `blocks` blocks. A workload is the list of requested block numbers.
pub(crate) fn all(blocks: usize) -> Vec<(&'static str, Vec<u64>)> {
    let blocks = blocks as u64;
    vec![("mixed", mixed(blocks)), ("zipf", zipf(blocks)), ("drift", drift(blocks)), ("loop", around(blocks))]
}

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Draws blocks from Zipf(0.8), over eight times as many blocks as fit the cache.
fn zipf(blocks: u64) -> Vec<u64> {
    let random = &mut random(1);
    let ranks = Zipf::new(8.0 * blocks as f64, 0.8).unwrap();
    (0..REQUESTS).map(|_| ranks.sample(random) as u64).collect()
}

/// Requests blocks of a hot set, which moves by one block at intervals.
fn drift(blocks: u64) -> Vec<u64> {
    let random = &mut random(2);
    (0..REQUESTS).map(|number| number / 40 + random.random_range(0..blocks * 3 / 2 + 1)).collect()
}

/// Requests blocks in a loop, over 1.25 times as many blocks as fit the cache.
fn around(blocks: u64) -> Vec<u64> {
    (0..REQUESTS).map(|number| number % (blocks * 5 / 4 + 1)).collect()
}

/// Requests blocks with a skew, together with blocks that are requested once, short loops, and a hot set that
/// changes.
fn mixed(blocks: u64) -> Vec<u64> {
    let random = &mut random(3);
    let ranks = Zipf::new(4.0 * blocks as f64, 0.9).unwrap();
    (0..REQUESTS)
        .map(|number| match number / 500 % 4 {
            0 | 1 => ranks.sample(random) as u64,
            2 if random.random_bool(0.5) => 1_000_000 + number,
            2 => ranks.sample(random) as u64 + number / 4000 * blocks,
            _ => 500_000 + number % (blocks * 6 / 5 + 1),
        })
        .collect()
}
