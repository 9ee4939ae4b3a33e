//! Benchmark of the cost of generating operations: draw keys, encode keys, and fill whole batches.
//!
//! Each time is per batch of 256 operations. The throughput that criterion prints is in operations per second.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lsmbench_workload as workload;
use workload::{Batch, Extent, FORMATS, KEYS, NoOp, Performer, Random, Scope, Workload, WorkloadPlan};

const KEYS_THERE_ARE: u64 = 1_000_000;
const OPERATIONS: usize = Batch::OPERATIONS;

/// Times every distribution of the key catalog. Each call draws 256 indexes of a million keys.
fn keys(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("keys");
    group.throughput(Throughput::Elements(OPERATIONS as u64));
    let scope = Scope {
        keys: KEYS_THERE_ARE,
        planned: KEYS_THERE_ARE,
        inserts: 0,
        popularity: 1,
        thread: 0,
        threads: 1,
    };
    for choice in KEYS.all() {
        let mut sampler = KEYS
            .build(&choice)
            .expect("the default parameters of each key distribution must be valid")
            .sampler(&scope);
        let (mut random, mut indexes) = (Random::new(1), vec![0; OPERATIONS]);
        group.bench_function(choice.label(), |bencher| {
            bencher.iter(|| sampler.fill(&mut random, KEYS_THERE_ARE, black_box(&mut indexes)));
        });
    }
    group.finish();
}

/// Times every key format of the catalog except `trace`. Each call generates and encodes 256 gets of uniform keys.
fn formats(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("format");
    group.throughput(Throughput::Elements(OPERATIONS as u64));
    for choice in FORMATS.all().filter(|choice| choice.kind() != "trace") {
        let phase = format!("key = \"{choice}\"\n{}", phases("mix = \"get\""));
        let mut fill = filler(&phase);
        group.bench_function(choice.label(), |bencher| bencher.iter(&mut fill));
    }
    group.finish();
}

/// Times whole batches of common mixes, with 16-byte keys and 100-byte values. Each call also reads every key and
/// value.
fn streams(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stream");
    group.throughput(Throughput::Elements(OPERATIONS as u64));
    for (name, lines) in [
        ("get uniform", "mix = \"get\""),
        ("get zipfian", "mix = \"get\"\nkeys = \"zipfian\""),
        ("get ycsb-scrambled", "mix = \"get\"\nkeys = \"ycsb-scrambled\""),
        ("get latest", "mix = \"get\"\nkeys = \"latest\""),
        ("put uniform", "mix = \"put\""),
        ("half puts zipfian", "mix = { get = 1, put = 1 }\nkeys = \"zipfian\""),
        ("latest, 5 % inserts", "mix = { get = 0.95, insert = 0.05 }\nkeys = \"latest\""),
        ("puts of pareto sizes", "mix = \"put\"\nvalue = \"pareto\""),
    ] {
        let mut fill = filler(&phases(lines));
        group.bench_function(name, |bencher| bencher.iter(&mut fill));
    }
    group.finish();
}

/// Times the `Performer` with the batches of the benchmark `streams`, on a store that does nothing.
fn performed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("performed");
    group.throughput(Throughput::Elements(OPERATIONS as u64));
    for (name, lines) in
        [("get uniform", "mix = \"get\""), ("get zipfian", "mix = \"get\"\nkeys = \"zipfian\"")]
    {
        let plan = plan(&phases(lines));
        let mut stream = plan.phases()[1].streams(loaded()).remove(0);
        let (mut batch, mut performer) = (Batch::default(), Performer::new(&NoOp));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                stream.fill(&mut batch, OPERATIONS);
                for at in 0..batch.operations().len() {
                    black_box(performer.perform(&batch, at, false)).expect("nothing can fail");
                }
            });
        });
    }
    group.finish();
}

fn phases(lines: &str) -> String {
    format!(
        "[[phase]]\nname = \"load\"\ninsert = {KEYS_THERE_ARE}\n\
         [[phase]]\nname = \"run\"\nseconds = 1000\n{lines}\n"
    )
}

fn plan(toml: &str) -> WorkloadPlan {
    let workload: Workload = toml::from_str(toml).expect("the workload reads");
    WorkloadPlan::new(&workload, 1, Path::new(".")).expect("the plan of the benchmark workload must be valid")
}

fn loaded() -> Extent {
    Extent { keys: KEYS_THERE_ARE, versions: 1_000_000, retired: 0 }
}

/// Returns a function that fills a batch of the workload's second phase and reads every key and value in the batch.
fn filler(toml: &str) -> impl FnMut() + use<> {
    let plan = plan(toml);
    let mut stream = plan.phases()[1].streams(loaded()).remove(0);
    let mut batch = Batch::default();
    move || {
        stream.fill(&mut batch, OPERATIONS);
        for (at, operation) in batch.operations().iter().enumerate() {
            black_box(batch.key(at));
            if operation.kind.writes() {
                black_box(batch.value(at));
            }
        }
    }
}

criterion_group!(benches, keys, formats, streams, performed);
criterion_main!(benches);
