//! Parts of trees that documents describe, asked for in an experiment file: answers stay right, and counters tell
//! what the part does.

use results::{Metric, columns as c};

use crate::bench::{Bench, number, text};

/// Runs an experiment that sweeps `path` over `values`, and returns a metric of the last phase for each of them.
fn swept(body: &str, path: &str, values: &[&str], metric: &Metric) -> Vec<f64> {
    let bench = Bench::new();
    let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    let sweep = format!("[sweep]\n\"{path}\" = [{}]\n", values.join(", "));
    let trials = "[trials]\ncount = 1\nmode = \"counted\"\n";
    bench.write("x.toml", format!("question = \"?\"\n{body}\n{sweep}{trials}"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let all = rows.iter().filter(|row| text(row, &c::OPERATION) == "all");
    let phase = text(all.clone().last().expect("there are rows"), &c::PHASE);
    all.filter(|row| text(row, &c::PHASE) == phase).map(|row| number(row, metric)).collect()
}

/// 5,100 pairs of 4 + 4 bytes in one table without filter and fence.
const PAIRS: &str = r#"
[design]
memtable = { kind = "btree", entries = 5100 }
bloom    = "none"
fence    = "free"
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
    let bytes = swept(PAIRS, "design.format", &["fixed-pairs", "btree-page"], &c::TABLE_BYTES);
    let pages = |bytes: f64| (bytes / 4096.0).floor();
    assert_eq!(bytes.into_iter().map(pages).collect::<Vec<_>>(), [5100.0 / 510.0, (5100.0f64 / 226.0).ceil()]);
}
