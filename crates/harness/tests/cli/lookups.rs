//! Tests of gets that search several sorted runs with several threads, and of block indexes in memory.

use results::columns as c;

use crate::bench::{Bench, count, number, of, text};

/// An experiment on a tree with several sorted runs and without filters, so that a get searches several runs.
const GETS: &str = r#"
question = "Do several threads find the same values?"
[design]
memtable   = { capacity = "16KiB" }
compaction = { kind = "tiered", size_ratio = 8 }
cache      = "none"
storage    = "memory"
bloom      = "none"
[[phase]]
name   = "load"
insert = 1_000
order  = "random"
value  = { kind = "fixed", bytes = 100 }
[[phase]]
name       = "get"
operations = 400
mix        = { get = 4, put = 1 }
absent     = 0.5
[trials]
count = 1
check = 1
"#;

#[test]
fn several_threads_search_the_runs_of_a_get_and_the_answers_are_right() {
    let bench = Bench::new();
    bench.write("x.toml", format!("{GETS}[sweep]\n\"design.threads.per_lookup\" = [1, 3]\n"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    for row in of(&rows, "get", "all") {
        assert_eq!(count(row, &c::WRONG_ANSWERS), 0);
        match text(row, &c::LABEL).ends_with("per_lookup=3") {
            true => assert!(count(row, &c::PARALLEL_GETS) > 100),
            false => assert!(row.get(&c::PARALLEL_GETS).is_empty()),
        }
    }
    // In counted mode, the caller of a get searches the runs, so the counters do not depend on the threads.
    bench.ok(&["run", "x.toml", "--set", "trials.mode=counted"]);
    let rows = bench.rows("x");
    let searched: Vec<f64> =
        of(&rows, "get", "all").iter().map(|row| number(row, &c::BLOCKS_PER_GET)).collect();
    assert!(searched.len() == 2 && searched[0] > 1.0, "{searched:?}");
    assert!((searched[0] - searched[1]).abs() < 1e-9, "{searched:?}");
    assert!(of(&rows, "get", "all").iter().all(|row| row.get(&c::PARALLEL_GETS).is_empty()));
}

/// Tests that gets of absent keys read fewer blocks if the blocks have the format of byron and their index is in
/// memory.
#[test]
fn an_index_in_memory_saves_reads_of_blocks_and_takes_memory() {
    let bench = Bench::new();
    let sweep = "[sweep]\n\"design.block.memory_index\" = [false, true]\n";
    bench.write("x.toml", format!("{GETS}mode = \"counted\"\n{sweep}"));
    bench.ok(&["run", "x.toml", "--set", "design.format=bare-delta"]);
    let rows = bench.rows("x");
    let gets = of(&rows, "get", "all");
    assert!(gets.iter().all(|row| count(row, &c::WRONG_ANSWERS) == 0));
    let [without, with] = gets[..] else { panic!("{} rows", gets.len()) };
    assert!(number(with, &c::BLOCKS_PER_GET) < 0.9 * number(without, &c::BLOCKS_PER_GET));
    assert!(count(with, &c::FENCE_BYTES) > count(without, &c::FENCE_BYTES));
    assert!(number(with, &c::BLOCK_INDEX_HIT_RATE) > 0.3 && without.get(&c::BLOCK_INDEX_HIT_RATE).is_empty());
}
