//! Tests of extreme and meaningless values, such as values that need all memory or all storage. With any value of a
//! parameter, a run must end soon and use little memory. It must end with success or with an error.

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use toml::Value;
use tree::AXES;

use crate::bench::Bench;

/// The experiment in which each test case changes one value.
const BASE: &str = r#"
question = "?"
[design]
storage  = "memory"
memtable = { capacity = "16KiB" }
table    = { capacity = "16KiB" }
[[phase]]
name   = "load"
insert = 200
value  = { kind = "fixed", bytes = 100 }
[[phase]]
name       = "look"
operations = 200
mix        = { get = 4, put = 4, range = 1, batch = 1 }
absent     = 0.5
[trials]
count = 1
"#;

/// Maximum address space of a run in KiB. The maximum is enough for the memory mappings of the program, with some
/// reserve.
const MOST_KIB: u64 = 6 << 20;

/// Time limit of a run, large enough for a busy machine.
const MOST_TIME: Duration = Duration::from_mins(3);

/// Integers to try: values that are too large, in descending order, and values that are too small.
const INTEGERS: [&[&str]; 2] =
    [&["9223372036854775807", "1_000_000_000_000", "4294967295", "1_000_000_000"], &["0", "-1"]];

/// Integers to try for keys whose large values a machine could handle with enough time. The list contains fewer large
/// values than [`INTEGERS`].
const COUNTS: [&[&str]; 2] = [&["9223372036854775807", "1_000_000_000_000"], &["0", "-1"]];

const NUMBERS: [&[&str]; 2] =
    [&["inf", "nan", "1e308", "1e18", "1e9", "9223372036854775807"], &["-inf", "-1.0", "0.0", "1e-300"]];

const SIZES: [&[&str]; 2] =
    [&["\"16EiB\"", "\"100TiB\"", "9223372036854775807", "\"4GiB\""], &["\"\"", "0", "\"-1B\""]];

const WORDS: [&[&str]; 2] = [
    &["\"1000000h\"", "\"100TiB\"", "\"1e30\"", "9223372036854775807"],
    &["\"\"", "\"all\"", "[]", "0", "true"],
];

const LISTS: [&[&str]; 2] =
    [&["[1e308]", "[nan]", "[\"by-level\"]", "[[]]"], &["[]", "[0.0]", "[-1.0]", "\"\""]];

/// Keys to test in addition to the parameters of variants, each with the values to try.
const OTHERS: [(&str, [&[&str]; 2]); 26] = [
    ("design.memtable.capacity=", SIZES),
    ("design.table.capacity=", SIZES),
    ("design.block.size=", SIZES),
    ("design.block.restart_interval=", INTEGERS),
    ("design.stall.frozen_memtables=", INTEGERS),
    ("design.stall.level0_runs=", INTEGERS),
    ("design.threads.max_subcompactions=", INTEGERS),
    ("design.memory=", SIZES),
    ("phase.load.insert=", COUNTS),
    ("phase.load.threads=", INTEGERS),
    ("phase.load.batch=", INTEGERS),
    ("phase.load.value.bytes=", INTEGERS),
    ("phase.load.value.compressible=", NUMBERS),
    ("phase.look.threads=", INTEGERS),
    ("phase.look.operations=", COUNTS),
    ("phase.look.batch=", INTEGERS),
    ("phase.look.absent=", NUMBERS),
    ("phase.look.mix.get=", NUMBERS),
    ("phase.look.range.span=", INTEGERS),
    ("phase.look.range.entries=", INTEGERS),
    ("trials.count=", INTEGERS),
    ("trials.seed=", INTEGERS),
    ("trials.sampling=", INTEGERS),
    ("trials.check=", INTEGERS),
    ("key={ format = \"u64\", bytes = 8 }\nkey.bytes=", INTEGERS),
    ("verdict.margin=", NUMBERS),
];

/// A parameter and the values to try. `front` contains the settings for `--set` up to the value, one per line. `back`
/// is the text after the value.
struct Place {
    front: String,
    back: &'static str,
    values: [&'static [&'static str]; 2],
}

/// Returns every parameter of every variant, and all [`OTHERS`].
fn places() -> Vec<Place> {
    let mut places: Vec<Place> =
        OTHERS.map(|(front, values)| Place { front: front.to_owned(), back: "", values }).into();
    for axis in AXES {
        for variant in axis.variants() {
            places.extend(variant.defaults.iter().map(|(parameter, default)| Place {
                front: format!("design.{}={{ kind = \"{}\", {parameter} = ", axis.name(), variant.kind),
                back: " }",
                values: values(default),
            }));
        }
    }
    places
}

/// Returns the values to try instead of a default.
fn values(default: &Value) -> [&'static [&'static str]; 2] {
    match default {
        Value::Integer(_) => INTEGERS,
        Value::Float(_) => NUMBERS,
        Value::Array(_) => LISTS,
        Value::String(size) if types::quantity::parse_bytes(size).is_ok() => SIZES,
        _ => WORDS,
    }
}

/// Runs the base experiment with one value replaced. Returns whether the run succeeded. Returns an error message if the
/// run exceeded the time limit, panicked, or had an unexpected exit code.
fn try_value(bench: &Bench, place: &Place, value: &str, number: usize) -> Result<bool, String> {
    let set = format!("{}{value}{}", place.front, place.back);
    let out = format!("out-{number}");
    // The shell takes the limit for itself, and so for the program and its trials.
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("ulimit -v {MOST_KIB}; exec \"$0\" \"$@\""),
        env!("CARGO_BIN_EXE_lsmbench"),
    ]);
    command.args(["run", "base.toml", "--allow-debug", "--out", &out]).current_dir(bench.path(""));
    command.args(set.lines().flat_map(|set| ["--set", set]));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the shell starts");
    let start = Instant::now();
    while child.try_wait().expect("a child can be waited for").is_none() {
        if start.elapsed() > MOST_TIME {
            let _ = child.kill();
            return Err(format!("{set}: it goes on for {MOST_TIME:?}"));
        }
        thread::sleep(Duration::from_millis(2));
    }
    let answer = child.wait_with_output().expect("a child can be waited for");
    let error = String::from_utf8_lossy(&answer.stderr);
    match answer.status.code() {
        Some(code @ (0 | 2)) if !error.contains("panicked") => Ok(code == 0),
        _ => Err(format!("{set}: it ends with {}: {error}", answer.status)),
    }
}

/// Tries the values of each list in order, until the program accepts a value and the run succeeds. The following values
/// are not tried, because smaller values take less time.
#[test]
fn whatever_a_parameter_holds_a_run_ends_soon() {
    let bench = Bench::new();
    bench.write("base.toml", BASE);
    let places = places();
    assert!(places.len() > 100, "the catalogs have parameters");
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = places.get(number) else { break };
            if !catalog::laws::is_sampled(number, 6) {
                continue;
            }
            for values in place.values {
                for value in values {
                    match try_value(&bench, place, value, number) {
                        Ok(true) => break,
                        Ok(false) => {}
                        Err(message) => wrong.lock().unwrap().push(message),
                    }
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Tests that lsmbench rejects values that need too much memory or storage. The error contains the needed amount, and
/// no file is created.
#[test]
fn what_does_not_fit_is_refused_with_the_estimate() {
    let bench = Bench::new();
    bench.write("base.toml", BASE);
    for (sets, takes) in [
        (&["phase.load.insert=4_000_000_000", "phase.load.value.bytes=65536"][..], "of memory"),
        (
            &["phase.load.insert=4_000_000_000", "phase.load.value.bytes=65536", "design.storage=\"pread\""],
            "of storage",
        ),
        (&["design.memtable.capacity=\"100TiB\""], "300TiB of memory"),
        (&["design.cache={ kind = \"lru\", capacity = \"100TiB\" }"], "100TiB of memory"),
    ] {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
        let error = bench.run(&[&["run", "base.toml", "--allow-debug"][..], &sets].concat()).refusal();
        assert!(error.contains("may need") && error.contains(takes), "{sets:?}: {error}");
        assert!(!bench.path("results").exists(), "{sets:?}: something was made");
    }
}

/// Tests that `describe` accepts a sweep with the maximum of ten thousand configurations, and takes less than quadratic
/// time.
#[test]
fn a_sweep_of_thousands_is_described_soon() {
    let bench = Bench::new();
    let values = |count: u32| (1..=count).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    let sweep = |count| {
        format!("[sweep]\n\"phase.look.operations\" = [{0}]\n\"phase.load.insert\" = [{0}]\n", values(count))
    };
    bench.write("most.toml", format!("{BASE}{}", sweep(50)));
    let start = Instant::now();
    assert!(bench.ok(&["describe", "most.toml"]).contains("estimate: 2500 configurations"));
    assert!(start.elapsed() < MOST_TIME, "it took {:?}", start.elapsed());
    bench.write("more.toml", format!("{BASE}{}", sweep(101)));
    assert!(bench.run(&["describe", "more.toml"]).refusal().contains("more than 10000 configurations"));
}
