//! Tests of counters that depend on random draws. With several seeds, a counter has a confidence interval. With one
//! seed, lsmbench decides only on differences that chance cannot explain.

use std::collections::BTreeMap;

use results::{Repeats, Unit, columns as c};

use crate::bench::{Bench, SMALL, count, number, of, text, unwrapped};

/// An experiment with two filters of nearly equal false-positive rates, so that chance decides which filter is better.
const ALIKE: &str = r#"
question = "Which filter lets fewest absent lookups through?"

[design]
memtable = { capacity = "32KiB" }

[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "fixed", bytes = 32 }

[[phase]]
name       = "look"
operations = 3_000
mix        = "get"
absent     = 1.0

[sweep]
"design.bloom" = ["standard", "blocked"]

[trials]
mode = "counted"

[verdict]
metric = "fpr"
also   = ["filter_bytes", "flushes"]
"#;

fn verdicts(bench: &Bench) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(bench.path("results/x/verdicts.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

#[test]
fn seeds_are_replicates_that_all_configurations_share() {
    let bench = Bench::new();
    bench.write("x.toml", ALIKE.replace("mode = \"counted\"", "mode = \"counted\"\nseeds = 8"));
    let answer = bench.run(&["run", "x.toml"]).expect(0);
    assert!(answer.err.contains("8 rounds, counted mode, seeds 42 to 49"), "{answer:?}");
    let rows = bench.rows("x");
    let of_look = of(&rows, "look", "all");
    assert_eq!(of_look.len(), 16);
    for row in &of_look {
        assert_eq!(
            count(row, &c::SEED),
            42 + count(row, &c::TRIAL),
            "a trial of each configuration has its seed"
        );
    }
    let positives: std::collections::BTreeSet<u64> = of_look
        .iter()
        .filter(|row| text(row, &c::LABEL) == "standard")
        .map(|row| count(row, &c::FILTER_FALSE_POSITIVES))
        .collect();
    assert!(positives.len() > 2, "each seed asks for other keys: {positives:?}");
    // A count that another seed changes is declared so. Bytes depend on the seed by less than a thousandth.
    let standard: Vec<_> = of_look.iter().filter(|row| text(row, &c::LABEL) == "standard").collect();
    for metric in
        c::METRICS.iter().filter(|metric| metric.unit == Unit::Count && metric.repeats == Repeats::Exact)
    {
        let first = standard[0].get(metric);
        assert!(standard.iter().all(|row| row.get(metric) == first), "{} depends on the seed", metric.name);
    }
    let found = verdicts(&bench);
    let [fpr, bytes, _] = &found[..] else { panic!("{found:?}") };
    assert_eq!(fpr["trials"], "8");
    let end = |name: &str| fpr[name].parse::<f64>().unwrap();
    assert!(
        end("ratio_low") < end("ratio") && end("ratio") < end("ratio_high"),
        "an interval over seeds: {fpr:?}"
    );
    // The memory of a filter does not depend on what is asked.
    assert_eq!((&*bytes["ratio_low"], &*bytes["doubt"]), (&*bytes["ratio_high"], ""), "{bytes:?}");
    let said = unwrapped(&answer.out);
    assert!(
        said.contains("false-positive rate (lower is better), counted, 8 seeds, ± standard deviation"),
        "{said}"
    );
    assert!(said.contains("Also: memory of filters: "), "{said}");
    assert!(said.contains("the same for all 8 seeds"), "{said}");
    // Trials of one seed are no more evidence.
    bench.ok(&["run", "x.toml", "--trials", "16"]);
    assert_eq!(verdicts(&bench)[0]["trials"], "8");
    // A golden file has the counters of the first seed.
    bench.ok(&["check", "x.toml", "--baseline", "goldens", "--update"]);
    let golden = bench.read("goldens/x.csv");
    bench.write("x.toml", ALIKE);
    bench.ok(&["check", "x.toml", "--baseline", "again", "--update"]);
    let counters = |text: &str| {
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(counters(&golden), counters(&bench.read("again/x.csv")));
    for (set, hint) in
        [("trials.seeds=0", "trials.seeds: 0 is "), ("trials.seeds=1001", "1001 exceeds the maximum of 1000")]
    {
        let error = bench.run(&["run", "x.toml", "--set", set]).refusal();
        assert!(error.contains(hint), "{error}");
    }
}

/// Tests that one seed gives no verdict if the filters have few false positives. The seed then decides which filter has
/// fewer.
#[test]
fn one_seed_names_no_winner_that_chance_may_have_chosen() {
    let bench = Bench::new();
    bench.write("x.toml", ALIKE);
    let answer = bench.ok(&["run", "x.toml"]);
    let said = unwrapped(&answer);
    assert!(
        said.contains("No verdict: one seed: the difference may hold only for this seed. blocked has "),
        "{answer}"
    );
    assert!(said.contains("More seeds may decide: --set trials.seeds=8."), "{answer}");
    let found = verdicts(&bench);
    assert_eq!(found[0]["verdict"], "inconclusive");
    assert!(found[0]["doubt"].starts_with("one seed: "), "{found:?}");
    // A filter against none is a difference that no seed turns.
    bench.write("x.toml", SMALL);
    let answer = bench.ok(&["run", "x.toml"]);
    assert!(unwrapped(&answer).contains("Exact for its seed, and larger than chance."), "{answer}");
    assert!(number(of(&bench.rows("x"), "look", "all")[1], &c::FPR) < 0.1);
}
