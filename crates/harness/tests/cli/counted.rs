//! Tests of counted mode. Counters depend only on the operations, so every run and every build gives equal counters.

use std::fmt::Write as _;
use std::path::Path;

use results::{Row, columns as c};

use crate::bench::{Bench, SMALL, exact_cells, number, of, text, unwrapped};

/// An experiment that changes one factor at a time. Its tree has a few levels, and its mix contains many kinds of
/// operations.
const EXPERIMENT: &str = r#"
question = "Are the counters what they were?"

[design]
memtable    = { capacity = "16KiB" }
bloom       = { kind = "standard", bits_per_key = 8 }
compaction  = { kind = "leveled", size_ratio = 4 }
cache       = { kind = "lru", capacity = "64KiB", shards = 1 }

[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "uniform", min = 10, max = 90, compressible = 0.5 }

[[phase]]
name       = "mixed"
operations = 3_000
mix        = { get = 50, put = 20, delete = 5, range = 5, rmw = 10, batch = 5, multi_get = 5 }
keys       = { kind = "zipfian", theta = 0.9 }
absent     = 0.3
value      = { kind = "uniform", min = 10, max = 90, compressible = 0.5 }

[sweep]
combine              = "ablate"
"design.bloom"       = ["blocked"]
"design.fence"       = ["static-btree"]
"design.compaction"  = ["tiered", "lazy-leveled"]
"design.compression" = ["lz4"]

[trials]
count = 1
mode  = "counted"
"#;

/// Returns the counters of a trial that must be equal on every machine. A line has the form `COLUMN,VALUE,VALUE…`, with
/// a value for each phase of each configuration.
fn counters(rows: &[Row], trial: u64) -> String {
    let of_trial = |row: &&Row| row.get(&c::TRIAL).integer() == Some(trial);
    let mut rows: Vec<&Row> =
        rows.iter().filter(of_trial).filter(|row| text(row, &c::OPERATION) == "all").collect();
    rows.sort_by_key(|row| row.get(&c::CELL).integer());
    let mut table = String::new();
    for (at, column) in rows[0].schema().columns().iter().enumerate() {
        if column.exact() && column.name() != c::TRIAL.name {
            let values: Vec<String> = rows.iter().map(|row| row.cells()[at].to_string()).collect();
            let _ = writeln!(table, "{},{}", column.name(), values.join(","));
        }
    }
    table
}

#[test]
fn two_runs_count_the_same() {
    let bench = Bench::new();
    bench.write("counters.toml", EXPERIMENT);
    bench.ok(&["run", "counters.toml", "--trials", "2"]);
    let first = bench.rows("counters");
    bench.ok(&["run", "counters.toml", "--trials", "2"]);
    let second = bench.rows("counters");
    assert_eq!(exact_cells(&first), exact_cells(&second));
    assert_eq!(first.len(), 2 * 6 * (2 + 8), "trials × cells × (kinds of operations and all of them)");
    assert_eq!(counters(&first, 0), counters(&first, 1), "trials are the same too");
}

/// Tests that the counters equal the counters in a file that another machine and another build wrote.
#[test]
fn the_counters_are_those_of_every_other_build() {
    let bench = Bench::new();
    bench.write("counters.toml", EXPERIMENT);
    bench.ok(&["run", "counters.toml"]);
    let counted = counters(&bench.rows("counters"), 0);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/counters.csv");
    if std::env::var_os("LSMBENCH_REWRITE").is_some() {
        std::fs::write(&file, &counted).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differing: Vec<&str> =
        counted.lines().filter(|line| !kept.lines().any(|kept| kept == *line)).collect();
    assert!(
        kept == counted,
        "counters are not what they were, now:\n{}\nIf that is meant, keep them with\n  \
         LSMBENCH_REWRITE=1 cargo test -p lsmbench --test cli counters_are",
        differing.join("\n")
    );
}

#[test]
fn what_takes_time_is_empty_and_not_zero() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let rows = bench.rows("small");
    let timed = [
        &c::SECONDS,
        &c::OPS_PER_SECOND,
        &c::MEAN_NS,
        &c::P99_NS,
        &c::STALL_SECONDS,
        &c::STALLS,
        &c::DELAY_SECONDS,
        &c::ROTATION_SECONDS,
        &c::CPU_SECONDS,
        &c::RSS_PEAK_BYTES,
        &c::SETTLE_SECONDS,
        &c::RESPONSE_P99_NS,
    ];
    for row in &rows {
        let columns = timed.into_iter().chain(c::HARDWARE);
        columns.for_each(|column| assert!(row.get(column).is_empty(), "{}", column.name));
    }
    let manifest = bench.manifest("small");
    assert_eq!(manifest.harness.operations.len(), 0, "nothing is timed, so timing costs nothing");
    assert!(manifest.warnings.is_empty(), "counters are above what disturbs times: {:?}", manifest.warnings);
}

#[test]
fn a_modelled_device_takes_the_same_time_in_every_run_and_a_real_one_none() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let columns =
        [&c::DEVICE_SECONDS, &c::DEVICE_READ_SECONDS, &c::DEVICE_WRITE_SECONDS, &c::DEVICE_NS_PER_OP];
    for row in &bench.rows("small") {
        columns.iter().for_each(|column| assert!(row.get(column).is_empty(), "{}", column.name));
    }
    let run = |device: &str| {
        bench.ok(&["run", "small.toml", "--set", &format!("design.storage=simulated(device={device})")]);
        bench.rows("small")
    };
    let rows = run("hdd");
    for phase in ["load", "look"] {
        for row in of(&rows, phase, "all") {
            let [all, read, write, per_operation] = columns.map(|column| number(row, column));
            assert!(write > 0.0 && (read > 0.0 || phase == "load"), "{phase}: {read} {write}");
            assert!((all - read - write).abs() < 1e-9 && (per_operation - all * 1e9 / 3000.0).abs() < 1e-3);
        }
    }
    assert_eq!(exact_cells(&rows), exact_cells(&run("hdd")));
    assert_ne!(exact_cells(&rows), exact_cells(&run("nvme")));
}

/// Tests that a design that drops data has measured values. Missing answers are counted separately, and the verdict
/// warns about them.
#[test]
fn a_design_that_drops_is_not_wrong_and_is_called_so() {
    let bench = Bench::new();
    let sweep = "\"design.compaction\" = [\"none\", \"fifo\", \"fifo(capacity=64KiB)\"]";
    let experiment = SMALL.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", sweep);
    bench.write(
        "x.toml",
        experiment
            .replace("\"fpr\"", "\"write_amp\"")
            .replace("x    = \"design.bloom\"", "x = \"design.compaction\""),
    );
    let answer = bench.ok(&["run", "x.toml"]);
    let warning = "WARNING: fifo(capacity=64KiB) dropped data that later operations requested, so it did \
                   less work than the other configurations.";
    assert_eq!(unwrapped(&answer).matches(warning).count(), 1, "{answer}");
    let rows = bench.rows("x");
    for row in of(&rows, "look", "all") {
        let label = text(row, &c::LABEL);
        assert_eq!(text(row, &c::WRONG_ANSWERS), "0", "{label}");
        assert!(number(row, &c::CHECKED_ANSWERS) > 2_000.0, "{label}");
        let dropped = text(row, &c::DROPPED_ANSWERS);
        let is_right = match label.as_str() {
            "none" => dropped.is_empty() && number(row, &c::SPACE_AMP) >= 1.0,
            "fifo(capacity=1GiB)" => dropped == "0" && text(row, &c::LIVE_BYTES).is_empty(),
            _ => number(row, &c::DROPPED_ANSWERS) > 500.0,
        };
        assert!(is_right, "{label}: {dropped}");
    }
}
