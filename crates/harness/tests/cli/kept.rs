//! Results that `lsmbench report --keep` keeps in git: what they say of engines, and what outlives a machine without them.

use std::fs;

use results::{Folder, Manifest};

use crate::bench::{Answer, Bench};

const CLAIMS: &str = "id,section,figure,subject,metric,params,value,unit,bound
a-1,1,E1,ours,entries,,2000,keys,exact
a-2,1,E1,theirs,entries,,2000,keys,exact
";

/// Our tree beside an engine that no machine has.
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

#[test]
fn an_engine_that_was_not_there_is_named_and_no_folder_of_the_machine() {
    let bench = bench();
    report(&bench);
    let manifest = Manifest::read(&kept(&bench).manifest()).unwrap();
    let left: Vec<&str> = manifest.left_out.iter().map(|left| left.reason.as_str()).collect();
    assert_eq!(left, ["no librocksdb.so", "no librocksdb.so"], "one for each size of a batch");
    assert!(!fs::read_to_string(kept(&bench).manifest()).unwrap().contains("/nowhere"));
    for page in ["kept/report/a.md", "kept/report/a.html"] {
        let text = bench.read(page);
        assert_eq!(text.matches("not run: rocks: no librocksdb.so").count(), 1, "{page}");
    }
    assert!(
        bench.read("kept/report/index.md").contains("1 timed experiment has 1 trial, too few for intervals")
    );
    bench.ok(&["report", "a", "--check", "--results", "kept"]);
}
