//! Tests of experiments on servers. One server is `lsmbench serve` with the design of the experiment, and the other
//! server is Redis.

use std::io::Write as _;

use results::columns as c;

use crate::bench::{Bench, text};

const EXPERIMENT: &str = r#"
question = "What does the socket cost?"
[design]
memtable = { capacity = "128KiB" }
wal = "group"
[[phase]]
name   = "load"
insert = 2_000
value  = { kind = "fixed", bytes = 40 }
batch  = 100
[[phase]]
name       = "mixed"
operations = 2_000
mix        = { get = 4, put = 2, delete = 1, range = 2, rmw = 1, batch = 1, multi_get = 1 }
absent     = 0.3
threads    = 2
value      = { kind = "fixed", bytes = 40 }
range      = { kind = "fixed", entries = 7 }
[trials]
count = 1
check = 1
[sweep]
"engine" = ENGINES
"#;

/// The engine that runs `lsmbench serve` with the design of the experiment, as TOML.
const SERVED: &str = r#"{ kind = "resp", label = "served", command = ["{lsmbench}", "serve", "{dir}/store", "--design", "{design}", "--listen", "127.0.0.1:{port}"] }"#;

fn experiment(engines: &str) -> String {
    EXPERIMENT.replace("ENGINES", engines)
}

/// Tests that the tree gives the same answers over a socket. If Redis is installed, also tests that Redis gives the
/// same answers.
#[test]
fn servers_are_engines_like_any_other() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        experiment(&format!("[\"lsmbench\", {SERVED}, {{ kind = \"resp\", label = \"redis\" }}]")),
    );
    let answer = bench.run(&["run", "x.toml", "--allow-debug"]).expect(0);
    let (rows, manifest) = (bench.rows("x"), bench.manifest("x"));
    let names: Vec<&str> = manifest.cells.iter().map(|cell| cell.label.as_str()).collect();
    assert!(names.starts_with(&["lsmbench", "served"]), "{names:?}");
    if names.len() == 2 {
        let _ = writeln!(std::io::stderr(), "NOT CHECKED: redis-server as an engine, which is not installed");
        assert!(answer.err.contains("redis-server"), "{}", answer.err);
    }
    let whole: Vec<_> = rows.iter().filter(|row| text(row, &c::OPERATION) == "all").collect();
    assert_eq!(whole.len(), 2 * names.len());
    for row in whole {
        assert_eq!(text(row, &c::WRONG_ANSWERS), "0");
        assert_ne!(text(row, &c::CHECKED_ANSWERS), "");
    }
    let served = manifest.cells[1].engine.as_ref().unwrap();
    assert_eq!(served.version.as_deref(), Some(env!("CARGO_PKG_VERSION")));
    assert!(
        served.mapping.iter().any(|line| line.starts_with("design: the server reads the complete design")),
        "{served:?}"
    );
    // The servers have ended with their trials.
    let left = std::process::Command::new("pgrep").args(["-f", bench.path("").to_str().unwrap()]).output();
    assert!(left.is_ok_and(|left| left.stdout.is_empty()), "a server is left behind");
}

#[test]
fn servers_that_cannot_be_used_are_refused() {
    let bench = Bench::new();
    for (engine, expected) in [
        ("{ kind = \"resp\", command = [\"redis-server\"] }", "`command` has no placeholder {port}"),
        ("{ kind = \"resp\", address = \"localhost\" }", "is not HOST:PORT; write it like 127.0.0.1:6379"),
        ("{ kind = \"resp\", empty = true }", "a server that lsmbench starts is empty"),
    ] {
        bench.write("x.toml", experiment(&format!("[{engine}]")));
        let error = bench.run(&["run", "x.toml", "--allow-debug"]).refusal();
        assert!(error.contains(expected), "{error}");
    }
    let engine = "{ kind = \"resp\", command = [\"nowhere-server\", \"{port}\"] }";
    bench.write("x.toml", experiment(&format!("[{engine}]")));
    let error = bench.run(&["run", "x.toml", "--allow-debug"]).refusal();
    assert!(error.contains("cannot find nowhere-server in "), "{error}");
    // A port on which no program listens, and a program that is not a server.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (engine, expected) in [
        (format!("{{ kind = \"resp\", address = \"{free}\" }}"), "no server with the Redis protocol at"),
        (
            "{ kind = \"resp\", command = [\"ls\", \"/nowhere/{port}\"] }".to_owned(),
            "the server ended before it accepted a connection",
        ),
    ] {
        bench.write("x.toml", experiment(&format!("[{engine}]")));
        let error = bench.run(&["run", "x.toml", "--allow-debug"]).expect(2).err;
        assert!(error.contains(expected), "{error}");
    }
}
