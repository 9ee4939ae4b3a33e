//! Tests of gates that compare two folders of results, counters with golden files, and times with another build.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use experiment::THRESHOLDS;
use serde_json::Value;

use crate::bench::{Bench, SMALL};

/// Reduces the first number of this column in a golden file by a thousandth of `of`, and by at least 1.
fn one_less(bench: &Bench, column: &str) {
    let path = bench.path("goldens/small.csv");
    let text = fs::read_to_string(&path).unwrap();
    let line =
        text.lines().find(|line| line.contains(&format!(",{column},")) && !line.ends_with(",0")).unwrap();
    let (head, value) = line.rsplit_once(',').unwrap();
    let less: u64 = value.parse::<u64>().unwrap() - 1;
    fs::write(&path, text.replace(line, &format!("{head},{less}"))).unwrap();
}

#[test]
fn counters_pass_their_goldens_and_one_extra_block_does_not() {
    let bench = Bench::small();
    // No block is read from mapped tables.
    bench.write("small.toml", SMALL.replace("[design]", "[design]\nstorage = \"pread\""));
    let error = bench.run(&["check", "--baseline", "goldens"]).refusal();
    assert!(error.contains("goldens"), "{error}");
    let error = bench.run(&["check", "small.toml", "--baseline", "goldens"]).refusal();
    assert!(error.contains("no golden file goldens/small.csv; create it with --update"), "{error}");
    bench.ok(&["check", "small.toml", "--baseline", "goldens", "--update"]);
    // The golden files have their own options.
    let answer = bench.ok(&["check", "--baseline", "goldens"]);
    assert!(answer.starts_with("PASS  ") && answer.ends_with(" counters unchanged\n"), "{answer}");

    one_less(&bench, "blocks_read");
    let answer = bench.run(&["check", "--baseline", "goldens"]).expect(1).out;
    let lines: Vec<&str> = answer.lines().collect();
    let [headline, difference, accept] = lines[..] else { panic!("{answer}") };
    assert!(headline.starts_with("FAIL  1 of "), "{answer}");
    assert!(
        headline.contains(" counters regressed, 0 missing, ") && headline.ends_with(" unchanged"),
        "{answer}"
    );
    let words: Vec<&str> = difference.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    assert!(words[0] == "small" && words.contains(&"blocks_read"), "{answer}");
    assert!(words.last().unwrap().starts_with("+1 (+") && difference.contains(" -> "), "{answer}");
    assert_eq!(accept, "Accept the new values with: lsmbench check --baseline goldens --update");
    let update = bench.ok(&["check", "--baseline", "goldens", "--update"]);
    let updated = headline.replacen("FAIL", "UPDATED", 1);
    assert_eq!(
        update.lines().collect::<Vec<_>>(),
        [&*updated, difference],
        "the accepted values are printed"
    );
    bench.ok(&["check", "--baseline", "goldens"]);

    // A number without a better direction must not drift silently either.
    one_less(&bench, "flushes");
    let answer = bench.run(&["check", "--baseline", "goldens"]).expect(1).out;
    assert!(
        answer.starts_with("FAIL  0 of ") && answer.contains(" counters regressed, 1 changed, 0 missing, "),
        "{answer}"
    );
}

#[test]
fn numbers_that_are_gone_fail_the_gate() {
    let bench = Bench::small();
    bench.write("my small.toml", SMALL);
    let check = ["check", "my small.toml", "--baseline", "goldens"];
    bench.ok(&[&check[..], &["--update"]].concat());
    bench.ok(&["check", "--baseline", "goldens"]);
    bench.write("my small.toml", SMALL.replace(", \"blocked\"]", "]"));
    let answer = bench.run(&["check", "--baseline", "goldens"]).expect(1).out;
    assert!(answer.starts_with("FAIL  0 of ") && !answer.contains(" 0 missing"), "{answer}");
    bench.write("my small.toml", SMALL.replace("\"look\"", "\"gaze\"").replace("\"load\"", "\"fill\""));
    let error = bench.run(&check).refusal();
    assert!(
        error.contains(
            "the base results and the new results have no configuration and phase with a common metric, so \
             nothing was compared"
        ),
        "{error}"
    );
    for (options, hint) in [
        (&["--trials", "3"][..], "`lsmbench check` does not accept --trials"),
        (&["--seed", "3"], "--quick and --design need an experiment file"),
    ] {
        let error = bench.run(&[&["check", "--baseline", "goldens"][..], options].concat()).refusal();
        assert!(error.contains(hint), "{error}");
    }
    assert!(bench.run(&["check", "--metric", "fpr"]).expect(2).err.contains("--against"));
    for options in [&["--seed", "3"][..], &["--set", "phase.look.absent=0.1"], &["--quick"]] {
        let error = bench.run(&[&check[..], options].concat()).refusal();
        let said = format!("goldens/my small.csv was created with no options, not with {}", options[0]);
        assert!(error.contains(&said) && error.contains("so the counters are not comparable"), "{error}");
    }
}

/// Tests that lsmbench reports implausible values and computes no verdict from them. The test writes an impossible
/// number of cache hits.
#[test]
fn implausible_numbers_are_told_and_carry_no_verdict() {
    let bench = Bench::small();
    for out in ["a", "b"] {
        bench.ok(&["run", "small.toml", "--out", out]);
    }
    let marked = "b/small/runs.csv";
    let text = bench.read(marked);
    let column =
        |name: &str| text.lines().next().unwrap().split(',').position(|column| column == name).unwrap();
    let (label, phase, blocks, words) =
        (column("label"), column("phase"), column("blocks_read"), column("implausible"));
    let mark = |line: &str| {
        let mut cells: Vec<&str> = line.split(',').collect();
        if (cells[label], cells[phase]) == ("standard", "look") {
            (cells[blocks], cells[words]) = ("999999", "share: too much");
        }
        cells.join(",") + "\n"
    };
    bench.write(marked, text.lines().map(mark).collect::<String>());
    let mut manifest = results::Manifest::read(&bench.path("b/small/manifest.json")).unwrap();
    (manifest.runs, manifest.timeline, manifest.noise, manifest.levels) = (None, None, None, None);
    manifest.write(&bench.path("b/small/manifest.json")).unwrap();
    let answer = bench.ok(&["compare", "a", "b"]);
    assert!(answer.starts_with("PASS  0 of ") && answer.contains(" implausible"), "{answer}");
    let note = "note: no verdict, because values of the new results are implausible: small: standard, phase look \
                (share: too much)";
    assert!(answer.contains(note), "{answer}");
    let all: Value = serde_json::from_str(&bench.ok(&["compare", "a", "b", "--format", "json"])).unwrap();
    let of_look = all["differences"].as_array().unwrap().iter();
    let mut of_look = of_look.filter(|d| d["label"] == "standard" && d["phase"] == "look").peekable();
    assert!(of_look.peek().is_some());
    assert!(of_look.all(|d| d["verdict"] == "inconclusive"
        && d["doubt"] == "a value of the baseline or the candidate exceeds a physical or theoretical bound"));
}

#[test]
fn a_damaged_golden_has_a_line() {
    let bench = Bench::small();
    bench.ok(&["check", "small.toml", "--baseline", "goldens", "--update"]);
    let path = bench.path("goldens/small.csv");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("load,insert,ops,3000", "load,insert,ops", 1)).unwrap();
    let error = bench.run(&["check", "--baseline", "goldens"]).refusal();
    assert!(
        error.contains("goldens/small.csv:") && error.contains("the line must have five fields"),
        "{error}"
    );
}

#[test]
fn two_folders_are_compared_in_every_format() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml", "--out", "a"]);
    bench.ok(&["run", "small.toml", "--out", "b"]);
    let same = bench.ok(&["compare", "a", "b"]);
    assert!(same.starts_with("PASS  ") && same.ends_with(" numbers unchanged\n"), "{same}");
    assert_eq!(same.lines().count(), 1, "{same}");
    assert_eq!(bench.ok(&["compare", "a/small", "b/small"]), same);

    bench.ok(&["run", "small.toml", "--out", "c", "--set", "design.block.size=1024"]);
    let worse = bench.run(&["compare", "a", "c"]).expect(1).out;
    assert!(worse.starts_with("FAIL  ") && worse.contains(" numbers regressed, "), "{worse}");
    assert!(worse.contains("  fence_bytes  "), "{worse}");
    let note = "note: small: the settings of the base run and the new run differ in design.block.size, which";
    assert!(worse.contains(note), "{worse}");
    let markdown = bench.run(&["compare", "a", "c", "--format", "markdown"]).expect(1).out;
    assert!(markdown.starts_with("### lsmbench: FAIL: ") && markdown.contains("\n| small: "), "{markdown}");
    let json = |format: &str| -> Value {
        serde_json::from_str(&bench.run(&["compare", "a", "c", "--format", format]).expect(1).out).unwrap()
    };
    let all = json("json");
    assert_eq!(all["good"], false);
    let fences = all["differences"].as_array().unwrap().iter().filter(|d| d["metric"] == "fence_bytes");
    assert!(fences.clone().count() > 0 && fences.clone().all(|d| d["verdict"] == "regressed"));
    let action = json("github-action-benchmark");
    assert!(
        action
            .as_array()
            .unwrap()
            .iter()
            .all(|entry| entry["value"].is_number() && entry["unit"].is_string())
    );
    let bencher = json("bencher");
    let of_cell = &bencher["small: none, phase look"];
    assert!(of_cell["blocks_read"]["value"].is_number(), "{bencher}");

    let one = bench.ok(&["compare", "a", "b", "--metric", "fpr", "--format", "json"]);
    let one: Value = serde_json::from_str(&one).unwrap();
    assert!(one["differences"].as_array().unwrap().iter().all(|d| d["metric"] == "fpr"));
    for (arguments, hint) in [
        (&["compare", "a", "nowhere"][..], "cannot read nowhere"),
        (&["compare", "a", "."], "another folder has results of this experiment with different settings"),
        (&["compare", "a", "b", "--metric", "fpt"], "did you mean \"fpr\"?"),
        (&["compare", "a", "b", "--metric", "flushes"], "cannot have a verdict"),
    ] {
        let error = bench.run(arguments).refusal();
        assert!(error.contains(hint), "{error}");
    }
}

/// Returns a timed experiment whose writes wait for the disk.
fn synced() -> String {
    SMALL
        .replace(
            "memtable =",
            "wal = \"sync\"\nstorage = { kind = \"simulated\", sync_latency = \"1ms\" }\nmemtable =",
        )
        .replace("\"none\", \"standard\", \"blocked\"", "\"none\"")
        .replace("\"counted\"", "\"timed\"")
        .replace("3_000", "150")
}

#[test]
fn another_build_is_run_in_turn_and_a_slowdown_is_confirmed() {
    let bench = Bench::new();
    bench.write("small.toml", synced());
    let program = env!("CARGO_BIN_EXE_lsmbench");
    // A build whose syncs take no time: the baseline of a change that adds a wait.
    let set = "--set 'design.storage.sync_latency=\"0ns\"'";
    let base = bench.write("base", format!("#!/bin/sh\nexec {program} \"$@\" {set}\n"));
    fs::set_permissions(&base, fs::Permissions::from_mode(0o755)).unwrap();
    let arguments = |base: &'static str| {
        [
            "check",
            "small.toml",
            "--against",
            base,
            "--blocks",
            "6",
            "--metric",
            "ops_per_second",
            "--allow-debug",
        ]
    };
    let answer = bench.run(&arguments("./base")).expect(1);
    assert!(answer.out.starts_with("FAIL  ") && answer.out.contains("  ops_per_second  "), "{answer:?}");
    assert!(answer.out.contains(" slower (95% CI ") && answer.out.contains(", n = 6)"), "{answer:?}");
    assert!(
        answer.err.contains("the first batch shows a regression; a second batch of rounds must confirm it"),
        "{answer:?}"
    );
    // The build against itself.
    let same = bench.run(&arguments(program)).expect(0).out;
    assert!(same.starts_with("PASS  "), "{same}");
    let error = bench.run(&arguments("/bin/false")).refusal();
    assert!(error.contains("/bin/false run small.toml") && error.contains("exit status: 1"), "{error}");
    let error = bench.run(&arguments("./nowhere")).refusal();
    assert!(error.contains("cannot start ./nowhere"), "{error}");
}

#[test]
fn equal_trees_and_slower_ones_are_compared_again_and_again() {
    let bench = Bench::small();
    let calibrate = ["calibrate", "--quick", "--comparisons", "1", "--slowdowns", "300", "--allow-debug"];
    let answer = bench.ok(&calibrate);
    let head = "Threshold 2%: verdicts ignore smaller differences.\n1 comparison of equal trees, ";
    assert!(answer.starts_with(head), "{answer}");
    assert!(answer.contains("; too few comparisons for the expected 5%"), "{answer}");
    // The injected slowdown is a whole number of nanoseconds, and so not exactly the requested one.
    let slower = answer.lines().find(|line| line.contains("% slower ")).expect("a line per slowdown");
    let planted: f64 = slower.split('%').next().unwrap().parse().unwrap();
    assert!((299.0..=301.0).contains(&planted), "{slower}");
    assert!(
        slower.contains("100.0% (95% CI 2.5% to 100.0%)"),
        "so large a difference is always found: {slower}"
    );
    let files = ["--csv", "power.csv", "--markdown", "power.md", "--equal", "1", "--trials", "6,7"];
    let methods = ["--plan", "rounds,slices", "--metric", "mean_ns,busy_ns"];
    let answer = bench.ok(&[&calibrate[..], &files, &methods].concat());
    assert!(
        answer.contains("Plan slices, metric busy_ns, 7 rounds:\n1 comparison of equal trees"),
        "{answer}"
    );
    let (csv, markdown) = (bench.read("power.csv"), bench.read("power.md"));
    // Two plans, two metrics and two numbers of rounds, each with equal trees and one slowdown.
    assert_eq!((csv.lines().count(), markdown.lines().count()), (1 + 8 * 2, 2 + 8), "{csv}\n{markdown}");
    let measured: Vec<&str> = csv.lines().filter(|line| line.contains(",busy_ns,7,0.02,3,")).collect();
    assert!(measured.len() == 2 && measured.iter().all(|line| line.contains(",1,0,0,0,1.00000,")), "{csv}");
    assert_eq!(markdown.matches("` | 7 | 2 % | ").count(), 4, "{markdown}");
    // A threshold above every measured difference leaves no difference to find.
    let blind = ["--comparisons", "1", "--slowdowns", "10", "--threshold", "50", "--quick", "--allow-debug"];
    let answer = bench.ok(&[&["calibrate"][..], &blind].concat());
    assert!(answer.starts_with("Threshold 50%: "), "{answer}");
    let slower = answer.lines().find(|line| line.contains("% slower ")).expect("a line per slowdown");
    assert!(slower.contains("0.0% (95% CI 0.0% to 97.5%)"), "{slower}");
    let (least, most) = (THRESHOLDS.start() * 100.0, THRESHOLDS.end() * 100.0);
    let help = bench.ok(&["calibrate", "--help"]);
    assert!(help.contains(&format!("below this percentage ({least} to {most})")), "{help}");
    for threshold in ["0", "0.09", "50.1"] {
        let error = bench.run(&["calibrate", "--threshold", threshold]).refusal();
        let hint =
            format!("--threshold is {threshold}; the threshold must be from {least} to {most} percent");
        assert!(error.contains(&hint), "{error}");
    }
    for (slowdowns, hint) in [
        ("0", "--slowdowns contains 0; each slowdown must be from 0.1 to 300 percent"),
        ("1e9", "--slowdowns contains 1000000000; each slowdown must be from 0.1 to 300 percent"),
        ("2,5,2", "--slowdowns contains 2 twice"),
    ] {
        let error = bench.run(&["calibrate", "--slowdowns", slowdowns]).refusal();
        assert!(error.contains(hint), "{error}");
    }
}

/// Tests that a check removes the folders of killed checks. The check keeps folders in use, and new folders that
/// another check may soon use.
#[test]
fn what_killed_checks_left_is_removed() {
    let bench = Bench::small();
    bench.ok(&["check", "small.toml", "--baseline", "goldens", "--update"]);
    for folder in ["left", "held", "young"] {
        bench.write(&format!("work/.lsmbench-scratch-{folder}/counted-0/stderr"), "");
    }
    let open =
        |folder: &str| fs::File::open(bench.path(&format!("work/.lsmbench-scratch-{folder}"))).unwrap();
    let an_hour_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    for folder in ["left", "held"] {
        open(folder).set_modified(an_hour_ago).unwrap();
    }
    let held = open("held");
    held.try_lock().unwrap();
    bench.ok(&["check", "--baseline", "goldens", "--work", "work"]);
    let mut names: Vec<_> =
        bench.path("work").read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, [".lsmbench-scratch-held", ".lsmbench-scratch-young"]);
}
