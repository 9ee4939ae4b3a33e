//! Tests of runs that are killed and resumed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::ExitStatus;

use results::{Row, Table, columns as c};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, SMALL, exact_cells, text, user, wait_for};

/// An experiment with six configurations. The run takes long enough that a test can kill it in the middle.
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

/// Number of trials of the run: the number of configurations times the number of trials per configuration.
const TRIALS: usize = 12;

/// Number of rows of a trial. The load has a row `all` and a row for its kind of operation. The lookups have a row
/// `all` and a row for each of their two kinds.
const ROWS_PER_TRIAL: usize = 5;

/// Returns the number of rows for each combination of cell, trial, phase and operation.
fn groups(rows: &[Row]) -> BTreeMap<[String; 4], usize> {
    let mut groups = BTreeMap::new();
    for row in rows {
        *groups
            .entry([&c::CELL, &c::TRIAL, &c::PHASE, &c::OPERATION].map(|column| text(row, column)))
            .or_default() += 1;
    }
    groups
}

/// Starts the run, and sends a signal to the run during its third trial or a later trial. Returns the exit status and
/// the output of the run.
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

/// Resumes an interrupted run, and compares its results with the results of an uninterrupted run.
fn goes_on_as_if_unbroken(bench: &Bench) {
    let done = (lines_of_runs(bench) - 1) / ROWS_PER_TRIAL;
    let output = bench.run(&["run", "x.toml", "--resume", "--verbose"]).expect(0).err;
    let again = output.lines().filter(|line| line.starts_with("  trial ")).count();
    assert_eq!(again, TRIALS - done, "trials that were done are not done again:\n{output}");
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

/// Tests a run that receives SIGINT, SIGTERM or SIGHUP. The run keeps its finished trials, prints how to continue, and
/// exits with code 130.
#[test]
fn a_run_that_is_told_to_end_saves_what_is_done_and_says_how_to_go_on() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let bench = Bench::new();
        bench.write("x.toml", EXPERIMENT);
        let (status, said) = break_off(&bench, signal);
        assert_eq!(status.code(), Some(130), "{said}");
        let advice =
            "interrupted; finished trials are in results/x; repeat the command with --resume to continue";
        assert!(said.contains(advice), "{said}");
        assert!(!bench.path("results/x/data").exists(), "no tree is left behind");
        assert!(bench.manifest("x").ended.is_none());
        if signal == Signal::INT {
            goes_on_as_if_unbroken(&bench);
        }
    }
}

/// Returns the number of processes whose working directory is `folder`.
#[cfg(target_os = "linux")]
fn working_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let works =
        |process: &fs::DirEntry| fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == folder);
    processes.filter(works).count()
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_of_a_trial_does_not_outlive_a_parent_that_is_killed() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    let mut child = bench.command(&["run", "x.toml"]).spawn().unwrap();
    wait_for("the store of a trial", || bench.path("results/x/data/tree/manifest").exists().then_some(()));
    assert!(working_in(&bench.path(".")) >= 1, "the trial has a process");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the end of the trial's process", || (working_in(&bench.path(".")) == 0).then_some(()));
    assert!(bench.path("results/x/data").exists(), "its store is left to the next run");
    bench.ok(&["run", "x.toml", "--resume"]);
    assert!(!bench.path("results/x/data").exists(), "which takes it away");
    assert_eq!(bench.rows("x").len(), TRIALS * ROWS_PER_TRIAL);
}

#[test]
fn runs_that_are_killed_anywhere_end_as_one_that_is_left_alone() {
    let bench = Bench::new();
    let out = bench.ok(&["torture", "sweep", "--kills", "3", "--seed", "2", "--dir", "."]);
    for (mode, line) in ["counted", "timed"].iter().zip(out.lines().skip(1)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!((words[0], words[2], words[4]), (*mode, "3", "0"), "{out}");
        assert!(words[1] != "0" && words[3] != "0", "{out}");
    }
    assert!(bench.content().is_empty(), "something was left behind");
}

#[test]
fn a_run_that_was_killed_before_its_first_file_was_whole_is_begun_anew() {
    let bench = Bench::small();
    bench.write("results/small/.tmpAbCdEf", "{ \"version\": 1, \"experi");
    bench.write("results/small/histograms/.tmpGhIjKl", "#");
    fs::remove_dir_all(bench.path("results/small/histograms")).unwrap();
    bench.ok(&["run", "small.toml", "--resume"]);
    assert!(!bench.path("results/small/.tmpAbCdEf").exists(), "what was never whole is gone");
    // A run that was killed after its first file.
    fs::remove_file(bench.path("results/small/runs.csv")).unwrap();
    fs::remove_file(bench.path("results/small/timeline.csv")).unwrap();
    bench.forget_seals("small");
    bench.write("results/small/histograms/.tmpGhIjKl", "#");
    bench.ok(&["run", "small.toml", "--resume"]);
    assert_eq!(bench.rows("small").len(), 3 * ROWS_PER_TRIAL);
    assert!(!bench.path("results/small/histograms/.tmpGhIjKl").exists(), "what was never whole is gone");
}

#[test]
fn two_runs_do_not_write_to_one_folder() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    let mut first = bench.command(&["run", "x.toml"]).spawn().unwrap();
    wait_for("the first row", || (lines_of_runs(&bench) > 1).then_some(()));
    for arguments in [&["run", "x.toml"][..], &["run", "x.toml", "--resume"]] {
        let error = bench.run(arguments).refusal();
        let saying = format!("another run ({}) is writing results/x; wait for this run", user(&first));
        assert!(error.contains(&saying), "{error}");
    }
    // Another experiment may be written next to it.
    bench.write("small.toml", SMALL);
    bench.ok(&["run", "small.toml"]);
    assert!(first.wait().unwrap().success());
    assert_eq!(bench.rows("x").len(), TRIALS * ROWS_PER_TRIAL);
}

/// Tests a run whose files cannot grow beyond a limit of the operating system. A write beyond the limit fails like a
/// write to a full disk.
#[test]
fn a_full_disk_keeps_earlier_rows_and_the_run_goes_on_when_there_is_room() {
    let bench = Bench::new();
    // The files of the trees stay below the limit; the rows of all trials do not.
    let small = "capacity = \"4KiB\" }\ntable = { capacity = \"4KiB\" }";
    let experiment = EXPERIMENT.replace("capacity = \"64KiB\" }", small).replace("60_000", "300");
    bench.write("x.toml", experiment.replace("count = 2", "count = 5"));
    let full = bench.limited("ulimit -f 48", &["run", "x.toml"]).refusal_behind_progress();
    assert!(full.contains("results/x/runs.csv: cannot append: File too large"), "{full}");
    assert!(
        full.contains(
            "lsmbench keeps the finished trials; fix the cause and repeat the command with --resume"
        ),
        "{full}"
    );
    let kept = bench.read("results/x/runs.csv");
    assert!(
        kept.ends_with('\n') && (kept.lines().count() - 1).is_multiple_of(ROWS_PER_TRIAL),
        "rows stand whole"
    );
    assert!(kept.lines().count() > ROWS_PER_TRIAL, "earlier rows are there");
    assert!(!bench.path("results/x/data").exists(), "no tree is left behind");
    bench.ok(&["run", "x.toml", "--resume"]);
    assert!(bench.read("results/x/runs.csv").starts_with(&kept));
    let rows = bench.rows("x");
    assert_eq!(groups(&rows).len(), 30 * ROWS_PER_TRIAL);
    bench.ok(&["run", "x.toml", "--out", "unbroken"]);
    let unbroken = Table::read(&bench.path("unbroken/x/runs.csv")).unwrap();
    assert_eq!(exact_cells(&rows), exact_cells(unbroken.rows()));
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
                "results/small cannot be resumed, because the experiment, its overrides or its seed have changed"
            ),
            "{error}"
        );
    }
    assert!(bench.content() == before, "something was touched");
}
