//! Runs that are killed, and go on.

use std::collections::BTreeMap;
use std::io::Read;
use std::process::ExitStatus;

use results::{Row, Table, columns as c};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, exact_cells, text, wait_for};

/// Six cells that take a moment each, so that there is a middle to be killed in.
const EXPERIMENT: &str = r#"
question = "?"
[design]
memtable = { capacity = "64KiB" }
wal      = "none"
[[phase]]
name   = "load"
insert = 60_000
value  = { kind = "fixed", bytes = 32 }
[[phase]]
name       = "look"
operations = 60_000
mix        = { get = 0.9, put = 0.1 }
[sweep]
"design.bloom"       = ["none", "standard", "blocked"]
"design.compression" = ["none", "lz4"]
[trials]
count = 2
mode  = "counted"
"#;

/// Its cells times its trials.
const TRIALS: usize = 12;

/// The load in all and by its kind; the lookups in all and by their two kinds.
const ROWS_PER_TRIAL: usize = 5;

/// How often each cell, trial, phase and operation stands in the rows.
fn groups(rows: &[Row]) -> BTreeMap<[String; 4], usize> {
    let mut groups = BTreeMap::new();
    for row in rows {
        *groups
            .entry([&c::CELL, &c::TRIAL, &c::PHASE, &c::OPERATION].map(|column| text(row, column)))
            .or_default() += 1;
    }
    groups
}

/// Starts the run and sends it a signal while its third trial or a later one runs; how it ended, and what it said.
fn break_off(bench: &Bench, signal: Signal) -> (ExitStatus, String) {
    // On a busy machine the run may be over before the signal comes.
    for _ in 0..10 {
        let mut child = bench.command(&["run", "x.toml"]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        wait_for("the second trial's end", || (lines_of_runs(bench) > 2 * ROWS_PER_TRIAL).then_some(()));
        kill_process(pid, signal).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = child.wait().unwrap();
        if lines_of_runs(bench) <= TRIALS * ROWS_PER_TRIAL {
            return (status, said);
        }
        std::fs::remove_dir_all(bench.path("results")).unwrap();
    }
    panic!("every run was over before the signal came");
}

fn lines_of_runs(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.path("results/x/runs.csv")).unwrap_or_default().lines().count()
}

/// Resumes a run that was broken off, and holds it to one that was not.
fn goes_on_as_if_unbroken(bench: &Bench) {
    let done = (lines_of_runs(bench) - 1) / ROWS_PER_TRIAL;
    let told = bench.run(&["run", "x.toml", "--resume"]).expect(0).err;
    let again = told.lines().filter(|line| line.contains(" of ") && line.contains(", trial ")).count();
    assert_eq!(again, TRIALS - done, "trials that were done are not done again:\n{told}");
    let rows = bench.rows("x");
    assert_eq!(groups(&rows).len(), TRIALS * ROWS_PER_TRIAL);
    assert!(groups(&rows).values().all(|count| *count == 1), "no trial stands there twice");
    assert!(!bench.path("results/x/data").exists(), "no tree is left behind");
    assert!(bench.manifest("x").warnings.iter().any(|warning| warning.contains("the run was resumed at")));
    assert!(bench.manifest("x").ended.is_some());

    bench.ok(&["run", "x.toml", "--out", "unbroken"]);
    let unbroken = Table::read(&bench.path("unbroken/x/runs.csv")).unwrap();
    assert_eq!(exact_cells(&rows), exact_cells(unbroken.rows()));
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_rows_of_an_unbroken_one() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    break_off(&bench, Signal::KILL);
    // Death may come in the middle of a line.
    let runs = bench.read("results/x/runs.csv");
    bench.write("results/x/runs.csv", runs + "x,3,torn");
    goes_on_as_if_unbroken(&bench);
}

#[test]
fn ctrl_c_saves_what_is_done_and_says_how_to_go_on() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    let (status, said) = break_off(&bench, Signal::INT);
    assert_eq!(status.code(), Some(130), "{said}");
    let advice = "interrupted; what is done is in results/x; go on with the same command and --resume";
    assert!(said.contains(advice), "{said}");
    assert!(!bench.path("results/x/data").exists(), "no tree is left behind");
    assert!(bench.manifest("x").ended.is_none());
    goes_on_as_if_unbroken(&bench);
}

#[test]
fn a_run_that_is_done_has_nothing_to_resume() {
    let bench = Bench::small();
    let first = bench.ok(&["run", "small.toml"]);
    let rows = bench.read("results/small/runs.csv");
    assert_eq!(bench.ok(&["run", "small.toml", "--resume"]), first, "the verdict is the same");
    assert_eq!(bench.read("results/small/runs.csv"), rows);
    // More trials are more of the same.
    bench.ok(&["run", "small.toml", "--resume", "--trials", "2"]);
    assert!(bench.read("results/small/runs.csv").starts_with(&rows));
    assert_eq!(bench.rows("small").len(), 2 * rows.lines().skip(1).count());
}

#[test]
fn another_experiment_is_not_resumed() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let before = bench.content();
    for change in [
        &["--seed", "43"][..],
        &["--set", "phase.load.insert=4000"],
        &["--set", "design.wal=none"],
        &["--set", "sweep.design.bloom=[\"none\", \"standard\"]"],
        &["--quick"],
    ] {
        let error = bench.run(&[&["run", "small.toml", "--resume"], change].concat()).refusal();
        assert!(
            error.contains(
                "results/small cannot be resumed: the experiment, its overrides or its seed have changed"
            ),
            "{error}"
        );
    }
    assert!(bench.content() == before, "something was touched");
}
