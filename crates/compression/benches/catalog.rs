//! Benchmarks of every codec in the catalog: compression and decompression of a 4-KiB block whose values are half
//! random.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lsmbench_compression::{CATALOG, Compression, decompress};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCK_BYTES: usize = 4096;

/// The level of the tree for which blocks are compressed. In most trees, the deepest level contains most blocks.
const LEVEL: usize = 6;

/// Returns a block with values of 100 bytes, as in `db_bench`: 50 random bytes, repeated once.
fn block() -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut block = vec![0; BLOCK_BYTES];
    for value in block.chunks_mut(100) {
        let (fresh, repeated) = value.split_at_mut(50.min(value.len()));
        random.fill_bytes(fresh);
        repeated.copy_from_slice(&fresh[..repeated.len()]);
    }
    block
}

/// Returns the codecs of the catalog, each with its label.
fn codecs() -> impl Iterator<Item = (String, Box<dyn Compression>)> {
    CATALOG.all().map(|choice| (choice.label(), CATALOG.build(&choice).expect("defaults build")))
}

fn compress(criterion: &mut Criterion) {
    let block = block();
    let mut group = criterion.benchmark_group("compression/compress");
    group.throughput(Throughput::Bytes(BLOCK_BYTES as u64));
    for (label, codec) in codecs() {
        let mut stored = Vec::new();
        group.bench_function(label, |bencher| {
            bencher.iter(|| {
                stored.clear();
                black_box(codec.compress(LEVEL, black_box(&block), &mut stored))
            });
        });
    }
}

fn decompress_stored(criterion: &mut Criterion) {
    let block = block();
    let mut group = criterion.benchmark_group("compression/decompress");
    group.throughput(Throughput::Bytes(BLOCK_BYTES as u64));
    for (label, codec) in codecs() {
        let mut stored = Vec::new();
        let tag = codec.compress(LEVEL, &block, &mut stored);
        let mut out = vec![0; BLOCK_BYTES];
        group.bench_function(label, |bencher| {
            bencher.iter(|| {
                decompress(tag, black_box(&stored), &mut out)
                    .expect("a codec must decompress its own output");
            });
        });
        assert_eq!(out, block, "decompression must restore the compressed block");
    }
}

criterion_group!(benches, compress, decompress_stored);
criterion_main!(benches);
