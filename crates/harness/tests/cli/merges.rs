//! Tests of merges and conditional puts, which depend on the current value of their key.

use results::columns as c;

use crate::bench::{Bench, count, of, right_answers};

/// An experiment that mixes merges with other writes, on a tree that flushes and compacts many times.
const MERGES: &str = r#"
question = "What do merges leave?"
[design]
memtable       = { capacity = "32KiB" }
compaction     = { kind = "leveled", size_ratio = 4 }
merge_operator = "add"
[[phase]]
name   = "load"
insert = 2_000
value  = { kind = "fixed", bytes = 8 }
[[phase]]
name       = "churn"
operations = 8_000
mix        = { merge = 40, put = 5, get = 35, delete = 5, range = 5, multi_get = 2, first = 3, last = 3, delete_range = 2 }
keys       = { kind = "zipfian", theta = 0.9 }
value      = { kind = "fixed", bytes = 8 }
range      = { entries = 10 }
batch      = 10
[[phase]]
name = "compact"
step = "compact"
[[phase]]
name       = "read"
operations = 1_000
mix        = { get = 3, range = 1, first = 1, last = 1 }
[trials]
count = 1
check = 1
mode  = "counted"
"#;

#[test]
fn every_operator_gives_the_answers_of_the_model() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        format!("{MERGES}[sweep]\n\"design.merge_operator\" = [\"add\", \"append\", \"max\"]\n"),
    );
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    for phase in ["churn", "read"] {
        assert_eq!(right_answers(&rows, phase, 501).len(), 3, "{phase}");
    }
    assert!(of(&rows, "churn", "merge").iter().all(|row| count(row, &c::OPS) > 2_500));
    assert!(of(&rows, "read", "first").iter().all(|row| count(row, &c::OPS) > 100));
}

#[test]
fn experiments_that_cannot_merge_are_rejected_before_they_run() {
    let bench = Bench::new();
    for (old, new, said) in [
        (
            "merge_operator = \"add\"",
            "",
            "phase \"churn\" has merges, but the design has no merge operator; set design.",
        ),
        ("\"add\"", "\"sum\"", "unknown merge operator \"sum\""),
        (
            "{ kind = \"leveled\", size_ratio = 4 }",
            "\"fifo\"",
            "phase \"churn\" has merge in its mix, but compaction = \"fifo\" drops data",
        ),
    ] {
        let error = bench.rejected(&MERGES.replace(old, new), &[]);
        assert!(error.contains(said), "{new}: {error}");
    }
    let peer = MERGES.replace("step = \"compact\"", "step = \"settle\"").replace(", delete_range = 2", "");
    let error = bench.rejected(&format!("engine = \"redb\"\n{peer}"), &["--set", "trials.mode=timed"]);
    assert!(
        error.contains("engine \"redb\" cannot execute merge in the mix of phase \"churn\"; remove"),
        "{error}"
    );
}

/// Tests merges of several writers next to readers. Each answer must be a value that the key had at some time.
#[test]
fn merges_of_several_threads_are_checked() {
    let bench = Bench::new();
    let roles = r#"
question = "What do readers find next to merges?"
[design]
memtable       = { capacity = "32KiB" }
merge_operator = "append"
[[phase]]
name   = "load"
insert = 500
[[phase]]
name       = "both"
operations = 2_000
mix        = { merge = 10, get = 10, delete = 1 }
threads    = 2
value      = { kind = "fixed", bytes = 10 }
[[phase]]
name  = "roles"
value = { kind = "fixed", bytes = 10 }
[[phase.role]]
name       = "readers"
threads    = 2
operations = 2_000
mix        = { get = 1 }
[[phase.role]]
name = "writer"
mix  = { merge = 1 }
rate = 5_000
[trials]
count = 1
check = 1
"#;
    bench.write("x.toml", roles);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    for (phase, least) in [("both", 900), ("roles", 2_000)] {
        right_answers(&rows, phase, least);
    }
}

#[test]
fn text_and_traces_have_merges() {
    let bench = Bench::new();
    bench.write("x.toml", MERGES);
    let printed = bench.ok(&["workload", "x.toml", "--limit", "6000"]);
    let merges = printed.lines().filter(|line| line.starts_with("m ")).count();
    assert!(merges > 1_000, "{merges} merges");
    bench.write("commands", &printed);
    let replay = "question = \"?\"\n[[phase]]\nname = \"replay\"\nreplay = { file = \"commands\" }\n\
                  [trials]\ncount = 1\ncheck = 1\nmode = \"counted\"\n";
    // Without an operator, a merge is a get and a put.
    for (name, design) in [("y", "[design]\nmerge_operator = \"add\"\n"), ("z", "")] {
        bench.write(&format!("{name}.toml"), format!("{replay}{design}"));
        bench.ok(&["run", &format!("{name}.toml")]);
        let rows = bench.rows(name);
        assert!(count(of(&rows, "replay", "merge")[0], &c::OPS) > 1_000, "{name}");
        right_answers(&rows, "replay", 501);
    }
    bench.write("append.toml", "[design]\nmerge_operator = \"append\"\n");
    let shell = ["shell", "db", "--design", "append.toml"];
    assert_eq!(bench.run_with(&shell, "p a 1\nm a 2\nm b 3\nr a z\n").expect(0).out, "a:12 b:3\n");
    let refused = bench.run_with(&["shell", "plain"], "m a 2\ng a\n").expect(2);
    assert!(refused.err.contains("the design has no merge operator"), "{}", refused.err);
}

/// An experiment that mixes conditional puts with other writes.
const CONDITIONAL: &str = r#"
question = "Which conditional puts write?"
[design]
memtable = { capacity = "32KiB" }
[[phase]]
name   = "load"
insert = 500
[[phase]]
name       = "one"
operations = 4_000
mix        = { put_if_absent = 4, get = 3, delete = 3 }
[[phase]]
name       = "two"
operations = 4_000
mix        = { put_if_absent = 4, get = 3, delete = 3 }
threads    = 2
[trials]
count = 1
check = 1
"#;

#[test]
fn conditional_puts_write_absent_keys_only() {
    let bench = Bench::new();
    bench.write("x.toml", CONDITIONAL);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    for phase in ["one", "two"] {
        for row in of(&rows, phase, "put_if_absent") {
            assert!(count(row, &c::FOUND) > 300 && count(row, &c::MISSING) > 300, "{phase}");
        }
        right_answers(&rows, phase, 2_501);
    }
    for (set, said) in [
        ("engine=leveldb", "cannot execute put_if_absent in the mix of phase \"one\""),
        (
            "design.compaction=fifo",
            "phase \"one\" has put_if_absent in its mix, but compaction = \"fifo\" drops data",
        ),
    ] {
        bench.write("y.toml", CONDITIONAL);
        let error = bench.run(&["describe", "y.toml", "--set", set]).refusal();
        assert!(error.contains(said), "{set}: {error}");
    }
}

/// Tests that a prefix scan reads all keys with the prefix. The keys are numbers of 8 bytes, and up to 128 keys have
/// their first 7 bytes in common.
#[test]
fn prefix_scans_read_all_keys_with_the_prefix() {
    let bench = Bench::new();
    let prefixes = "question = \"?\"\n[[phase]]\nname = \"load\"\ninsert = 1_280\n[[phase]]\nname = \"scan\"\noperations = 200\n\
                    mix = { prefix = 9, delete = 1 }\nRANGE\n[trials]\ncount = 1\ncheck = 1\nmode = \"counted\"\n";
    bench.write("x.toml", prefixes.replace("RANGE", "range = { prefix = 7, backward = 0.5 }"));
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    right_answers(&rows, "scan", 151);
    assert!(count(of(&rows, "scan", "prefix")[0], &c::OPS) > 150);
    let scans = bench.ok(&["workload", "x.toml"]);
    assert!(scans.lines().any(|line| line.starts_with("r \"\\0\\0")), "{scans}");
    bench.write("x.toml", prefixes.replace("RANGE", "range = { entries = 5 }"));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(error.contains("as range = { prefix = 7 }"), "{error}");
}
