//! Benchmarks of the measuring tools: reading the clock, recording a latency, and comparing two variants.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use lsmbench_measure as measure;
use measure::{Clock, Criteria, Histogram, Sample, compare};
use results::Better;

fn instruments(criterion: &mut Criterion) {
    let clock = Clock::new();
    let mut group = criterion.benchmark_group("measure");
    group.bench_function("clock", |bencher| bencher.iter(|| clock.now()));
    group.bench_function("clock and difference", |bencher| {
        let mut last = clock.now();
        bencher.iter(|| {
            let now = clock.now();
            let ns = clock.ns_between(last, now);
            last = now;
            ns
        });
    });
    group.bench_function("record", |bencher| {
        let mut histogram = Histogram::new();
        let latencies: Vec<u64> = (0..1024_u64).map(|i| 100 << (i * 7 % 11) | (i * 37 % 128)).collect();
        let mut at = 0;
        bencher.iter(|| {
            at = (at + 1) % 1024;
            histogram.record(black_box(latencies[at]));
        });
    });
    group.bench_function("compare 10 blocks", |bencher| {
        let sample =
            |name: &str, step: u64| Sample::new(name, (0..10).map(|i| (i, (1000 + i * step % 70) as f64)));
        let (baseline, candidate) = (sample("a", 37), sample("b", 53));
        bencher.iter(|| compare(&baseline, &candidate, Better::Lower, &Criteria::default()));
    });
    group.finish();
}

criterion_group!(benches, instruments);
criterion_main!(benches);
