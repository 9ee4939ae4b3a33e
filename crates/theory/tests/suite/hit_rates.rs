//! Tests the formulas for hit rates. The tests compare them with caches of the catalog under simulated requests, and
//! with figures of an independent computation.
//!
//! `cargo test -p lsmbench-theory --test suite hit_rates -- --nocapture` shows the numbers.

use std::fmt::Write;
use std::thread;

use cache::{BlockId, Cache};
use lsmbench_theory::{Eviction, PopularKeyOrder, Popularity};
use rand::distr::Distribution;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::Value;
use types::Bytes;

use crate::show;

const KEYS: u64 = 40_000;
const REQUESTS: usize = 1_600_000;
pub(crate) const BLOCK_BYTES: u64 = 1024;

/// A popularity distribution, from which requests can be sampled.
#[derive(Clone, Copy, Debug)]
enum Law {
    Uniform,
    Zipfian(f64),
    /// A number of hot keys, and the fraction of requests that these keys get.
    Hotspot(u64, f64),
}

impl Law {
    fn rank(self, random: &mut Xoshiro256PlusPlus) -> u64 {
        match self {
            Self::Uniform => random.random_range(0..KEYS),
            Self::Zipfian(theta) => Zipf::new(KEYS as f64, theta).unwrap().sample(random) as u64 - 1,
            Self::Hotspot(hot, share) => match random.random_bool(share) {
                true => random.random_range(0..hot),
                false => random.random_range(hot..KEYS),
            },
        }
    }

    fn weight(self, rank: u64) -> f64 {
        match self {
            Self::Uniform => 1.0,
            Self::Zipfian(theta) => ((rank + 1) as f64).powf(-theta),
            Self::Hotspot(hot, share) if rank < hot => share / hot as f64,
            Self::Hotspot(hot, share) => (1.0 - share) / (KEYS - hot) as f64,
        }
    }
}

/// Returns the popularity of `keys` keys. `weight` returns the weight of a rank, and must decrease with the rank.
pub(crate) fn popularity(keys: u64, weight: impl Fn(u64) -> f64) -> Popularity {
    let mut sum = 0.0;
    let sums: Vec<f64> = (0..keys)
        .map(|rank| {
            sum += weight(rank);
            sum
        })
        .collect();
    let ranks = Popularity::ranks(keys);
    let shares: Vec<f64> = ranks.iter().map(|rank| sums[*rank as usize - 1] / sum).collect();
    Popularity::of_keys(&ranks, &shares)
}

pub(crate) fn cache(label: &str) -> Box<dyn Cache> {
    cache::CATALOG.build(&cache::CATALOG.choose(&Value::from(label)).unwrap()).unwrap()
}

/// Sends requests to an empty cache. Returns the hit rate of the requests whose numbers are in `scored`.
pub(crate) fn play(cache: &dyn Cache, names: &[u64], scored: std::ops::Range<usize>) -> f64 {
    let block = Bytes::copy_from(&[0; BLOCK_BYTES as usize]);
    let mut hits = 0;
    for (number, name) in names.iter().enumerate() {
        let id = BlockId { tree: 0, table: name >> 8, offset: *name };
        let is_hit = cache.get(&id).is_some();
        if !is_hit {
            cache.insert(id, block.clone());
        }
        hits += usize::from(is_hit && scored.contains(&number));
    }
    hits as f64 / scored.len() as f64
}

/// Rule: the approximations of Che and Martina differ from the simulated policies by at most 1 %, for several
/// distributions and sizes, for single keys and for keys in blocks.
#[test]
fn forms_are_within_a_hundredth_of_simulations() {
    let laws = [Law::Uniform, Law::Zipfian(0.7), Law::Zipfian(0.99), Law::Hotspot(2_000, 0.8)];
    let compared: Vec<(String, Vec<String>)> = thread::scope(|scope| {
        let threads = laws.map(|law| scope.spawn(move || simulations_and_forms(law)));
        threads.into_iter().map(|thread| thread.join().expect("a comparison must not panic")).collect()
    });
    let rows: String = compared.iter().map(|(rows, _)| rows.as_str()).collect();
    show(&format!("law, keys per block, capacity, policy, simulated, form\n{rows}"));
    let wrong = compared.into_iter().flat_map(|(_, wrong)| wrong).collect::<Vec<_>>();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares simulated policies and their approximations for one distribution. Returns one line per comparison, and one
/// description per difference of more than 1 %.
fn simulations_and_forms(law: Law) -> (String, Vec<String>) {
    let (mut table, mut wrong) = (String::new(), Vec::new());
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(11);
    let ranks: Vec<u64> = (0..REQUESTS).map(|_| law.rank(random)).collect();
    let mut places: Vec<u64> = (0..KEYS).collect();
    places.shuffle(random);
    let keys = popularity(KEYS, |rank| law.weight(rank));
    for (per_block, parts) in [(1, [0.01, 0.1, 0.5]), (20, [0.05, 0.2, 0.5])] {
        let blocks = keys.of_blocks(per_block as f64, PopularKeyOrder::Scattered).unwrap();
        let names: Vec<u64> = ranks.iter().map(|rank| places[*rank as usize] / per_block).collect();
        for part in parts {
            let held = (KEYS / per_block) as f64 * part;
            let capacity = held as u64 * BLOCK_BYTES;
            for (kind, eviction) in [("lru", Eviction::Lru), ("fifo", Eviction::Fifo)] {
                let cache = cache(&format!("{kind}(capacity={capacity}B, shards=1)"));
                let simulated = play(&*cache, &names, REQUESTS / 2..REQUESTS);
                let form = eviction.hit_rate(&blocks, held);
                writeln!(table, "{law:?}, {per_block}, {part}, {kind}, {simulated:.4}, {form:.4}").unwrap();
                if (simulated - form).abs() > 0.01 {
                    wrong.push(format!("{law:?}, {per_block}, {part}, {kind}: {simulated}, not {form}"));
                }
                let bound = blocks.best_static_share(held);
                if simulated > bound + 0.01 || form > bound + 1e-9 {
                    wrong.push(format!("{law:?}, {per_block}, {part}, {kind}: above {bound}"));
                }
            }
        }
    }
    (table, wrong)
}

/// Rule: no cache of the catalog has a higher hit rate than the best static set. For an initially empty cache, the
/// formula is valid for any window of requests, even while the cache fills up.
#[test]
fn no_cache_exceeds_the_best_static_set_and_filling_counts() {
    let law = Law::Zipfian(0.99);
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(12);
    let names: Vec<u64> = (0..200_000).map(|_| law.rank(random)).collect();
    let keys = popularity(KEYS, |rank| law.weight(rank));
    let held = 8_000.0;
    let bound = keys.best_static_share(held);
    for variant in
        cache::CATALOG.variants().iter().filter(|variant| !variant.oracle && variant.kind != "none")
    {
        let cache = cache(&format!("{}(capacity={}B)", variant.kind, held as u64 * BLOCK_BYTES));
        let hits = play(&*cache, &names, 100_000..200_000);
        assert!(hits < bound, "{}: {hits}, static {bound}", variant.kind);
    }
    for (from, to) in [(0, 2_000), (0, 20_000), (0, 200_000), (100_000, 200_000)] {
        let cache = cache(&format!("lru(capacity={}B, shards=1)", held as u64 * BLOCK_BYTES));
        let simulated = play(&*cache, &names[..to], from..to);
        let form = Eviction::Lru.hit_rate_between(&keys, held, 0.0, (from as f64, to as f64));
        assert!((simulated - form).abs() < 0.015, "{from} to {to}: {simulated}, not {form}");
    }
}

/// Rule: if a cache is full of other blocks when a distribution begins, some of these blocks still cause hits.
#[test]
fn what_a_cache_held_before_counts() {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(13);
    for (part, requests) in [(0.1, 20_000), (0.5, 50_000), (0.85, 50_000), (1.0, 50_000)] {
        let held = (KEYS as f64 * part) as u64;
        let law = Law::Zipfian(0.99);
        let mut places: Vec<u64> = (0..KEYS).collect();
        places.shuffle(random);
        let mut names: Vec<u64> = (0..600_000).map(|_| Law::Uniform.rank(random)).collect();
        names.extend((0..requests).map(|_| places[law.rank(random) as usize]));
        let keys = popularity(KEYS, |rank| law.weight(rank));
        let cache = cache(&format!("lru(capacity={}B, shards=1)", held * BLOCK_BYTES));
        let simulated = play(&*cache, &names, 600_000..names.len());
        let window = (0.0, f64::from(requests));
        let form = Eviction::Lru.hit_rate_between(&keys, held as f64, held as f64, window);
        assert!((simulated - form).abs() < 0.01, "{part}: {simulated}, not {form}");
        let cold = Eviction::Lru.hit_rate_between(&keys, held as f64, 0.0, window);
        assert!(cold < form, "{part}: {cold} {form}");
    }
}

#[test]
fn a_pass_over_all_keys_hits_all_but_one_in_a_block() {
    for (blocks_held, laps) in [(10u64, 1u64), (10, 3), (1000, 3)] {
        let (keys, per_block) = (4000u64, 8u64);
        let names: Vec<u64> = (0..keys * laps).map(|number| number % keys / per_block).collect();
        let cache = cache(&format!("lru(capacity={}B, shards=1)", blocks_held * BLOCK_BYTES));
        let simulated = play(&*cache, &names, 0..names.len());
        let form =
            Eviction::hit_rate_in_turn(keys as f64, per_block as f64, blocks_held as f64, names.len() as f64);
        assert!((simulated - form).abs() < 1e-9, "{blocks_held} {laps}: {simulated}, not {form}");
        assert!(laps > 1 || (form - 0.875).abs() < 1e-12);
    }
}

/// Compares the formula with figures from an audit of published hit rates, which computed them independently. The
/// workload has a million keys with Zipf(0.99), and caches of 1, 5, 10 and 20 %. The blocks contain a single key, or 32
/// keys at random.
#[test]
fn the_form_gives_the_figures_of_an_independent_computation() {
    let keys = popularity(1_000_000, |rank| ((rank + 1) as f64).powf(-0.99));
    let parts = [0.01, 0.05, 0.1, 0.2];
    for (per_block, expected) in [(1.0, [0.566, 0.703, 0.766, 0.832]), (32.0, [0.303, 0.448, 0.527, 0.626])] {
        let blocks = keys.of_blocks(per_block, PopularKeyOrder::Scattered).unwrap();
        for (part, expected) in parts.into_iter().zip(expected) {
            let form = Eviction::Lru.hit_rate(&blocks, part * 1e6 / per_block);
            assert!((form - expected).abs() < 2e-3, "{per_block} {part}: {form}, not {expected}");
        }
    }
}
