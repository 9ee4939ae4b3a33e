//! Tests of runs with a time budget: evaluations of the verdicts before the end, configurations that stop early, and
//! rejected combinations of settings.

use results::{Folder, Manifest, columns as c};

use crate::bench::{Bench, unwrapped};

/// A timed experiment with two stores. Each read of the second store takes much longer.
const READS: &str = r#"
question = "Which device is faster?"

[design]
memtable = { capacity = "16KiB" }
cache    = "none"
storage  = { kind = "simulated", read_latency = "0ns", write_latency = "0ns", sync_latency = "0ns", read_bandwidth = "100GB", write_bandwidth = "100GB" }

[[phase]]
name   = "load"
insert = 1_000

[[phase]]
name       = "look"
operations = 500
mix        = { get = 1 }

[sweep]
"design.storage.read_latency" = ["0ns", "200us"]

[trials]
budget = "1min"

[verdict]
metric = "mean_ns"
phase  = "look"
"#;

fn manifest(bench: &Bench) -> Manifest {
    Manifest::read(&Folder::new(bench.path("results/x")).manifest()).unwrap()
}

#[test]
fn a_run_ends_when_its_verdicts_are_decided() {
    let bench = Bench::new();
    bench.write("x.toml", READS);
    for plan in ["rounds", "slices"] {
        let set = format!("trials.plan=\"{plan}\"");
        let answer = bench.run(&["run", "x.toml", "--allow-debug", "--set", &set]).expect(0);
        // Six rounds are enough on a quiet machine. Other programs on the cores can make more rounds necessary.
        let rounds = answer
            .err
            .split_once(" is decided after ")
            .and_then(|(_, rest)| rest.split_once(" rounds: regressed"));
        let rounds: u64 = rounds.unwrap_or_else(|| panic!("{}", answer.err)).0.parse().unwrap();
        assert!((6..100).contains(&rounds), "{}", answer.err);
        let stopped = format!("stopped after {rounds} rounds: all verdicts are decided");
        assert!(answer.err.contains(&stopped), "{}", answer.err);
        let printed = unwrapped(&answer.out);
        assert!(printed.contains("Verdicts were evaluated after 6"), "{printed}");
        assert!(printed.contains("all evaluations together have an error rate of 5%."), "{printed}");
        let looks = manifest(&bench).looks;
        assert!(looks[0].rounds == 6 && looks.iter().all(|look| look.level < 0.05), "{looks:?}");
        assert_eq!(looks.last().map(|look| look.rounds), Some(rounds), "{looks:?}");
        let trials = bench.rows("x").iter().filter_map(|row| row.get(&c::TRIAL).integer()).max();
        assert_eq!(trials, Some(rounds - 1));
    }
    let error = bench
        .run(&["run", "x.toml", "--allow-debug", "--set", "trials.plan=\"slices\"", "--resume"])
        .refusal();
    assert!(error.contains("a part of the time in trials.budget is already used"), "{error}");
}

#[test]
fn a_budget_that_is_too_short_or_has_no_use_is_said() {
    let bench = Bench::new();
    bench.write("x.toml", READS);
    let answer = bench.run(&["run", "x.toml", "--allow-debug", "--set", "trials.budget=\"1ms\""]).expect(0);
    assert!(
        answer.err.contains("trials.budget is used up before the 6 rounds that a verdict needs"),
        "{}",
        answer.err
    );
    assert!(answer.out.contains("No verdict"), "{}", answer.out);
    let refusal = |set: &str| bench.run(&["run", "x.toml", "--allow-debug", "--set", set]).refusal();
    assert!(refusal("trials.precision=0.01").contains("remove one of them"));
    assert!(refusal("trials.mode=\"counted\"").contains("so a budget has no effect"));
    assert!(refusal("trials.budget=\"0s\"").contains("the budget is 0"));
}
