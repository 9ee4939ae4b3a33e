//! Tests of roles. A role is a group of threads in a phase that has its own mix, rate and keys.

use results::{Row, columns as c};

use crate::bench::{Bench, count, number, of, text};

/// An experiment like `readwhilewriting` of `db_bench`. A background writer with a fixed rate runs next to the readers,
/// and stops when the readers finish.
const ROLES: &str = r#"
question = "How fast are reads next to a writer?"
[design]
memtable = { capacity = "64KiB" }
[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "fixed", bytes = 40 }
[[phase]]
name  = "together"
value = { kind = "fixed", bytes = 40 }
[[phase.role]]
name       = "readers"
threads    = 2
operations = 20_000
mix        = { get = 3, multi_get = 1 }
batch      = 4
absent     = 0.2
[[phase.role]]
name = "writer"
mix  = { put = 3, delete = 1 }
keys = "zipfian"
rate = 2_000
[[phase.role]]
name    = "scanner"
seconds = "100ms"
mix     = { range = 1 }
range   = { kind = "fixed", entries = 5 }
[[phase]]
name       = "after"
operations = 2_000
mix        = { get = 4, range = 1 }
[trials]
count = 1
check = 1
[verdict]
phase     = "together"
operation = "readers/get"
metric    = "p99_ns"
also      = ["response_p99_ns"]
"#;

fn row<'a>(rows: &'a [Row], operation: &str) -> &'a Row {
    let found = of(rows, "together", operation);
    assert_eq!(found.len(), 1, "{operation}");
    found[0]
}

#[test]
fn roles_run_at_the_same_time_and_have_rows_of_their_own() {
    let bench = Bench::new();
    bench.write("x.toml", ROLES);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let (all, readers, writer) = (row(&rows, "all"), row(&rows, "readers/all"), row(&rows, "writer/all"));
    let scanner = row(&rows, "scanner/all");
    for (row, role, threads, pace) in
        [(readers, "readers", 2, "closed"), (writer, "writer", 1, "open"), (scanner, "scanner", 1, "closed")]
    {
        assert_eq!((text(row, &c::ROLE), count(row, &c::THREADS)), (role.to_owned(), threads));
        assert_eq!(text(row, &c::LOOP), pace);
        assert!(number(row, &c::OPS) > 0.0 && number(row, &c::SECONDS) > 0.0, "{role}");
    }
    assert_eq!((text(all, &c::ROLE), count(all, &c::THREADS)), (String::new(), 4));
    assert_eq!(count(readers, &c::OPS), 20_000);
    let sum: u64 = [readers, writer, scanner].iter().map(|row| count(row, &c::OPS)).sum();
    assert_eq!(count(all, &c::OPS), sum);
    // The writer keeps its rate, and ends with the last of the others.
    let seconds = number(all, &c::SECONDS);
    let written = number(writer, &c::OPS);
    assert!(written <= 2_000.0 * seconds + 2.0, "{written} writes in {seconds} s");
    assert!(number(scanner, &c::SECONDS) >= 0.1);
    assert!(number(writer, &c::SECONDS) <= seconds);
    // Kinds of a role, response times only where operations are due at a rate.
    let shares: f64 = ["readers/get", "readers/multi_get"]
        .iter()
        .map(|kind| number(row(&rows, kind), &c::REALISED_SHARE))
        .sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    assert!(number(row(&rows, "writer/put"), &c::RESPONSE_P99_NS) > 0.0);
    assert_eq!(text(row(&rows, "readers/get"), &c::RESPONSE_P99_NS), "");
    assert_eq!(text(all, &c::RESPONSE_P99_NS), "");
    // All answers that only one order of the writes explains were checked, and also the content of the store.
    assert_eq!(
        (text(all, &c::WRONG_ANSWERS), text(of(&rows, "after", "all")[0], &c::WRONG_ANSWERS)),
        ("0".into(), "0".into())
    );
    assert!(number(all, &c::CHECKED_ANSWERS) > 10_000.0);
}

#[test]
fn roles_are_swept_and_refused_by_their_paths() {
    let bench = Bench::new();
    bench.write("x.toml", ROLES.to_owned() + "[sweep]\n\"phase.together.role.writer.rate\" = [500, 1_000]\n");
    let described = bench.ok(&["describe", "x.toml", "--set", "phase.together.role.readers.threads=3"]);
    let described = described.replace('\u{a0}', " ");
    assert!(described.contains("rate=500") && described.contains("rate=1000"), "{described}");
    let writer =
        "role writer of 1 threads: put 75.0 %, delete 25.0 %, keys zipfian, 500 operations per second, until";
    assert!(described.contains(writer), "{described}");
    for (from, to, expected) in [
        (
            "keys = \"zipfian\"\nrate",
            "keys = \"zipfian\"\nbatch = 9\nrate",
            "x.toml:23: phase.together.role.writer.batch: batch has no effect",
        ),
        ("rate = 2_000", "rate = { p99 = \"1ms\" }", "phase.together.role.writer.rate"),
        ("name = \"writer\"", "name = \"readers\"", "two roles have the name \"readers\""),
        ("operation = \"readers/get\"", "operation = \"reader/get\"", "did you mean \"readers/get\"?"),
        ("count = 1\n", "count = 1\nmode = \"counted\"\n", "threads"),
    ] {
        let text = ROLES.replacen(from, to, 1);
        assert_ne!(text, ROLES, "{from}");
        bench.write("x.toml", text);
        let error = bench.run(&["run", "x.toml", "--allow-debug"]).refusal();
        assert!(error.contains(expected), "{error}");
    }
}
