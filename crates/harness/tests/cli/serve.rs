//! Tests of `lsmbench serve`, with real clients, kills, signals and rejected options.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, wait_for};

/// A server process on a free port, killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Serves the store `db`.
    pub(crate) fn start(bench: &Bench, options: &[&str]) -> Self {
        let arguments = [&["serve", "db", "--listen", "127.0.0.1:0"][..], options].concat();
        let mut child = bench.command(&arguments).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let address = line.strip_prefix("listening on ").and_then(|rest| rest.split(' ').next());
        let address = address.and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| {
            errors.read_to_string(&mut line).unwrap();
            panic!("it does not listen: {line}")
        });
        // The pipe stays open, so that the server can report errors.
        child.stderr = Some(errors.into_inner());
        Self { child, address }
    }

    fn port(&self) -> String {
        self.address.port().to_string()
    }

    fn connect(&self) -> BufReader<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        BufReader::new(stream)
    }

    /// Sends lines, and returns the same number of answer lines, `lines`.
    pub(crate) fn ask(&self, requests: &str, lines: usize) -> Vec<String> {
        let mut socket = self.connect();
        socket.get_mut().write_all(requests.as_bytes()).unwrap();
        socket.lines().take(lines).map(Result::unwrap).collect()
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills the server, without waiting for its end.
    pub(crate) fn kill_now(&self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
    }

    /// Ends the server by a signal, and returns its exit code.
    pub(crate) fn end(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs an external client, and returns its standard output. Returns `None` if the client is not installed.
fn client(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let Ok(output) = output else {
        let _ = writeln!(std::io::stderr(), "NOT CHECKED: {program}, which is not installed");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{program}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

#[test]
fn redis_cli_works() {
    let bench = Bench::new();
    let server = Server::start(&bench, &[]);
    let port = server.port();
    for protocol in ["-2", "-3"] {
        let cli = |words: &[&str]| client("redis-cli", &[&["-p", &port, protocol][..], words].concat());
        let Some(answer) = cli(&["SET", "a", "1"]) else { return };
        assert_eq!(answer, "OK\n");
        for (words, expected) in [
            (&["FLUSHALL"][..], "OK\n"),
            (&["INCR", "n"], "1\n"),
            (&["HSET", "h", "f", "1", "g", "2"], "2\n"),
            (&["HGET", "h", "g"], "2\n"),
            (&["MSET", "a", "1", "b", "2"], "OK\n"),
            (&["MGET", "a", "b", "c"], "1\n2\n\n"),
            (&["--scan", "--pattern", "[ab]"], "a\nb\n"),
            (&["RANGE", "a", "c"], "a\n1\nb\n2\n"),
            (&["DBSIZE"], "4\n"),
            (&["GET", "h"], "WRONGTYPE Operation against a key holding the wrong kind of value\n\n"),
        ] {
            assert_eq!(cli(words).as_deref(), Some(expected), "{protocol} {words:?}");
        }
    }
}

#[test]
fn redis_benchmark_works() {
    let bench = Bench::new();
    let server = Server::start(&bench, &[]);
    let port = server.port();
    for pipeline in ["1", "16"] {
        let arguments = [
            "-p",
            &port,
            "-t",
            "ping,set,get,incr,hset,mset",
            "-n",
            "2000",
            "-c",
            "20",
            "-r",
            "1000",
            "-P",
            pipeline,
            "--csv",
        ];
        let Some(table) = client("redis-benchmark", &arguments) else { return };
        // A line for each test, with a positive rate: an error reply ends the program.
        let rates: Vec<&str> = table.lines().filter(|line| line.starts_with('"')).skip(1).collect();
        assert_eq!(rates.len(), 7, "{table}");
        for line in rates {
            let rate = line.split("\",\"").nth(1).unwrap().trim_matches('"');
            assert!(rate.parse::<f64>().is_ok_and(|rate| rate > 0.0), "{line}");
        }
    }
    assert_eq!(server.end(Signal::TERM), Some(130));
    bench.run(&["verify", "db"]).expect(0);
}

#[test]
fn redis_py_works() {
    let bench = Bench::new();
    let server = Server::start(&bench, &[]);
    let script = format!(
        r#"
import sys
try:
    import redis
except ImportError:
    print("absent")
    sys.exit()
for protocol in (2, 3):
    r = redis.Redis(port={}, protocol=protocol)
    r.flushdb()
    assert r.set("a", b"\x00\xff") and r.get("a") == b"\x00\xff" and r.get("b") is None
    assert r.set("a", 1, nx=True) is None and r.incrby("n", 5) == 5
    assert r.hset("h", mapping={{"x": 1, "y": 2}}) == 2 and r.hgetall("h") == {{b"x": b"1", b"y": b"2"}}
    assert r.mset({{"k1": 1, "k2": 2}}) and r.mget("k1", "k2", "k3") == [b"1", b"2", None]
    assert sorted(r.scan_iter(match="k*", count=1)) == [b"k1", b"k2"]
    assert r.dbsize() == 5 and r.exists("a", "zz") == 1 and r.delete("a") == 1
    with r.pipeline(transaction=False) as p:
        assert p.set("p", 1).incr("p").get("p").execute() == [True, 2, b"2"]
    with r.pipeline() as p:
        assert p.set("q", 1).incr("q").get("q").execute() == [True, 2, b"2"]
    try:
        r.get("h")
        assert False
    except redis.exceptions.ResponseError as error:
        assert "WRONGTYPE" in str(error)
    assert r.info()["lsmbench_version"] and r.config_get("maxclients") == {{"maxclients": "10000"}}
    r.close()
print("checked")
"#,
        server.address.port()
    );
    match client("python3", &["-c", &script]).as_deref() {
        Some("checked\n") | None => {}
        _ => drop(writeln!(std::io::stderr(), "NOT CHECKED: redis-py, which is not installed")),
    }
}

/// Tests that every acknowledged write survives `kill -9`. One client increments a counter, and other clients set names
/// in pipelines.
#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    const CLIENTS: usize = 4;
    for wal in ["sync", "group", "buffered"] {
        let bench = Bench::new();
        let wal = format!("wal={wal}");
        let options = ["--set", &wal, "--set", "memtable.capacity=64KiB"];
        let mut expected: BTreeMap<String, String> = BTreeMap::new();
        for round in 0..4 {
            let server = Server::start(&bench, &options);
            let acknowledged = AtomicUsize::new(0);
            let wanted = 100 + 150 * round;
            let written: Vec<BTreeMap<String, String>> = std::thread::scope(|scope| {
                let writer = |number: usize| {
                    // A fast client could otherwise write enough before another client connects.
                    let (socket, acknowledged) = (server.connect(), &acknowledged);
                    move || write_until_killed(socket, round, number, acknowledged)
                };
                let writers: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(writer(number))).collect();
                wait_for("acknowledged writes", || {
                    (acknowledged.load(Ordering::Relaxed) >= wanted).then_some(())
                });
                server.kill_now();
                writers.into_iter().map(|writer| writer.join().unwrap()).collect()
            });
            drop(server);
            written.into_iter().for_each(|written| expected.extend(written));

            let server = Server::start(&bench, &options);
            let gets: String =
                expected.keys().map(|name| format!("GET {name}\r\n")).collect::<Vec<_>>().concat();
            let answers = server.ask(&gets, 2 * expected.len());
            let lost: Vec<_> = expected
                .iter()
                .zip(answers.chunks(2))
                .filter(|((name, value), answer)| match name.starts_with("count") {
                    // The last count may be applied without an acknowledgement.
                    true => answer[1].parse::<u64>().unwrap() < value.parse::<u64>().unwrap(),
                    false => answer[1] != **value,
                })
                .collect();
            assert!(lost.is_empty(), "{wal}, round {round}: lost {lost:?} of {}", expected.len());
            server.kill();
            bench.run(&["verify", "db"]).expect(0);
        }
    }
}

/// Sends pipelines of writes until the server ends, and returns the acknowledged writes.
fn write_until_killed(
    mut socket: BufReader<TcpStream>,
    round: usize,
    number: usize,
    acknowledged: &AtomicUsize,
) -> BTreeMap<String, String> {
    let mut done = BTreeMap::new();
    for time in 0.. {
        let names: Vec<String> = (0..8).map(|place| format!("{round}:{number}:{time}:{place}")).collect();
        let mut requests: String =
            names.iter().map(|name| format!("SET {name} v{name}\r\n")).collect::<Vec<_>>().concat();
        requests.extend(["INCR count", &round.to_string(), &number.to_string(), "\r\n"]);
        if socket.get_mut().write_all(requests.as_bytes()).is_err() {
            return done;
        }
        for place in 0..=names.len() {
            let mut line = String::new();
            // The last line may be truncated.
            if socket.read_line(&mut line).is_err() || !line.ends_with("\r\n") {
                return done;
            }
            if let Some(name) = names.get(place) {
                assert_eq!(line, "+OK\r\n");
                done.insert(name.clone(), format!("v{name}"));
            } else {
                let count = line.trim_end().trim_start_matches(':').to_owned();
                done.insert(format!("count{round}{number}"), count);
            }
            acknowledged.fetch_add(1, Ordering::Relaxed);
        }
    }
    done
}

/// Tests that a store is intact after `kill -9` during `redis-benchmark`.
#[test]
fn a_store_survives_kill_9_under_redis_benchmark() {
    for wal in ["wal=sync", "wal=group"] {
        let bench = Bench::new();
        let server = Server::start(&bench, &["--set", wal, "--set", "memtable.capacity=64KiB"]);
        let load = Command::new("redis-benchmark")
            .args([
                "-p",
                &server.port(),
                "-t",
                "set,hset,incr",
                "-n",
                "100000000",
                "-r",
                "100000",
                "-c",
                "10",
                "-P",
                "4",
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut load) = load else {
            let _ = writeln!(std::io::stderr(), "NOT CHECKED: redis-benchmark, which is not installed");
            return;
        };
        // A count that was read is never undone.
        let count = || server.ask("DBSIZE\r\n", 1)[0].trim_start_matches(':').parse::<u64>().unwrap();
        let seen = wait_for("names", || Some(count()).filter(|count| *count > 500));
        server.kill();
        // The client may wait for the server to return.
        let _ = load.kill();
        load.wait().unwrap();
        bench.run(&["verify", "db"]).expect(0);
        let server = Server::start(&bench, &["--set", wal]);
        let found = server.ask("DBSIZE\r\n", 1)[0].trim_start_matches(':').parse::<u64>().unwrap();
        assert!(found >= seen, "{found} names of {seen}");
    }
}

#[test]
fn a_server_that_is_told_to_end_closes_its_store() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let bench = Bench::new();
        let server = Server::start(&bench, &["--set", "wal=none"]);
        let _idle = server.connect();
        assert_eq!(server.ask("SET a 1\r\nHSET h f 2\r\n", 2), ["+OK", ":1"]);
        assert_eq!(server.end(signal), Some(130));
        assert_eq!(bench.run_with(&["shell", "db"], "g a\n").expect(0).out, "1\n");
    }
    let bench = Bench::new();
    let mut server = Server::start(&bench, &[]);
    server.ask("SHUTDOWN\r\n", 0);
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_text_language_has_many_clients() {
    let bench = Bench::new();
    let server = Server::start(&bench, &["--protocol", "dsl"]);
    assert_eq!(server.ask("p a 1\np b 2\nr a z\nx\n", 2)[0], "a:1 b:2");
    std::thread::scope(|scope| {
        for number in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let puts: String =
                    (0..100).map(|key| format!("p {number}{key:02} {key}\n")).collect::<Vec<_>>().concat();
                assert_eq!(server.ask(&format!("{puts}g {number}99\n"), 1), ["99"]);
            });
        }
    });
    assert_eq!(server.end(Signal::TERM), Some(130));
    // The same commands in the shell have the same answers.
    let answer = bench.run_with(&["shell", "db"], "r a z\nr 000 003\ng 399\n").expect(0);
    assert_eq!(answer.out, "a:1 b:2\n000:0 001:1 002:2\n99\n");
}

#[test]
fn options_that_cannot_be_are_refused() {
    let bench = Bench::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (options, expected) in [
        (
            &["--listen", "0.0.0.0:7000"][..],
            "--listen 0.0.0.0:7000: other machines could connect without a password; add --password",
        ),
        (&["--listen", "0.0.0.0:7000", "--protocol", "dsl"], "the protocol \"dsl\" has no password"),
        (&["--password", "x", "--protocol", "dsl"], "the protocol \"dsl\" has no password"),
        (&["--password", ""], "the password is empty"),
        (&["--listen", &taken], "choose another port with --listen"),
        (&["--set", "storage=memory"], "a server needs a durable store, but storage = \"memory\""),
        (&["--set", "bloom=blom"], "unknown variant \"blom\""),
    ] {
        let error = bench.run(&[&["serve", "db"][..], options].concat()).refusal();
        assert!(error.contains(expected), "{options:?}: {error}");
    }
    for options in [
        &["--listen", "nowhere"][..],
        &["--protocol", "smtp"],
        &["--max-clients", "0"],
        &["--max-reply", "1"],
    ] {
        let answer = bench.run(&[&["serve", "db"][..], options].concat()).expect(2);
        assert!(answer.err.contains("invalid value"), "{}", answer.err);
    }
    assert!(!bench.path("db").exists(), "nothing was made");
    let _server = Server::start(&bench, &[]);
    let error = bench.run(&["serve", "db", "--listen", "127.0.0.1:0"]).refusal();
    assert!(error.starts_with("db is in use by "), "{error}");
}

#[cfg(not(feature = "grpc"))]
#[test]
fn a_build_without_grpc_names_the_feature() {
    let bench = Bench::new();
    let error = bench.run(&["serve", "db", "--protocol", "grpc"]).refusal();
    assert!(error.starts_with("--protocol grpc: this build of lsmbench does not contain gRPC"), "{error}");
    assert!(error.ends_with("build with: cargo build --release --features grpc"), "{error}");
    assert!(!bench.path("db").exists(), "nothing was made");
}

#[test]
fn a_password_may_come_from_the_environment() {
    let bench = Bench::new();
    let mut command = bench.command(&["serve", "db", "--listen", "127.0.0.1:0"]);
    let mut child = command.env("LSMBENCH_PASSWORD", "secret").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split(' ').nth(2).unwrap().parse().unwrap();
    let server = Server { child, address };
    let answers = server.ask("GET a\r\nAUTH secret\r\nGET a\r\n", 3);
    assert_eq!(answers, ["-NOAUTH Authentication required.", "+OK", "$-1"]);
}
