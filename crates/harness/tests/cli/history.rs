//! Tests of `lsmbench history`, which adds the metrics of runs to a file and finds change points.

use std::fmt::Write as _;

use crate::bench::Bench;

#[test]
fn results_are_added_once() {
    let bench = Bench::small();
    let error = bench.run(&["history"]).refusal();
    assert!(error.contains("no history results/history.csv; create it with: lsmbench history results/history.csv --add RESULTS"), "{error}");
    for (out, trials) in [("one", "1"), ("two", "2")] {
        bench.ok(&["run", "small.toml", "--out", out, "--trials", trials]);
    }
    let add = ["history", "--add", "one", "--add", "two/small", "--metric", "write_amp"];
    let answer = bench.ok(&add);
    assert!(
        answer.starts_with("0 change points in ") && answer.contains("metrics over up to 2 runs"),
        "{answer}"
    );
    let again = bench.run(&add).expect(0);
    assert_eq!(again.out, answer);
    assert!(again.err.contains("is in the history already"), "{}", again.err);
    let error = bench.run(&["history", "--metric", "fprr"]).refusal();
    assert!(error.contains("unknown column \"fprr\""), "{error}");
}

#[test]
fn a_change_is_told_and_drawn() {
    let bench = Bench::new();
    let mut text =
        "started,git_commit,machine,config_hash,experiment,label,phase,operation,metric,median,trials\n"
            .to_owned();
    for run in 0..16 {
        let rate = if run < 10 { 100_000 } else { 80_000 } + run % 3 * 1_000;
        writeln!(
            text,
            "2026-01-01T00:00:{run:02}Z,c0ffee{run:04},box,h,x,leveled,mixed,all,ops_per_second,{rate},6"
        )
        .unwrap();
        writeln!(
            text,
            "2026-01-01T00:00:{run:02}Z,c0ffee{run:04},box,h,x,tiered,mixed,all,ops_per_second,120000,6"
        )
        .unwrap();
    }
    bench.write("h.csv", text);
    let answer = bench.ok(&["history", "h.csv", "--plots", "charts"]);
    let told = "x: leveled, phase mixed on box: ops_per_second regressed, 101 k -> 81.0 k (-19.8%), since \
                2026-01-01T00:00:10Z, commit c0ffee0010\n1 change points in 2 metrics over up to 16 runs\n";
    assert_eq!(answer, told);
    assert!(bench.path("charts/x/box/mixed-all-ops_per_second.png").is_file());
    let error = bench.run(&["history", "h.csv", "--experiment", "y"]).refusal();
    assert!(error.contains("no experiment \"y\" Valid: \"x\""), "{error}");
}

/// Tests that series of very different sizes share one chart with a logarithmic scale. A linear scale would hide the
/// smaller values.
#[test]
fn series_of_very_different_sizes_share_a_chart() {
    let bench = Bench::new();
    let head =
        "started,git_commit,machine,config_hash,experiment,label,phase,operation,metric,median,trials\n";
    let text = |large: u32| {
        let line = |run: u32, label: &str, rate: u32| {
            format!("2026-01-01T00:00:{run:02}Z,c0,box,h,x,{label},mixed,all,ops_per_second,{rate},6\n")
        };
        let of_run = |run| line(run, "small", 1_000 + run) + &line(run, "large", large + run);
        head.to_owned() + &(0..4).map(of_run).collect::<String>()
    };
    for (large, is_logarithmic) in [(5_000, false), (5_000_000, true)] {
        bench.write("h.csv", text(large));
        bench.ok(&["history", "h.csv", "--plots", "charts"]);
        let chart = bench.read("charts/x/box/mixed-all-ops_per_second.svg");
        // A logarithmic scale has no 0.
        assert_eq!(chart.contains("\n0\n"), !is_logarithmic, "{chart}");
    }
}

#[test]
fn a_damaged_history_says_where_and_what_to_do() {
    let bench = Bench::new();
    for (content, saying) in
        [("", "h.csv:1: column 1: expected \"started\", found nothing"), ("started\n", "h.csv:1: ")]
    {
        bench.write("h.csv", content);
        for arguments in [&["history", "h.csv"][..], &["history", "h.csv", "--add", "nowhere"]] {
            let error = bench.run(arguments).refusal();
            let advice = "; fix this line, or move the history file away and create another file with: lsmbench history h.csv --add RESULTS";
            assert!(error.starts_with(saying) && error.ends_with(advice), "{error}");
        }
    }
}
