//! Numbers from run to run: a store that results are added to, and the changes in it.

use std::fmt::Write as _;

use crate::bench::Bench;

#[test]
fn results_are_added_once() {
    let bench = Bench::small();
    let error = bench.run(&["history"]).refusal();
    assert!(error.contains("there is no history results/history.csv; begin one with --add"), "{error}");
    for (out, trials) in [("one", "1"), ("two", "2")] {
        bench.ok(&["run", "small.toml", "--out", out, "--trials", trials]);
    }
    let add = ["history", "--add", "one", "--add", "two/small", "--metric", "write_amp"];
    let answer = bench.ok(&add);
    assert!(answer.starts_with("0 changes in ") && answer.contains("numbers of up to 2 runs"), "{answer}");
    let again = bench.run(&add).expect(0);
    assert_eq!(again.out, answer);
    assert!(again.err.contains("is in the history already"), "{}", again.err);
    let error = bench.run(&["history", "--metric", "fprr"]).refusal();
    assert!(error.contains("there is no column \"fprr\""), "{error}");
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
    let told = "x: leveled, phase mixed on box: ops_per_second regressed, 101\u{a0}k -> 81.0\u{a0}k (-19.8 %), since \
                2026-01-01T00:00:10Z, commit c0ffee0010\n1 changes in 2 numbers of up to 16 runs\n";
    assert_eq!(answer, told);
    assert!(bench.path("charts/x/box/mixed-all-ops_per_second.png").is_file());
    let error = bench.run(&["history", "h.csv", "--experiment", "y"]).refusal();
    assert!(error.contains("no experiment \"y\"; it has x"), "{error}");
}
