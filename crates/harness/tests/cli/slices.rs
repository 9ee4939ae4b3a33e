//! Tests of trials that run at the same time, in slices or as a duet.

use std::collections::BTreeMap;

use results::{Folder, Row, Table, columns as c, slices as s};

use crate::bench::Bench;

/// A timed experiment that compares two filters. The experiment has flushes and compactions, steps, and a phase of two
/// threads.
const PAIR: &str = r#"
question = "Which filter is faster?"

[design]
memtable = { capacity = "64KiB" }

[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 64 }

[[phase]]
name = "compacted"
step = "compact"

[[phase]]
name       = "look"
operations = 4_000
mix        = { get = 0.9, put = 0.1 }
absent     = 0.5
warm_up    = 500
threads    = 2

[sweep]
"design.bloom" = ["standard", "blocked"]

[trials]
count = 2

[verdict]
metric = "mean_ns"
"#;

fn slices(bench: &Bench, experiment: &str) -> Vec<Row> {
    let folder = Folder::new(bench.path("results").join(experiment));
    Table::read(&folder.slices()).unwrap_or_else(|error| panic!("{error}")).rows().to_vec()
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn slices_of_all_sides_have_the_same_operations_and_add_up_to_their_rows() {
    let bench = Bench::new();
    bench.write("pair.toml", PAIR);
    for plan in ["slices", "duet"] {
        let set = format!("trials.plan=\"{plan}\"");
        let answer = bench.run(&["run", "pair.toml", "--allow-debug", "--set", &set]);
        if plan == "duet"
            && ["needs one core per configuration", "not on this system"]
                .iter()
                .any(|why| answer.err.contains(why))
        {
            eprintln!("NOT CHECKED: a duet needs two cores, and Linux");
            continue;
        }
        let answer = answer.expect(0).out;
        assert!(answer.contains("a timed verdict needs at least 6"), "{answer}");
        let rows = bench.rows("pair");
        assert_eq!(
            rows.iter().filter(|row| row.get(&c::WRONG_ANSWERS).integer() == Some(0)).count(),
            2 * 2 * 3
        );
        let number = |row: &Row, column| row.get(column).integer().unwrap();
        let mut sums: BTreeMap<(u64, u64, String), [u64; 2]> = BTreeMap::new();
        let mut of_slice: BTreeMap<(u64, String, u64), Vec<u64>> = BTreeMap::new();
        let slices = slices(&bench, "pair");
        for slice in &slices {
            let (cell, trial) = (number(slice, &c::CELL), number(slice, &c::TRIAL));
            let phase = slice.get(&c::PHASE).to_string();
            let sum = sums.entry((cell, trial, phase.clone())).or_default();
            *sum = [sum[0] + number(slice, &s::SLICE_OPS), sum[1] + number(slice, &s::SLICE_NS)];
            of_slice
                .entry((trial, phase, number(slice, &s::SLICE)))
                .or_default()
                .push(number(slice, &s::SLICE_OPS));
        }
        assert!(of_slice.values().all(|ops| ops.len() == 2 && ops[0] == ops[1]), "{of_slice:?}");
        assert!(of_slice.len() > 2 * 2 * 16, "each of two phases has 16 slices or more: {}", of_slice.len());
        let (mut close, mut compared) = (0, 0);
        for row in rows.iter().filter(|row| row.get(&c::OPERATION).text() == Some(c::ALL)) {
            let phase = row.get(&c::PHASE).to_string();
            let Some([ops, ns]) = sums.get(&(number(row, &c::CELL), number(row, &c::TRIAL), phase.clone()))
            else {
                continue;
            };
            assert_eq!(number(row, &c::OPS), *ops, "{phase}");
            // The phase ends with its last operation, and its slices with their last batch. On a busy machine, the
            // time between these two ends has no bound.
            let seconds = row.get(&c::SECONDS).number().unwrap();
            let of_slices = *ns as f64 / 1e9;
            assert!(seconds > 0.0 && seconds < 1.1 * of_slices, "{phase}: {seconds} {of_slices}");
            close += usize::from(seconds > 0.5 * of_slices);
            compared += 1;
        }
        assert!(compared > 0 && 2 * close > compared, "{close} of {compared} phases");
    }
}

#[test]
fn a_resumed_run_repeats_the_round_that_was_not_finished_by_all() {
    let bench = Bench::new();
    bench.write("pair.toml", PAIR.replace("count = 2", "count = 2\nplan = \"slices\""));
    bench.ok(&["run", "pair.toml", "--allow-debug"]);
    let path = bench.path("results/pair/runs.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // The last configuration of the last round loses its rows.
    std::fs::write(&path, lines[..lines.len() - 4].join("\n") + "\n").unwrap();
    bench.forget_seals("pair");
    bench.ok(&["run", "pair.toml", "--allow-debug", "--resume"]);
    let rows = bench.rows("pair");
    let trials = |cell| rows.iter().filter(|row| row.get(&c::CELL).integer() == Some(cell)).count();
    assert_eq!(trials(0), trials(1));
    assert_eq!(rows.len(), lines.len() - 1);
    let slices = slices(&bench, "pair");
    let last = slices.iter().filter(|row| row.get(&c::TRIAL).integer() == Some(1)).count();
    assert!(last > 0 && last % 2 == 0, "{last} slices of the last round");
}

#[test]
fn a_plan_that_does_not_apply_is_refused_with_the_reason() {
    let bench = Bench::new();
    let refusal = |text: String| {
        bench.write("x.toml", text);
        bench.run(&["run", "x.toml", "--allow-debug"]).refusal()
    };
    let slices = PAIR.replace("count = 2", "count = 2\nplan = \"slices\"");
    let error = refusal(slices.replace("operations = 4_000", "seconds    = 1"));
    assert!(error.contains("\"slices\" is not possible: phase look ends after a time"), "{error}");
    assert!(error.contains("use trials.plan = \"rounds\""), "{error}");
    let error = refusal(slices.replace("warm_up    = 500", "warm_up    = \"1s\""));
    assert!(error.contains("the warm-up of phase look ends after a time"), "{error}");
    let error = refusal(
        slices
            .replace("threads    = 2", "threads    = 1")
            .replace("count = 2", "count = 2\nmode = \"counted\""),
    );
    assert!(error.contains("counted mode measures no time"), "{error}");
    let error = refusal(PAIR.replace("count = 2", "count = 2\nplan = \"waltz\""));
    assert!(error.contains("plan") && error.contains("slices"), "{error}");
}
