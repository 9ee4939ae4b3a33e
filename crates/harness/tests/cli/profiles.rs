//! Tests of CPU profiles, and of counts of instructions.

use std::process::Command;

use results::{FoldedStacks, Folder, columns as c};

use crate::bench::{Bench, number, of};

/// A timed experiment with a known cause of slow gets: a memtable that compares all keys for each get.
const PLANTED: &str = r#"
question = "Which memtable is faster?"

[design]
memtable = { kind = "bplus", capacity = "1MiB" }

[[phase]]
name   = "load"
insert = 2_000

[[phase]]
name       = "get"
operations = 4_000
mix        = { get = 1 }

[sweep]
"design.memtable" = ["bplus", "vector-btreemap"]

[trials]
count = 6
noise = false

[verdict]
metric = "busy_ns"
phase  = "get"
"#;

/// Returns whether a program succeeds with these arguments.
fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn a_profile_names_the_function_that_is_slow_on_purpose() {
    let bench = Bench::new();
    bench.write("planted.toml", PLANTED);
    let data = bench.path("perf-data").display().to_string();
    if !works("perf", &["record", "-q", "-e", "cpu-clock", "-o", &data, "--", "true"]) {
        eprintln!("NOT CHECKED: perf is missing or may not record");
        return;
    }
    let answer = bench.ok(&["run", "planted.toml", "--allow-debug", "--profile"]);
    let manifest = bench.manifest("planted");
    assert_eq!(manifest.cpu_profiles.len(), 2, "{answer}");
    let folder = Folder::new(bench.path("results/planted"));
    let slow = &manifest.cpu_profiles[1];
    let stacks = FoldedStacks::read(&folder.folded_stacks(1)).unwrap();
    assert_eq!((slow.file.as_str(), slow.phase.as_str()), ("profiles/cell-1.folded", "get"));
    assert_eq!(slow.operations, 4_000 * slow.trials);
    assert!(slow.samples > 0 && stacks.total_ns() > 0, "{slow:?}");
    // The load is not in the profile.
    let is_of = |name: &str| stacks.iter().any(|(functions, _)| functions.iter().any(|of| of.contains(name)));
    assert!(is_of("vector_btreemap") && !is_of("Inner>::write_entry"), "{stacks:?}");
    let [graph] = &manifest.flame_graphs[..] else { panic!("{answer}") };
    assert_eq!((graph.cell, graph.baseline), (1, 0));
    let more = graph.summary.split("with more CPU time: ").nth(1).unwrap_or_else(|| panic!("{graph:?}"));
    assert!(more.contains("vector_btreemap"), "{more}");
    assert!(answer.contains("Profile: In phase get, vector-btreemap uses "), "{answer}");
    assert!(answer.contains("cell-1-against-cell-0.svg"), "{answer}");
    let svg = std::fs::read_to_string(folder.flame_graph(1, 0)).unwrap();
    assert!(svg.contains("<title>CPU time of vector-btreemap compared with bplus</title>"));
    let page = bench.read("plots/planted/page.html");
    assert!(page.contains("<summary>Flame graph of vector-btreemap against bplus</summary>"));
    // The profiled trials have no rows.
    assert_eq!(of(&bench.rows("planted"), "get", "all").len(), 2 * 6);
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn instructions_are_counted_exactly_and_judged() {
    let bench = Bench::new();
    bench.write("planted.toml", PLANTED);
    if !works("valgrind", &["--version"]) {
        eprintln!("NOT CHECKED: valgrind is missing");
        return;
    }
    let counts = |out: &str, options: &[&str]| -> Vec<f64> {
        let arguments =
            ["run", "planted.toml", "--allow-debug", "--instructions", "100", "--out", out, "--trials=6"];
        let answer = bench.ok(&[&arguments[..], options].concat());
        assert!(answer.contains("user-mode instructions per operation"), "{answer}");
        let rows = results::Table::read(&Folder::new(bench.path(out).join("planted")).runs()).unwrap();
        let rows = of(rows.rows(), "get", "all").into_iter();
        rows.map(|row| number(row, &c::USER_INSTRUCTIONS_PER_OP)).collect()
    };
    let timed = counts("timed", &[]);
    assert_eq!(timed.len(), 2 * 6);
    let mut distinct = timed.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let [fast, slow] = distinct[..] else { panic!("one count per configuration: {timed:?}") };
    // A get of the vector compares some of its 2,000 keys, and a get of the tree compares a few.
    assert!((100.0..20_000.0).contains(&fast) && slow > 2.0 * fast, "{fast} {slow}");
    // A resumed run keeps the counts, and counts only in a run with an equal number of operations.
    let resume = ["run", "planted.toml", "--allow-debug", "--resume", "--out", "timed", "--trials", "7"];
    let resumed = bench.run(&[&resume[..], &["--instructions", "100"]].concat()).expect(0);
    assert!(!resumed.err.contains("counting instructions"), "{}", resumed.err);
    let rows = results::Table::read(&Folder::new(bench.path("timed").join("planted")).runs()).unwrap();
    let rows = of(rows.rows(), "get", "all");
    let kept = rows.iter().map(|row| number(row, &c::USER_INSTRUCTIONS_PER_OP));
    assert_eq!(kept.filter(|count| distinct.contains(count)).count(), 2 * 7);
    let error = bench.run(&[&resume[..], &["--instructions", "50"]].concat()).refusal();
    assert!(error.contains("cannot be resumed, because the experiment, its overrides"), "{error}");
    let counted = counts(
        "counted",
        &["--set", "trials.mode=\"counted\"", "--set", "verdict.metric=user_instructions_per_op"],
    );
    assert_eq!(counted.len(), 2 * 6);
    let mut again = counted;
    again.sort_by(f64::total_cmp);
    again.dedup();
    assert_eq!(again.len(), 2, "one count per configuration: {again:?}");
    let is_near = |(a, b): (&f64, f64)| (a / b - 1.0).abs() < 0.005;
    // Without fixed addresses, a few copies take other numbers of steps.
    assert!(
        again.iter().zip([fast, slow]).all(is_near),
        "the count does not depend on the run: {again:?} {distinct:?}"
    );
}

#[test]
fn a_missing_tool_and_an_unfit_experiment_are_refused_before_the_run() {
    let bench = Bench::new();
    bench.write("planted.toml", PLANTED);
    let refusal = |options: &[&str]| {
        let arguments = [&["run", "planted.toml", "--allow-debug"][..], options].concat();
        let output = bench.command(&arguments).env("PATH", bench.path("")).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(!bench.path("results/planted").exists(), "{options:?}");
        crate::bench::unwrapped(&String::from_utf8(output.stderr).unwrap())
    };
    let error = refusal(&["--profile"]);
    assert!(error.contains("--profile needs the program perf; install it"), "{error}");
    let error = refusal(&["--instructions", "100"]);
    assert!(error.contains("trials.instructions needs the program valgrind; install"), "{error}");
    let error = refusal(&["--profile", "--set", "trials.mode=\"counted\""]);
    assert!(
        error.contains("--profile: counted mode measures no time; use trials.mode = \"timed\""),
        "{error}"
    );
    let error = refusal(&["--profile", "--set", "phase.get.rate={ p99 = \"1ms\" }"]);
    assert!(
        error.contains(
            "phase get runs at several rates, but a profile needs one rate; set phase.get.rate to a number"
        ),
        "{error}"
    );
    let error = refusal(&["--instructions", "100", "--set", "phase.get.threads=2"]);
    assert!(error.contains("counted mode: phase get has 2 threads (maximum 1)"), "{error}");
    let error = refusal(&["--set", "trials.instructions=0"]);
    assert!(error.contains("trials.instructions: the number is 0"), "{error}");
    let error = refusal(&["--set", "verdict.metric=user_instructions_per_op"]);
    assert!(
        error.contains("only valgrind measures this metric; set trials.instructions = 20_000"),
        "{error}"
    );
    let error = refusal(&["--profile", "--part", "1/2"]);
    assert!(error.contains("cannot be used with"), "{error}");
}
