//! Tests of write stalls: the options that avoid stalls, and the columns that report stalls.

use results::columns as c;

use crate::bench::{Bench, by_cell, count, number, of};

/// An experiment whose load is faster than the flushes, because each flush syncs its files.
const LOAD: &str = r#"
question = "What do writers wait for?"
[design]
memtable   = { capacity = "64KiB" }
table      = { capacity = "64KiB" }
compaction = { size_ratio = 3, level1_memtables = 4, read_triggered = "0 B" }
stall      = { frozen_memtables = 2, level0_runs = 12 }
[[phase]]
name   = "load"
insert = 20_000
value  = { kind = "fixed", bytes = 100 }
[[phase]]
name       = "read"
operations = 2_000
mix        = { get = 3, range = 1 }
absent     = 0.1
[trials]
count = 1
check = 1
"#;

#[test]
fn writers_stop_or_are_delayed_and_the_answers_are_right() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        format!(
            "{LOAD}[sweep]\n\"design.stall.pacing\" = [\"stop\", \"delay\"]\n\
             \"design.compaction.max_compaction\" = [\"0 B\", \"128KiB\"]\n"
        ),
    );
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let loads = of(&rows, "load", "all");
    assert_eq!(loads.len(), 4);
    for row in &loads {
        assert!(number(row, &c::DELAY_SECONDS) <= number(row, &c::STALL_SECONDS));
        assert!(number(row, &c::ROTATION_SECONDS) > 0.0);
        assert!(number(row, &c::DEBT_BYTES) >= 0.0);
        let written = |flush, merge| number(row, flush) + number(row, merge);
        let settled = written(&c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED);
        let burst = written(&c::FLUSH_BYTES, &c::COMPACTION_BYTES_WRITTEN);
        assert!((number(row, &c::DEBT_BYTES) - (settled - burst)).abs() < 0.5);
    }
    // The first two configurations stop at their limits.
    let mut stopped = loads.iter().filter(|row| count(row, &c::CELL) < 2);
    assert!(stopped.all(|row| number(row, &c::DELAY_SECONDS) <= 0.0));
    for row in of(&rows, "read", "all") {
        assert_eq!(count(row, &c::WRONG_ANSWERS), 0);
        assert_eq!(count(row, &c::DEBT_BYTES), 0);
    }
    let put = of(&rows, "load", "insert")[0];
    let percentiles = [&c::P999_NS, &c::P9999_NS, &c::MAX_NS].map(|percentile| number(put, percentile));
    assert!(percentiles.is_sorted(), "{percentiles:?}");
}

/// Tests two options that must not change any answer. With the first option, flushes and compactions share a thread.
/// With the second option, the inputs of a compaction stay open until the next compaction.
#[test]
fn flushes_and_compactions_may_share_a_thread() {
    let bench = Bench::new();
    let sweep = "[sweep]\n\"design.threads.background\" = [\"apart\", \"shared\"]\n\
                 \"design.table.release\" = [\"unused\", \"next-compaction\"]\n";
    bench.write("x.toml", format!("{LOAD}{sweep}"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    for row in of(&rows, "read", "all") {
        assert_eq!(count(row, &c::WRONG_ANSWERS), 0);
    }
    let loads = of(&rows, "load", "all");
    assert_eq!(loads.len(), 4);
    assert!(loads.iter().all(|row| count(row, &c::COMPACTIONS) > 0));
}

/// Compactions of level 0 preempt deeper compactions, and deeper compactions wait for bandwidth. Columns show both.
#[test]
fn compactions_may_be_scheduled_by_priority() {
    let bench = Bench::new();
    let sweep = "[sweep]\ncombine = \"zip\"\n\
                 \"design.threads.schedule\" = [\"in-order\", \"silk\", \"silk\"]\n\
                 \"design.threads.bandwidth\" = [\"0 B\", \"0 B\", \"2MiB\"]\n";
    bench.write("x.toml", format!("{LOAD}{sweep}"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    for row in of(&rows, "read", "all") {
        assert_eq!(count(row, &c::WRONG_ANSWERS), 0);
    }
    let loads = by_cell(&rows, "load");
    let [in_order, silk, limited] = loads[..] else { panic!("{} rows", loads.len()) };
    assert!(in_order.get(&c::PREEMPTING_COMPACTIONS).is_empty());
    assert!(!silk.get(&c::PREEMPTING_COMPACTIONS).is_empty());
    assert!(silk.get(&c::BANDWIDTH_WAIT_SECONDS).is_empty());
    assert!(number(limited, &c::BANDWIDTH_WAIT_SECONDS) > 0.01);
    let error = bench.run(&["describe", "x.toml", "--set", "design.threads.background=shared"]).refusal();
    assert!(error.contains("threads.schedule") && error.contains("flush thread"), "{error}");
}

#[test]
fn counted_mode_has_no_delays_and_small_compactions_write_little_more() {
    let bench = Bench::new();
    bench.write("x.toml", format!("{LOAD}mode = \"counted\"\n"));
    let written = |options: &[&str]| {
        bench.ok(&[&["run", "x.toml"], options].concat());
        let rows = bench.rows("x");
        let load = of(&rows, "load", "all")[0];
        assert!(load.get(&c::DELAY_SECONDS).is_empty());
        assert_eq!(count(load, &c::DEBT_BYTES), 0, "every write does the work that it makes due");
        (number(load, &c::WRITE_AMP), count(load, &c::COMPACTIONS))
    };
    let stop = written(&[]);
    assert_eq!(stop, written(&["--set", "design.stall.pacing=delay"]));
    let small = written(&["--set", "design.compaction.max_compaction=128KiB"]);
    assert!(small.1 > stop.1 && small.0 < stop.0 * 1.25, "{small:?} {stop:?}");
}

#[test]
fn a_control_that_does_not_exist_is_refused() {
    let bench = Bench::new();
    bench.write("x.toml", LOAD);
    let error = bench.run(&["describe", "x.toml", "--set", "design.stall.pacing=never"]).refusal();
    assert!(error.contains("pacing") && error.contains("delay"), "{error}");
    let error = bench.run(&["describe", "x.toml", "--set", "design.compaction.max_compaction=-1B"]).refusal();
    assert!(error.contains("max_compaction"), "{error}");
}
