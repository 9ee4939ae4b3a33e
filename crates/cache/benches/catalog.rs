//! Benchmarks of every cache in the catalog, with one thread and with two. One benchmark only has hits, and the
//! other gets or inserts blocks under Zipf(0.99). Each block has 64 bytes, so that the benchmark measures the cache
//! and not the copying of blocks.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lsmbench_cache::{BlockId, CATALOG, Cache};
use rand::distr::Distribution;
use rand::{RngExt, SeedableRng};
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::Value;
use types::Bytes;

/// The number of blocks that the benchmarks request.
const BLOCKS: u64 = 65_536;
/// The number of blocks that fit into each benchmarked cache.
const HELD: u64 = BLOCKS / 8;
const BLOCK_BYTES: u64 = 64;
const REQUESTS: usize = 1 << 16;

/// Returns the catalog's caches with their labels. Each cache has room for [`HELD`] blocks.
fn caches() -> impl Iterator<Item = (String, Box<dyn Cache>)> {
    CATALOG.variants().iter().map(|variant| {
        let mut table = variant.defaults();
        if table.contains_key("capacity") {
            table.insert("capacity".to_owned(), Value::String(format!("{}B", HELD * BLOCK_BYTES)));
        }
        table.insert("kind".to_owned(), Value::from(variant.kind));
        let choice = CATALOG
            .choose(&Value::Table(table))
            .expect("only the capacity differs from the default parameters");
        (variant.kind.to_owned(), CATALOG.build(&choice).expect("choices build"))
    })
}

fn id(block: u64) -> BlockId {
    BlockId { tree: 1, table: block / 1000, offset: block * 4096 }
}

fn block() -> Bytes {
    Bytes::copy_from(&[1; BLOCK_BYTES as usize])
}

/// Measures the time that `threads` threads need for `iterations` gets each. A thread inserts each missed block.
fn time(cache: &dyn Cache, requests: &[BlockId], threads: usize, iterations: u64) -> Duration {
    let work = |thread: usize| {
        let (behind, first) = requests.split_at(thread * requests.len() / threads);
        for id in first.iter().chain(behind).cycle().take(iterations as usize) {
            if black_box(cache.get(id)).is_none() {
                cache.insert(*id, block());
            }
        }
    };
    let start = Instant::now();
    thread::scope(|scope| {
        (1..threads).for_each(|thread| drop(scope.spawn(move || work(thread))));
        work(0);
    });
    start.elapsed()
}

/// Benchmarks every cache with the same requests.
fn bench(criterion: &mut Criterion, name: &str, requests: &[BlockId]) {
    for threads in [1, 2] {
        let mut group = criterion.benchmark_group(format!("cache/{name}/{threads} threads"));
        group.throughput(Throughput::Elements(threads as u64)).sample_size(20);
        for (label, cache) in caches() {
            time(&*cache, requests, 1, requests.len() as u64);
            group.bench_function(label, |bencher| {
                bencher.iter_custom(|iterations| time(&*cache, requests, threads, iterations));
            });
        }
    }
}

/// Benchmarks gets that are all hits: the requested blocks fill only a quarter of the cache.
fn hits(criterion: &mut Criterion) {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
    let requests: Vec<BlockId> = (0..REQUESTS).map(|_| id(random.random_range(0..HELD / 4))).collect();
    bench(criterion, "hit", &requests);
}

fn zipf(criterion: &mut Criterion) {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(2);
    let ranks = Zipf::new(BLOCKS as f64, 0.99).expect("valid parameters");
    let requests: Vec<BlockId> = (0..REQUESTS).map(|_| id(ranks.sample(random) as u64)).collect();
    bench(criterion, "zipf", &requests);
}

criterion_group!(benches, hits, zipf);
criterion_main!(benches);
