//! Tests of the commands list, describe, plot, workload, completions and man.

use std::fs;

use crate::bench::{Bench, SMALL};

#[test]
fn list_shows_catalogs_variants_and_parameters() {
    let bench = Bench::new();
    let all = bench.ok(&["list"]);
    for axis in tree::AXES {
        assert!(all.contains(&format!("{}: {}", axis.name(), axis.summary())), "{}", axis.name());
        let one = bench.ok(&["list", axis.name()]);
        for variant in axis.variants() {
            assert!(one.lines().any(|line| line.trim_start().starts_with(variant.kind)), "{}", variant.kind);
            assert!(variant.defaults.keys().all(|key| one.contains(key.as_str())), "{}", variant.kind);
        }
    }
    for line in [
        "Workload",
        "Charts",
        "  mix: the kinds of operation of a phase, by weight (15)",
        "Run `lsmbench list NAME`",
    ] {
        assert!(all.contains(line), "no {line:?} in\n{all}");
    }
    let mix = bench.ok(&["list", "mix"]);
    let rmw = mix.lines().find(|line| line.trim_start().starts_with("rmw")).unwrap();
    assert!(rmw.contains(" reads the value of one key"), "{mix}");
    assert!(bench.ok(&["list", "requests"]).contains("scan-mixed"));
    let json: serde_json::Value = serde_json::from_str(&bench.ok(&["list", "bloom", "--json"])).unwrap();
    assert_eq!(json[0]["axis"], "bloom");
    assert_eq!(json[0]["variants"][1]["parameters"]["bits_per_key"], 10.0);
    let error = bench.run(&["list", "blom"]).refusal();
    assert!(
        error.contains("unknown catalog \"blom\"; did you mean \"bloom\"? Valid: \"memtable\", "),
        "{error}"
    );
    assert_eq!(bench.run(&["list", "--columns", "--json"]).expect(2).out, "");
}

#[test]
fn describe_shows_cells_phases_and_an_estimate_and_runs_nothing() {
    let bench = Bench::small();
    let before = bench.content();
    let text = bench.ok(&["describe", "small.toml"]);
    for line in [
        "# small: Which filter lets fewest absent lookups through?",
        "#   1 standard",
        "#   load: 3000 operations, insert 100\u{a0}%, values of 32 bytes",
    ] {
        assert!(text.lines().any(|found| found == line), "no {line:?} in\n{text}");
    }
    assert!(text.contains("# estimate: 3 configurations × 1 trial, about "), "{text}");
    assert!(bench.content() == before, "something was touched");
}

#[test]
fn an_experiment_sets_the_titles_of_the_axes() {
    let bench = Bench::new();
    let titles = "x_title = \"Kind of filter\"\ny_title = \"Wasted lookups\"\n";
    bench.write("small.toml", SMALL.to_owned() + titles);
    bench.ok(&["run", "small.toml"]);
    let chart = bench.read("plots/small/fpr-by-bloom.svg");
    assert!(chart.contains("Kind of filter") && chart.contains("Wasted lookups"), "{chart}");
}

#[test]
fn plot_draws_the_same_charts_from_results_alone() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let drawn = fs::read(bench.path("plots/small/fpr-by-bloom.png")).unwrap();
    let shown = bench.read("plots/small/fpr-by-bloom.svg");
    assert!(drawn.starts_with(b"\x89PNG") && shown.contains("</svg>"));
    fs::remove_file(bench.path("small.toml")).unwrap();
    fs::remove_dir_all(bench.path("plots")).unwrap();
    assert_eq!(bench.ok(&["plot", "results/small"]), "plots/small/fpr-by-bloom.png\n");
    assert_eq!(bench.ok(&["plot", "results/small", "--out", "again"]), "again/small/fpr-by-bloom.png\n");
    for folder in ["plots", "again"] {
        assert!(fs::read(bench.path(&format!("{folder}/small/fpr-by-bloom.png"))).unwrap() == drawn);
        assert!(bench.read(&format!("{folder}/small/fpr-by-bloom.svg")) == shown);
    }
    for folder in ["nowhere", "plots"] {
        let error = bench.run(&["plot", folder]).refusal_behind_progress();
        assert!(
            error.contains(&format!("{folder} is not a results folder: it has no manifest.json")),
            "{error}"
        );
    }
}

#[test]
fn charts_and_results_go_where_they_are_told_to() {
    let bench = Bench::small();
    let answer = bench.ok(&["run", "small.toml", "--out", "there"]);
    assert!(
        answer.contains("\nResults: there/small/  (runs.csv, verdicts.csv, manifest.json)\n"),
        "{answer}"
    );
    assert!(bench.path("there/charts/small/fpr-by-bloom.svg").is_file());
    bench.ok(&["run", "small.toml", "--plots", "drawn"]);
    assert!(bench.path("drawn/small/fpr-by-bloom.svg").is_file());
    assert!(!bench.path("plots").exists());
}

#[test]
fn workload_prints_operations_that_the_shell_understands() {
    let bench = Bench::small();
    let text = bench.ok(&["workload", "small.toml"]);
    assert_eq!(bench.ok(&["workload", "small.toml"]), text, "operations follow from the seed");
    assert_ne!(bench.ok(&["workload", "small.toml", "--seed", "1"]), text);
    let phases: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(phases, ["# phase load", "# phase look"]);
    let of_kind = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!(of_kind("p ") + of_kind("g "), 6000);
    assert!((2600..2800).contains(&of_kind("g ")), "{} gets are not about 0.9 × 3000", of_kind("g "));

    // Values are any bytes, so the statistics of the shell are compared.
    let answer = bench.run_with(&["shell", "db"], &(text.clone() + "s\n")).expect(0);
    assert_eq!(answer.err, "");
    for (done, kind) in [("puts", "p "), ("gets", "g ")] {
        let line = format!("\n{done}: {}\n", of_kind(kind));
        assert!(answer.out.contains(&line), "no {line:?}");
    }

    let limited = bench.ok(&["workload", "small.toml", "--limit", "10"]);
    assert_eq!(limited.lines().count(), 1 + 10);
    assert!(text.starts_with(&limited));
    bench.write(
        "endless.toml",
        SMALL.replace("operations = 3_000", "seconds = 1").replace("\"counted\"", "\"timed\""),
    );
    let error = bench.run(&["workload", "endless.toml"]).refusal();
    let expected = "phase look has a duration instead of a number of operations; limit the printed operations with \
                    --limit N";
    assert!(error.contains(expected), "{error}");
    assert_eq!(bench.ok(&["workload", "endless.toml", "--limit", "4000"]).lines().count(), 2 + 4000);
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let bench = Bench::new();
    let manual = bench.ok(&["man"]);
    let commands = ["run", "list", "describe", "plot", "workload", "shell", "verify", "completions"];
    assert!(
        manual.starts_with(".ie") || manual.starts_with(".TH") || manual.contains(".TH lsmbench"),
        "{manual}"
    );
    commands.iter().for_each(|command| assert!(manual.contains(command), "{command}"));
    assert!(!manual.contains("trial-process"), "what is for the program itself is hidden");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = bench.ok(&["completions", shell]);
        commands.iter().for_each(|command| assert!(script.contains(command), "{shell}: {command}"));
        assert!(script.contains("resume") && script.contains("quick"), "{shell}");
    }
    assert_eq!(bench.run(&["completions", "tcsh"]).expect(2).out, "");
}

#[test]
fn help_and_version_are_answers() {
    let bench = Bench::new();
    assert!(bench.ok(&["--version"]).starts_with("lsmbench "));
    assert!(bench.ok(&["run", "--help"]).contains("--resume"));
    assert!(
        bench.run(&["descrbe"]).expect(2).err.contains("'describe'"),
        "a command that is misspelt is suggested"
    );
}

/// Tests that a program that stops reading the output early, such as `head`, causes no error.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let bench = Bench::small();
    let mut child = bench.command(&["workload", "small.toml"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_doctor_and_every_manifest_list_sources_of_timing_noise() {
    let bench = Bench::small();
    let text = bench.ok(&["doctor"]);
    for check in ["build", "system", "load", "clock", "hardware counters", "file system", "free space"] {
        assert!(text.lines().any(|line| line.get(2..).is_some_and(|rest| rest.starts_with(check))), "{text}");
    }
    let system = format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH);
    assert!(text.contains(&system), "{text}");
    let last = text.lines().last().unwrap();
    assert!(last.contains(" may affect timings") || last == "No source of timing noise found.", "{text}");
    let machine: serde_json::Value = serde_json::from_str(&bench.ok(&["doctor", ".", "--json"])).unwrap();
    let told = machine["findings"].as_array().unwrap();
    assert!(told.iter().any(|finding| finding["check"] == "build" && finding["value"].is_string()));
    bench.ok(&["run", "small.toml"]);
    assert_eq!(bench.manifest("small").machine.findings.len(), told.len());
}
