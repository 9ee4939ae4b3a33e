//! Tests of fixtures, which are stores that are built once and cloned for every trial. No trial changes a fixture.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Stdio;

use results::{Manifest, Row, columns as c};

use crate::bench::{Bench, exact_cells, number, of, text, wait_for};

/// An experiment with reads and writes on a store that the first two phases build. One of these phases deletes and
/// overwrites keys.
const EXPERIMENT: &str = r#"
question = "What do caches do for reads?"
[design]
memtable   = { capacity = "16KiB" }
compaction = { kind = "leveled", size_ratio = 4 }
cache      = { kind = "lru", capacity = "64KiB" }
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "churn"
operations = 3_000
mix        = { put = 2, delete = 1, insert = 1 }
[[phase]]
name       = "look"
operations = 3_000
mix        = { get = 6, put = 2, delete = 1, range = 1 }
absent     = 0.2
[sweep]
"design.cache.capacity" = ["16KiB", "64KiB", "256KiB"]
[trials]
count   = 2
mode    = "counted"
fixture = "churn"
"#;

/// Returns the content of every file of the fixtures, except lock files.
fn fixtures(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    let content = bench.content().into_iter();
    let below = content.filter(|(path, _)| path.starts_with(bench.path("results/fixtures")));
    let files = below.filter_map(|(path, bytes)| Some((path, bytes?)));
    files.filter(|(path, _)| path.extension().is_none_or(|extension| extension != "lock")).collect()
}

fn built(told: &str) -> usize {
    told.matches("building fixture").count()
}

/// Returns the values of rows that do not depend on how the trial got its store: from a fixture, or by its own load.
fn answers(rows: &[Row]) -> Vec<Vec<String>> {
    let columns = [&c::CELL, &c::TRIAL, &c::OPERATION, &c::OPS, &c::FOUND, &c::MISSING, &c::LIVE_BYTES];
    let mut answers: Vec<Vec<String>> = rows
        .iter()
        .filter(|row| text(row, &c::PHASE) == "look")
        .map(|row| columns.iter().map(|column| text(row, column)).collect())
        .collect();
    answers.sort();
    answers
}

#[test]
fn one_fixture_serves_all_trials_and_none_of_them_changes_it() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    let told = bench.run(&["run", "x.toml"]).expect(0).err;
    assert_eq!(built(&told), 1, "caches are not on storage:\n{told}");
    let rows = bench.rows("x");
    assert!(rows.iter().all(|row| text(row, &c::PHASE) == "look"), "phases of the fixture are in no row");
    for row in of(&rows, "look", "all") {
        assert_eq!(text(row, &c::WRONG_ANSWERS), "0");
        assert!(number(row, &c::CHECKED_ANSWERS) > 2_000.0 && number(row, &c::FLUSHES) > 3.0);
    }
    let manifest = bench.manifest("x");
    assert_eq!(manifest.fixtures.len(), 1);
    assert_eq!(manifest.fixtures[0].cells, [0, 1, 2]);
    let before = fixtures(&bench);
    assert_eq!(before.len(), manifest.fixtures[0].files.len() + 1, "its files and what it says of itself");
    assert!(before.keys().any(|path| path.extension().is_some_and(|ending| ending == "table")));
    // Again, and as another experiment: nothing is built, nothing has changed.
    bench.write("y.toml", EXPERIMENT.replace("get = 6, put = 2", "get = 1, put = 7"));
    for name in ["x.toml", "y.toml"] {
        assert_eq!(built(&bench.run(&["run", name]).expect(0).err), 0);
        assert_eq!(fixtures(&bench), before, "{name}");
    }
    for path in before.keys() {
        assert_eq!(fs::metadata(path).unwrap().nlink(), 1, "no clone is left behind");
    }
    assert_eq!(exact_cells(&rows), exact_cells(&bench.rows("x")));
    // The answers are those of trials that did all phases themselves.
    bench.write("whole.toml", EXPERIMENT.replace("fixture = \"churn\"", ""));
    bench.ok(&["run", "whole.toml"]);
    assert_eq!(answers(&rows), answers(&bench.rows("whole")));
}

#[test]
fn what_is_on_storage_has_fixtures_of_its_own_and_the_same_bytes_each_time() {
    let bench = Bench::new();
    let sweep = "\"design.bloom\" = [\"standard\", \"blocked\"]\n\"design.culling\" = \"all\"";
    bench.write(
        "x.toml",
        EXPERIMENT.replace("\"design.cache.capacity\" = [\"16KiB\", \"64KiB\", \"256KiB\"]", sweep),
    );
    assert_eq!(built(&bench.run(&["run", "x.toml", "--trials", "1"]).expect(0).err), 2);
    let first = bench.manifest("x").fixtures;
    fs::rename(bench.path("results"), bench.path("earlier")).unwrap();
    bench.ok(&["run", "x.toml", "--trials", "1"]);
    let second = bench.manifest("x").fixtures;
    assert_eq!(first.len(), 2);
    for (first, second) in first.iter().zip(&second) {
        assert_eq!((&first.hash, &first.files), (&second.hash, &second.files));
    }
    // Another seed is another store.
    assert_eq!(built(&bench.run(&["run", "x.toml", "--trials", "1", "--seed", "7"]).expect(0).err), 2);
}

#[test]
fn a_run_goes_on_from_its_fixture_and_from_one_that_was_built_again() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    bench.ok(&["run", "x.toml", "--trials", "1"]);
    assert_eq!(built(&bench.run(&["run", "x.toml", "--resume"]).expect(0).err), 0);
    assert_eq!(of(&bench.rows("x"), "look", "all").len(), 6);
    fs::remove_dir_all(bench.path("results/fixtures")).unwrap();
    assert_eq!(built(&bench.run(&["run", "x.toml", "--resume", "--trials", "3"]).expect(0).err), 1);
    let rows = bench.rows("x");
    let trials = |trial: &str| {
        let rows: Vec<Row> = rows.iter().filter(|row| text(row, &c::TRIAL) == trial).cloned().collect();
        let mut cells = exact_cells(&rows);
        cells.iter_mut().for_each(|cells| drop(cells.remove(3)));
        cells.sort();
        cells
    };
    assert_eq!(trials("0"), trials("2"), "in counted mode it has the same bytes");
    let error = "results/x cannot be resumed, because the experiment, its overrides or its seed have changed";
    bench.write("x.toml", EXPERIMENT.replace("fixture = \"churn\"", "fixture = \"load\""));
    assert!(bench.run(&["run", "x.toml", "--resume"]).refusal().contains(error));
}

#[test]
fn threads_and_logs_leave_fixtures_too() {
    let bench = Bench::new();
    let timed = EXPERIMENT
        .replace("\"counted\"", "\"timed\"")
        .replace("[[phase]]\n", "[[phase]]\nthreads = 3\n")
        .replace("[design]\n", "[design]\nwal = \"none\"\n");
    bench.write("x.toml", timed);
    let told = bench.run(&["run", "x.toml", "--allow-debug"]).expect(0).err;
    assert_eq!(built(&told), 1, "{told}");
    for row in of(&bench.rows("x"), "look", "all") {
        assert_eq!(text(row, &c::WRONG_ANSWERS), "0");
        assert!(number(row, &c::CHECKED_ANSWERS) > 50.0);
    }
}

#[test]
fn a_fixture_that_has_changed_is_refused() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    bench.ok(&["run", "x.toml", "--trials", "1"]);
    let before = fixtures(&bench);
    let is_table = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "table");
    let table = before.keys().find(is_table).unwrap();
    let mut bytes = before[table].clone();
    bytes[100] ^= 1;
    fs::write(table, bytes).unwrap();
    let refused = |what: &str| {
        let error = bench.run(&["run", "x.toml", "--trials", "1"]).refusal_behind_progress();
        assert!(
            error.contains("is not as lsmbench built it") && error.contains("remove the folder"),
            "{error}"
        );
        assert!(error.contains(what), "{error}");
    };
    refused(table.file_name().unwrap().to_str().unwrap());
    fs::remove_file(table).unwrap();
    refused("has changed or is missing");
    fs::write(table, &before[table]).unwrap();
    fs::write(table.with_file_name("more"), "").unwrap();
    refused("its folder has additional files");
    fs::remove_file(table.with_file_name("more")).unwrap();
    bench.ok(&["run", "x.toml", "--trials", "1"]);
}

#[test]
fn fixtures_that_cannot_be_are_refused_before_anything_runs() {
    let bench = Bench::new();
    bench.write("replayed", "p a b\n");
    for (from, to, expected) in [
        ("fixture = \"churn\"", "fixture = \"chur\"", "unknown phase \"chur\"; did you mean \"churn\"?"),
        ("fixture = \"churn\"", "fixture = \"look\"", "\"look\" is the last phase"),
        (
            "[design]\n",
            "[design]\nstorage = \"memory\"\n",
            "storage = \"memory\" loses its data when the process ends, so a fixture would have no files",
        ),
        ("[design]\n", "[design]\nstorage = \"simulated\"\n", "storage = \"simulated\" loses its data"),
        (
            "name       = \"churn\"",
            "name       = \"churn\"\ncache      = \"cold\"",
            "phase \"churn\" is part of the fixture and therefore not measured; remove its keys `cache`",
        ),
        (
            "insert = 4_000\nvalue  = { kind = \"fixed\", bytes = 64 }",
            "replay = { kind = \"text\", file = \"replayed\" }",
            "replays recorded operations",
        ),
        (
            "[trials]",
            "[verdict]\nphase = \"load\"\nmetric = \"write_amp\"\n[trials]",
            "verdict.phase: phase \"load\" is part of the fixture and therefore not measured Valid: \"look\"",
        ),
        (
            "[trials]",
            "[[chart]]\nkind = \"bar\"\nx = \"label\"\ny = \"write_amp\"\nfilter = { phase = \"load\" }\n[trials]",
            "chart.filter: phase \"load\" is part of the fixture",
        ),
    ] {
        bench.write("x.toml", EXPERIMENT.replace(from, to));
        let error = bench.run(&["run", "x.toml"]).refusal();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("x.toml:"), "it has a line: {error}");
        assert!(!bench.path("results").exists());
    }
    let component = "question = \"?\"\nsubject = \"fence\"\n[trials]\nfixture = \"load\"\n";
    bench.write("c.toml", component);
    assert!(
        bench
            .run(&["run", "c.toml"])
            .refusal()
            .contains("a component experiment has no store, so it cannot have a fixture")
    );
    bench.write("x.toml", EXPERIMENT);
    let described = bench.ok(&["describe", "x.toml"]);
    assert!(
        described.contains("#   churn: part of the fixture, which is built once and not measured"),
        "{described}"
    );
    assert!(described.contains("fixture = \"churn\""), "{described}");
    bench.write("fixtures.toml", EXPERIMENT);
    let error = bench.run(&["run", "fixtures.toml"]).refusal();
    assert!(
        error.contains("the experiment cannot have the name \"fixtures\", because lsmbench uses"),
        "{error}"
    );
}

#[test]
fn fixtures_are_listed_and_removed() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    let error = bench.run(&["fixtures"]).refusal();
    assert!(error.contains("cannot read results"), "{error}");
    bench.ok(&["run", "x.toml"]);
    let hash = bench.manifest("x").fixtures[0].hash.clone();
    let listed = bench.ok(&["fixtures"]);
    // Which of the cells that share it came first is the order of the trials.
    let (told, made) =
        ("): load, churn; used by x\n1 fixture in results, ", " old, built by x, lru(capacity=");
    assert!(listed.starts_with(&hash) && listed.contains(made) && listed.contains(told), "{listed}");
    // A fixture of another build, according to its record, and one whose building was killed.
    let record = bench.read(&format!("results/fixtures/{hash}/fixture.json"));
    let at = record.find("sources ").unwrap() + "sources ".len();
    let other = format!("{}{}{}", &record[..at], "0123456789abcdef", &record[at + 16..]);
    bench.write("results/fixtures/0000000000000000/fixture.json", other);
    bench.write("results/fixtures/1111111111111111.begun/tree/lock", "");
    let listed = bench.ok(&["fixtures", "results"]);
    assert!(listed.contains("; stale, because another build of lsmbench created it\n"), "{listed}");
    assert!(listed.contains("  stale: incomplete\n") && listed.contains("3 fixtures in "), "{listed}");
    let error = bench.run(&["fixtures", "--remove", "2222"]).refusal();
    assert!(
        error.contains("no fixture \"2222\" Valid: \"all\", \"stale\", \"0000000000000000\", "),
        "{error}"
    );
    let left = bench.ok(&["fixtures", "--remove", "stale"]);
    assert!(left.starts_with(&hash) && left.contains("\n1 fixture in "), "{left}");
    let left = bench.ok(&["fixtures", "--remove", &hash]);
    assert!(left.starts_with("0 fixtures in results, 0"), "{left}");
    assert!(fixtures(&bench).is_empty());
    // A missing fixture is built again.
    assert_eq!(built(&bench.run(&["run", "x.toml"]).expect(0).err), 1);
}

/// Tests that each machine builds a fixture only once, even if two parts start at the same time on this machine.
#[test]
fn parts_on_one_machine_share_their_fixtures() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    let part = |part: &str, node: &str| {
        let mut command = bench.command(&["run", "x.toml", "--part", part, "--out", "parts", "--no-page"]);
        command.env("LSMBENCH_NODE", node).env("LSMBENCH_IMAGE", "lsmbench@sha256:1").spawn().unwrap()
    };
    let ended = |process: std::process::Child| {
        let output = process.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{told}");
        built(&told)
    };
    let both = [part("1/3", "rack 1"), part("2/3", "rack 1")];
    assert_eq!(both.map(ended).iter().sum::<usize>(), 1, "one of the parts waits for the other");
    assert_eq!(ended(part("3/3", "rack-2")), 1, "another machine has no fixture");
    for node in ["rack_1", "rack-2"] {
        assert!(bench.ok(&["fixtures", &format!("parts/nodes/{node}")]).contains("1 fixture in "), "{node}");
    }
    let manifest = Manifest::read(&bench.path("parts/1/x/manifest.json")).unwrap();
    assert_eq!(manifest.build.image.as_deref(), Some("lsmbench@sha256:1"));
    assert_eq!(manifest.part.unwrap().image, manifest.build.image);
    bench.ok(&["merge", "parts", "--into", "results/x", "--no-page"]);
    bench.ok(&["run", "x.toml", "--out", "alone", "--no-page"]);
    assert_eq!(bench.read("results/x/runs.csv"), bench.read("alone/x/runs.csv"));
}

/// Tests that a fixture is not removed while a run may use it. The protection lasts from before the search for the
/// fixture until the end of the run.
#[test]
fn nobody_removes_a_fixture_that_a_run_may_take() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        EXPERIMENT
            .replace("operations = 3_000\nmix        = { get", "operations = 3_000_000\nmix        = { get"),
    );
    let mut run = bench.command(&["run", "x.toml"]).stderr(Stdio::null()).spawn().unwrap();
    // Files appear and disappear while a fixture is built, so only folder names are checked.
    let is_whole = |entry: &fs::DirEntry| {
        let path = entry.path();
        path.extension().is_none() && path.join("fixture.json").exists()
    };
    let find = || fs::read_dir(bench.path("results/fixtures")).ok()?.flatten().find(is_whole);
    wait_for("a fixture", find);
    for which in ["all", "stale"] {
        let error = bench.run(&["fixtures", "--remove", which]).refusal();
        assert!(error.contains("another run (process "), "{error}");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(bench.ok(&["fixtures"]).contains("\n1 fixture in results"));
    assert!(bench.ok(&["fixtures", "--remove", "all"]).starts_with("0 fixtures in results"));
}
