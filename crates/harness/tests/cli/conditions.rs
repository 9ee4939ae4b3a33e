//! Tests of the conditions of a phase: the state of caches, memory limits, warm-up, steadiness, and a memory budget.

use std::path::Path;

use results::{Folder, Row, Table, columns as c};

use crate::bench::{Bench, by_cell, count, exact_cells, number, of, text, unwrapped};

/// An experiment with two equal phases of lookups on a store whose blocks all fit into the block cache.
const LOOKUPS: &str = r#"
question = "What do caches do?"
[design]
memtable = { capacity = "32KiB" }
cache    = { kind = "lru", capacity = "4MiB", shards = 1 }
storage  = "pread"
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "first"
operations = 4_000
mix        = { get = 1 }
[[phase]]
name       = "second"
operations = 4_000
mix        = { get = 1 }
[sweep]
"phase.second.cache" = ["as-is", "warm", "cold"]
[trials]
count = 1
mode  = "counted"
"#;

#[cfg(target_os = "linux")]
#[test]
fn caches_are_as_the_phase_asks_for() {
    let bench = Bench::new();
    bench.write("x.toml", LOOKUPS);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    let second = by_cell(&rows, "second");
    let states: Vec<String> = second.iter().map(|row| text(row, &c::CACHE_STATE)).collect();
    assert_eq!(states, ["as-is", "warm", "cold"]);
    let [as_is, warm, cold] = [0, 1, 2].map(|cell| number(second[cell], &c::BLOCKS_READ));
    let first = number(by_cell(&rows, "first")[0], &c::BLOCKS_READ);
    assert!(first > 50.0, "the first lookups read everything: {first}");
    assert!(as_is < first / 10.0, "they left it in the cache: {as_is}");
    assert!(warm < 1.0, "all was read before the clock");
    assert!(cold > first * 0.9, "nothing is in the cache of a store that was opened again: {cold}");
    for row in second {
        let gets = [&c::FOUND, &c::MISSING].map(|column| number(row, column)).iter().sum::<f64>();
        assert_eq!((gets, text(row, &c::WRONG_ANSWERS)), (4_000.0, "0".to_owned()));
    }
    bench.ok(&["run", "x.toml"]);
    assert_eq!(exact_cells(&rows), exact_cells(&bench.rows("x")), "and it counts the same each time");
}

/// Runs an experiment whose files are on a disk, and returns its rows. The results folder is removed with the test.
fn rows_on_disk(bench: &Bench, name: &str, out: &Path) -> Vec<Row> {
    let file = format!("{name}.toml");
    bench.ok(&["run", &file, "--allow-debug", "--out", out.to_str().unwrap()]);
    Table::read(&Folder::new(out.join(name)).runs()).unwrap().rows().to_vec()
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_page_cache_held_is_measured() {
    let bench = Bench::new();
    let timed = LOOKUPS.replace("\"counted\"", "\"timed\"").replace("wal", "none");
    bench.write("x.toml", timed.replace("[\"as-is\", \"warm\", \"cold\"]", "[\"warm\", \"cold\"]"));
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let rows = rows_on_disk(&bench, "x", out.path());
    let second = by_cell(&rows, "second");
    let [warm, cold] = [0, 1].map(|cell| number(second[cell], &c::PAGE_CACHE_SHARE));
    assert!(warm > 0.95, "all was read: {warm}");
    assert!(cold < 0.5, "only what opening the store reads is there: {cold}");
    assert!(number(second[1], &c::OS_READ_BYTES) > 100_000.0, "the rest comes from the device");
    // Without the page cache, the block cache is the only cache.
    bench.write("y.toml", timed.replace("storage  = \"pread\"", "storage = \"direct\""));
    let rows = rows_on_disk(&bench, "y", out.path());
    let states: Vec<String> = by_cell(&rows, "second").iter().map(|row| text(row, &c::CACHE_STATE)).collect();
    assert_eq!(states, ["as-is, direct", "warm, direct", "cold, direct"]);
}

#[cfg(target_os = "linux")]
#[test]
fn cold_caches_need_a_store_that_can_be_opened_again() {
    let bench = Bench::new();
    bench.write("x.toml", LOOKUPS.replace("storage  = \"pread\"", "storage = \"memory\""));
    let output = bench.run(&["run", "x.toml"]).expect(0).err;
    let left_out =
        "phase second starts with cold caches, but storage = memory loses its data when the process ends";
    assert!(unwrapped(&output).contains(left_out), "{output}");
    assert_eq!(of(&bench.rows("x"), "second", "all").len(), 2);
    bench.write("x.toml", LOOKUPS.replace("name       = \"first\"", "name = \"first\"\ncache = \"hot\""));
    let error = bench.run(&["run", "x.toml"]).refusal();
    assert!(error.contains("unknown cache state \"hot\" Valid: \"as-is\", \"warm\", \"cold\""), "{error}");
}

/// An experiment with three threads and a warm-up, in which half of the operations are writes.
const WARMED: &str = r#"
question = "Is the warm-up left out?"
[design]
memtable = { capacity = "32KiB" }
[[phase]]
name   = "load"
insert = 2_000
[[phase]]
name       = "work"
operations = 5_000
threads    = 3
warm_up    = 1_000
mix        = { get = 4, put = 2, insert = 1, delete = 1 }
[[phase]]
name       = "after"
operations = 1_000
mix        = { get = 1 }
[trials]
count = 1
check = 1
mode  = "timed"
"#;

#[test]
fn warm_ups_are_done_and_checked_and_not_measured() {
    let bench = Bench::new();
    for (warm_up, threads, mode) in
        [("1_000", 3, "timed"), ("\"300ms\"", 3, "timed"), ("1_000", 1, "counted"), ("\"1h\"", 1, "counted")]
    {
        let experiment = WARMED
            .replace("= 1_000\nmix        = { get = 4", &format!("= {warm_up}\nmix        = {{ get = 4"));
        let experiment = experiment.replace("threads    = 3", &format!("threads = {threads}"));
        bench.write("x.toml", experiment.replace("\"timed\"", &format!("\"{mode}\"")));
        bench.ok(&["run", "x.toml", "--allow-debug"]);
        let rows = bench.rows("x");
        let row = of(&rows, "work", "all")[0];
        assert_eq!(count(row, &c::OPS), 5_000, "{warm_up}");
        let warmed = count(row, &c::WARM_UP_OPS);
        match (warm_up, mode) {
            ("1_000", _) => assert_eq!(warmed, 1_000),
            (_, "timed") => {
                assert!(warmed > 0);
                let seconds = number(row, &c::WARM_UP_SECONDS);
                assert!((0.3..3.0).contains(&seconds), "{seconds}");
            }
            _ => assert_eq!(warmed, 0, "in counted mode nobody waits for time"),
        }
        assert_eq!(row.get(&c::WARM_UP_SECONDS).is_empty(), mode == "counted");
        for phase in ["load", "work", "after"] {
            assert_eq!(text(of(&rows, phase, "all")[0], &c::WRONG_ANSWERS), "0", "{warm_up} {phase}");
        }
        // Half of the operations have answers, so the check covers all of them after the warm-up.
        let answers = (5_000.0 + warmed as f64) * 0.5;
        let checked = number(row, &c::CHECKED_ANSWERS);
        assert!((checked / answers - 1.0).abs() < 0.1, "{warm_up}: {checked} of {answers}");
        let written =
            number(row, &c::USER_BYTES_WRITTEN) / number(of(&rows, "load", "all")[0], &c::USER_BYTES_WRITTEN);
        assert!(written < 1.2, "the warm-up's bytes are not counted: {written}");
    }
}

#[test]
fn a_warm_up_ends_when_the_store_is_steady() {
    let bench = Bench::new();
    let until = "{ until = \"steady\", rounds = 3, round = \"100ms\", at_most = \"4s\" }";
    let experiment = WARMED
        .replace(
            "= 1_000\nmix        = { get = 4, put = 2, insert = 1, delete = 1 }",
            &format!("= {until}\nmix = {{ get = 1 }}\nrate = 5_000"),
        )
        .replace("threads    = 3\n", "");
    bench.write("x.toml", &experiment);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let row = of(&rows, "work", "all")[0];
    let seconds = number(row, &c::WARM_UP_SECONDS);
    assert!((0.3..6.0).contains(&seconds), "{seconds}");
    let is_steady = text(row, &c::WARM_UP_STEADY);
    assert!(is_steady == "true" || seconds >= 4.0, "{is_steady} after {seconds} s");
    // A tree that grows without end never is.
    let growing =
        experiment.replace("mix = { get = 1 }\nrate = 5_000", "mix = { insert = 1 }\nrate = 20_000");
    let growing = growing
        .replace("\"4s\"", "\"1s\"")
        .replace("capacity = \"32KiB\" }", "capacity = \"16KiB\" }\ncompaction = \"none\"");
    bench.write("x.toml", growing);
    let output = bench.run(&["run", "x.toml", "--allow-debug", "--set", "verdict.phase=work"]).expect(0).out;
    let rows = bench.rows("x");
    let row = of(&rows, "work", "all")[0];
    assert_eq!(text(row, &c::WARM_UP_STEADY), "false");
    assert!(number(row, &c::WARM_UP_SECONDS) >= 1.0);
    assert!(unwrapped(&output).contains(" did not become steady within its warm-up in 1 trial."), "{output}");
    assert!(row.get(&c::STEADY).is_empty(), "a quarter of a second is too short to tell");
}

#[test]
fn rows_say_whether_the_store_was_steady() {
    let bench = Bench::new();
    let experiment = r#"
question = "Is it steady?"
[design]
memtable   = { capacity = "16KiB" }
compaction = "none"
wal        = "none"
[[phase]]
name   = "load"
insert = 1_000
[[phase]]
name    = "grow"
seconds = "5200ms"
mix     = { insert = 1 }
rate    = 3_000
[[phase]]
name    = "flat"
seconds = "5200ms"
mix     = { get = 1 }
rate    = 1_000
[trials]
count = 1
[verdict]
phase = "grow"
"#;
    bench.write("x.toml", experiment);
    let output = bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let (grow, flat) = (of(&rows, "grow", "all")[0], of(&rows, "flat", "all")[0]);
    assert_eq!(text(grow, &c::STEADY), "false");
    assert!(text(grow, &c::UNSTEADY).contains("runs of level 0"), "{}", text(grow, &c::UNSTEADY));
    let note =
        unwrapped(&output).split_once("Not steady: in 1 of 1 trial of ").map(|(_, rest)| rest.to_owned());
    assert!(note.is_some_and(|note| note.contains(" varied more than the SNIA rule allows.")), "{output}");
    // A machine that is busy elsewhere may make the throughput of a second swing, but not the tree.
    assert!(!text(flat, &c::STEADY).is_empty() && !text(flat, &c::UNSTEADY).contains("level"));
}

#[test]
fn phases_that_have_one_beginning_have_no_warm_up() {
    let bench = Bench::new();
    bench.write("x.toml", WARMED.replace("insert = 2_000", "insert = 2_000\nwarm_up = 100"));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(
        error.contains("x.toml:8: ") && error.contains("a load is measured from its first key on"),
        "{error}"
    );
    bench.write("x.toml", WARMED);
    assert!(bench.ok(&["describe", "x.toml"]).contains("warm_up = 1000"));
    let quick = bench.ok(&["describe", "x.toml", "--quick"]);
    assert!(quick.contains("warm_up = 100\n"), "{quick}");
    // The operations of a phase are those after its warm-up.
    let printed = bench.ok(&["workload", "x.toml"]);
    assert_eq!(printed.lines().filter(|line| !line.starts_with('#')).count(), 2_000 + 5_000 + 1_000);
}

#[cfg(target_os = "linux")]
#[test]
fn the_memory_of_a_trial_can_be_limited() {
    let bench = Bench::new();
    let experiment = r#"
question = "What if there is little memory?"
[design]
memtable = { capacity = "256KiB" }
wal      = "none"
cache    = "none"
[[phase]]
name   = "load"
insert = 40_000
value  = { kind = "fixed", bytes = 1_000, compressible = 0 }
[[phase]]
name       = "look"
operations = 1_000
mix        = { get = 1 }
[trials]
count = 1
"#;
    bench.write("free.toml", experiment);
    bench.write("tight.toml", format!("{experiment}memory_limit = \"24MiB\"\n"));
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let tried =
        bench.run(&["run", "tight.toml", "--allow-debug", "--out", out.path().join("try").to_str().unwrap()]);
    if tried.code == Some(2) {
        let error = tried.refusal();
        assert!(
            error.contains("memory_limit = \"24MiB\" needs a memory cgroup") && error.contains("run as root"),
            "{error}"
        );
        return;
    }
    let (free, tight) = (rows_on_disk(&bench, "free", out.path()), rows_on_disk(&bench, "tight", out.path()));
    let (free, tight) = (of(&free, "look", "all")[0], of(&tight, "look", "all")[0]);
    assert!(free.get(&c::MEMORY_LIMIT_BYTES).is_empty());
    assert_eq!(count(tight, &c::MEMORY_LIMIT_BYTES), 24 << 20);
    let [free, tight] = [free, tight].map(|row| number(row, &c::PAGE_CACHE_SHARE));
    assert!(free > 0.9 && tight < 0.75, "40 MB of tables do not fit into 24 MiB: {free} {tight}");
    // Memory that a process must have cannot be dropped.
    let huge = experiment.replace("\"256KiB\"", "\"256MiB\"");
    bench.write("huge.toml", format!("{huge}memory_limit = \"24MiB\"\n"));
    let killed = bench.run(&["run", "huge.toml", "--allow-debug"]).refusal_behind_progress();
    assert!(
        killed.contains("ended without reporting a result")
            && killed.contains("trials.memory_limit may be too low"),
        "{killed}"
    );
    bench.write("tiny.toml", format!("{experiment}memory_limit = \"1MiB\"\n"));
    assert!(bench.run(&["run", "tiny.toml"]).refusal().contains("the minimum is 16MiB"));
}

#[cfg(target_os = "linux")]
#[test]
fn free_memory_is_touched_where_time_is_measured() {
    let bench = Bench::new();
    let timed = LOOKUPS.replace("\"counted\"", "\"timed\"");
    bench.write("x.toml", format!("{timed}warm_memory = \"8MiB\"\n"));
    bench.write("y.toml", format!("{LOOKUPS}warm_memory = \"8MiB\"\n"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    bench.ok(&["run", "y.toml"]);
    let touched = |name: &str| -> Vec<Option<u64>> {
        let rows = bench.rows(name);
        of(&rows, "second", "all").iter().map(|row| row.get(&c::WARM_MEMORY_BYTES).integer()).collect()
    };
    assert_eq!(touched("x"), [Some(8 << 20); 3]);
    assert_eq!(touched("y"), [None; 3], "where no time is measured none is taken");
    // It is nothing that the process of a trial has.
    bench.write("z.toml", format!("{timed}warm_memory = \"256MiB\"\n"));
    bench.ok(&["run", "z.toml", "--allow-debug"]);
    let rows = bench.rows("z");
    assert!(of(&rows, "second", "all").iter().all(|row| number(row, &c::RSS_PEAK_BYTES) < 128e6));
    bench.write("both.toml", format!("{timed}warm_memory = \"8MiB\"\nmemory_limit = \"128MiB\"\n"));
    assert!(bench.run(&["run", "both.toml"]).refusal().contains("remove one of the two keys"));
}

#[test]
fn the_timeline_has_rows_as_short_as_asked_for() {
    let bench = Bench::new();
    let experiment = r#"
question = "Does the rate change?"
[[phase]]
name    = "write"
seconds = "300ms"
threads = 2
mix     = { insert = 1 }
keys    = "sequential"
value   = { kind = "fixed", bytes = 8 }
[trials]
count    = 1
timeline = "20ms"
[[chart]]
kind = "timeline"
name = "rate"
y    = "ops_per_second"
"#;
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let runs = bench.rows("x");
    let [phase] = of(&runs, "write", "all")[..] else { panic!("one row of all operations") };
    let timeline = Table::read(&Folder::new(bench.path("results/x")).timeline()).unwrap();
    let rows = timeline.rows();
    assert!(rows.len() >= 15, "{} rows", rows.len());
    for (at, row) in rows.iter().enumerate() {
        let (start, length) = (number(row, &c::SECOND), number(row, &c::SECONDS));
        assert!((start - at as f64 * 0.02).abs() < 1e-9, "row {at} starts at {start} s");
        assert!(length > 0.0 && length < 0.02 + 1e-9, "row {at} lasts {length} s");
    }
    let operations: u64 = rows.iter().map(|row| count(row, &c::OPS)).sum();
    assert_eq!(operations, count(phase, &c::OPS), "each operation is in one row");
    let written: f64 = rows.iter().map(|row| number(row, &c::USER_BYTES_WRITTEN)).sum();
    let written = written / number(phase, &c::USER_BYTES_WRITTEN);
    assert!((written - 1.0).abs() < 0.1, "{written} of what was written is in the rows");
    let chart = bench.read("plots/x/rate.svg");
    let lines = chart.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let longest = lines.map(|points| points.split_whitespace().count()).max().unwrap_or(0);
    assert!(longest >= 10, "a line through the points: {longest}");
    for bad in ["0s", "5ms", "300ms", "2s"] {
        bench.write("bad.toml", experiment.replace("\"20ms\"", &format!("{bad:?}")));
        let refusal = bench.run(&["run", "bad.toml"]).refusal();
        assert!(refusal.contains("divides a second evenly"), "{bad}: {refusal}");
    }
}

#[test]
fn one_budget_of_memory_is_shared_out_and_what_was_held_is_compared() {
    let bench = Bench::new();
    let experiment = r#"
question = "Is a larger filter worth a smaller cache?"
[design]
memory   = "400KiB"
memtable = { capacity = "16KiB" }
cache    = { kind = "lru", shards = 1 }
storage  = "pread"
[[phase]]
name   = "load"
insert = 20_000
value  = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "look"
operations = 20_000
mix        = { get = 1 }
absent     = 0.5
[sweep]
memory = "equal"
"design.bloom.bits_per_key" = [2, 16]
[trials]
count = 1
mode  = "counted"
[verdict]
metric = "blocks_read"
"#;
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    let look = by_cell(&rows, "look");
    let sides = [0, 1].map(|cell| {
        let parts = [&c::MEMTABLE_BYTES, &c::FILTER_BYTES, &c::FENCE_BYTES, &c::CACHE_BYTES];
        parts.map(|part| number(look[cell], part))
    });
    let [few, many] = sides.map(|parts| parts.iter().sum::<f64>());
    assert!(sides[1][1] > 3.0 * sides[0][1], "the filters differ: {sides:?}");
    assert!(sides[1][3] < sides[0][3], "and the cache pays for it: {sides:?}");
    assert!((few / many - 1.0).abs() < 0.05, "{few} {many}");
    let verdicts = bench.read("results/x/verdicts.csv");
    assert!(verdicts.lines().nth(1).unwrap().split(',').any(|cell| cell == "equal"), "{verdicts}");
    // A design that does not use up its budget is flagged.
    let sweep = "\"design.cache\" = [\"lru(shards=1)\", \"none\"]";
    bench.write("x.toml", experiment.replace("\"design.bloom.bits_per_key\" = [2, 16]", sweep));
    let output = bench.ok(&["run", "x.toml"]);
    assert!(
        unwrapped(&output)
            .contains("Unequal memory: \"none\" differs from lru(shards=1) by more than 5%, although"),
        "{output}"
    );
    assert!(bench.read("results/x/verdicts.csv").lines().nth(1).unwrap().contains("unequal"));
    for (from, to, expected) in [
        ("memory   = \"400KiB\"\n", "", "the memory budget is missing; set design.memory"),
        (
            "\"400KiB\"",
            "\"32KiB\"",
            "must be larger than two memtables of 16KiB each, not 32KiB, because filters and cache need memory too",
        ),
        ("memory = \"equal\"", "memory = \"same\"", "Valid: \"equal\", with the budget in design.memory"),
        (
            "[sweep]\n",
            "[sweep]\n\"design.memory\" = [\"400KiB\", \"500KiB\"]\n",
            "has a memory budget of 500KiB, but other configurations have 400KiB",
        ),
    ] {
        bench.write("x.toml", experiment.replace(from, to));
        let error = bench.run(&["describe", "x.toml"]).refusal();
        assert!(error.contains(expected) && error.contains("x.toml:"), "{error}");
    }
    bench.write("x.toml", experiment);
    assert!(bench.ok(&["describe", "x.toml"]).contains("memory = \"equal\""));
}
