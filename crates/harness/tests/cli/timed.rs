//! Tests of timed runs: the clock in a closed and in an open loop, and the intended operations next to the realized
//! ones.

use results::{Folder, ProfileRecord, Table, columns as c};

use crate::bench::{Bench, number, of, text};

const EXPERIMENT: &str = r#"
question = "?"
[design]
memtable = { capacity = "256KiB" }
[[phase]]
name   = "load"
insert = 20_000
value  = { kind = "fixed", bytes = 32 }
[[phase]]
name       = "closed"
operations = 20_000
mix        = { get = 0.5, put = 0.3, range = 0.2 }
absent     = 0.25
value      = { kind = "fixed", bytes = 64 }
range      = { kind = "fixed", entries = 5 }
[[phase]]
name       = "skewed"
operations = 40_000
mix        = { get = 1 }
keys       = { kind = "zipfian", theta = 0.99 }
[[phase]]
name       = "easy"
operations = 400
mix        = { get = 1 }
rate       = 2_000
[[phase]]
name       = "hopeless"
operations = 20_000
mix        = { get = 0.5, put = 0.5 }
rate       = 500_000_000
[trials]
count = 1
check = 1
"#;

fn run() -> Bench {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    bench
}

#[test]
fn an_open_loop_charges_the_wait() {
    let bench = run();
    let rows = bench.rows("x");
    for phase in ["easy", "hopeless"] {
        for row in rows.iter().filter(|row| text(row, &c::PHASE) == phase) {
            assert_eq!(text(row, &c::LOOP), "open");
            for (service, response) in [
                (&c::MEAN_NS, &c::RESPONSE_MEAN_NS),
                (&c::P50_NS, &c::RESPONSE_P50_NS),
                (&c::P99_NS, &c::RESPONSE_P99_NS),
                (&c::P9999_NS, &c::RESPONSE_P9999_NS),
                (&c::MAX_NS, &c::RESPONSE_MAX_NS),
            ] {
                // Percentiles are those of histograms with three digits.
                let (service, response) = (number(row, service), number(row, response));
                assert!(
                    response >= service * 0.999,
                    "{phase}: {response} ns in all, {service} ns of service"
                );
            }
        }
    }
    // The rate that nothing can serve: the queue grows to the end, and the median operation waits for the ten
    // thousand before it.
    let hopeless = of(&rows, "hopeless", "all")[0];
    let [service, response] = [&c::P50_NS, &c::RESPONSE_P50_NS].map(|column| number(hopeless, column));
    assert!(response > 100.0 * service, "{response} ns in all, {service} ns of service");
    assert!(number(hopeless, &c::OPS_PER_SECOND) < 0.5 * number(hopeless, &c::TARGET_OPS_PER_SECOND));
    // The last operation waits for all others, so the longest wait is as long as the phase.
    let [p9999, longest] =
        [&c::RESPONSE_P9999_NS, &c::RESPONSE_MAX_NS].map(|column| number(hopeless, column));
    assert!(
        longest >= p9999 && longest > 0.9e9 * number(hopeless, &c::SECONDS),
        "{longest} ns, p99.99 {p9999}"
    );
    let timeline = Table::read(&Folder::new(bench.path("results/x")).timeline()).unwrap();
    let intervals = timeline.rows().iter().filter(|row| text(row, &c::PHASE) == "hopeless");
    let of_intervals = intervals.filter_map(|row| row.get(&c::RESPONSE_MAX_NS).number()).fold(0.0, f64::max);
    assert!(
        (of_intervals - longest).abs() < 0.5,
        "{of_intervals} ns in the timeline, {longest} ns in the row"
    );
    // The easy rate takes exactly its scheduled time, because no operation starts before it is due.
    let easy = of(&rows, "easy", "all")[0];
    assert!(number(easy, &c::SECONDS) >= 399.0 / 2000.0);
    let closed = of(&rows, "closed", "all")[0];
    assert!(
        [&c::RESPONSE_P99_NS, &c::RESPONSE_P9999_NS, &c::RESPONSE_MAX_NS]
            .iter()
            .all(|of| closed.get(of).is_empty()),
        "a closed loop has no such times"
    );
}

#[test]
fn times_and_shares_fit_together() {
    let bench = run();
    let rows = bench.rows("x");
    let all = of(&rows, "closed", "all")[0];
    let kinds: Vec<_> = ["get", "put", "range"].iter().map(|kind| of(&rows, "closed", kind)[0]).collect();
    let sum: f64 = kinds.iter().map(|row| number(row, &c::OPS)).sum();
    assert!((sum - number(all, &c::OPS)).abs() < 0.5);
    let seconds = number(all, &c::SECONDS);
    assert!((number(all, &c::OPS_PER_SECOND) * seconds / sum - 1.0).abs() < 1e-9);
    let busy: f64 = kinds.iter().map(|row| number(row, &c::OPS) * number(row, &c::MEAN_NS) / 1e9).sum();
    assert!(busy <= seconds * 1.01, "one thread is not busy for {busy} s in {seconds} s");
    for row in &kinds {
        let percentiles =
            [&c::P50_NS, &c::P90_NS, &c::P99_NS, &c::P999_NS, &c::MAX_NS].map(|p| number(row, p));
        assert!(percentiles.is_sorted(), "{percentiles:?}");
    }
    assert!((number(all, &c::CHECKED_ANSWERS) - (20_000.0 - number(kinds[1], &c::OPS))).abs() < 0.5);
    assert!(number(all, &c::WRONG_ANSWERS).abs() < 0.5);
    let manifest = bench.manifest("x");
    assert!(manifest.harness.operations.iter().any(|cost| cost.sampling == 1 && cost.operation_ns > 0.0));
    assert!(bench.path("results/x/histograms/cell-0-trial-0-closed.hlog").is_file());
}

/// Tests the columns of hardware counters. The available counters depend on the CPU and the kernel of the machine. A
/// column has values exactly if the manifest says that its event was counted.
#[test]
fn events_of_the_processor_are_counted_or_the_manifest_says_why_not() {
    let bench = run();
    let findings = bench.manifest("x").machine.findings;
    let told = findings.iter().find(|finding| finding.check == "hardware counters").unwrap();
    let told = told.value.as_deref().unwrap();
    let is_counted = |event: &str| {
        let has_event = |names: &str| names.split(", ").any(|name| name == event);
        let mut groups = told.split("; ").filter_map(|group| group.split_once(": "));
        let (_, how) =
            groups.find(|(names, _)| has_event(names)).unwrap_or_else(|| panic!("{event}: {told}"));
        assert!(how.starts_with("counted") || how.starts_with("not counted"), "{told}");
        how.starts_with("counted")
    };
    let events = ["cycles", "instructions", "cache references", "cache misses", "branch misses"];
    let counted: Vec<bool> = events.into_iter().map(is_counted).collect();
    let table = results::Table::read(&bench.path("results/x/runs.csv")).unwrap();
    for column in c::HARDWARE {
        assert!(table.schema().position(column.name).is_some(), "{} is a column", column.name);
    }
    for phase in ["load", "closed", "skewed"] {
        let row = of(table.rows(), phase, "all")[0];
        for (column, is_counted) in c::HARDWARE.iter().zip(&counted) {
            match is_counted {
                true => assert!(number(row, column) > 0.0, "{phase}: {}", column.name),
                false => assert!(row.get(column).is_empty(), "{phase}: {} though {told}", column.name),
            }
        }
        let both = |one: usize, other: usize| counted[one] && counted[other];
        for (column, is_there) in [
            (&c::INSTRUCTIONS_PER_CYCLE, both(0, 1)),
            (&c::CPU_CACHE_MISS_RATE, both(2, 3)),
            (&c::INSTRUCTIONS_PER_OP, counted[1]),
        ] {
            assert_eq!(!row.get(column).is_empty(), is_there, "{phase}: {}", column.name);
        }
    }
}

#[test]
fn what_was_meant_and_what_came_out_agree() {
    let bench = run();
    let streams = bench.manifest("x").cells.remove(0).streams;
    let stream = |phase: &str| {
        let stream = streams.iter().find(|stream| stream.phase == phase).unwrap();
        (stream.intended.clone(), stream.realised.clone())
    };
    let close = |what: &str, figures: [Option<f64>; 2], within: f64| {
        let [Some(meant), Some(came)] = figures else { panic!("{what}: {figures:?}") };
        assert!((meant - came).abs() <= within, "{what}: {meant} was meant, {came} came out");
    };
    let (meant, came) = stream("closed");
    assert_eq!(meant.operations, came.operations);
    for kind in ["get", "put", "range"] {
        close(kind, [&meant, &came].map(|profile| profile.mix.get(kind).copied()), 0.02);
    }
    let both = |figure: fn(&ProfileRecord) -> Option<f64>| [figure(&meant), figure(&came)];
    close("absent", both(|profile| profile.absent), 0.02);
    close("values", both(|profile| profile.value_bytes), 1e-9);
    close("ranges", both(|profile| profile.range_entries), 1e-9);
    // Uniform keys: chance makes the hottest of 20 000 hotter than they were meant, by a bound that holds for
    // the largest Poisson counts of about one access per key.
    let [Some(meant_tenth), Some(came_tenth)] = both(|profile| profile.hottest_10_percent) else { panic!() };
    assert!(
        (meant_tenth - 0.1).abs() < 1e-3 && came_tenth > meant_tenth && came_tenth < 0.35,
        "{came_tenth}"
    );

    let (meant, came) = stream("skewed");
    let both = |figure: fn(&ProfileRecord) -> Option<f64>| [figure(&meant), figure(&came)];
    close("hottest key", both(|profile| profile.hottest_key), 0.01);
    close("hottest 1 %", both(|profile| profile.hottest_1_percent), 0.03);
}

#[test]
fn a_debug_build_refuses_to_time() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    if cfg!(debug_assertions) {
        let error = bench.run(&["run", "x.toml"]).refusal();
        assert!(
            error.contains("a debug build of lsmbench gives no valid times; build lsmbench with --release"),
            "{error}"
        );
    }
    bench.ok(&["run", "x.toml", "--set", "trials.mode=counted"]);
}

/// A phase with a rate search. The device serves a thousand reads per second. A queue of a hundred requests still meets
/// the objective.
const SEARCH: &str = r#"
question = "?"
[design]
memtable = { capacity = "64KiB" }
cache    = "none"
storage  = { kind = "simulated", read_latency = "1ms", write_latency = "0ns", sync_latency = "0ns", queue_depth = 1 }
[[phase]]
name   = "load"
insert = 2_000
[[phase]]
name       = "serve"
operations = 500
mix        = { get = 0.9, insert = 0.1 }
rate       = { p99 = "100ms", from = 100, to = 50_000, within = 0.5 }
[trials]
count = 1
check = 1
"#;

#[test]
fn a_search_finds_what_the_device_serves() {
    let bench = Bench::new();
    bench.write("x.toml", SEARCH);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let [row] = of(&rows, "serve", "all")[..] else { panic!("one probe has the row") };
    let rate = number(row, &c::SUSTAINED_OPS_PER_SECOND);
    // Nine of ten operations read, which takes 450 ms, and the last may wait for 100.
    assert!((100.0..1_600.0).contains(&rate), "{rate}");
    assert_eq!(text(row, &c::RATE_LIMIT), "p99");
    assert!(number(row, &c::RATE_PROBES) >= 5.0);
    assert_eq!(text(row, &c::TARGET_OPS_PER_SECOND), text(row, &c::SUSTAINED_OPS_PER_SECOND));
    assert!(number(row, &c::RESPONSE_P99_NS) <= 1e8);
    bench.ok(&["run", "x.toml", "--set", "trials.mode=counted", "--out", "counted"]);
}

#[test]
fn allocations_are_those_of_the_operation() {
    let bench = Bench::new();
    let experiment = r#"
question = "?"
[design]
memtable = { capacity = "64MiB" }
wal      = "none"
[[phase]]
name   = "load"
insert = 5_000
value  = { kind = "fixed", bytes = 32 }
[[phase]]
name       = "get"
operations = 5_000
mix        = { get = 1 }
[[phase]]
name       = "batch"
operations = 50
mix        = { batch = 1 }
batch      = 100
value      = { kind = "fixed", bytes = 32 }
[trials]
count = 1
"#;
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let per_operation = |phase: &str| {
        let row = rows.iter().find(|row| text(row, &c::PHASE) == phase && text(row, &c::OPERATION) == "all");
        number(row.unwrap(), &c::ALLOCATIONS_PER_OP)
    };
    assert!(
        per_operation("get") < 0.1,
        "a get from the memtable allocates nothing: {}",
        per_operation("get")
    );
    let (one, hundred) = (per_operation("load"), per_operation("batch"));
    assert!(
        hundred >= 1.0 && hundred > one,
        "{one} a put, {hundred} a batch of 100, which is made anew each time"
    );
    bench.ok(&["run", "x.toml", "--set", "trials.mode=counted", "--out", "counted"]);
    let counted = results::Table::read(&bench.path("counted/x/runs.csv")).unwrap();
    assert!(counted.rows().iter().all(|row| row.get(&c::ALLOCATIONS_PER_OP).number().is_none()));
}
