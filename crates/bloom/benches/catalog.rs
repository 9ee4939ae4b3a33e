//! Measures the time per key to build every filter, and the time per lookup. The filters have 1 million keys at 10
//! bits per key, so they fit the CPU caches.
//!
//! Run the benchmark with `cargo bench -p lsmbench-bloom`. With `-- --test`, each benchmark runs once over 1,000
//! keys.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lsmbench_bloom::{CATALOG, Filter, FilterInput, FilterPolicy};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use types::{Bytes, HashedKey, KeyHash, KeyList};

const PROBES: usize = 1024;

fn keys() -> usize {
    if std::env::args().any(|argument| argument == "--test") { 1000 } else { 1_000_000 }
}

fn random_hashes(count: usize, seed: u64) -> Vec<KeyHash> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| KeyHash(random.next_u64())).collect()
}

/// Returns the keys for filters that are built from keys. The keys are the bytes of the hashes, in sorted order.
fn keys_of(hashes: &[KeyHash]) -> KeyList {
    let mut hashes = hashes.to_vec();
    hashes.sort_unstable();
    hashes.iter().map(|hash| hash.0.to_be_bytes()).collect()
}

fn policies() -> impl Iterator<Item = (&'static str, Box<dyn FilterPolicy>)> {
    CATALOG
        .variants()
        .iter()
        .map(|variant| (variant.kind, CATALOG.build(&variant.default_choice()).expect("defaults build")))
}

fn build(criterion: &mut Criterion) {
    let hashes = random_hashes(keys(), 1);
    let list = keys_of(&hashes);
    let mut group = criterion.benchmark_group("build");
    group.throughput(Throughput::Elements(hashes.len() as u64)).sample_size(10);
    for (kind, policy) in policies() {
        group.bench_function(kind, |bencher| {
            bencher.iter(|| {
                policy.build(&FilterInput {
                    hashes: black_box(&hashes),
                    bits_per_key: None,
                    keys: Some(&list),
                })
            });
        });
    }
}

/// Measures lookups of `PROBES` keys per iteration. Each iteration draws new keys, so that branch predictors cannot
/// learn the answers.
fn lookup(
    criterion: &mut Criterion,
    name: &str,
    draw: impl Fn(&[KeyHash], &mut Xoshiro256PlusPlus) -> KeyHash,
    probe: impl Fn(&dyn Filter, &[KeyHash]) -> usize,
) {
    let hashes = random_hashes(keys(), 1);
    let list = keys_of(&hashes);
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(PROBES as u64));
    for (kind, policy) in policies() {
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(&list) });
        let filter = policy.open(Bytes::copy_from(&stored)).expect("just built");
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        group.bench_function(kind, |bencher| {
            bencher.iter_batched_ref(
                || (0..PROBES).map(|_| draw(&hashes, &mut random)).collect::<Vec<_>>(),
                |probes| probe(&*filter, probes),
                BatchSize::SmallInput,
            );
        });
    }
}

fn one_by_one(filter: &dyn Filter, probes: &[KeyHash]) -> usize {
    let may_contain =
        |hash: KeyHash| filter.may_contain_key(HashedKey { bytes: &hash.0.to_be_bytes(), hash });
    probes.iter().filter(|hash| may_contain(**hash)).count()
}

fn batched(filter: &dyn Filter, probes: &[KeyHash]) -> usize {
    let mut answers = [false; PROBES];
    filter.may_contain_batch(probes, &mut answers);
    answers.iter().filter(|answer| **answer).count()
}

fn absent(_: &[KeyHash], random: &mut Xoshiro256PlusPlus) -> KeyHash {
    KeyHash(random.next_u64())
}

fn present(hashes: &[KeyHash], random: &mut Xoshiro256PlusPlus) -> KeyHash {
    hashes[random.next_u64() as usize % hashes.len()]
}

fn lookups(criterion: &mut Criterion) {
    lookup(criterion, "absent", absent, one_by_one);
    lookup(criterion, "absent, batched", absent, batched);
    lookup(criterion, "present", present, one_by_one);
}

criterion_group!(benches, build, lookups);
criterion_main!(benches);
