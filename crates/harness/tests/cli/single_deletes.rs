//! Tests of single deletes: in a queue, in a trace, as text, and in the shell.

use results::columns as c;

use crate::bench::{Bench, count, number, of, right_answers};

/// An experiment with a queue that inserts keys at its end and single-deletes keys at its start, on a tree that flushes
/// and compacts many times.
const QUEUE: &str = r#"
question = "What do single deletes leave?"
[design]
memtable   = { capacity = "32KiB" }
compaction = { kind = "tiered", size_ratio = 4 }
[[phase]]
name   = "load"
insert = 2_000
value  = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "queue"
operations = 24_000
mix        = { insert = 40, single_delete = 40, get = 15, first = 5 }
value      = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "drain"
operations = 500
mix        = { single_delete = 1 }
[[phase]]
name       = "read"
operations = 1_000
mix        = { get = 3, first = 1, last = 1, range = 1 }
[trials]
count = 1
check = 1
mode  = "counted"
"#;

#[test]
fn a_queue_answers_like_the_model_and_its_pairs_leave() {
    let bench = Bench::new();
    bench.write("x.toml", format!("{QUEUE}[sweep]\n\"design.merge.single_deletes\" = [false, true]\n"));
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    for phase in ["queue", "read"] {
        right_answers(&rows, phase, 501);
    }
    let [tombstones, pairs] = of(&rows, "read", "all")[..] else { panic!("two configurations") };
    let deletes: Vec<u64> =
        of(&rows, "queue", "single_delete").iter().map(|row| count(row, &c::OPS)).collect();
    assert!(deletes[0] > 9_000 && deletes[0] == deletes[1], "{deletes:?}");
    // The single deletes of keys that are still in a memtable, or whose put is in another run, have not met their puts.
    assert!(count(pairs, &c::SINGLE_DELETE_PAIRS) > deletes[1] / 2);
    assert!(tombstones.get(&c::SINGLE_DELETE_PAIRS).is_empty());
    let [tombstones, pairs] = of(&rows, "queue", "all")[..] else { panic!("two configurations") };
    for column in [&c::TABLE_BYTES, &c::COMPACTION_BYTES_WRITTEN] {
        assert!(number(pairs, column) < number(tombstones, column), "{}", column.name);
    }
}

/// Tests that the single deletes of different threads and roles take different keys. A phase ends when no keys are
/// left.
#[test]
fn threads_and_roles_share_the_queue() {
    let bench = Bench::new();
    let threads = QUEUE.replace("name       = \"queue\"", "name       = \"queue\"\nthreads    = 3");
    let roles = "operations = 1_000\nmix = { insert = 1, single_delete = 1 }\nthreads = 2\n[[phase.role]]\n\
                 name = \"readers\"\nmix = { get = 1 }\n";
    let roles = QUEUE.replace(
        "operations = 24_000\nmix        = { insert = 40, single_delete = 40, get = 15, first = 5 }\n\
         value      = { kind = \"fixed\", bytes = 64 }\n",
        &format!("[[phase.role]]\nname = \"queues\"\n{roles}"),
    );
    let endless = QUEUE.replace("operations = 500\n", "seconds = 600\n");
    for (name, experiment, least) in [("x", threads, 1_200), ("y", roles, 300), ("z", endless, 3_000)] {
        let short = experiment.replace("24_000", "4_000").replace("\"counted\"", "\"timed\"");
        bench.write(&format!("{name}.toml"), short);
        bench.ok(&["run", &format!("{name}.toml"), "--allow-debug"]);
        let rows = bench.rows(name);
        let queue =
            rows.iter().filter(|row| crate::bench::text(row, &c::OPERATION).ends_with("single_delete"));
        assert!(queue.map(|row| count(row, &c::OPS)).sum::<u64>() > least, "{name}");
        assert!(
            rows.iter()
                .all(|row| row.get(&c::WRONG_ANSWERS).is_empty() || count(row, &c::WRONG_ANSWERS) == 0)
        );
    }
}

#[test]
fn a_workload_that_breaks_the_contract_is_refused() {
    let bench = Bench::new();
    let earlier = |phase: &str| QUEUE.replace("[[phase]]\nname       = \"queue\"", phase);
    let queue = "[[phase]]\nname       = \"queue\"";
    for (experiment, said) in [
        (
            QUEUE.replace("get = 15", "put = 15"),
            "phase.queue.mix: phase \"queue\" has put in its mix, so a key may be written more than once before phase \
             \"drain\"",
        ),
        (
            earlier(&format!(
                "[[phase]]\nname = \"before\"\noperations = 9\nmix = {{ delete = 1 }}\n{queue}"
            )),
            "phase.before.mix: phase \"before\" has delete in its mix",
        ),
        (
            earlier(&format!("[[phase]]\nname = \"before\"\nreplay = {{ file = \"t\" }}\n{queue}")),
            "phase.before.replay: phase \"before\" replays operations",
        ),
        (
            QUEUE.replace("operations = 500", "operations = 5_000"),
            "phase.drain.operations: a thread may delete 5000 keys more than it inserts",
        ),
        (
            QUEUE.replace("operations = 500", "operations = 500\nrate = { p99 = \"1ms\" }"),
            "a second single delete",
        ),
        (
            format!("engine = \"redb\"\n{}", QUEUE.replace("\"counted\"", "\"timed\"")),
            "cannot execute single_delete",
        ),
    ] {
        let error = bench.rejected(&experiment, &[]);
        assert!(error.contains(said), "{said}: {error}");
    }
    // After the last single delete, every write is possible.
    bench
        .write("x.toml", QUEUE.replace("mix        = { get = 3", "mix        = { put = 1, rmw = 1, get = 3"));
    bench.ok(&["describe", "x.toml"]);
    let error = bench.run(&["simulate", "x.toml"]).refusal();
    assert!(error.contains("cannot be simulated, because it has single deletes"), "{error}");
}

#[test]
fn text_and_traces_have_single_deletes() {
    let bench = Bench::new();
    bench.write("x.toml", QUEUE);
    let printed = bench.ok(&["workload", "x.toml", "--limit", "6000"]);
    let deletes = printed.lines().filter(|line| line.starts_with("sd ")).count();
    assert!(deletes > 500, "{deletes} single deletes in {printed}");
    bench.write("commands", &printed);
    let replay = "question = \"?\"\n[[phase]]\nname = \"replay\"\nreplay = { file = \"FILE\" }\n\
                  [trials]\ncount = 1\ncheck = 1\nmode = \"counted\"\n";
    bench.write("y.toml", replay.replace("FILE", "commands"));
    bench.ok(&["trace", "convert", "commands", "--to", "rocksdb", "--out", "trace"]);
    bench.write("z.toml", replay.replace("FILE", "trace"));
    for name in ["y", "z"] {
        bench.ok(&["run", &format!("{name}.toml")]);
        let rows = bench.rows(name);
        assert_eq!(count(of(&rows, "replay", "single_delete")[0], &c::OPS), deletes as u64, "{name}");
        let all = of(&rows, "replay", "all")[0];
        assert!(count(all, &c::CHECKED_ANSWERS) > 50 && count(all, &c::WRONG_ANSWERS) == 0, "{name}");
    }
    let answers = bench.run_with(&["shell", "db"], "p a 1\np b 2\nsd a\nsd none\nr a z\nsd\n").expect(2);
    assert_eq!(answers.out, "b:2\n");
    assert!(answers.err.contains("sd KEY"), "{}", answers.err);
}
