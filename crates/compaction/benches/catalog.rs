//! Measures the time that each policy takes to pick a compaction job. The trees have 10 to 1000 SSTables. In some
//! trees a compaction is due, and in others not.
//!
//! Run the benchmark with `cargo bench -p lsmbench-compaction`. The benchmark is fast enough to run as a test without
//! changes.

use std::hint::black_box;

use catalog::Choice;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use lsmbench_compaction::{CATALOG, CompactionPolicy, Shape, SimulatedLoad, Simulator};

const TABLES: [u64; 3] = [10, 100, 1000];

fn policies() -> impl Iterator<Item = (&'static str, Box<dyn CompactionPolicy>)> {
    let build = |choice: Choice| (choice.kind(), CATALOG.build(&choice).expect("defaults build"));
    CATALOG.all().map(build)
}

/// Builds the tree that `policy` produces from 60 flushes. Its sorted runs are divided into about `tables` SSTables.
fn tree(policy: &dyn CompactionPolicy, tables: u64) -> Shape {
    let entries = 1_000_000;
    let load = SimulatedLoad {
        writes_per_flush: entries / 60,
        entry_bytes: 100,
        entries_per_table: entries / tables,
        distinct_keys: None,
    };
    let mut simulator = Simulator::new(policy, load).expect("no number is 0");
    for _ in 0..60 {
        simulator
            .flush()
            .expect("each compaction policy of the catalog must keep the invariants of its axis");
    }
    simulator.shape().clone()
}

/// Measures the time in which a policy picks a job for the tree that the policy `made_by` produced.
fn pick(criterion: &mut Criterion, name: &str, made_by: Option<&str>) {
    let mut group = criterion.benchmark_group(name);
    for (kind, policy) in policies() {
        for tables in TABLES {
            let maker = made_by.unwrap_or(kind);
            let choice = CATALOG.variant(maker).expect("it is listed").default_choice();
            let shape = tree(&*CATALOG.build(&choice).expect("defaults build"), tables);
            group.bench_with_input(BenchmarkId::new(kind, tables), &shape, |bencher, shape| {
                bencher.iter(|| policy.pick(black_box(shape)));
            });
        }
    }
}

fn at_rest(criterion: &mut Criterion) {
    pick(criterion, "pick, at rest", None);
}

/// Measures the time in which each policy picks a job for a tree with sixty runs in level 0. Every policy except `none`
/// picks a job for this tree.
fn with_work(criterion: &mut Criterion) {
    pick(criterion, "pick, with work", Some("none"));
}

criterion_group!(benches, at_rest, with_work);
criterion_main!(benches);
