//! Tests of the steps between operations: flush, compact, settle, reopen, checkpoint, `drop_caches` and sleep.

use results::{Row, Table, columns as c};

use crate::bench::{Bench, count, exact_cells, number, of, text};

/// An experiment with gets before and after each step. The load leaves a half-full memtable.
const STEPS: &str = r#"
question = "What do steps do?"
[design]
memtable   = { capacity = "64KiB" }
compaction = { kind = "leveled", size_ratio = 4 }
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "loaded"
operations = 1_000
mix        = { get = 4, range = 1 }
absent     = 0.2
[[phase]]
name = "flush"
step = "flush"
[[phase]]
name       = "flushed"
operations = 1_000
mix        = { get = 4, range = 1 }
absent     = 0.2
[[phase]]
name = "compact"
step = "compact"
[[phase]]
name       = "compacted"
operations = 1_000
mix        = { get = 4, range = 1 }
[[phase]]
name       = "churn"
operations = 500
mix        = { put = 4, delete = 1, insert = 1 }
[[phase]]
name = "reopen"
step = "reopen"
[[phase]]
name       = "reopened"
operations = 1_000
mix        = { get = 4, range = 1 }
[[phase]]
name = "checkpoint"
step = "checkpoint"
[[phase]]
name = "drop"
step = "drop_caches"
[[phase]]
name = "settle"
step = "settle"
[[phase]]
name       = "last"
operations = 500
mix        = { get = 2, put = 1 }
[trials]
count = 1
check = 1
mode  = "counted"
"#;

fn row<'a>(rows: &'a [Row], phase: &str, operation: &str) -> &'a Row {
    let found = of(rows, phase, operation);
    assert_eq!(found.len(), 1, "{phase}, {operation}");
    found[0]
}

#[test]
fn steps_are_phases_with_counters_and_reads_say_in_which_state_they_meet_the_store() {
    let bench = Bench::new();
    bench.write("x.toml", STEPS.to_owned() + "[sweep]\n\"design.wal\" = [\"buffered\", \"none\"]\n");
    bench.ok(&["run", "x.toml"]);
    let all = bench.rows("x");
    for (cell, wal) in ["buffered", "none"].into_iter().enumerate() {
        let rows: Vec<Row> =
            all.iter().filter(|row| row.get(&c::CELL).integer() == Some(cell as u64)).cloned().collect();
        let state = |phase: &str| text(row(&rows, phase, "all"), &c::STATE_AT_START);
        let states = [
            ("load", "empty"),
            ("loaded", "written"),
            ("flush", "written"),
            ("flushed", "flushed"),
            ("compacted", "compacted"),
            ("churn", "compacted"),
            ("reopen", "written"),
            ("reopened", "reopened"),
            ("last", "reopened"),
        ];
        for (phase, expected) in states {
            assert_eq!(state(phase), expected, "{wal}, {phase}");
        }
        assert_eq!(text(row(&rows, "flushed", "get"), &c::STATE_AT_START), "flushed");
        let memtable = |phase: &str| number(row(&rows, phase, "all"), &c::MEMTABLE_BYTES_AT_START);
        assert!(memtable("loaded") > memtable("flushed"), "{wal}: the flush empties the memtable");
        for step in ["flush", "compact", "reopen", "checkpoint", "settle"] {
            assert_eq!(count(row(&rows, step, step), &c::OPS), 1, "{step}");
            assert!(row(&rows, step, step).get(&c::SECONDS).is_empty(), "counted mode has no times");
        }
        assert_eq!(count(row(&rows, "drop", "drop_caches"), &c::OPS), 1);
        assert_eq!(count(row(&rows, "flush", "all"), &c::FLUSHES), 1);
        let compact = row(&rows, "compact", "all");
        assert!(count(compact, &c::COMPACTION_BYTES_WRITTEN) > 4_000 * 64);
        assert_eq!(
            (count(compact, &c::RUNS), count(row(&rows, "compacted", "all"), &c::RUNS_AT_START)),
            (1, 1)
        );
        assert!(number(compact, &c::SPACE_AMP) > 0.0, "the live bytes are known after a step");
        // Every answer was compared, also those after the store was closed and opened again.
        for phase in ["loaded", "flushed", "compacted", "reopened", "last"] {
            let all = row(&rows, phase, "all");
            assert!(count(all, &c::CHECKED_ANSWERS) > 100, "{phase}");
            assert_eq!(count(all, &c::WRONG_ANSWERS), 0, "{phase}");
        }
    }
    let streams: Vec<String> =
        bench.manifest("x").cells[0].streams.iter().map(|stream| stream.phase.clone()).collect();
    assert_eq!(streams, ["load", "loaded", "flushed", "compacted", "churn", "reopened", "last"]);
    bench.ok(&["run", "x.toml"]);
    assert_eq!(exact_cells(&all), exact_cells(&bench.rows("x")), "and it counts the same each time");
    let described = bench.ok(&["describe", "x.toml"]);
    assert!(described.contains("#   compact: step compact\n"), "{described}");
    let printed = bench.ok(&["workload", "x.toml", "--limit", "6000"]);
    assert!(printed.contains("# phase flush: step flush\n# phase flushed\n"), "{printed}");
}

/// Runs a timed experiment whose files are on a disk, and returns its rows.
fn timed(bench: &Bench, experiment: &str) -> Vec<Row> {
    let out = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    bench.write("x.toml", experiment.replace("\"counted\"", "\"timed\""));
    bench.ok(&["run", "x.toml", "--allow-debug", "--out", out.path().to_str().unwrap()]);
    Table::read(&out.path().join("x/runs.csv")).unwrap().rows().to_vec()
}

#[test]
fn steps_are_timed() {
    let bench = Bench::new();
    let sleep = "[[phase]]\nname = \"rest\"\nstep = \"sleep\"\nseconds = \"60ms\"\n[trials]";
    let rows = timed(&bench, &STEPS.replace("[trials]", sleep));
    let names = ["flush", "compact", "reopen", "checkpoint", "settle", "rest", "drop"];
    for phase in names {
        let all = row(&rows, phase, "all");
        assert!(number(all, &c::SECONDS) > 0.0 && number(all, &c::MEAN_NS) > 0.0, "{phase}");
        assert_eq!(count(all, &c::WRONG_ANSWERS), 0);
        let closed = number(row(&rows, "reopen", "all"), &c::CLOSE_SECONDS);
        assert_eq!(phase == "reopen", !all.get(&c::CLOSE_SECONDS).is_empty(), "{phase}");
        assert!(closed > 0.0);
    }
    assert!((0.06..5.0).contains(&number(row(&rows, "rest", "sleep"), &c::SECONDS)));
    assert!(count(row(&rows, "reopened", "all"), &c::MEMTABLE_BYTES_AT_START) > 0);
    // The tables are mapped, and nothing reads them between the two phases.
    let left = number(row(&rows, "settle", "all"), &c::PAGE_CACHE_SHARE);
    let before = number(row(&rows, "drop", "all"), &c::PAGE_CACHE_SHARE);
    assert!(before > 0.5 && left < 0.2, "{before} of the files were in the page cache, and {left} are left");
}

#[test]
fn a_phase_may_leave_its_background_work_to_the_next() {
    let bench = Bench::new();
    let load = "insert = 4_000\n";
    let rows = timed(&bench, &STEPS.replace(load, &format!("{load}settle = false\n")));
    let load = row(&rows, "load", "all");
    assert!(load.get(&c::SETTLE_SECONDS).is_empty() && load.get(&c::WRITE_AMP_SETTLED).is_empty());
    assert!(count(load, &c::USER_BYTES_WRITTEN) > 0 && load.get(&c::TABLE_BYTES_SETTLED).is_empty());
    assert_eq!(text(row(&rows, "loaded", "all"), &c::STATE_AT_START), "written, unsettled");
    assert_eq!(text(row(&rows, "flush", "all"), &c::STATE_AT_START), "written");
    assert!(!row(&rows, "loaded", "all").get(&c::SETTLE_SECONDS).is_empty());
}

#[test]
fn a_fixture_keeps_the_steps_that_change_files() {
    let bench = Bench::new();
    let kept = STEPS.split("[[phase]]\nname = \"reopen\"").next().unwrap();
    let trials = "[trials]\ncount = 2\nmode = \"counted\"\nfixture = \"compact\"\n";
    bench.write("x.toml", format!("{kept}{trials}"));
    let output = bench.run(&["run", "x.toml"]).expect(0).err;
    assert_eq!(output.matches("building fixture").count(), 1, "{output}");
    let rows = bench.rows("x");
    assert!(of(&rows, "compact", "all").is_empty(), "the fixture is not measured");
    for row in of(&rows, "compacted", "all") {
        assert_eq!(text(row, &c::STATE_AT_START), "compacted, reopened");
        assert_eq!((count(row, &c::RUNS_AT_START), count(row, &c::WRONG_ANSWERS)), (1, 0));
    }
    bench.write("x.toml", STEPS.replace("mode  =", "fixture = \"reopened\"\nmode  ="));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(
        error.contains("phase \"reopen\" is part of the fixture, but step = \"reopen\" changes no"),
        "{error}"
    );
}

#[test]
fn what_cannot_take_a_step_is_told_before_anything_runs() {
    let bench = Bench::new();
    for (old, new, said) in [
        ("step = \"flush\"", "step = \"flsuh\"", "x.toml:17: phase.flush.step: unknown step \"flsuh\""),
        (
            "step = \"flush\"",
            "step = \"flush\"\nthreads = 2",
            "phase.flush.threads: a step executes no operations",
        ),
        ("step = \"flush\"", "step = \"flush\"\nseconds = 2", "only the step \"sleep\" has a duration"),
        (
            "step = \"flush\"",
            "step = \"sleep\"",
            "seconds is missing; set the length of the sleep, such as seconds = \"5s\"",
        ),
        (
            "step = \"settle\"",
            "step = \"settle\"\nsettle = false",
            "settle: the step \"settle\" always waits for compaction; remove `settle`",
        ),
        (
            "step = \"flush\"",
            "step = \"sleep\"\nseconds = 1",
            "phase flush has step = \"sleep\", which has no effect on counters",
        ),
        (
            "[design]",
            "[design]\nstorage = \"memory\"",
            "phase reopen has step = \"reopen\", but storage = memory loses its data when the process ends",
        ),
    ] {
        let error = bench.rejected(&STEPS.replace(old, new), &[]);
        assert!(error.contains(said), "{new}: {error}");
    }
    // If the only engine cannot execute a step, the error names both. In a sweep over engines, this engine is skipped.
    let timed = ["--set", "trials.mode=timed"];
    let error = bench.rejected(&format!("engine = \"redb\"\n{STEPS}"), &timed);
    assert!(
        error.contains("engine \"redb\" cannot execute step = \"compact\" of phase \"compact\"; remove the"),
        "{error}"
    );
    bench.write("x.toml", STEPS.to_owned() + "[sweep]\n\"engine\" = \"all\"\n");
    let described = bench.ok(&["describe", "x.toml", "--set", "trials.mode=timed"]);
    let left_out =
        "skipped: engine=leveldb: engine \"leveldb\" cannot execute step = \"checkpoint\" of phase";
    assert!(described.contains(left_out), "{described}");
}
