//! Tests that exchange traces with other tools, such as `db_bench` of RocksDB and a Redis server. If a tool is missing,
//! the test prints a message and checks nothing.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use results::columns as c;

use crate::bench::{Bench, number, of};

/// Returns whether a program exists. If the program is missing, prints what the test does not check.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn has(program: &str, package: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if found.is_err() {
        eprintln!("NOT CHECKED: there is no {program}; install the package {package}");
    }
    found.is_ok()
}

/// Runs a program in a folder to its end, and returns its output.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{program} {arguments:?}: {text}");
    text
}

fn statistics(bench: &Bench, file: &str) -> serde_json::Value {
    serde_json::from_str(&bench.ok(&["trace", "stat", file, "--json"])).unwrap()
}

/// Returns the number of operations of a kind in the statistics of a trace.
fn count(statistics: &serde_json::Value, kind: &str) -> u64 {
    let mix = statistics["mix"].as_array().unwrap();
    mix.iter().find(|share| share["operation"] == kind).map_or(0, |share| share["count"].as_u64().unwrap())
}

/// Returns the number after a word in an output line of a benchmark, such as `mixgraph … ( Gets:1801 Puts:905 Seek:294,
/// …`.
fn said(text: &str, word: &str) -> u64 {
    let (_, rest) = text.split_once(word).unwrap_or_else(|| panic!("no {word} in {text}"));
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

#[test]
fn rocksdb_writes_what_we_read_and_reads_what_we_write() {
    if !has("db_bench", "rocksdb-tools") {
        return;
    }
    let bench = Bench::new();
    let folder = bench.path("");
    let store = ["--db=db", "--num=3000", "--reads=3000", "--use_existing_db=1"];
    run(&folder, "db_bench", &["--db=db", "--num=3000", "--benchmarks=fillseq"]);
    let mix = ["--benchmarks=mixgraph", "--mix_get_ratio=0.6", "--mix_put_ratio=0.3", "--mix_seek_ratio=0.1"];
    let text = run(&folder, "db_bench", &[&store[..], &mix, &["--trace_file=mix.trace"]].concat());
    let found = statistics(&bench, "mix.trace");
    let done = ["Gets:", "Puts:", "Seek:"].map(|word| said(&text, word));
    assert_eq!(found["format"], "rocksdb");
    assert_eq!(["get", "put", "scan"].map(|kind| count(&found, kind)), done, "{text}");
    for (benchmark, kind) in [("deleterandom", "delete"), ("multireadrandom", "get"), ("seekrandom", "scan")]
    {
        let file = format!("{benchmark}.trace");
        let benchmark = format!("--benchmarks={benchmark}");
        run(
            &folder,
            "db_bench",
            &[&store[..], &[&benchmark, "--deletes=3000", &format!("--trace_file={file}")]].concat(),
        );
        assert!(count(&statistics(&bench, &file), kind) >= 3000, "{file}");
    }

    // A trace that is read and written again stays the same trace: RocksDB replays both traces to the same store.
    bench.ok(&["trace", "convert", "mix.trace", "--to", "rocksdb", "--out", "ours.trace"]);
    assert_eq!(statistics(&bench, "ours.trace")["popularity"], found["popularity"]);
    let stores = ["mix.trace", "ours.trace"].map(|file| {
        let (store, trace) = (format!("--db={file}.db"), format!("--trace_file={file}"));
        // Without a second column family, this version of db_bench has no handle of the first one.
        let said =
            run(&folder, "db_bench", &[&store, "--benchmarks=replay", "--num_column_families=2", &trace]);
        assert!(said.contains("Replay completed"), "{said}");
        let entries = run(&folder, "ldb", &[&store, "scan", "--hex"]);
        entries.lines().filter(|line| line.starts_with("0x")).map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(stores[0], stores[1]);
    assert!(stores[0].len() > 100, "{} entries", stores[0].len());

    // A design of ours replays it with checked answers.
    bench.write(
        "x.toml",
        "question = \"?\"\n[[phase]]\nname = \"replay\"\nreplay = { file = \"mix.trace\" }\n\
         [trials]\ncount = 1\nmode = \"counted\"\n",
    );
    bench.ok(&["run", "x.toml"]);
    let assumptions = bench.manifest("x").assumptions.join("\n");
    assert!(assumptions.contains("seeks is replayed as a scan of entries = 1 entries"), "{assumptions}");
}

/// A Redis server that a test has started.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a Redis server in a folder. Returns the server and its port.
fn redis(folder: &Path) -> (Server, u16) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings =
        ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--aof-use-rdb-preamble", "no"];
    let mut command = Command::new("redis-server");
    command.args(["--port", &port.to_string(), "--dir", "."]).args(settings).current_dir(folder);
    let server = Server(command.stdout(Stdio::null()).spawn().unwrap());
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "the server does not answer");
        std::thread::sleep(Duration::from_millis(20));
    }
    (server, port)
}

#[test]
fn a_redis_server_writes_what_we_read() {
    if !has("redis-server", "redis-server") {
        return;
    }
    let bench = Bench::new();
    let (server, port) = redis(&bench.path(""));
    let connect = || TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut monitor = connect();
    monitor.write_all(b"MONITOR\r\n").unwrap();
    monitor.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut monitor = BufReader::new(monitor);
    let mut seen = String::new();
    monitor.read_line(&mut seen).unwrap();
    assert_eq!(seen, "+OK\r\n");

    let mut client = connect();
    let mut commands = String::new();
    for key in 0..50 {
        let pair = format!("SET key{key} \"{}\\x00\"\r\nGET key{}\r\n", "v".repeat(key), key / 2);
        commands.push_str(&pair);
    }
    commands.push_str(
        "MGET key1 key2\r\nDEL key3 key4\r\nINCR n\r\nHSET h f 1 g 2\r\nHGETALL h\r\nPING\r\nQUIT\r\n",
    );
    client.write_all(commands.as_bytes()).unwrap();
    std::io::copy(&mut client, &mut std::io::sink()).unwrap();
    let mut lines = String::new();
    while !lines.to_lowercase().contains("\"ping\"") {
        let mut line = String::new();
        monitor.read_line(&mut line).unwrap();
        // As redis-cli prints a simple string.
        lines.push_str(line.trim_start_matches('+'));
    }
    drop(server);

    bench.write("monitor.log", &lines);
    let found = statistics(&bench, "monitor.log");
    let counts =
        |found: &serde_json::Value| ["get", "put", "delete", "scan", "rmw"].map(|kind| count(found, kind));
    assert_eq!((found["format"].as_str(), counts(&found)), (Some("redis-monitor"), [52, 52, 2, 1, 1]));
    assert_eq!(found["value_sizes"]["max_bytes"], 50);
    assert!(found["notes"][0].as_str().unwrap().contains("PING"), "{found}");

    let files = std::fs::read_dir(bench.path("appendonlydir")).unwrap().map(|entry| entry.unwrap().path());
    let file = files.into_iter().find(|path| path.to_string_lossy().ends_with(".incr.aof")).unwrap();
    let found = statistics(&bench, file.to_str().unwrap());
    assert_eq!((found["format"].as_str(), counts(&found)), (Some("redis-aof"), [0, 52, 2, 0, 1]));
}

/// A Python script that prints the miss ratio of the LRU cache of libCacheSim for a trace. The arguments are the trace
/// and the capacities in objects.
const LIBCACHESIM: &str = "\
import sys, libcachesim as l
for capacity in sys.argv[2:]:
    reader = l.TraceReader(trace=sys.argv[1], trace_type=l.TraceType.ORACLE_GENERAL_TRACE,
                           reader_init_params=l.ReaderInitParam(ignore_obj_size=True))
    print(l.LRU(int(capacity)).process_trace(reader)[0])
";

#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn libcachesim_misses_as_often_as_our_curve_says() {
    let found = Command::new("python3").args(["-c", "import libcachesim"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "NOT CHECKED: python3 has no module libcachesim; install the package libcachesim from PyPI"
        );
        return;
    }
    let bench = Bench::new();
    let key = |at: u64| (at * at * 2_654_435_761 % 1_000_003) % (1 + at * 40_503 % 700);
    let lines: String = (0..20_000).map(|at| format!("{}\n", key(at))).collect::<Vec<_>>().concat();
    bench.write("blocks.lirs", lines);
    bench.ok(&["trace", "convert", "blocks.lirs", "--to", "oracle-general", "--out", "blocks.bin"]);
    let statistics = statistics(&bench, "blocks.lirs");
    let points = statistics["lru"].as_array().unwrap();
    let points = points.iter().filter(|point| point["keys"].as_u64().unwrap() >= 8);
    let capacities: Vec<String> = points.clone().map(|point| point["keys"].to_string()).collect();
    let arguments =
        ["-c", LIBCACHESIM, "blocks.bin"].into_iter().chain(capacities.iter().map(String::as_str));
    let printed = run(&bench.path(""), "python3", &arguments.collect::<Vec<_>>());
    let ratios: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(ratios.len(), capacities.len(), "{printed}");
    for (point, ratio) in points.zip(ratios) {
        let ours = point["miss_ratio"].as_f64().unwrap();
        assert!((ours - ratio).abs() < 1e-6, "{point}: {ratio}");
    }
}

/// An experiment with a load, and with a phase that contains every kind of operation of the RocksDB trace format.
const RECORDED: &str = r#"
question = "?"
[[phase]]
name   = "load"
insert = 2_000
[[phase]]
name       = "mixed"
operations = 2_000
mix        = { get = 0.5, put = 0.2, delete = 0.1, rmw = 0.2 }
[[phase]]
name       = "rest"
operations = 10
mix        = { get = 1 }
[design]
memtable = { capacity = "32KiB" }
[trials]
count = 1
mode  = "counted"
"#;

#[test]
fn a_recorded_phase_replays_to_the_same_counters() {
    let bench = Bench::new();
    bench.write("recorded.toml", RECORDED);
    let record = ["trace", "record", "recorded.toml", "--phase", "mixed", "--out", "mixed.trace"];
    let said = bench.run(&record).expect(0).err;
    let found = statistics(&bench, "mixed.trace");
    let counts = ["get", "put", "delete"].map(|kind| count(&found, kind));
    assert!(counts[0] > 1200 && counts[1] > 700 && counts[2] > 150, "{counts:?}");
    let total: u64 = counts.iter().sum();
    assert!(said.contains(&format!("{total} operations of phase \"mixed\" in the format rocksdb")), "{said}");

    bench.write(
        "replayed.toml",
        RECORDED.replace(
            "operations = 2_000\nmix        = { get = 0.5, put = 0.2, delete = 0.1, rmw = 0.2 }",
            "replay     = { file = \"mixed.trace\" }",
        ),
    );
    bench.ok(&["run", "recorded.toml", "replayed.toml"]);
    let rows = ["recorded", "replayed"].map(|name| bench.rows(name));
    let mixed = [&rows[0], &rows[1]].map(|rows| of(rows, "mixed", "all")[0]);
    for column in
        [&c::USER_BYTES_WRITTEN, &c::FLUSH_BYTES, &c::BLOCKS_PER_GET, &c::FILTER_PROBES, &c::LIVE_BYTES]
    {
        let [recorded, replayed] = mixed.map(|row| number(row, column));
        assert!(recorded > 0.0, "{}", column.name);
        assert_eq!(recorded.to_bits(), replayed.to_bits(), "{}: {recorded} and {replayed}", column.name);
    }

    let again = bench.run(&record).expect(2).err;
    assert!(again.contains("mixed.trace already exists; name another file"), "{again}");
    let unknown =
        bench.run(&["trace", "record", "recorded.toml", "--phase", "lod", "--out", "t"]).expect(2).err;
    assert!(unknown.contains("valid: \"load\", \"mixed\", \"rest\""), "{unknown}");
    let beyond = ["--phase", "load", "--configuration", "7", "--out", "t"];
    let beyond = bench.run(&[&["trace", "record", "recorded.toml"], &beyond[..]].concat()).expect(2).err;
    assert!(beyond.contains("--configuration: there is no configuration 7\n  valid: 0"), "{beyond}");
    assert!(!bench.path("t").exists());
}
