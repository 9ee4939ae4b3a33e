//! Tests of the verdict that a run prints at its end: the table, a sentence for each outcome, and the notes.

use crate::bench::{Bench, SMALL, unwrapped};

/// Returns the lines of the verdict, which are between the question and the paths of the results.
fn verdict(answer: &str) -> Vec<&str> {
    let lines = answer.lines().skip(2);
    lines.take_while(|line| !line.starts_with("Results: ")).map(str::trim_end).collect()
}

/// Returns the verdict on one line, without the line breaks in its sentences.
fn sentences(answer: &str) -> String {
    unwrapped(&verdict(answer).join(" "))
}

/// Returns the words of the table row that begins with `name`.
fn row<'a>(answer: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = verdict(answer).into_iter();
    let line = lines.find(|line| line.trim_start().split("  ").next() == Some(name));
    line.unwrap_or_else(|| panic!("no {name} in {answer}"))
        .split("  ")
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn counters_need_no_interval() {
    let bench = Bench::small();
    let answer = bench.ok(&["run", "small.toml"]);
    let verdict = verdict(&answer);
    assert!(answer.starts_with("\nsmall: Which filter"), "{answer}");
    assert_eq!(verdict[0], "phase look, false-positive rate (lower is better), counted (one seed)");
    assert_eq!(
        row(&answer, "bloom"),
        ["bloom", "value", "vs \"none\"", "memory", "verdict"],
        "no interval, no p-value and no spread"
    );
    for filter in ["standard", "blocked"] {
        let row = row(&answer, filter);
        assert!(row[2].ends_with('x') && row[4] == "lower", "{row:?}");
    }
    assert_eq!(row(&answer, "\"none\"")[..3], ["\"none\"", "100%", "(baseline)"], "{answer}");
    let said = sentences(&answer);
    assert!(said.contains("x lower false-positive rate than \"none\" ("), "{answer}");
    assert!(said.contains("% vs 100%"), "{answer}");
    assert!(said.contains(". Exact for its seed, and larger than chance. "), "{answer}");
    assert!(said.contains(" also has lower false-positive rate than \"none\"."), "{answer}");
    assert!(verdict.contains(&"  Only bloom differs."), "{answer}");
    assert!(!said.contains("p-value") && !said.contains("95% CI"), "{answer}");
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
    let caption = "phase look, throughput (ops/s, higher is better), 2 paired trials, ± standard deviation";
    assert_eq!(verdict[0], caption);
    let sentence = "No verdict: 2 trials; a timed verdict needs at least 6 (--trials 6).";
    assert_eq!(verdict.iter().filter(|line| **line == sentence).count(), 1, "{answer}");
    assert_eq!(answer.matches("inconclusive").count(), 2, "one in each line of the table: {answer}");
    assert!(verdict.iter().all(|line| line.chars().count() <= 100), "{answer}");
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
    assert!(row(&answer, "standard(bits_per_key=4) + l0-tiered").contains(&"(baseline)"));
    assert_eq!(differs("standard(bits_per_key=10) + l0-tiered"), "bloom.bits_per_key");
    assert_eq!(differs("blocked(bits_per_key=4) + l0-tiered"), "bloom");
    assert_eq!(differs("standard(bits_per_key=4) + leveled"), "compaction (own level0_runs)");
    assert_eq!(differs("blocked(bits_per_key=10) + leveled"), "3 settings");
    let warning = "WARNING: 4 configurations differ from \"standard(bits_per_key=4) + l0-tiered\" in more than one \
                   setting (bloom, bloom.bits_per_key, compaction (own level0_runs)); see verdicts.csv, \
                   column differs_in.";
    assert!(sentences(&answer).contains(warning), "{answer}");
    let widest = verdict(&answer)[1..].iter().map(|line| line.chars().count()).max().unwrap();
    assert!(widest <= 120, "{widest} columns are hard to read:\n{answer}");
}

#[test]
fn an_ideal_variant_bounds_the_others_and_wins_nothing() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        SMALL.replace("\"none\", \"standard\", \"blocked\"", "\"none\", \"standard\", \"perfect\""),
    );
    let answer = bench.ok(&["run", "x.toml"]);
    assert!(sentences(&answer).contains("Verdict: standard has "), "{answer}");
    assert_eq!(row(&answer, "perfect").last(), Some(&"ideal bound"), "{answer}");
    bench.write("y.toml", SMALL.replace("\"none\", \"standard\", \"blocked\"", "\"standard\", \"perfect\""));
    let answer = bench.ok(&["run", "y.toml"]);
    assert!(
        sentences(&answer).contains("No verdict: all other configurations are ideal bounds. standard has "),
        "{answer}"
    );
}

/// Returns the experiment [`SMALL`] in timed mode with two configurations. `trials` contains further keys of the table
/// `[trials]`.
fn timed(trials: &str) -> String {
    SMALL
        .replace("\"none\", \"standard\", \"blocked\"", "\"none\", \"standard\"")
        .replace("count = 1\nmode  = \"counted\"", &format!("{trials}\nmode  = \"timed\""))
        .replace("y    = \"fpr\"", "y    = \"ops_per_second\"")
        .replace("3_000", "300")
}

/// Returns the values of one column of a CSV file in the results of the experiment `x`.
fn column(bench: &Bench, file: &str, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(bench.path("results/x").join(file)).unwrap();
    let at = reader.headers().unwrap().iter().position(|column| column == name).unwrap();
    reader.records().map(|record| record.unwrap()[at].to_owned()).collect()
}

#[test]
fn the_baseline_runs_twice_to_measure_the_noise() {
    let bench = Bench::new();
    bench.write("x.toml", timed("count = 6"));
    let answer = bench.ok(&["run", "x.toml", "--allow-debug"]);
    let said = sentences(&answer);
    assert!(
        said.contains(" (\"none\" vs itself); smaller changes are ignored. Detected with 80% power: "),
        "{answer}"
    );
    assert!(said.contains("Noise floor "), "{answer}");
    assert!(said.contains(" p-value: paired t-test."), "{answer}");
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

/// Tests that verdicts, the page and the ranking of `effects` use `verdict.threshold`. The write amplification of the
/// configurations differs by more than 0.1 % and less than 50 %.
#[test]
fn an_experiment_sets_the_smallest_difference_that_counts() {
    let bench = Bench::new();
    bench.write("x.toml", SMALL);
    let run = ["run", "x.toml", "--set", "verdict.metric=write_amp", "--set", "verdict.phase=load", "--set"];
    for (threshold, is_different) in [("0.001", true), ("0.5", false)] {
        bench.ok(&[&run[..], &[&format!("verdict.threshold={threshold}")]].concat());
        assert!(column(&bench, "verdicts.csv", "delta").iter().all(|delta| delta == threshold));
        let verdicts = column(&bench, "verdicts.csv", "verdict");
        assert_eq!(verdicts.iter().any(|word| word == "regressed"), is_different, "{verdicts:?}");
        assert!(bench.read("plots/x/page.html").contains(&format!("\"threshold\":{threshold}")));
        let ranking = bench.ok(&["effects", "results/x"]);
        let firsts = ranking.lines().filter(|line| line.trim_start().starts_with("1 ")).count();
        assert_eq!(firsts < 3, is_different, "{ranking}");
    }
    for value in ["0", "-0.01", "1", "nan"] {
        let set = format!("verdict.threshold={value}");
        let error = bench.run(&[&run[..], &[&set]].concat()).refusal();
        assert!(error.contains(" is out of range; use 0.001 to 0.5, such as 0.01 for 1 %"), "{error}");
    }
}

#[test]
fn an_interrupted_run_measures_the_noise_that_is_missing() {
    let bench = Bench::new();
    bench.write("x.toml", timed("count = 6"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let whole = column(&bench, "noise.csv", "trial");
    // More trials are the remaining ones of an interrupted run.
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
    assert!(error.contains("trials.precision: expected the relative half-width"), "{error}");
}

#[test]
fn several_metrics_are_one_family() {
    let bench = Bench::new();
    bench.write("x.toml", SMALL.replace("[[chart]]", "[verdict]\nalso = [\"blocks_read\"]\n\n[[chart]]"));
    let answer = bench.ok(&["run", "x.toml"]);
    assert_eq!(column(&bench, "verdicts.csv", "metric"), ["fpr", "fpr", "blocks_read", "blocks_read"]);
    let caption = "phase look, false-positive rate (lower is better), counted (one seed)";
    assert!(verdict(&answer).contains(&caption), "the first metric has a table: {answer}");
    assert_eq!(answer.matches("\nVerdict: ").count(), 1, "{answer}");
    assert_eq!(answer.matches("\nAlso: blocks fetched from storage: ").count(), 1, "{answer}");
    assert_eq!(answer.matches("Only bloom differs").count(), 1, "a common note is printed once: {answer}");
    assert!(
        answer.find("\nAlso: ") < answer.find("Only bloom differs"),
        "notes follow the verdicts: {answer}"
    );
    let quick = bench.ok(&["run", "x.toml", "--quick", "--out", "quick"]);
    assert!(!quick.contains("Also: ") && quick.contains("No verdict: quick run"), "{quick}");
    let error = bench.run(&["run", "x.toml", "--set", "verdict.also=[\"p99ns\"]"]).refusal();
    assert!(error.contains("did you mean \"p99_ns\"?"), "{error}");
}

/// Tests that lsmbench compares only filters of equal size with each other, and that the chart says so. Filters of
/// different sizes are not comparable.
#[test]
fn like_is_compared_with_like() {
    let bench = Bench::new();
    let sweep = "\"design.bloom\" = [\"standard\", \"blocked\"]\n\"design.bloom.bits_per_key\" = [4, 10]";
    let table = "[verdict]\nbaseline = \"standard\"\nwithin = [\"design.bloom.bits_per_key\"]\n\n[[chart]]";
    let text = SMALL.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", sweep);
    let text = text.replace("[[chart]]", table).replace("kind = \"bar\"", "kind = \"line\"\nname = \"fpr\"");
    bench.write(
        "x.toml",
        text.replace(
            "x    = \"design.bloom\"",
            "x = \"design.bloom.bits_per_key\"\nseries = \"design.bloom\"",
        ),
    );
    let answer = bench.ok(&["run", "x.toml"]);
    for bits in [4, 10] {
        let caption =
            format!("bloom.bits_per_key = {bits}: phase look, false-positive rate (lower is better), ");
        let mut lines = verdict(&answer).into_iter().skip_while(|line| !line.starts_with(&caption));
        let is_of_one_seed =
            |line: &str| line.starts_with("No verdict: one seed: ") && line.contains("blocked");
        assert!(lines.any(is_of_one_seed), "{answer}");
    }
    let columns = ["baseline", "candidate", "factors"].map(|name| column(&bench, "verdicts.csv", name));
    assert_eq!(columns, [["standard"; 2], ["blocked"; 2], ["1"; 2]]);
    let chart = bench.read("plots/x/fpr.svg");
    assert!(chart.contains("Verdict against standard at equal bloom.bits_per_key: "), "{chart}");
    for (within, hint) in [
        ("[\"design.blom\"]", "unknown swept path \"design.blom\"; did you mean \"design.bloom\"?"),
        (
            "[\"design.bloom\", \"design.bloom.bits_per_key\"]",
            "so lsmbench would compare each configuration only with itself; remove a path from `within`",
        ),
    ] {
        let error = bench.run(&["run", "x.toml", "--set", &format!("verdict.within={within}")]).refusal();
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn a_filter_of_other_bits_is_not_comparable_in_any_file() {
    let bench = Bench::new();
    let text = "question = \"?\"\nsubject = \"bloom\"\n[component]\nentries = 2000\noperations = 2000\n\
                [sweep]\n\"design.bloom\" = [\"standard\", \"blocked\", \"xor\"]\n\"design.bloom.bits_per_key\" = [16]\n\
                [trials]\ncount = 1\nmode = \"counted\"\n[verdict]\nmetric = \"fpr\"\nphase = \"absent\"\n\
                [[chart]]\nkind = \"line\"\nname = \"fpr\"\nx = \"bits_per_key\"\ny = \"fpr\"\nseries = \"design.bloom\"\nfilter = { phase = \"absent\" }\n";
    bench.write("x.toml", text);
    let answer = bench.ok(&["run", "x.toml"]);
    assert_eq!(row(&answer, "xor").last(), Some(&"not comparable"), "{answer}");
    let note = "Configurations that are not comparable with standard, because bits_per_key differs by more \
                than 10%: xor.";
    assert!(sentences(&answer).contains(note), "{answer}");
    let verdicts = bench.read("results/component-x/verdicts.csv");
    let of_xor = verdicts.lines().find(|line| line.contains(",xor,")).expect("a row per candidate");
    assert!(of_xor.contains(",inconclusive,no rival; bits_per_key 10.0 against 16.0"), "{verdicts}");
    let chart = bench.read("plots/component-x/fpr.svg");
    assert!(
        chart.contains("Verdict against standard: blocked ")
            && chart.contains("1 configuration cannot be compared"),
        "{chart}"
    );
}

/// Tests that a rate search decides only on differences above its precision.
#[test]
fn no_verdict_is_finer_than_the_search_for_a_rate() {
    let bench = Bench::new();
    let searched = timed("count = 6\nnoise = false")
        .replace("absent     = 0.5", "rate = { p99 = \"1s\", from = 1000, to = 8000, within = 0.5 }");
    bench.write("x.toml", searched);
    let answer = bench.ok(&["run", "x.toml", "--allow-debug"]);
    assert!(
        sentences(&answer)
            .contains(" The rate search has a precision of 50.0%; smaller changes are ignored."),
        "{answer}"
    );
    assert_eq!(column(&bench, "verdicts.csv", "delta"), ["0.5"]);
    // Other metrics are judged without the precision of the search.
    bench.ok(&["run", "x.toml", "--allow-debug", "--set", "verdict.metric=write_amp"]);
    assert_eq!(column(&bench, "verdicts.csv", "delta"), ["0.02"]);
}

#[test]
fn a_quick_run_has_no_verdict() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL.to_owned() + "\n[quick]\n\"trials.count\" = 1\n");
    let answer = bench.ok(&["run", "small.toml", "--quick"]);
    let line = "No verdict: quick run (reduced size). Rerun without --quick before drawing conclusions.";
    assert!(verdict(&answer).contains(&line), "{answer}");
    assert!(!answer.contains("\nVerdict: ") && row(&answer, "bloom").contains(&"verdict"), "{answer}");
}

/// Changes the values of `runs.csv` and `noise.csv` that `value` returns for the name of a column, a configuration and a
/// trial.
fn rewrite(bench: &Bench, value: impl Fn(&str, usize, usize) -> Option<f64>) {
    for file in ["runs.csv", "noise.csv"] {
        let path = bench.path("results/x").join(file);
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let heads = reader.headers().unwrap().clone();
        let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&heads).unwrap();
        for record in reader.records().map(Result::unwrap) {
            let [cell, trial] = ["cell", "trial"].map(|name| record[at(name)].parse().unwrap());
            let fields = heads.iter().zip(&record).map(|(name, old)| match value(name, cell, trial) {
                Some(new) if !old.is_empty() || name == "cpu_seconds" => new.to_string(),
                _ => old.to_owned(),
            });
            writer.write_record(fields).unwrap();
        }
        std::fs::write(&path, writer.into_inner().unwrap()).unwrap();
    }
    bench.forget_seals("x");
}

/// The paired ratios are 1.01 in four of six rounds, but the medians of both sides are 35 and 20.6.
#[test]
fn medians_that_suggest_the_opposite_are_explained() {
    let bench = Bench::new();
    bench.write("x.toml", timed("count = 6\nnoise = false"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    rewrite(&bench, |name, cell, trial| {
        let base = 10.0 * (trial + 1) as f64;
        let ratio = if cell == 0 { 1.0 } else { [1.01, 1.01, 0.5, 0.5, 1.01, 1.01][trial] };
        (name == "ops_per_second").then_some(base * ratio)
    });
    let answer = bench.ok(&["run", "x.toml", "--allow-debug", "--resume"]);
    let row = row(&answer, "standard");
    assert_eq!(row[2], "+1.0%", "the median ratio over the rounds: {row:?}");
    let note = "For standard, the ratio of the medians and the median of the paired ratios have opposite directions; \
                the verdict uses the median of the paired ratios.";
    assert!(sentences(&answer).contains(note), "{answer}");
}

/// The last screen of four policies and three metrics fits a small terminal, also if the times have no verdict.
#[test]
fn the_last_screen_fits_a_small_terminal() {
    let bench = Bench::new();
    let policies =
        "\"design.compaction\" = [\"leveled\", \"tiered\", \"lazy-leveled\", { kind = \"l0-tiered\" }]";
    let text = timed("count = 6").replace("\"design.bloom\" = [\"none\", \"standard\"]", policies);
    let text = text.replace("\"design.bloom\"", "\"design.compaction\"");
    let verdict = "[verdict]\nmetric = \"write_amp\"\nalso = [\"blocks_per_get\", \"ops_per_second\"]\n\
                   baseline = \"leveled\"\n\n[[chart]]";
    bench.write("x.toml", text.replace("[[chart]]", verdict));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    rewrite(&bench, |name, cell, trial| {
        let steady = 1.0 + trial as f64 / 1000.0;
        let [own, noisy] = [[1.0, 0.3, 0.5, 0.7][cell], [0.5, 2.0, 0.6, 1.8, 0.7, 1.5][(trial + cell) % 6]];
        Some(match name {
            "write_amp" => 12.0 * own * steady,
            "blocks_per_get" if (cell, trial) == (1, 5) => 9.0,
            "blocks_per_get" => steady / own,
            "ops_per_second" => 100_000.0 * noisy,
            "cpu_seconds" => 0.1 * own * steady,
            "busy_ns" => 1.0,
            _ => return None,
        })
    });
    let answer = bench.ok(&["run", "x.toml", "--allow-debug", "--resume"]);
    let said = sentences(&answer);
    for part in [
        "Verdict: tiered has 3.3",
        "lazy-leveled and l0-tiered also have lower write amplification than leveled.",
        "Also: data blocks read per get: leveled is best.",
        "Outliers (included): tiered in trial 6.",
        "Also: throughput: inconclusive. No candidate beats leveled. Closest: ",
        "Exclude waits: --set verdict.metric=busy_ns.",
        "CPU time per operation: ",
        "which waits and noise hide.",
        "p-values: paired t-test, Holm-corrected for 9 comparisons.",
    ] {
        assert!(said.contains(part), "{part}: {answer}");
    }
    let lines: Vec<&str> = answer.lines().collect();
    assert!(lines.len() <= 24, "{} lines:\n{answer}", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{answer}");
    assert_eq!(
        row(&answer, "compaction"),
        ["compaction", "value", "vs leveled", "95% CI", "p", "memory", "verdict"]
    );
    // A spread of one digit is padded: `±  7%`.
    let padded = answer.replace("±  ", "± ");
    let row = row(&padded, "tiered");
    assert!(row[1].contains(" ± ") && row[3].contains(" .. ") && row.len() == 7, "{row:?}");
    assert!(answer.contains("\nResults: results/x/  (runs.csv, verdicts.csv, manifest.json)\n"), "{answer}");
    let charts = "\nCharts:  plots/x/  (ops_per_second-by-compaction{,-ratio}.png, page.html)\n";
    assert!(answer.ends_with(charts), "{answer}");
    let ratios = bench.read("plots/x/ops_per_second-by-compaction-ratio.svg");
    assert!(ratios.contains("lazy-leveled") && ratios.contains("throughput / that of leveled"), "{ratios}");
}
