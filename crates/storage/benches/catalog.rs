//! Benchmarks of every storage back end. Each benchmark reads a random 4 KiB block of a new SSTable, reads 32 blocks in
//! one call, or writes an SSTable.
//!
//! `direct` and `uring` access the device each time. The other back ends use the page cache. `simulated` does not wait
//! in these benchmarks.
//!
//! `cargo bench -p lsmbench-storage` runs the benchmarks. With `-- --test`, each benchmark runs once with a small
//! SSTable.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lsmbench_storage::{CATALOG, Purpose, Storage, StorageError};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCK_BYTES: usize = 4096;

/// The number of bytes of one append to the SSTable, as in a tree.
const PIECE_BYTES: usize = 1 << 20;

/// Returns the size of the SSTable of the benchmarks, in bytes. The SSTable is small without the argument `--bench`,
/// because cargo then only tests the benchmarks.
fn table_bytes() -> usize {
    let told = |option: &str| std::env::args().any(|argument| argument == option);
    if told("--bench") && !told("--test") { 64 << 20 } else { PIECE_BYTES }
}

/// Returns every back end that works on the file system of `directory`. Each back end has its own directory.
fn back_ends(directory: &Path) -> impl Iterator<Item = (&'static str, Box<dyn Storage>)> {
    let build = |kind| CATALOG.build(&CATALOG.variant(kind).expect("it is listed").default_choice());
    let back_ends = CATALOG.kinds().map(move |kind| (kind, build(kind).expect("defaults build")));
    back_ends.filter(|(kind, storage)| {
        storage
            .create_directory(directory)
            .expect("the directory of the benchmark must exist or be creatable");
        storage.create(&directory.join(kind), Purpose::Table).is_ok()
    })
}

fn write_table(storage: &dyn Storage, directory: &Path, name: &str) -> Result<(), StorageError> {
    let piece = vec![7; PIECE_BYTES];
    let mut writer = storage.create(&directory.join(name), Purpose::Table)?;
    for _ in 0..table_bytes() / PIECE_BYTES {
        writer.append(&piece)?;
    }
    writer.sync()?;
    storage.sync_directory(directory)
}

fn read(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut group = criterion.benchmark_group("read a block");
    group.throughput(Throughput::Bytes(BLOCK_BYTES as u64));
    for (kind, storage) in back_ends(directory.path()) {
        write_table(&*storage, directory.path(), kind).expect("there is room");
        let file = storage.open(&directory.path().join(kind), Purpose::Table).expect("just written");
        let blocks = table_bytes() / BLOCK_BYTES;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        group.bench_function(kind, |bencher| {
            bencher.iter(|| {
                let offset = random.random_range(0..blocks) * BLOCK_BYTES;
                let block = file.read(offset as u64, BLOCK_BYTES).expect("inside the file");
                block.iter().step_by(64).fold(0, |sum, byte| sum ^ black_box(*byte))
            });
        });
    }
}

fn read_together(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut group = criterion.benchmark_group("read 32 blocks together");
    group.throughput(Throughput::Bytes(32 * BLOCK_BYTES as u64));
    for (kind, storage) in back_ends(directory.path()) {
        write_table(&*storage, directory.path(), kind).expect("there is room");
        let file = storage.open(&directory.path().join(kind), Purpose::Table).expect("just written");
        let blocks = table_bytes() / BLOCK_BYTES;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        group.bench_function(kind, |bencher| {
            bencher.iter(|| {
                let block = || (random.random_range(0..blocks) * BLOCK_BYTES) as u64;
                let parts: Vec<(u64, usize)> =
                    std::iter::repeat_with(block).take(32).map(|offset| (offset, BLOCK_BYTES)).collect();
                black_box(file.read_many(&parts)).into_iter().filter_map(Result::ok).count()
            });
        });
    }
}

fn write(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut group = criterion.benchmark_group("write a table and sync it");
    group.throughput(Throughput::Bytes(table_bytes() as u64)).sample_size(10);
    for (kind, storage) in back_ends(directory.path()) {
        group.bench_function(kind, |bencher| {
            bencher.iter(|| write_table(&*storage, directory.path(), kind).expect("there is room"));
        });
    }
}

criterion_group!(benches, read, read_together, write);
criterion_main!(benches);
