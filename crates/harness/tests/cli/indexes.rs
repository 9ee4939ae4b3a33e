//! Tests of two indexes of all sorted runs: the sorted view for scans, and the key index for gets. Also tests the locks
//! of levels.

use results::{Row, columns as c};

use crate::bench::{Bench, count, number, of, text};

/// An experiment on a tree with several sorted runs. Scans and gets first run next to puts, and then without puts.
const READS: &str = r#"
question = "Do indexes of all sorted runs give the same answers?"
[design]
memtable   = { capacity = "16KiB" }
compaction = { kind = "tiered", size_ratio = 8 }
cache      = "none"
storage    = "memory"
[[phase]]
name   = "load"
insert = 1_500
order  = "random"
value  = { kind = "fixed", bytes = 100 }
[[phase]]
name       = "mixed"
operations = 1_200
mix        = { get = 4, put = 2, range = 1, delete = 1 }
range      = { entries = 5 }
absent     = 0.3
[[phase]]
name = "flush"
step = "flush"
[[phase]]
name       = "scan"
operations = 60
mix        = { range = 1 }
range      = { entries = 100 }
[[phase]]
name       = "absent"
operations = 2_000
mix        = { get = 1 }
absent     = 1.0
[trials]
count = 1
check = 1
mode  = "counted"
"#;

/// Runs an experiment with the sweep `sweep`, and checks all answers. Returns all rows.
fn rows_of(bench: &Bench, sweep: &str) -> Vec<Row> {
    bench.write("x.toml", format!("{READS}[sweep]\n{sweep}\n"));
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    for phase in ["mixed", "scan", "absent"] {
        assert!(of(&rows, phase, "all").iter().all(|row| count(row, &c::WRONG_ANSWERS) == 0), "{phase}");
    }
    rows
}

/// Returns the row of a phase and a configuration.
fn row<'a>(rows: &'a [Row], phase: &str, label: &str) -> &'a Row {
    let row = of(rows, phase, "all").into_iter().find(|row| text(row, &c::LABEL) == label);
    row.unwrap_or_else(|| panic!("no row of {label} in {phase}"))
}

#[test]
fn scans_over_a_sorted_view_compare_few_keys() {
    let bench = Bench::new();
    let sweep = "\"design.sorted_view\" = [\"none\", \"remix\", \"remix(segment_entries=4)\"]";
    let rows = rows_of(&bench, sweep);
    let [merge, view, small] = ["none", "remix(segment_entries=32)", "remix(segment_entries=4)"]
        .map(|label| row(&rows, "scan", label));
    assert!(number(merge, &c::SOURCES_PER_RANGE) > 4.0);
    assert!(number(merge, &c::COMPARISONS_PER_ENTRY) > 1.5);
    for view in [view, small] {
        assert!((number(view, &c::SOURCES_PER_RANGE) - 1.0).abs() < 0.1, "{}", text(view, &c::LABEL));
        assert!(number(view, &c::COMPARISONS_PER_ENTRY) < 0.2, "{}", text(view, &c::LABEL));
        assert!(count(view, &c::FENCE_BYTES) > count(merge, &c::FENCE_BYTES) + 1_000);
    }
    assert!(count(small, &c::FENCE_BYTES) > count(view, &c::FENCE_BYTES));
    let read = |label| row(&rows, "load", label).get(&c::INDEX_BYTES_READ).number();
    let whole = read("remix(segment_entries=32)");
    assert!(read("none").is_none() && whole > Some(100_000.0), "{whole:?}");
}

#[test]
fn a_key_index_answers_a_get_with_one_probe() {
    let bench = Bench::new();
    let sweep = "combine = \"zip\"\n\"design.culling\" = [\"binary\", \"chucky\", \"chucky(fingerprint_bits=4)\"]\n\
                 \"design.bloom\" = [\"blocked\", \"none\", \"none\"]";
    let rows = rows_of(&bench, sweep);
    let [filters, index, short] =
        ["binary + blocked", "chucky(fingerprint_bits=12) + none", "chucky(fingerprint_bits=4) + none"]
            .map(|label| row(&rows, "absent", label));
    assert!(count(filters, &c::FILTER_PROBES) > 4 * 2_000);
    assert!((2_000..2_050).contains(&count(index, &c::FILTER_PROBES)), "{}", count(index, &c::FILTER_PROBES));
    assert!(count(index, &c::FILTER_BYTES) > 1_500);
    // Eight entries of a lookup match 1 of 15 fingerprints each.
    let wrong = count(short, &c::FILTER_FALSE_POSITIVES);
    assert!((300..1_100).contains(&wrong), "{wrong}");
    assert!(wrong > 20 * count(index, &c::FILTER_FALSE_POSITIVES).max(1));
}

#[test]
fn locks_of_levels_change_no_answer() {
    let bench = Bench::new();
    let rows = rows_of(&bench, "\"design.threads.level_locks\" = [false, true]");
    for phase in ["scan", "absent"] {
        let [without, with] = ["false", "true"]
            .map(|is_on| row(&rows, phase, &format!("threads.level_locks={is_on}")))
            .map(|row| (count(row, &c::BLOCKS_READ), count(row, &c::FILTER_PROBES)));
        assert_eq!(without, with, "{phase}");
    }
}

#[test]
fn what_an_index_cannot_do_is_refused() {
    let bench = Bench::new();
    bench.write("x.toml", READS);
    for (set, message) in [
        ("design.sorted_view=remix(segment_entries=0)", "segment_entries is 0; it must be from 1 to 1024"),
        ("design.sorted_view=rmix", "did you mean \"remix\"?"),
        ("design.culling=chucky(fingerprint_bits=17)", "fingerprint_bits is 17; it must be from 4 to 16"),
    ] {
        let error = bench.run(&["describe", "x.toml", "--set", set]).refusal();
        assert!(error.contains(message), "{set}: {error}");
    }
    for (set, axis) in [("design.sorted_view=remix", "sorted_view"), ("design.culling=chucky", "culling")] {
        let error = bench.run(&["simulate", "x.toml", "--set", set]).refusal();
        assert!(error.contains(&format!("design.{axis} = ")), "{error}");
        assert!(error.contains("cannot be simulated, because simulated reads use no index"), "{error}");
        bench.write("tuned.toml", format!("{READS}[tune]\nminimise = \"write_amp in load\"\n"));
        let error = bench.run(&["tune", "tuned.toml", "--set", set]).refusal();
        assert!(error.contains(&format!("tune simulates each design, but design.{axis} = ")), "{error}");
    }
}
