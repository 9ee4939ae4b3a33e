//! Measures inserts, lookups and scans of every memtable of the catalog. Keys have 16 random bytes, and values have
//! 100 bytes.

use std::hint::black_box;
use std::ops::Bound;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use lsmbench_memtable::{CATALOG, Memtable, MemtablePolicy};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use types::{Direction, EntryBatch, HashedKey, KeyHash, Lookup};
use xxhash_rust::xxh3::xxh3_64;

const ENTRIES: u64 = 50_000;
const CAPACITY_BYTES: usize = 8 << 20;
const VALUE: [u8; 100] = [7; 100];
const ENTRIES_PER_SCAN: usize = 100;

type Key = ([u8; 16], KeyHash);

/// Returns the distinct keys that the benchmarks insert, in random order. Every call returns equal keys.
fn keys() -> Vec<Key> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut key = || {
        let bytes: [u8; 16] = random.random();
        (bytes, KeyHash(xxh3_64(&bytes)))
    };
    (0..ENTRIES).map(|_| key()).collect()
}

fn hashed(key: &Key) -> HashedKey<'_> {
    HashedKey { bytes: &key.0, hash: key.1 }
}

fn filled(policy: &dyn MemtablePolicy, keys: &[Key]) -> Box<dyn Memtable> {
    let table = policy.create(CAPACITY_BYTES);
    for (key, sequence) in keys.iter().zip(1..) {
        table.insert(hashed(key), sequence, Some(&VALUE));
    }
    table
}

/// Returns all memtable policies of the catalog with their labels.
fn policies() -> impl Iterator<Item = (String, Box<dyn MemtablePolicy>)> {
    CATALOG.all().map(|choice| (choice.label(), CATALOG.build(&choice).expect("defaults build")))
}

fn insert(criterion: &mut Criterion) {
    let keys = keys();
    let mut group = criterion.benchmark_group("memtable/insert");
    group.throughput(Throughput::Elements(ENTRIES)).sample_size(10);
    for (label, policy) in policies() {
        group.bench_function(label, |bencher| {
            bencher.iter_batched(|| (), |()| filled(&*policy, &keys), BatchSize::PerIteration);
        });
    }
}

fn get(criterion: &mut Criterion) {
    let keys = keys();
    let mut asked = keys.clone();
    asked.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(2));
    let mut group = criterion.benchmark_group("memtable/get");
    group.throughput(Throughput::Elements(1));
    for (label, policy) in policies() {
        let table = filled(&*policy, &keys);
        let mut value = Vec::new();
        let mut next = asked.iter().cycle();
        group.bench_function(label, |bencher| {
            bencher.iter(|| {
                value.clear();
                let key = next.next().expect("an iterator of cycle() has no end");
                assert_eq!(table.get(hashed(key), ENTRIES, &mut value), Lookup::Found);
                black_box(&value);
            });
        });
    }
}

fn scan(criterion: &mut Criterion) {
    let keys = keys();
    let mut group = criterion.benchmark_group("memtable/scan");
    group.throughput(Throughput::Elements(ENTRIES_PER_SCAN as u64));
    for (label, policy) in policies() {
        let table = filled(&*policy, &keys);
        let mut batch = EntryBatch::default();
        let mut next = keys.iter().cycle();
        group.bench_function(label, |bencher| {
            bencher.iter(|| {
                batch.clear();
                let from = Bound::Included(&next.next().expect("an iterator of cycle() has no end").0[..]);
                table.scan(from, Direction::Forward, ENTRIES, ENTRIES_PER_SCAN, &mut batch);
                black_box(&batch);
            });
        });
    }
}

criterion_group!(benches, insert, get, scan);
criterion_main!(benches);
