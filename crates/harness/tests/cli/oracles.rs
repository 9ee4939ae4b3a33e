//! Tests of theoretical values next to measured values, and of rows that are marked as implausible.

use results::{Table, columns as c};

use crate::bench::{Bench, SMALL, number, of, text, unwrapped};

/// An experiment whose tree grows by full memtables. A closed formula exists for each key distribution of its reads.
const GROWN: &str = r#"
question = "Is it as theory says?"

[design]
memtable    = { capacity = "62KiB" }
compression = "none"
cache       = { kind = "lru", shards = 1, capacity = "256KiB" }
storage     = "pread"                        # mapped tables would not use the cache
wal         = "none"

[[phase]]
name   = "load"
insert = 20_000
value  = { kind = "fixed", bytes = 100 }

[[phase]]
name       = "even"
operations = 40_000
mix        = { get = 1 }

[[phase]]
name       = "zipfian"
operations = 40_000
mix        = { get = 1 }
keys       = { kind = "zipfian", theta = 0.99 }

[[phase]]
name       = "absent"
operations = 20_000
mix        = { get = 1 }
absent     = 1.0

[[phase]]
name       = "turn"
operations = 20_000
mix        = { get = 1 }
keys       = "sequential"

[[phase]]
name       = "write"
operations = 5_000
mix        = { get = 0.5, put = 0.5 }

[sweep]
"design.compaction" = ["leveled(size_ratio=4)", "tiered(size_ratio=4)", "lazy-leveled(size_ratio=4)", "universal"]

[trials]
count = 1
mode  = "counted"

[[chart]]
kind   = "grouped-bar"
x      = "design.compaction"
y      = "cache_hit_rate"
series = "phase"
filter = { phase = ["even", "zipfian"] }
theory = true
"#;

#[test]
fn a_tree_does_what_theory_expects() {
    let bench = Bench::new();
    bench.write("x.toml", GROWN);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    assert!(rows.iter().all(|row| row.get(&c::IMPLAUSIBLE).is_empty()));
    let near = |row: &results::Row, residual, most: f64| {
        let residual = number(row, residual);
        assert!(residual.abs() < most, "{}, {}: {residual}", text(row, &c::LABEL), text(row, &c::PHASE));
    };
    for row in of(&rows, "load", "all") {
        near(row, &c::WRITE_AMP_RESIDUAL, 0.02);
        assert_eq!(text(row, &c::EXPECTED_RUNS), text(row, &c::RUNS_SETTLED), "{}", text(row, &c::LABEL));
        assert_eq!(text(row, &c::EXPECTED_LEVELS), text(row, &c::LEVELS_SETTLED), "{}", text(row, &c::LABEL));
    }
    for phase in ["even", "zipfian", "absent"] {
        for row in of(&rows, phase, "all") {
            // A few hundred false positives in all, and popular keys are in this run or that by chance.
            near(row, &c::BLOCKS_PER_GET_RESIDUAL, if phase == "absent" { 0.2 } else { 0.05 });
        }
    }
    for row in [of(&rows, "even", "all"), of(&rows, "zipfian", "all")].concat() {
        near(row, &c::HIT_RATE_RESIDUAL, 0.05);
        assert!(number(row, &c::CACHE_HIT_RATE) < number(row, &c::BEST_STATIC_HIT_RATE) + 0.02);
    }
    // A filter answers equally for the same key, so the false positives of a few popular keys are chance.
    assert!(of(&rows, "zipfian", "all").iter().all(|row| row.get(&c::FPR_RESIDUAL).is_empty()));
    of(&rows, "absent", "all").iter().for_each(|row| near(row, &c::FPR_RESIDUAL, 0.3));
    for row in of(&rows, "write", "all") {
        // Keys are overwritten, so SSTables have every key once and at most the full levels more.
        let amp = number(row, &c::SPACE_AMP_SETTLED);
        assert!(amp >= 0.98 * number(row, &c::LEAST_SPACE_AMP), "{}: {amp}", text(row, &c::LABEL));
        match text(row, &c::LABEL).as_str() {
            "universal" => assert!(row.get(&c::MOST_SPACE_AMP).is_empty(), "the textbook has no such policy"),
            _ => assert!(number(row, &c::SPACE_AMP_RESIDUAL) < 0.05, "{}: {amp}", text(row, &c::LABEL)),
        }
        for metric in [&c::EXPECTED_WRITE_AMP, &c::EXPECTED_HIT_RATE, &c::EXPECTED_BLOCKS_PER_GET] {
            assert!(row.get(metric).is_empty(), "{}: no form is known of overwrites", metric.name);
        }
    }
    let chart = bench.read("plots/x/cache_hit_rate-by-compaction.svg");
    assert!(chart.contains("theory") && chart.contains("best static set"), "{chart}");
    // The chart can be redrawn from files only.
    bench.ok(&["plot", "results/x", "--out", "again"]);
    assert_eq!(bench.read("again/x/cache_hit_rate-by-compaction.svg"), chart);
}

/// Tests that a row has no expected value if the theory does not apply. If keys are added in order, sorted runs do not
/// overlap, so no closed formula gives the number of runs that a get searches.
#[test]
fn what_a_form_does_not_apply_to_has_no_expectation() {
    let bench = Bench::new();
    bench.write("x.toml", GROWN.replace("insert = 20_000", "insert = 20_000\norder = \"sequential\""));
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    for phase in ["even", "absent"] {
        assert!(of(&rows, phase, "all").iter().all(|row| row.get(&c::EXPECTED_BLOCKS_PER_GET).is_empty()));
    }
    assert!(rows.iter().all(|row| row.get(&c::IMPLAUSIBLE).is_empty()));
}

/// Marks the last row of a configuration as implausible, as a run does, and then resumes the run.
fn plant(bench: &Bench, label: &str) -> String {
    let runs = bench.path("results/small/runs.csv");
    let table = Table::read(&runs).unwrap();
    let names: Vec<&str> = table.schema().columns().iter().map(results::Column::name).collect();
    let at = names.iter().position(|name| *name == c::IMPLAUSIBLE.name).unwrap();
    let mut kept = names.join(",") + "\n";
    for row in table.rows() {
        let mut cells: Vec<String> = row.cells().iter().map(ToString::to_string).collect();
        if text(row, &c::LABEL) == label
            && text(row, &c::PHASE) == "look"
            && text(row, &c::OPERATION) == "all"
        {
            "expected false positives: fpr 0.2 > 3 × expected_fpr 0.01".clone_into(&mut cells[at]);
        }
        kept.push_str(&(cells.join(",") + "\n"));
    }
    std::fs::write(&runs, kept).unwrap();
    bench.forget_seals("small");
    bench.run(&["run", "small.toml", "--resume"]).expect(0).out
}

#[test]
fn implausible_numbers_have_no_verdict() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL.to_owned() + "[verdict]\nmetric = \"fpr\"\n");
    let answer = bench.ok(&["run", "small.toml"]);
    assert!(answer.contains(" also has lower false-positive rate than \"none\"."), "{answer}");
    let best = |answer: &str| {
        let mut lines = answer.lines();
        lines.find_map(|line| Some(line.strip_prefix("Verdict: ")?.split_once(" has ")?.0.to_owned()))
    };
    let first = best(&answer).unwrap();

    let answer = plant(&bench, &first);
    let warning =
        format!("WARNING: implausible values of {first} have no verdict; see runs.csv, column implausible.");
    assert!(unwrapped(&answer).contains(&warning), "{answer}");
    assert!(best(&answer).is_some_and(|other| other != first), "{answer}");
    assert!(!answer.contains(" also has "), "{answer}");
    assert!(
        unwrapped(&answer).contains(&format!("Implausible: {first}: expected false positives: fpr 0.2")),
        "{answer}"
    );
    let verdicts = bench.read("results/small/verdicts.csv");
    let line = verdicts.lines().find(|line| line.contains(&format!(",none,{first},"))).unwrap();
    assert!(line.contains(",inconclusive,implausible: expected false positives"), "{line}");
    let chart = bench.read("plots/small/fpr-by-bloom.svg");
    assert!(chart.contains("1 measurement beyond a bound: ") && chart.contains(" implausible"), "{chart}");

    let answer = plant(&bench, "none");
    assert!(
        unwrapped(&answer)
            .contains("No verdict: the values of \"none\" are implausible (expected false positives: "),
        "{answer}"
    );
}
