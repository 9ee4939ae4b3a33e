//! Tests of the results that `lsmbench report --keep` copies for git: the engines in these results, and a later report
//! on another machine.

use std::fs;

use results::{CellInfo, EngineInfo, Folder, Manifest};

use crate::bench::{Answer, Bench};

const CLAIMS: &str = "id,section,figure,subject,metric,params,value,unit,bound
a-1,1,E1,ours,entries,,2000,keys,exact
a-2,1,E1,theirs,entries,,2000,keys,exact
";

/// An experiment that compares our own tree with an engine that no machine has.
const ANSWER: &str = r#"
question = "?"

[[phase]]
name   = "load"
insert = 2_000
value  = { kind = "fixed", bytes = 20 }

[sweep]
"engine"           = ["lsmbench", { kind = "rocksdb", library = "/nowhere/librocksdb.so", label = "rocks" }]
"phase.load.batch" = [1, 10]

[trials]
count = 1

[[chart]]
kind   = "bar"
x      = "engine"
y      = "ops"
filter = { "phase.load.batch" = 1 }

[source]
document = "a"
figure   = "E1"
title    = "Entries"
sections = ["1"]

[[claim]]
ids       = "a-1, a-2"
metric    = "entries"
column    = "ops"
phase     = "load"
where     = { "phase.load.batch" = 1 }
compare   = "value"
subjects  = { ours = { engine = "lsmbench" }, theirs = { engine = "rocks" } }
tolerance = 0.1
"#;

const REPORT: [&str; 5] = ["report", "a", "--allow-debug", "--keep", "kept"];

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a/claims.csv", CLAIMS);
    bench.write("a/e1.toml", ANSWER);
    bench
}

fn report(bench: &Bench) -> Answer {
    bench.run(&REPORT).expect(0)
}

fn kept(bench: &Bench) -> Folder {
    Folder::new(bench.path("kept/e1"))
}

/// Changes the copied results as if another machine had measured them. This other machine has the missing engine.
fn measure_elsewhere(bench: &Bench) -> String {
    let folder = kept(bench);
    let own = fs::read_to_string(folder.runs()).unwrap();
    let header = own.lines().next().unwrap();
    let place = |name: &str| header.split(',').position(|column| column == name).unwrap();
    let [cell, label, engine] = ["cell", "label", "engine"].map(place);
    let theirs = own.lines().skip(1).map(|line| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[cell] = format!("{}", 2 + cells[cell].parse::<u64>().unwrap());
        cells[label] = cells[label].replace("lsmbench", "rocks");
        "rocks".clone_into(&mut cells[engine]);
        cells.join(",") + "\n"
    });
    let rows = own.clone() + &theirs.collect::<String>();
    fs::write(folder.runs(), &rows).unwrap();
    let mut manifest = Manifest::read(&folder.manifest()).unwrap();
    (manifest.runs, manifest.run_id) = (None, "0e15e3e3e3e3e3e3".to_owned());
    manifest.left_out.clear();
    let info = EngineInfo {
        name: "rocks".to_owned(),
        version: Some("9.9.9".to_owned()),
        library: Some("librocksdb.so".to_owned()),
        mapping: vec!["memtable: write_buffer_size".to_owned(), "not equal: sizes of levels".to_owned()],
        ..EngineInfo::default()
    };
    manifest.cells.push(CellInfo { cell: 2, engine: Some(info), ..CellInfo::default() });
    manifest.write(&folder.manifest()).unwrap();
    rows
}

#[test]
fn an_engine_that_was_not_there_is_named_and_no_folder_of_the_machine() {
    let bench = bench();
    report(&bench);
    let manifest = Manifest::read(&kept(&bench).manifest()).unwrap();
    let left: Vec<&str> = manifest.left_out.iter().map(|left| left.reason.as_str()).collect();
    assert_eq!(
        left,
        ["cannot find librocksdb.so", "cannot find librocksdb.so"],
        "one for each size of a batch"
    );
    assert!(!fs::read_to_string(kept(&bench).manifest()).unwrap().contains("/nowhere"));
    for page in ["kept/report/a.md", "kept/report/a.html"] {
        let text = bench.read(page);
        assert_eq!(text.matches("not run: rocks: cannot find librocksdb.so").count(), 1, "{page}");
    }
    assert!(
        bench
            .read("kept/report/index.md")
            .contains("1 timed experiment has 1 trial, too few for confidence intervals")
    );
    bench.ok(&["report", "a", "--check", "--results", "kept"]);
}

#[test]
fn what_was_measured_with_an_engine_outlives_a_machine_without_it() {
    let bench = bench();
    report(&bench);
    let rows = measure_elsewhere(&bench);
    let answer = report(&bench);
    let note = "e1: rocks was not measured, so kept/e1 keeps its earlier results; to replace them, remove";
    assert!(answer.err.contains(note), "{}", answer.err);
    assert_eq!(fs::read_to_string(kept(&bench).runs()).unwrap(), rows);
    let page = bench.read("kept/report/a.md");
    assert!(page.contains("* engine rocks 9.9.9 (librocksdb.so); mismatches: sizes of levels\n"), "{page}");
    assert!(page.contains("run 0e15e3e3e3e3,"), "the page is of what was kept: {page}");
    assert_eq!(page.matches("| reproduced |").count(), 2, "{page}");
    assert!(bench.read("kept/report/a.html").contains("<li>engine rocks 9.9.9 (librocksdb.so); mismatches"));
    bench.ok(&["report", "a", "--check", "--results", "kept"]);
    // An experiment that cannot run removes nothing: here a folder is in the place of its rows.
    fs::remove_dir_all(bench.path("results/e1")).unwrap();
    bench.write("results/e1", "in the way");
    let answer = report(&bench);
    assert!(answer.err.contains("kept/e1 keeps its earlier results"), "{}", answer.err);
    assert_eq!(fs::read_to_string(kept(&bench).runs()).unwrap(), rows);
    assert!(bench.read("kept/report/a.md").contains("run 0e15e3e3e3e3,"));
}

#[test]
fn what_was_measured_of_another_version_goes_aloud() {
    let bench = bench();
    report(&bench);
    measure_elsewhere(&bench);
    bench.write("a/e1.toml", ANSWER.replace("bytes = 20", "bytes = 30"));
    let answer = report(&bench);
    let note = "e1: rocks was not measured; the results in kept/e1 came from another version of the \
                experiment, so the run replaced these results";
    assert!(answer.err.contains(note), "{}", answer.err);
    assert!(!fs::read_to_string(kept(&bench).runs()).unwrap().contains("rocks"));
    measure_elsewhere(&bench);
    let answer = bench.run(&[&REPORT[..], &["--quick"]].concat()).expect(0);
    let note = "the results in kept/e1 came from a run of another size, so the run replaced these results";
    assert!(answer.err.contains(note), "{}", answer.err);
}

#[test]
fn results_are_not_kept_in_the_folder_that_they_are_read_from() {
    let bench = bench();
    report(&bench);
    let rows = fs::read_to_string(kept(&bench).runs()).unwrap();
    let error = bench.run(&["report", "a", "--results", "kept", "--keep", "./kept"]).refusal();
    assert!(error.contains("--keep ./kept is also the folder with the results"), "{error}");
    assert_eq!(fs::read_to_string(kept(&bench).runs()).unwrap(), rows);
}
