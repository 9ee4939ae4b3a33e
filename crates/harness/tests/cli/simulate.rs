//! Tests of `lsmbench simulate`, which computes the counters of counted mode without the data.

use results::{Metric, Row, Table, columns as c};

use crate::bench::{Bench, count, number, text};

/// An experiment that sweeps every compaction policy of the catalog, with overwrites, deletes and lookups.
const CATALOG: &str = r#"
question = "Does the simulation count what a run counts?"

[design]
memtable   = { capacity = "8KiB" }
table      = { capacity = "16KiB" }
bloom      = { kind = "standard", bits_per_key = 8 }
wal        = "none"

[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "uniform", min = 10, max = 90 }

[[phase]]
name       = "mixed"
operations = 6_000
mix        = { get = 40, put = 30, delete = 15, rmw = 10, multi_get = 2, batch = 3 }
batch      = 20
keys       = { kind = "zipfian", theta = 0.9 }
absent     = 0.3
value      = { kind = "uniform", min = 10, max = 90 }

[sweep]
"design.compaction" = "all"

[trials]
count = 1
mode  = "counted"
"#;

/// Columns that the simulation computes exactly.
const EXACT: [&Metric; 11] = [
    &c::OPS,
    &c::FOUND,
    &c::MISSING,
    &c::USER_BYTES_WRITTEN,
    &c::LIVE_BYTES,
    &c::FLUSHES,
    &c::COMPACTIONS,
    &c::RUNS,
    &c::LEVELS,
    &c::RUNS_SETTLED,
    &c::LEVELS_SETTLED,
];

/// Columns with byte counts that the simulation estimates from a sample of the design, each with the largest allowed
/// relative difference.
const SAMPLED: [(&Metric, f64); 3] =
    [(&c::FLUSH_BYTES, 0.05), (&c::COMPACTION_BYTES_WRITTEN, 0.05), (&c::TABLE_BYTES, 0.05)];

fn simulated(bench: &Bench, name: &str) -> Vec<Row> {
    Table::read(&bench.path(&format!("results/{name}-simulated/runs.csv"))).unwrap().rows().to_vec()
}

fn key(row: &Row) -> (String, String) {
    (text(row, &c::LABEL), text(row, &c::PHASE))
}

#[test]
fn a_simulation_counts_what_a_counted_run_counts() {
    let bench = Bench::new();
    bench.write("catalog.toml", CATALOG);
    bench.ok(&["run", "catalog.toml"]);
    bench.ok(&["simulate", "catalog.toml"]);
    let simulated = simulated(&bench, "catalog");
    let mut policies = 0;
    for counted in bench.rows("catalog").iter().filter(|row| text(row, &c::OPERATION) == "all") {
        let same = simulated.iter().find(|row| key(row) == key(counted));
        let same = same.unwrap_or_else(|| panic!("{:?} is missing", key(counted)));
        for column in EXACT {
            let (counted, simulated) = (counted.get(column), same.get(column));
            assert!(counted == simulated, "{:?} {}: {counted} {simulated}", key(same), column.name);
        }
        for (column, tolerance) in SAMPLED {
            let (counted, simulated) = (number(counted, column), number(same, column));
            let is_near = (simulated - counted).abs() <= tolerance * counted;
            assert!(is_near, "{:?} {}: {counted} {simulated}", key(same), column.name);
        }
        policies += usize::from(text(counted, &c::PHASE) == "load");
    }
    assert!(policies >= 20, "{policies} policies");
}

/// An experiment with phases of writes, gets, scans and a mix of all three, for policies that adapt to the operations.
const DAY: &str = r#"
question = "Does the simulation decide as the tree decides?"

[design]
memtable = { capacity = "4KiB" }
table    = { capacity = "16KiB" }
bloom    = { kind = "standard", bits_per_key = 8 }
wal      = "none"

[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "fixed", bytes = 40 }

[[phase]]
name       = "get"
operations = 9_000
mix        = { get = 1 }
absent     = 0.5

[[phase]]
name       = "scan"
operations = 600
mix        = { range = 1 }

[[phase]]
name       = "mixed"
operations = 4_000
mix        = { get = 40, put = 55, range = 5 }
value      = { kind = "fixed", bytes = 40 }

[sweep]
"design.compaction" = ["adaptive", "adaptive(window=1, horizon=4, largest_ratio=4)", "external(identity=\"adaptive\")"]

[trials]
count = 1
mode  = "counted"
"#;

#[test]
fn a_policy_that_observes_operations_decides_alike_in_a_simulation() {
    let bench = Bench::new();
    bench.write("day.toml", DAY);
    bench.ok(&["run", "day.toml"]);
    bench.ok(&["simulate", "day.toml"]);
    let simulated = simulated(&bench, "day");
    let mut merges = 0;
    for counted in bench.rows("day").iter().filter(|row| text(row, &c::OPERATION) == "all") {
        let same = simulated.iter().find(|row| key(row) == key(counted)).expect("each phase is simulated");
        for column in EXACT {
            let (counted, simulated) = (counted.get(column), same.get(column));
            assert!(counted == simulated, "{:?} {}: {counted} {simulated}", key(same), column.name);
        }
        let is_read_only = ["get", "scan"].contains(&&*text(counted, &c::PHASE));
        merges += if is_read_only { count(counted, &c::COMPACTIONS) } else { 0 };
    }
    assert!(merges > 0, "no phase of reads triggered a compaction");
    // The same day in the expected picture, which has other numbers but makes the same kind of decisions.
    bench.ok(&["simulate", "day.toml", "--picture", "expected"]);
    let expected = self::simulated(&bench, "day");
    let scans = expected.iter().filter(|row| text(row, &c::PHASE) == "scan");
    assert!(scans.map(|row| count(row, &c::RUNS)).max() <= Some(4));
}

/// Tests that the expected model is close to the exact model for a small tree.
#[test]
fn the_expected_picture_is_near_the_exact_one() {
    let bench = Bench::new();
    bench.write("sizes.toml", CATALOG.replace("\"all\"", "[\"leveled\"]"));
    let of = |picture: &str| {
        bench.ok(&["simulate", "sizes.toml", "--picture", picture]);
        simulated(&bench, "sizes")
    };
    let (exact, expected) = (of("exact"), of("expected"));
    for (exact, expected) in exact.iter().zip(&expected) {
        assert_eq!(key(exact), key(expected));
        for (column, tolerance) in [
            (&c::USER_BYTES_WRITTEN, 0.02),
            (&c::WRITE_AMP_SETTLED, 0.1),
            (&c::SPACE_AMP_SETTLED, 0.1),
            // Lookups that a memtable answers are not in the expected picture; here it has a thirtieth of the keys.
            (&c::BLOCKS_PER_GET, 0.3),
        ] {
            if exact.get(column).is_empty() {
                continue;
            }
            let (exact, expected) = (number(exact, column), number(expected, column));
            assert!((expected / exact - 1.0).abs() < tolerance, "{} {exact} {expected}", column.name);
        }
    }
}

#[test]
fn the_formulas_stand_beside_the_simulated_values() {
    let bench = Bench::new();
    bench.write("beside.toml", CATALOG.replace("\"all\"", "[\"leveled\", \"tiered\"]"));
    let answer = bench.ok(&["simulate", "beside.toml", "--residuals"]);
    for column in ["write_amp_settled", "runs_settled", "blocks_per_get"] {
        let of_load = |line: &&str| line.contains(column) && line.contains(" load ");
        let lines: Vec<&str> = answer.lines().filter(of_load).collect();
        let expected = if column == "blocks_per_get" { 0 } else { 2 };
        assert_eq!(lines.len(), expected, "{column}: {answer}");
        assert!(lines.iter().all(|line| line.ends_with(" %")), "{column}: {answer}");
    }
    // The load writes each key once, so the formula of the runs is exact.
    assert!(answer.lines().any(|line| line.contains("runs_settled") && line.ends_with("+0.0 %")), "{answer}");
    assert!(!bench.ok(&["simulate", "beside.toml"]).contains("residual"));
}

/// Charts of an experiment. The simulation can draw one chart, but not the other, because the other chart shows times.
const MAP: &str = r#"
[[chart]]
kind   = "heatmap"
name   = "writes"
x      = "design.compaction.size_ratio"
y      = "write_amp_settled"
series = "design.compaction"
filter = { "design.compaction.size_ratio" = [2, 4] }

[[chart]]
kind = "bar"
name = "time"
x    = "design.compaction"
y    = "p99_ns"
"#;

#[test]
fn a_simulation_draws_the_charts_of_the_experiment() {
    let bench = Bench::new();
    let sweep =
        "\"design.compaction\" = [\"leveled\", \"tiered\"]\n\"design.compaction.size_ratio\" = [2, 4, 6]";
    let file = CATALOG.replace("\"design.compaction\" = \"all\"", sweep);
    bench.write("map.toml", format!("{file}{MAP}"));
    let answer = bench.run(&["simulate", "map.toml"]).expect(0);
    assert!(answer.err.contains("plots/map-simulated/writes.svg"), "{}", answer.err);
    assert!(!answer.err.contains("no chart"), "a chart of times needs a run: {}", answer.err);
    let drawn = bench.read("plots/map-simulated/writes.csv");
    assert_eq!(drawn.lines().count(), 1 + 4, "{drawn}");
    let mixed = |row: &&Row| text(row, &c::PHASE) == "mixed";
    for row in simulated(&bench, "map").iter().filter(mixed) {
        let value = number(row, &c::WRITE_AMP_SETTLED);
        let is_shown = !text(row, &c::LABEL).contains('6');
        let found = drawn.lines().any(|line| line.contains(&format!(",{value},")));
        assert_eq!(found, is_shown, "{}: {value}\n{drawn}", text(row, &c::LABEL));
    }
}

#[test]
fn what_cannot_be_simulated_is_rejected_with_advice() {
    let bench = Bench::small();
    for (arguments, message) in [
        (&["--entries", "0"][..], "is not a number of keys from 1 to 1e14"),
        (&["--device", "tape"], "--device tape"),
        (
            &[
                "--set",
                "phase.look.mix={ get = 1, put = 0 }",
                "--set",
                "design.memtable.capacity=1KiB",
                "--entries",
                "1e12",
            ],
            "memtable",
        ),
    ] {
        let answer = bench.run(&[&["simulate", "small.toml"][..], arguments].concat());
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.err.contains(message), "{arguments:?}: {}", answer.err);
    }
}
