//! Tests of replays of recorded keys and of recorded commands, with checked answers.

use results::columns as c;

use crate::bench::{Bench, number, of};

/// Returns a raw trace of these keys: big-endian numbers of four bytes.
fn trace(keys: impl Iterator<Item = u32>) -> Vec<u8> {
    keys.flat_map(u32::to_be_bytes).collect()
}

#[test]
fn a_trace_of_keys_is_replayed_over_a_loaded_store() {
    let bench = Bench::new();
    // 100 keys far apart, each requested ten times, in a scattered order.
    bench.write("keys.trace", trace((0..1000).map(|at| at * 7 % 100 * 1_000_003)));
    bench.write(
        "x.toml",
        r#"
        question = "?"
        key = { format = "trace" }
        [[phase]]
        name   = "load"
        insert = "all"
        [[phase]]
        name   = "replay"
        replay = { kind = "raw", file = "keys.trace" }
        [[phase]]
        name   = "mixed"
        replay = { kind = "raw", file = "keys.trace" }
        mix    = { get = 0.5, put = 0.3, delete = 0.2 }
        [trials]
        count = 1
        mode  = "counted"
        "#,
    );
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    assert_eq!(number(of(&rows, "load", "all")[0], &c::OPS) as u64, 100);
    let replay = of(&rows, "replay", "all")[0];
    assert_eq!(
        [&c::OPS, &c::FOUND, &c::CHECKED_ANSWERS].map(|column| number(replay, column) as u64),
        [1000; 3]
    );
    let mixed = of(&rows, "mixed", "all")[0];
    assert_eq!(number(mixed, &c::OPS) as u64, 1000);
    assert!(number(mixed, &c::MISSING) > 0.0, "what was deleted is not found");
    assert!(number(mixed, &c::WRONG_ANSWERS).abs() < 0.5);
}

#[test]
fn a_text_is_replayed_with_checked_answers() {
    let bench = Bench::new();
    bench.write("traces/pairs.txt", "m1 one\nm2 two\n");
    bench.write(
        "traces/commands.txt",
        "# as a shell would take them\np a 1\ng a\nl pairs.txt\ng m2\nd a\ng a\nr a z\ns\ng nothing\np m1 uno\nr m1 m2\n",
    );
    bench.write(
        "x.toml",
        r#"
        question = "?"
        [[phase]]
        name   = "load"
        insert = 50
        [[phase]]
        name   = "text"
        replay = { kind = "text", file = "traces/commands.txt" }
        [trials]
        count = 1
        mode  = "counted"
        "#,
    );
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    let counts = |kind: &str| number(of(&rows, "text", kind)[0], &c::OPS) as u64;
    assert_eq!(["put", "get", "delete", "range", "all"].map(counts), [4, 4, 1, 2, 11]);
    let all = of(&rows, "text", "all")[0];
    assert_eq!(
        [&c::FOUND, &c::MISSING, &c::CHECKED_ANSWERS, &c::WRONG_ANSWERS]
            .map(|column| number(all, column) as u64),
        [2, 2, 6, 0]
    );
    let printed = bench.ok(&["workload", "x.toml"]);
    assert!(printed.ends_with(
        "# phase text\np a 1\ng a\np m1 one\np m2 two\ng m2\nd a\ng a\nr a z\ng nothing\np m1 uno\nr m1 m2\n"
    ));

    bench.write("traces/pairs.txt", "m1 one\nm2\n");
    let error = bench.run(&["run", "x.toml"]).refusal();
    assert!(error.contains("traces/pairs.txt:2: "), "{error}");
    bench.write("traces/commands.txt", "p a 1\nput b 2\n");
    let error = bench.run(&["run", "x.toml"]).refusal();
    assert!(error.starts_with("traces/commands.txt:2: column 1: unknown command \"put\""), "{error}");
}
