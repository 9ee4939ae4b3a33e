//! Tests that lsmbench reports unmeasurable metrics before a run, and that the second trial of a baseline always runs
//! inside a round.

use results::columns as c;

use crate::bench::{Bench, SMALL, count, of, unwrapped};

#[test]
fn a_metric_that_the_phase_cannot_have_is_refused_with_the_setting_that_gives_it() {
    let bench = Bench::new();
    let verdict = |metric: &str, more: &str| format!("{SMALL}\n[verdict]\nmetric = \"{metric}\"\n{more}\n");
    let gets = |text: String| text.replace("{ get = 0.9, put = 0.1 }", "\"get\"");
    let cases = [
        (gets(verdict("write_amp", "")), "phase \"look\" writes nothing; use verdict.phase = \"load\""),
        (verdict("p99_ns", ""), "counted mode measures no time; use trials.mode = \"timed\""),
        (verdict("rss_peak_bytes", ""), "counted mode measures no time"),
        (
            verdict("cache_hit_rate", ""),
            "reads of memory-mapped SSTables bypass the cache; use design.block.mapped = \"cached\"",
        ),
        (
            verdict("blocks_per_get", "phase = \"load\""),
            "phase \"load\" looks up no key; use verdict.phase = \"look\"",
        ),
        (verdict("range_fpr", ""), "phase \"look\" has no scan; add a phase for this metric"),
        (
            verdict("read_amp", ""),
            "phase \"look\" has operations other than reads; add a phase for this metric",
        ),
    ];
    for (text, hint) in cases {
        bench.write("x.toml", text);
        for command in [&["describe", "x.toml"][..], &["run", "x.toml"]] {
            let error = bench.run(command).refusal();
            assert!(
                error.contains(hint) && error.contains("x.toml:") && error.contains("verdict.metric: "),
                "{error}"
            );
        }
    }
    assert!(!bench.path("results").exists(), "nothing ran");
    // With the setting of the message, the metric is measured.
    bench.write("x.toml", verdict("cache_hit_rate", ""));
    let answer = bench.ok(&["run", "x.toml", "--set", "design.block.mapped=\"cached\""]);
    assert!(answer.contains("cache hit rate") && !answer.contains("No verdict"), "{answer}");
    for (metric, hint) in [
        (
            "response_p99_ns",
            "closed loop, but this metric needs an open loop, in which operations start at a fixed rate; \
             set a rate, such as phase.look.rate = 10_000",
        ),
        (
            "sustained_ops_per_second",
            "phase \"look\" has no rate search; set phase.look.rate = { p99 = \"1ms\" }",
        ),
    ] {
        bench.write("x.toml", verdict(metric, "").replace("\"counted\"", "\"timed\""));
        let error = bench.run(&["describe", "x.toml"]).refusal();
        assert!(error.contains(hint), "{error}");
    }
}

/// Tests a timed experiment that runs in counted mode. The verdict then ignores all metrics that need time.
#[test]
fn counted_mode_leaves_times_out_of_the_verdict_and_picks_what_it_measured() {
    let bench = Bench::new();
    let timed =
        SMALL.replace("\"counted\"", "\"timed\"").replace("y    = \"fpr\"", "y    = \"ops_per_second\"");
    bench.write(
        "x.toml",
        timed + "\n[verdict]\nmetric = \"ops_per_second\"\nalso = [\"p99_ns\", \"fpr\"]\nphase = \"look\"\n",
    );
    let counted = ["x.toml", "--set", "trials.mode=\"counted\""];
    let described = bench.ok(&[&["describe"][..], &counted].concat());
    let warning = "warning: counted mode measures no time, so the verdict ignores ops_per_second, p99_ns";
    assert!(described.contains(warning), "{described}");
    let answer = bench.ok(&[&["run"][..], &counted].concat());
    // The default metric, the throughput of the chart, was not measured: write amplification was.
    assert!(answer.contains("phase look, write amplification (lower is better), counted"), "{answer}");
    assert!(answer.contains("\nAlso: false-positive rate: "), "{answer}");
    let error = bench.run(&[&["run"][..], &counted, &["--set", "verdict.metric=p99_ns"]].concat()).refusal();
    assert!(error.contains("counted mode measures no time"), "{error}");
}

/// Tests that `describe` predicts the state of the tree after the load. The counters of the run must show the same
/// state.
#[test]
fn describe_says_in_which_state_the_load_leaves_the_tree() {
    let bench = Bench::small();
    let line = |text: &str| {
        let line =
            text.lines().find(|line| line.contains("after the load")).unwrap_or_else(|| panic!("{text}"));
        line.to_owned()
    };
    bench.ok(&["run", "small.toml"]);
    let rows = bench.rows("small");
    let loaded = of(&rows, "load", "all")[0];
    let (flushes, runs) = (count(loaded, &c::FLUSHES), count(loaded, &c::RUNS));
    let described = bench.ok(&["describe", "small.toml"]);
    let expected = format!("after the load: about {flushes} flushes, {runs} sorted run");
    assert!(flushes > 1 && line(&described).contains(&expected), "{expected}: {described}");
    assert!(!described.contains("warning: "), "{described}");
    let described = bench.ok(&["describe", "small.toml", "--set", "design.memtable.capacity=1MiB"]);
    let described = described.replace('\u{a0}', " ");
    assert!(line(&described).contains("about 0 flushes, 0 sorted runs, "), "{described}");
    assert!(
        described.contains("warning: 100 % of the loaded data stays in the memtable, so later phases"),
        "{described}"
    );
}

#[test]
fn a_second_baseline_does_not_run_outside_of_its_rounds() {
    let bench = Bench::new();
    let timed = SMALL.replace("count = 1", "count = 6").replace("\"counted\"", "\"timed\"");
    let timed = timed.replace("y    = \"fpr\"", "y    = \"ops_per_second\"").replace(", \"blocked\"]", "]");
    bench.write("x.toml", timed.replace("3_000", "300"));
    let run = ["run", "x.toml", "--allow-debug"];
    bench.ok(&run);
    let noise = bench.read("results/x/noise.csv");
    let again = [&run[..], &["--resume", "--set", "verdict.baseline=standard"]].concat();
    let error = bench.run(&again).refusal();
    assert!(error.contains("results/x cannot be resumed with the baseline \"standard\""), "{error}");
    assert!(error.contains("--set trials.noise=false"), "{error}");
    assert_eq!(bench.read("results/x/noise.csv"), noise);
    let answer = bench.ok(&[&again[..], &["--set", "trials.noise=false"]].concat());
    assert!(answer.contains("vs standard") && !unwrapped(&answer).contains("Noise floor"), "{answer}");
}
