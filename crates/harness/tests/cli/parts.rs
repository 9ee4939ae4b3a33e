//! Tests of tree components that the source documents describe. An experiment file selects the component. The answers
//! must be right, and the counters must show the work of the component.

use results::{Metric, columns as c};

use crate::bench::{Bench, text};

/// Runs an experiment that sweeps `path` over `values`. Returns the metrics of the last phase for each configuration,
/// as text.
fn swept<const N: usize>(body: &str, path: &str, values: &str, metrics: [&Metric; N]) -> Vec<[String; N]> {
    let bench = Bench::new();
    let sweep = format!("[sweep]\n\"{path}\" = {values}\n");
    let trials = "[trials]\ncount = 1\nmode = \"counted\"\n";
    bench.write("x.toml", format!("question = \"?\"\n{body}\n{sweep}{trials}"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let mut rows = bench.rows("x");
    rows.sort_by_key(|row| row.get(&c::CELL).integer());
    let all = rows.iter().filter(|row| text(row, &c::OPERATION) == "all");
    let phase = text(all.clone().next_back().expect("there are rows"), &c::PHASE);
    let last = all.filter(|row| text(row, &c::PHASE) == phase);
    last.map(|row| metrics.map(|metric| text(row, metric))).collect()
}

/// An experiment with 5,100 pairs of 4 + 4 bytes in one SSTable, which stores neither a filter nor a fence.
const PAIRS: &str = r#"
[design]
memtable = { kind = "btree", entries = 5100 }
bloom    = "none"
fence    = "page-search"
cache    = "none"
wal      = "none"
block    = { size = "4KiB", align = true, checksum = "none" }
[key]
bytes = "4B"
[[phase]]
name   = "load"
insert = 5_100
value  = { kind = "fixed", bytes = 4 }
[[phase]]
name       = "look"
operations = 2_000
mix        = { get = 0.9, range = 0.1 }
absent     = 0.5
range      = { kind = "fixed", entries = 100 }
"#;

#[test]
fn pages_of_fixed_pairs_hold_510_of_them() {
    let bytes = swept(PAIRS, "design.format", r#"["fixed-pairs", "btree-page"]"#, [&c::TABLE_BYTES]);
    let pages: Vec<u64> = bytes.into_iter().map(|[bytes]| bytes.parse::<u64>().unwrap() / 4096).collect();
    assert_eq!(pages, [5100 / 510, 5100u64.div_ceil(226)]);
}

/// An experiment on a tree of several levels, with writes, gets and scans.
const MIXED: &str = r#"
[design]
memtable   = { capacity = "16KiB" }
fence      = { kind = "adaptive", eytzinger_threshold = 2 }
compaction = { kind = "leveled-partial", size_ratio = 3 }
table      = { capacity = "16KiB" }
block      = { size = "512B" }
cache      = "none"
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 40 }
[[phase]]
name       = "mix"
operations = 4_000
mix        = { get = 0.5, put = 0.3, delete = 0.1, range = 0.1 }
value      = { kind = "fixed", bytes = 40 }
range      = { kind = "fixed", entries = 20, backward = 0.5 }
"#;

/// Columns whose values must not depend on the method of a lookup.
const ANSWERS: [&Metric; 4] = [&c::FOUND, &c::COMPACTION_BYTES_WRITTEN, &c::BLOCKS_PER_GET, &c::TABLE_BYTES];

#[test]
fn what_only_takes_other_time_counts_the_same() {
    for (path, values) in [
        ("design.merge.kernel", r#"["loser-tree", "heap"]"#),
        ("design.culling", r#"["linear", "binary", "by-overlap"]"#),
        ("design.memtable.key_range", "[false, true]"),
        ("design.memtable.filter", r#"["0B", "4KiB"]"#),
    ] {
        let rows = swept(MIXED, path, values, ANSWERS);
        assert!(rows[0].iter().all(|number| number.parse::<f64>().unwrap() > 0.0), "{path}: {rows:?}");
        assert!(rows.iter().all(|row| *row == rows[0]), "{path}: {rows:?}");
    }
}

#[test]
fn the_level_of_a_table_decides_on_its_fence() {
    let metrics = [&c::FENCE_BYTES, &c::FOUND];
    let fences = r#"[
        "adaptive(eytzinger_threshold=2)",
        "adaptive(eytzinger_threshold=2, eytzinger_min_level=2)",
        "adaptive(eytzinger_threshold=2, eytzinger_min_level=99)",
        "adaptive(eytzinger_threshold=1000000, eytzinger_min_level=1)",
    ]"#;
    let rows = swept(MIXED, "design.fence", fences, metrics);
    let bytes = rows.iter().map(|[bytes, _]| bytes).collect::<Vec<_>>();
    assert!(bytes[0] != bytes[1] && bytes[1] != bytes[2] && bytes[0] != bytes[2], "{bytes:?}");
    assert_eq!(bytes[2], bytes[3], "no level that there is, and no table that is large enough");
    assert!(rows.iter().all(|[_, found]| *found == rows[0][1]), "{rows:?}");
}
