//! Tests of the decisions of gates: tolerances, sessions, different settings, and configurations of one run.

use results::columns as c;

use crate::bench::{Bench, SMALL, unwrapped};

/// Returns an experiment that counts the memory of three filters, with the given `[gate]` table.
fn gated(gate: &str) -> String {
    format!("{SMALL}\n[verdict]\nphase = \"look\"\nmetric = \"filter_bytes\"\n[gate]\n{gate}\n")
}

#[test]
fn a_run_fails_its_gate_where_a_configuration_is_worse_than_the_baseline() {
    let bench = Bench::new();
    bench.write("gate.toml", gated(""));
    let answer = bench.run(&["run", "gate.toml", "--markdown", "summary.md"]).expect(1).out;
    // No filter needs no memory, any filter some.
    assert!(
        answer.contains(
            "\nGate: FAIL: 2 of 2 numbers failed, 0 undecided, 0 passed (undecided numbers pass)\n"
        ),
        "{answer}"
    );
    assert!(answer.contains("\n  failed: standard has "), "{answer}");
    let summary = bench.read("summary.md");
    assert!(summary.starts_with("### lsmbench: gate: FAIL: 2 of 2 numbers failed"), "{summary}");
    assert!(summary.contains("\n| standard | memory of filters in phase look | 0 | "), "{summary}");
    assert!(summary.contains(" | failed: "), "{summary}");
    // Reports of several runs stand in one summary.
    bench.ok(&[
        "run",
        "gate.toml",
        "--set",
        "verdict.baseline=standard",
        "--set",
        "gate.tolerance=20%",
        "--set",
        "sweep.design.bloom=[\"standard\", \"blocked\"]",
        "--markdown",
        "summary.md",
    ]);
    let both = bench.read("summary.md");
    assert!(
        both.starts_with(&summary) && both.contains("### lsmbench: gate: PASS: 0 of 1 numbers failed"),
        "{both}"
    );
    let described = bench.ok(&["describe", "gate.toml", "--set", "gate.tolerance=0.05"]);
    assert!(described.contains("[gate]\ntolerance = \"5%\"\n"), "{described}");
    for (set, hint) in [
        ("gate.tolerance=5", "gate.tolerance: expected a share above 0% and below 100%, such as 5% or 0.05"),
        ("gate.fail_on=never", "gate.fail_on"),
        ("gate.tolerence=5%", "did you mean \"tolerance\"?"),
    ] {
        let error = bench.run(&["run", "gate.toml", "--set", set]).refusal();
        assert!(error.contains(hint), "{error}");
    }
    let error = bench.run(&["run", "gate.toml", "--markdown", "."]).refusal();
    assert!(error.contains("cannot write ."), "{error}");
}

/// Tests that a gate fails if it must decide but a timed run has too few trials for a verdict.
#[test]
fn an_undecided_gate_fails_where_it_has_to_decide() {
    let bench = Bench::new();
    let timed = gated("fail_on = \"inconclusive\"")
        .replace("\"counted\"", "\"timed\"")
        .replace("filter_bytes", "ops_per_second");
    bench.write("gate.toml", timed);
    let run = ["run", "gate.toml", "--allow-debug"];
    let answer = bench.run(&run).expect(1).out;
    assert!(
        answer
            .contains("Gate: FAIL: 0 of 2 numbers failed, 2 undecided, 0 passed (undecided numbers fail)\n"),
        "{answer}"
    );
    assert!(unwrapped(&answer).contains("undecided: standard"), "{answer}");
    let answer = bench.ok(&[&run[..], &["--set", "gate.fail_on=regressed"]].concat());
    assert!(
        answer
            .contains("Gate: PASS: 0 of 2 numbers failed, 2 undecided, 0 passed (undecided numbers pass)\n"),
        "{answer}"
    );
    // A tolerance has to be shown to hold.
    let answer =
        bench.run(&[&run[..], &["--set", "gate.fail_on=regressed", "--set", "gate.tolerance=5%"]].concat());
    assert!(answer.expect(0).out.contains("(tolerance 5%)"));
}

#[test]
fn engines_are_listed_where_one_is_named() {
    let bench = Bench::new();
    let engines = "engine = [{ kind = \"lsmbench\" }, { kind = \"rocksdb\", library = \"nowhere/librocksdb.so\", label = \"new\" }]";
    let timed = gated("").replace("\"counted\"", "\"timed\"").replace("filter_bytes", "ops_per_second");
    bench.write(
        "gate.toml",
        timed
            .replace("\n[design]", &format!("\n{engines}\n[design]"))
            .replace("\"design.bloom\" =", "#")
            .replace("x    = \"design.bloom\"", "x    = \"engine\""),
    );
    let error = bench.run(&["run", "gate.toml", "--allow-debug"]).refusal();
    assert!(error.contains("gate.toml:") && error.contains("\"new\""), "{error}");
    let twice = bench.run(&[
        "describe",
        "gate.toml",
        "--set",
        "sweep.engine=[\"lsmbench\"]",
        "--set",
        "gate.tolerance=5%",
    ]);
    assert!(twice.expect(0).out.contains("engine = [\"lsmbench\"]"), "the command line replaces the list");
}

#[test]
fn a_tolerance_decides_a_comparison_of_results() {
    let bench = Bench::small();
    for (out, size) in [("a", "4096"), ("b", "3072"), ("c", "1024")] {
        bench.ok(&["run", "small.toml", "--out", out, "--set", &format!("design.block.size={size}")]);
    }
    let compare = |new: &'static str| ["compare", "a", new, "--metric", "fence_bytes"];
    let answer = bench.run(&compare("b")).expect(1).out;
    assert!(answer.starts_with("FAIL  ") && answer.contains(" regressed, "), "{answer}");
    let tolerant = ["--tolerance", "70%", "--markdown", "summary.md"];
    let answer = bench.ok(&[&compare("b")[..], &tolerant].concat());
    assert!(answer.starts_with("PASS  0 of ") && answer.contains(" passed (tolerance 70%)\n"), "{answer}");
    assert!(bench.read("summary.md").starts_with("### lsmbench: PASS: 0 of "));
    let answer = bench.run(&[&compare("c")[..], &tolerant].concat()).expect(1).out;
    assert!(answer.starts_with("FAIL  ") && answer.contains(" failed, 0 undecided, "), "{answer}");
    let compare = compare("b");
    for (options, hint) in
        [(&["--tolerance", "5"][..], "as 5% or 0.05"), (&["--fail-on", "maybe"], "regressed, inconclusive")]
    {
        let error = bench.run(&[&compare[..], options].concat()).expect(2).err;
        assert!(error.contains(hint), "{error}");
    }
    let error = bench.run(&["check", "small.toml", "--tolerance", "5%"]).refusal();
    assert!(error.contains("--tolerance and --fail-on apply only with --against"), "{error}");
}

/// Tests that `compare` rejects two sides with different operations, and that the error names the keys that differ.
#[test]
fn other_sizes_are_refused_with_their_keys() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml", "--out", "a"]);
    let other = |set: &str| {
        bench.ok(&["run", "small.toml", "--out", "b", "--set", set]);
        bench.run(&["compare", "a", "b"])
    };
    let error = other("phase.load.insert=2000").refusal();
    assert!(
        error.contains("the base run and the new run of small did different work")
            && error.contains("phase.load.insert (3000, 2000)"),
        "{error}"
    );
    let error = other("trials.seed=7").refusal();
    assert!(error.contains("trials.seed (42, 7)"), "{error}");
    other("trials.count=2").expect(0);
}

/// Tests that `compare` computes no verdict on times if each side has only one session. Two sessions of one build
/// differ more than the trials of one session, so only several sessions show the noise.
#[test]
fn times_of_one_session_each_have_no_verdict() {
    let bench = Bench::new();
    let one =
        SMALL.replace("\"none\", \"standard\", \"blocked\"", "\"none\"").replace("\"counted\"", "\"timed\"");
    bench.write("small.toml", one.replace("count = 1", "count = 6").replace("3_000", "300"));
    for out in ["base/1", "base/2", "new/1", "new/2"] {
        bench.ok(&["run", "small.toml", "--out", out, "--allow-debug"]);
    }
    // Every trial of the new side took ten times as long.
    for out in ["new/1", "new/2"] {
        slow(&bench, out);
    }
    let compare =
        |base: &'static str, new: &'static str| ["compare", base, new, "--metric", "ops_per_second"];
    let answer = bench.ok(&compare("base/1", "new/1"));
    assert!(answer.starts_with("PASS  0 of 2 numbers regressed, 2 inconclusive"), "{answer}");
    assert!(
        answer.contains("note: no verdict on 2 measured times, because there are too few sessions. "),
        "{answer}"
    );
    assert!(answer.contains("the trials differ clearly in ops_per_second of \"none\", phase "), "{answer}");
    let answer =
        bench.run(&[&compare("base/1", "new/1")[..], &["--fail-on", "inconclusive"]].concat()).expect(1).out;
    assert!(
        answer.contains(
            "undecided: too few sessions to distinguish a difference between builds from differences \
             between sessions of one build; a verdict needs at least 4 sessions"
        ),
        "{answer}"
    );
    let answer = bench.run(&compare("base", "new")).out;
    assert!(answer.contains(" numbers regressed"), "{answer}");
    assert!(!answer.contains("have no verdict"), "{answer}");
    assert!(answer.contains("n = 2") || answer.contains("inconclusive"), "{answer}");
}

/// Divides the rates of a run by ten, as if the build were slower.
fn slow(bench: &Bench, out: &str) {
    let file = format!("{out}/small/runs.csv");
    let text = bench.read(&file);
    let at =
        text.lines().next().unwrap().split(',').position(|column| column == c::OPS_PER_SECOND.name).unwrap();
    let slower = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if let Ok(rate) = cells[at].parse::<f64>() {
            cells[at] = (rate / 10.0).to_string();
        }
        cells.join(",") + "\n"
    };
    bench.write(&file, text.lines().map(slower).collect::<String>());
    let path = bench.path(&format!("{out}/small/manifest.json"));
    let mut manifest = results::Manifest::read(&path).unwrap();
    (manifest.runs, manifest.timeline, manifest.noise, manifest.levels) = (None, None, None, None);
    manifest.write(&path).unwrap();
}
