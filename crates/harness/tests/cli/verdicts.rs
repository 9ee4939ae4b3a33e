//! What a run says at its end: short, each thing once, and no more than the numbers carry.

use crate::bench::{Bench, SMALL};

/// The lines of the verdict: behind the question, above the results.
fn verdict(answer: &str) -> Vec<&str> {
    let lines = answer.lines().skip(2);
    let lines = lines.take_while(|line| !line.starts_with("Results: ")).map(str::trim_end);
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn counters_need_no_interval() {
    let bench = Bench::small();
    let answer = bench.ok(&["run", "small.toml"]);
    let verdict = verdict(&answer);
    assert!(
        verdict[0].contains(" beats `none`, as does `")
            && verdict[0].contains("`: false-positive rate in phase look ×0.0"),
        "{answer}"
    );
    assert_eq!(
        verdict[1].split_whitespace().collect::<Vec<_>>(),
        ["fpr", "memory", "against", "the", "baseline"]
    );
    assert!(verdict[2].contains("  improved, ×0.0"), "{answer}");
    assert!(verdict[4].starts_with("  none ") && verdict[4].ends_with("  baseline"), "{answer}");
    assert_eq!(verdict[5..], ["  differs in 1 factor: bloom"], "{answer}");
}

#[test]
fn what_several_lines_have_in_common_is_said_once() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        SMALL.replace("\"counted\"", "\"timed\"").replace("y    = \"fpr\"", "y    = \"ops_per_second\""),
    );
    let answer = bench.ok(&["run", "x.toml", "--allow-debug", "--trials", "2"]);
    let verdict = verdict(&answer);
    let doubt = "2 trials do not carry a verdict; it takes 6 or more";
    let sentence =
        format!("No winner over `none` by throughput in phase look: {doubt}. The best of the others is `");
    assert!(verdict[0].starts_with(&sentence), "{answer}");
    assert_eq!(answer.matches(doubt).count(), 1, "{answer}");
    assert_eq!(verdict.iter().filter(|line| line.contains("  inconclusive, ")).count(), 2, "{answer}");
}

#[test]
fn confounded_comparisons_are_called_so() {
    let bench = Bench::new();
    let sweep = "\"design.bloom\" = [\"standard\", \"blocked\"]\n\"design.bloom.bits_per_key\" = [4, 10]\n\
                 \"design.compaction\" = [{ kind = \"l0-tiered\" }, \"leveled\"]";
    bench.write("x.toml", SMALL.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", sweep));
    let answer = bench.ok(&["run", "x.toml"]);
    let differs = |label: &str| {
        let mut lines = answer.lines().map(str::trim);
        let line = lines.find(|line| line.strip_prefix(label).is_some_and(|rest| rest.starts_with("  ")));
        line.unwrap_or_else(|| panic!("no {label} in {answer}")).rsplit("  ").next().unwrap().to_owned()
    };
    assert_eq!(differs("standard(bits_per_key=4) + l0-tiered"), "baseline");
    assert_eq!(differs("standard + l0-tiered"), "1 factor: bloom.bits_per_key");
    assert_eq!(differs("blocked(bits_per_key=4) + l0-tiered"), "1 factor: bloom");
    assert_eq!(differs("standard(bits_per_key=4) + leveled"), "1 factor: compaction (own level0_runs)");
    assert_eq!(differs("blocked + leveled"), "confounded: 3 factors");
    let widest = verdict(&answer)[1..].iter().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 120, "{widest} columns are hard to read:\n{answer}");
}

#[test]
fn an_oracle_bounds_the_others_and_wins_nothing() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        SMALL.replace("\"none\", \"standard\", \"blocked\"", "\"none\", \"standard\", \"perfect\""),
    );
    let answer = bench.ok(&["run", "x.toml"]);
    let verdict = verdict(&answer);
    assert!(verdict[0].starts_with("`standard` beats `none`: "), "{answer}");
    assert!(verdict.iter().any(|line| line.trim_start().starts_with("perfect [oracle]  ")), "{answer}");
    bench.write("y.toml", SMALL.replace("\"none\", \"standard\", \"blocked\"", "\"standard\", \"perfect\""));
    let answer = bench.ok(&["run", "y.toml"]);
    assert!(answer.contains("there is nothing but oracles to compare it with"), "{answer}");
}

/// [`SMALL`] with two cells and a clock.
fn timed(trials: &str) -> String {
    SMALL
        .replace("\"none\", \"standard\", \"blocked\"", "\"none\", \"standard\"")
        .replace("count = 1\nmode  = \"counted\"", &format!("{trials}\nmode  = \"timed\""))
        .replace("y    = \"fpr\"", "y    = \"ops_per_second\"")
        .replace("3_000", "300")
}

/// The cells of one column of a CSV file in the results of `x`.
fn column(bench: &Bench, file: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(bench.path("results/x").join(file)).unwrap();
    let at = reader.headers().unwrap().iter().position(|column| column == name).unwrap();
    reader.records().map(|record| record.unwrap()[at].to_owned()).collect()
}

#[test]
fn the_baseline_runs_twice_and_says_what_is_noise() {
    let bench = Bench::new();
    bench.write("x.toml", timed("count = 6"));
    let answer = bench.ok(&["run", "x.toml", "--allow-debug"]);
    assert!(answer.contains("  noise: `none` against itself differs by up to "), "{answer}");
    let labels = column(&bench, "noise.csv", "label");
    assert!(!labels.is_empty() && labels.iter().all(|label| label == "none"), "{labels:?}");
    let trials: std::collections::BTreeSet<String> =
        column(&bench, "noise.csv", "trial").into_iter().collect();
    assert_eq!(trials.len(), 6);
    assert_eq!(column(&bench, "verdicts.csv", "candidate"), ["standard"]);
    let [floor, delta] =
        ["noise_floor", "delta"].map(|name| column(&bench, "verdicts.csv", name)[0].parse::<f64>().unwrap());
    assert!(floor >= 0.0 && (delta - floor.max(0.02)).abs() < 1e-12, "{floor} {delta}");
    assert_eq!(column(&bench, "verdicts.csv", "differs_in"), ["bloom"]);

    bench.ok(&["run", "x.toml", "--allow-debug", "--set", "trials.noise=false"]);
    assert!(column(&bench, "noise.csv", "label").is_empty());
    assert_eq!(column(&bench, "verdicts.csv", "noise_floor"), [""]);
}

#[test]
fn an_interrupted_run_measures_the_noise_that_is_missing() {
    let bench = Bench::new();
    bench.write("x.toml", timed("count = 6"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let whole = column(&bench, "noise.csv", "trial");
    // More trials are what a run that was cut short still has to do.
    bench.ok(&["run", "x.toml", "--allow-debug", "--resume", "--trials", "8"]);
    let more = column(&bench, "noise.csv", "trial");
    assert_eq!(more.len(), whole.len() / 6 * 8);
    assert_eq!(more[..whole.len()], whole);
}

#[test]
fn blocks_end_when_the_intervals_are_narrow_enough() {
    let bench = Bench::new();
    bench.write("x.toml", timed("count = 40\nprecision = 0.99"));
    let answer = bench.ok(&["run", "x.toml", "--allow-debug"]);
    let trials =
        || column(&bench, "runs.csv", "trial").iter().map(|trial| trial.parse::<u32>().unwrap()).max();
    assert!(trials() >= Some(5) && trials() < Some(39), "{:?} {answer}", trials());
    let before = trials();
    bench.ok(&["run", "x.toml", "--allow-debug", "--resume"]);
    assert_eq!(trials(), before, "what was precise enough stays so");
    let error = bench.run(&["run", "x.toml", "--allow-debug", "--set", "trials.precision=2.0"]).refusal();
    assert!(error.contains("precision is the relative half-width"), "{error}");
}

#[test]
fn several_metrics_are_one_family() {
    let bench = Bench::new();
    bench.write("x.toml", SMALL.replace("[[chart]]", "[verdict]\nalso = [\"blocks_read\"]\n\n[[chart]]"));
    bench.ok(&["run", "x.toml"]);
    assert_eq!(column(&bench, "verdicts.csv", "metric"), ["fpr", "fpr", "blocks_read", "blocks_read"]);
    let error = bench.run(&["run", "x.toml", "--set", "verdict.also=[\"p99ns\"]"]).refusal();
    assert!(error.contains("did you mean \"p99_ns\"?"), "{error}");
}

/// Filters of other sizes are no rivals: within each size they are compared, and the chart says so.
#[test]
fn like_is_compared_with_like() {
    let bench = Bench::new();
    let sweep = "\"design.bloom\" = [\"standard\", \"blocked\"]\n\"design.bloom.bits_per_key\" = [4, 10]";
    let verdict = "[verdict]\nbaseline = \"standard\"\nwithin = [\"design.bloom.bits_per_key\"]\n\n[[chart]]";
    let text = SMALL.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", sweep);
    let text =
        text.replace("[[chart]]", verdict).replace("kind = \"bar\"", "kind = \"line\"\nname = \"fpr\"");
    bench.write(
        "x.toml",
        text.replace(
            "x    = \"design.bloom\"",
            "x = \"design.bloom.bits_per_key\"\nseries = \"design.bloom\"",
        ),
    );
    let answer = bench.ok(&["run", "x.toml"]);
    for bits in [4, 10] {
        let heading = format!("bloom.bits_per_key = {bits}: ");
        assert!(verdict_of(&answer, &heading).contains(" `standard`"), "{answer}");
    }
    let columns = ["baseline", "candidate", "factors"].map(|name| column(&bench, "verdicts.csv", name));
    assert_eq!(columns, [["standard"; 2], ["blocked"; 2], ["1"; 2]]);
    let chart = bench.read("plots/x/fpr.svg");
    assert!(chart.contains("Verdict against standard at equal bloom.bits_per_key: "), "{chart}");
    for (within, hint) in [
        ("[\"design.blom\"]", "unknown swept path \"design.blom\"; did you mean \"design.bloom\"?"),
        (
            "[\"design.bloom\", \"design.bloom.bits_per_key\"]",
            "no configurations are left to compare; remove one",
        ),
    ] {
        let error = bench.run(&["run", "x.toml", "--set", &format!("verdict.within={within}")]).refusal();
        assert!(error.contains(hint), "{error}");
    }
}

/// The line of a verdict that begins so.
fn verdict_of<'a>(answer: &'a str, heading: &str) -> &'a str {
    verdict(answer).into_iter().find(|line| line.starts_with(heading)).unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_filter_of_other_bits_is_no_rival_in_any_file() {
    let bench = Bench::new();
    let text = "question = \"?\"\nsubject = \"bloom\"\n[component]\nentries = 2000\noperations = 2000\n\
                [sweep]\n\"design.bloom\" = [\"standard\", \"blocked\", \"xor\"]\n\"design.bloom.bits_per_key\" = [16]\n\
                [trials]\ncount = 1\nmode = \"counted\"\n[verdict]\nmetric = \"fpr\"\nphase = \"absent\"\n\
                [[chart]]\nkind = \"line\"\nname = \"fpr\"\nx = \"bits_per_key\"\ny = \"fpr\"\nseries = \"design.bloom\"\nfilter = { phase = \"absent\" }\n";
    bench.write("x.toml", text);
    let answer = bench.ok(&["run", "x.toml"]);
    assert!(answer.contains("  no rival, ×"), "{answer}");
    let verdicts = bench.read("results/component-x/verdicts.csv");
    let of_xor = verdicts.lines().find(|line| line.contains(",xor,")).expect("a row per candidate");
    assert!(of_xor.contains(",inconclusive,no rival; bits_per_key 10.0 against 16.0"), "{verdicts}");
    let chart = bench.read("plots/component-x/fpr.svg");
    assert!(
        chart.contains("Verdict against standard: blocked ") && chart.contains("1 not compared"),
        "{chart}"
    );
}

/// A search stops within a part of the rate: two rates that are nearer are not told apart.
#[test]
fn no_verdict_is_finer_than_the_search_for_a_rate() {
    let bench = Bench::new();
    let searched = timed("count = 6\nnoise = false")
        .replace("absent     = 0.5", "rate = { p99 = \"1s\", from = 1000, to = 8000, within = 0.5 }");
    bench.write("x.toml", searched);
    let answer = bench.ok(&["run", "x.toml", "--allow-debug"]);
    assert!(
        answer.contains("  rates are searched for to within 50.0 %, and less does not count"),
        "{answer}"
    );
    assert_eq!(column(&bench, "verdicts.csv", "delta"), ["0.5"]);
    // What is not what the search found is judged as ever.
    bench.ok(&["run", "x.toml", "--allow-debug", "--set", "verdict.metric=write_amp"]);
    assert_eq!(column(&bench, "verdicts.csv", "delta"), ["0.02"]);
}
