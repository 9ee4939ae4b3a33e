//! Tests of write batches that contain writes of all kinds.

use results::columns as c;

use crate::bench::{Bench, count, of, right_answers};

/// An experiment that mixes write batches with other operations, on a tree that flushes and compacts many times.
const BATCHES: &str = r#"
question = "What do batches leave?"
[design]
memtable       = { capacity = "32KiB" }
compaction     = { kind = "leveled", size_ratio = 4 }
merge_operator = "append"
[[phase]]
name   = "load"
insert = 2_000
value  = { bytes = 20 }
[[phase]]
name       = "churn"
operations = 3_000
mix        = { batch = 30, get = 60, multi_get = 5, insert = 5 }
batch      = 8
batch_mix  = { put = 40, insert = 10, delete = 20, merge = 25, delete_range = 5 }
range      = { entries = 4 }
value      = { bytes = 20 }
[[phase]]
name = "restart"
step = "reopen"
[[phase]]
name       = "read"
operations = 1_000
mix        = { get = 3, range = 1 }
[trials]
count = 1
check = 1
mode  = "counted"
"#;

/// An experiment in which batches insert keys at the end of a queue, and single-delete keys at its start.
const QUEUE: &str = r#"
question = "Do batches take keys in order?"
[design]
memtable = { capacity = "16KiB" }
[[phase]]
name   = "load"
insert = 3_000
[[phase]]
name       = "queue"
operations = 4_000
mix        = { batch = 40, get = 50, insert = 5, single_delete = 5 }
batch      = 5
batch_mix  = { insert = 1, single_delete = 1 }
[[phase]]
name       = "read"
operations = 500
mix        = { get = 2, first = 1 }
[trials]
count = 1
check = 1
mode  = "counted"
"#;

#[test]
fn batches_of_all_writes_give_the_answers_of_the_model() {
    let bench = Bench::new();
    let layouts = "[sweep]\n\"design.merge_operator\" = [\"append\", \"max\"]\n";
    bench.write("x.toml", format!("{BATCHES}{layouts}"));
    bench.write("y.toml", QUEUE);
    bench.ok(&["run", "x.toml", "y.toml"]);
    let rows = bench.rows("x");
    assert_eq!(right_answers(&rows, "churn", 1_500).len(), 2);
    right_answers(&rows, "read", 1_000);
    assert!(of(&rows, "churn", "batch").iter().all(|row| count(row, &c::OPS) > 700));
    let rows = bench.rows("y");
    right_answers(&rows, "queue", 1_800);
    right_answers(&rows, "read", 500);
    // Half of about 1,600 × 5 members are single deletes, which meet their puts.
    assert!(count(of(&rows, "queue", "all")[0], &c::SINGLE_DELETE_PAIRS) > 1_000);
    let printed = bench.ok(&["workload", "x.toml", "--limit", "5000"]);
    for command in ["p ", "d ", "m ", "x "] {
        let lines = printed.lines().filter(|line| line.starts_with(command)).count();
        assert!(lines > 20, "{command}: {lines}");
    }
}

/// Tests write batches in column families and on several threads.
#[test]
fn threads_and_families_have_batches() {
    let bench = Bench::new();
    let threads = BATCHES
        .replace(", delete_range = 5", "")
        .replace("range      = { entries = 4 }\n", "threads    = 3\n")
        .replace("\"counted\"", "\"timed\"");
    bench.write("threads.toml", threads);
    let of_family = |text: &str| {
        text.replace("insert = 2_000", "family = \"a\"\ninsert = 2_000")
            .replace("operations = ", "family = \"a\"\noperations = ")
            .replace("[[phase]]\nname   = \"load\"", "[design.families.a]\n[[phase]]\nname   = \"load\"")
    };
    let layouts = "[sweep]\n\"design.families.layout\" = [\"trees\", \"prefixed\"]\n";
    bench.write("families.toml", format!("{}{layouts}", of_family(BATCHES)));
    bench.ok(&["run", "threads.toml", "families.toml", "--allow-debug"]);
    right_answers(&bench.rows("threads"), "churn", 1_000);
    right_answers(&bench.rows("threads"), "read", 1_000);
    assert_eq!(right_answers(&bench.rows("families"), "churn", 1_500).len(), 2);
}

#[test]
fn batches_that_cannot_be_are_rejected_before_they_run() {
    let bench = Bench::new();
    let peer = BATCHES.replace("\"counted\"", "\"timed\"");
    for (experiment, said) in [
        (BATCHES.replace("put = 40", "get = 40"), "phase.churn.batch_mix.get: batch_mix has no key \"get\""),
        (
            BATCHES.replace("batch = 30, get = 60", "get = 90"),
            "phase.churn.batch_mix: batch_mix has no effect: the mix contains no `batch`",
        ),
        (
            BATCHES.replace("merge_operator = \"append\"\n", ""),
            "phase \"churn\" has merges, but the design has no merge operator",
        ),
        (
            BATCHES.replace("range      = { entries = 4 }", "range = { entries = 4 }\nthreads = 2"),
            "a range delete may delete keys that other",
        ),
        (
            QUEUE.replace("batch_mix  = { insert = 1,", "batch_mix  = { insert = 1, put = 1,"),
            "phase \"queue\" has put in its mix, so a key may be written more than once",
        ),
        (
            QUEUE.replace("batch_mix  = { insert = 1,", "batch_mix  = {"),
            "keys more than it inserts, but only",
        ),
        (
            format!("engine = \"redb\"\n{}", peer.replace(", merge = 25", "")),
            "engine \"redb\" cannot execute delete_range in the batch_mix of phase \"churn\"",
        ),
    ] {
        let error = bench.rejected(&experiment, &[]);
        assert!(error.contains(said), "{said}: {error}");
    }
    bench.write("x.toml", BATCHES);
    let error = bench.run(&["simulate", "x.toml"]).refusal();
    assert!(error.contains("cannot be simulated, because it has range deletes"), "{error}");
}
