//! Tests of the verdict for a whole sweep: effects of factors, a ranking with ties, and the Pareto front.

use crate::bench::{Bench, SMALL};

/// Returns an experiment in counted mode that sweeps every combination of two factors.
fn swept() -> String {
    let two =
        "\"design.bloom\" = [\"none\", \"standard\"]\n\"design.memtable.capacity\" = [\"16KiB\", \"32KiB\"]";
    SMALL.replace("\"design.bloom\" = [\"none\", \"standard\", \"blocked\"]", two)
}

#[test]
fn a_sweep_has_effects_a_ranking_and_a_front() {
    let bench = Bench::new();
    bench.write("x.toml", swept());
    bench.ok(&["run", "x.toml"]);
    let effects = ["effects", "results/x", "--metric", "blocks_per_get", "--metric", "filter_bytes"];
    let answer = bench.ok(&[&effects[..], &["--csv", "out", "--plots", "out"]].concat());
    assert!(
        answer.starts_with("x: data blocks read per get in phase look (lower is better), counted\n"),
        "{answer}"
    );
    assert!(answer.contains("rank  configuration") && answer.contains("not distinguished from"), "{answer}");
    assert!(
        answer.contains("\n  design.bloom ") && answer.contains("Factors with an effect: design.bloom"),
        "{answer}"
    );
    // A filter takes memory, so that neither of the two is better than the other in both metrics.
    assert!(answer.contains("Pareto front over data blocks read per get, memory of filters:"), "{answer}");
    let effects_csv = bench.read("out/effects.csv");
    assert!(
        effects_csv.starts_with("metric,phase,factor,level,ratio,ratio_low,ratio_high,share,p_value\n"),
        "{effects_csv}"
    );
    // Two factors of two levels, and their four combinations. Some configurations have no filter, so memory has no ratios.
    assert_eq!(effects_csv.lines().count(), 1 + 2 + 2 + 4, "{effects_csv}");
    let ranking = bench.read("out/ranking.csv");
    assert_eq!(ranking.lines().count(), 1 + 2 * 4, "{ranking}");
    assert!(bench.path("out/pareto.svg").is_file());
    for (arguments, hint) in [
        (
            &["effects", "results/x", "--metric", "flushes"][..],
            "neither higher nor lower values of flushes are better",
        ),
        (&["effects", "results/x", "--metric", "fpt"], "did you mean \"fpr\"?"),
        (&["effects", "results/x", "--metric", "fpr", "--phase", "gone"], "no row has phase \"gone\""),
        (
            &["effects", "results/x"],
            "the experiment has no metric for the verdict; name a metric, such as --metric",
        ),
        (&["effects", "nowhere"], "nowhere"),
    ] {
        let error = bench.run(arguments).refusal();
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn a_sweep_without_every_combination_is_ranked_only() {
    let bench = Bench::new();
    bench.write("x.toml", swept().replace("[sweep]", "[sweep]\ncombine = \"zip\""));
    bench.ok(&["run", "x.toml"]);
    let answer = bench.ok(&["effects", "results/x", "--metric", "blocks_per_get"]);
    assert!(
        answer.contains("No effects: the sweep does not contain every combination of its values."),
        "{answer}"
    );
    assert!(answer.contains("  1     \"standard + memtable.capacity=32KiB\""), "{answer}");
}
