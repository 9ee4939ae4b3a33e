//! What a run says at its end: short, each thing once, and no more than the numbers carry.

use crate::bench::{Bench, SMALL};

/// The lines of the verdict: behind the question, above the results.
fn verdict(answer: &str) -> Vec<&str> {
    let lines = answer.lines().skip(2);
    lines.take_while(|line| !line.starts_with("  results  ")).map(str::trim_end).collect()
}

#[test]
fn counters_need_no_interval() {
    let bench = Bench::small();
    let answer = bench.ok(&["run", "small.toml"]);
    let verdict = verdict(&answer);
    assert!(
        verdict[0].contains(" beats none (1 other does too): false-positive rate in phase look ×0.0"),
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
    assert!(verdict[0].starts_with("No winner over none. The best of the others is "), "{answer}");
    let doubt = "inconclusive: 2 trials do not carry a verdict; it takes 5 or more";
    assert_eq!(answer.matches(doubt).count(), 1, "{answer}");
    assert_eq!(verdict.iter().filter(|line| line.contains("  inconclusive, ")).count(), 2, "{answer}");
}

#[test]
fn confounded_comparisons_are_called_so() {
    let bench = Bench::new();
    let sweep = "\"design.bloom\" = [\"standard\", \"blocked\"]\n\"design.bloom.bits_per_key\" = [4, 10]\n\
                 \"design.compaction\" = [\"l0-tiered\", \"leveled\"]";
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
    assert!(verdict[0].starts_with("standard beats none: "), "{answer}");
    assert!(verdict.iter().any(|line| line.trim_start().starts_with("perfect [oracle]  ")), "{answer}");
    bench.write("y.toml", SMALL.replace("\"none\", \"standard\", \"blocked\"", "\"standard\", \"perfect\""));
    let answer = bench.ok(&["run", "y.toml"]);
    assert!(answer.contains("there is nothing but oracles to compare it with"), "{answer}");
}
