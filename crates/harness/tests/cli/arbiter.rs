//! Tests of arbiters, which move memory between memtables, filters and cache while the tree is open.

use results::columns as c;

use crate::bench::{Bench, count, number, of, text};

/// An experiment with a memory budget, a phase of overwrites, and then a phase of gets. The blocks of all keys take
/// about 400 KiB.
const SPLITS: &str = r#"
question = "Does the arbiter move memory?"
[design]
memory     = "256KiB"
memtable   = { capacity = "16KiB" }
compaction = { kind = "leveled", size_ratio = 4 }
cache      = { kind = "lru", shards = 1 }
wal        = "none"
storage    = "pread"
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 80 }
[[phase]]
name       = "write"
operations = 12_000
mix        = "put"
value      = { kind = "fixed", bytes = 80 }
[[phase]]
name       = "get"
operations = 25_000
mix        = "get"
keys       = "zipfian"
[sweep]
"design.arbiter" = ["static", "marginal(sampled_blocks=200)"]
[trials]
count = 1
mode  = "counted"
check = 1
"#;

#[test]
fn an_arbiter_moves_memory_with_the_mix_and_the_answers_are_right() {
    let bench = Bench::new();
    bench.write("x.toml", SPLITS);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    assert!(rows.iter().all(|row| row.get(&c::WRONG_ANSWERS).integer().unwrap_or(0) == 0));
    let split = |phase: &str, is_moved: bool| {
        let all = of(&rows, phase, "all");
        let row = *all.iter().find(|row| text(row, &c::LABEL).contains("marginal") == is_moved).unwrap();
        let used = 2 * count(row, &c::MEMTABLE_CAPACITY_BYTES) + count(row, &c::CACHE_CAPACITY_BYTES);
        assert!(used <= 256 << 10, "{used} bytes in phase {phase}");
        (count(row, &c::MEMTABLE_CAPACITY_BYTES), count(row, &c::CACHE_CAPACITY_BYTES), row.clone())
    };
    let [written, looked] = ["write", "get"].map(|phase| split(phase, true));
    assert!(written.0 > 2 * looked.0 && written.1 < looked.1, "{:?} {:?}", written.0, looked.0);
    assert!(count(&written.2, &c::MEMORY_MOVES) > 0 && count(&looked.2, &c::MEMORY_MOVES) > 0);
    let [fixed, still] = ["write", "get"].map(|phase| split(phase, false));
    assert_eq!((fixed.0, still.0, count(&still.2, &c::MEMORY_MOVES)), (16 << 10, 16 << 10, 0));
    // With the larger memtables, the same writes cause fewer compactions.
    let compacted = |row| number(row, &c::COMPACTION_BYTES_WRITTEN);
    assert!(compacted(&written.2) < 0.8 * compacted(&fixed.2));
    let described = bench.ok(&["describe", "x.toml"]);
    assert!(described.contains("arbiter"), "{described}");
    // Equal runs move memory equally.
    bench.ok(&["run", "x.toml", "--out", "again"]);
    assert_eq!(bench.read("results/x/runs.csv"), bench.read("again/x/runs.csv"));
}

#[test]
fn without_a_budget_the_columns_of_the_split_are_empty() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    for column in [&c::MEMTABLE_CAPACITY_BYTES, &c::CACHE_CAPACITY_BYTES, &c::MEMORY_MOVES] {
        assert!(bench.rows("small").iter().all(|row| row.get(column).is_empty()), "{}", column.name);
    }
}

#[test]
fn arbiters_that_cannot_work_are_rejected() {
    let bench = Bench::new();
    bench.write("x.toml", SPLITS);
    for (set, message) in [
        (
            "design.cache=none",
            "the cache \"none\" cannot be resized; use another cache, such as cache = \"lru\"",
        ),
        (
            "design.arbiter=marginal(step=30)",
            "step is 30; it must be from 0.1 to 25 percent of the memory budget",
        ),
        ("design.arbiter=marginl", "did you mean \"marginal\"?"),
    ] {
        let error = bench.run(&["describe", "x.toml", "--set", set]).refusal();
        assert!(error.contains(message), "{set}: {error}");
    }
    let error = bench.run(&["simulate", "x.toml"]).refusal();
    assert!(
        error.contains("design.arbiter = \"marginal(sampled_blocks=200)\" cannot be simulated"),
        "{error}"
    );
    let tuned = SPLITS.to_owned() + "[tune]\nminimise = \"write_amp in write\"\n";
    bench.write("tuned.toml", tuned);
    let error = bench.run(&["tune", "tuned.toml"]).refusal();
    assert!(error.contains("tune has no model of an arbiter that moves memory"), "{error}");
}
