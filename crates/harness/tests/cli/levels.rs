//! Tests of `levels.csv`: the sums over all levels of the tree must equal the values in `runs.csv`.

use std::fs;

use results::{Folder, Metric, Row, Table, columns as c, levels as l};

use crate::bench::{Bench, count, exact_cells, number, of, text};

/// An experiment with writes, compactions and reads, for designs with a few levels.
const EXPERIMENT: &str = r#"
question = "Which level takes what?"
[design]
memtable    = { capacity = "16KiB" }
bloom       = { kind = "standard", bits_per_key = 4 }
compaction  = { kind = "leveled", size_ratio = 3 }
[[phase]]
name   = "load"
insert = 6_000
value  = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "look"
operations = 4_000
mix        = { get = 6, put = 3, multi_get = 1 }
absent     = 0.5
[sweep]
combine             = "ablate"
"design.compaction" = ["tiered(size_ratio=3)", "lazy-leveled"]
"design.fence"      = ["static-btree"]
"design.bloom"      = ["none"]
[trials]
count = 2
mode  = "counted"
[[chart]]
file   = "levels"
kind   = "grouped-bar"
x      = "level"
y      = "bytes_written"
series = "design.compaction"
filter = { phase = "load" }
"#;

fn levels(bench: &Bench, experiment: &str) -> Vec<Row> {
    let folder = Folder::new(bench.path("results").join(experiment));
    Table::read(&folder.levels()).unwrap_or_else(|error| panic!("{error}")).rows().to_vec()
}

/// Returns the rows of `levels.csv` for the measurement that a row of `runs.csv` describes.
fn belonging<'a>(levels: &'a [Row], run: &Row) -> Vec<&'a Row> {
    let same = |column: &Metric, level: &Row| text(level, column) == text(run, column);
    let belongs =
        |level: &&Row| [&c::CELL, &c::TRIAL, &c::PHASE].into_iter().all(|column| same(column, level));
    levels.iter().filter(belongs).collect()
}

#[track_caller]
fn total(levels: &[&Row], column: &Metric) -> u64 {
    levels.iter().map(|level| count(level, column)).sum()
}

#[track_caller]
fn sum(levels: &[&Row], column: &Metric) -> f64 {
    levels.iter().map(|level| number(level, column)).sum()
}

#[test]
fn the_levels_add_up_to_the_whole_tree() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT);
    bench.ok(&["run", "x.toml"]);
    let (runs, levels) = (bench.rows("x"), levels(&bench, "x"));
    let mut deepest = 0;
    for phase in ["load", "look"] {
        for run in of(&runs, phase, "all") {
            let levels = belonging(&levels, run);
            let numbers: Vec<u64> = levels.iter().map(|level| count(level, &l::LEVEL)).collect();
            assert!(numbers.iter().enumerate().all(|(at, level)| *level == at as u64), "{numbers:?}");
            deepest = deepest.max(levels.len());
            for column in [
                &c::RUNS,
                &c::TABLE_BYTES,
                &c::RUNS_SETTLED,
                &c::TABLE_BYTES_SETTLED,
                &c::FILTER_PROBES,
                &c::FILTER_NEGATIVES,
                &c::FILTER_FALSE_POSITIVES,
            ] {
                assert_eq!(total(&levels, column), count(run, column), "{phase}: {}", column.name);
            }
            for column in [&c::WRITE_AMP, &c::WRITE_AMP_SETTLED] {
                let (all, whole) = (sum(&levels, column), number(run, column));
                assert!((all - whole).abs() < 1e-9 * whole, "{phase}: {} {all} {whole}", column.name);
            }
            let whole = |columns: &[&Metric]| columns.iter().map(|column| count(run, column)).sum::<u64>();
            for (column, of_run) in [
                (&l::BYTES_READ, &[&c::COMPACTION_BYTES_READ][..]),
                (&l::BYTES_WRITTEN, &[&c::FLUSH_BYTES, &c::COMPACTION_BYTES_WRITTEN]),
                (&l::BYTES_READ_SETTLED, &[&c::COMPACTION_BYTES_READ_SETTLED]),
                (&l::BYTES_WRITTEN_SETTLED, &[&c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED]),
                (&l::GET_BLOCKS_READ, &[&c::BLOCKS_READ]),
            ] {
                assert_eq!(total(&levels, column), whole(of_run), "{phase}: {}", column.name);
            }
        }
    }
    assert!(deepest >= 3, "a tree of {deepest} levels shows little");
    let reads = of(&runs, "look", "all").iter().map(|run| number(run, &c::BLOCKS_READ)).sum::<f64>();
    assert!(reads > 0.0, "something was looked up");
    assert!(bench.path("plots/x/bytes_written-by-level.svg").exists(), "the levels have a chart");
    let without_trial = |trial: &str| {
        let rows: Vec<Row> = levels.iter().filter(|row| text(row, &c::TRIAL) == trial).cloned().collect();
        let mut cells = exact_cells(&rows);
        cells.iter_mut().for_each(|cells| drop(cells.remove(3)));
        cells.sort();
        cells
    };
    assert_eq!(without_trial("0"), without_trial("1"), "they are the same in every trial");
}

/// Tests that the sums over the levels also include every byte in timed mode, in which background threads compact.
#[test]
fn the_levels_add_up_where_threads_merge() {
    let bench = Bench::new();
    let timed = EXPERIMENT.replace("\"counted\"", "\"timed\"").replace("count = 2", "count = 1");
    let parts = "compaction  = { kind = \"leveled\", size_ratio = 3 }\nthreads = { max_subcompactions = 3 }\n\
                 table = { capacity = \"16KiB\" }";
    let timed = timed.replace("compaction  = { kind = \"leveled\", size_ratio = 3 }", parts);
    bench.write("x.toml", timed);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let (runs, levels) = (bench.rows("x"), levels(&bench, "x"));
    for run in of(&runs, "load", "all") {
        let levels = belonging(&levels, run);
        let merged = count(run, &c::COMPACTION_BYTES_READ_SETTLED);
        assert!(merged > 0);
        assert_eq!(total(&levels, &l::BYTES_READ_SETTLED), merged);
        let written = [&c::FLUSH_BYTES_SETTLED, &c::COMPACTION_BYTES_WRITTEN_SETTLED];
        let written: u64 = written.into_iter().map(|column| count(run, column)).sum();
        assert_eq!(total(&levels, &l::BYTES_WRITTEN_SETTLED), written);
    }
}

#[test]
fn the_layers_below_the_tree_are_told_and_empty_where_there_are_none() {
    let bench = Bench::on_disk();
    let experiment = "question = \"?\"\n[design]\nmemtable = { capacity = \"64KiB\" }\n[[phase]]\nname = \"load\"\n\
                      insert = 20_000\n[sweep]\n\"design.storage\" = [\"pread\", \"memory\"]\n[trials]\ncount = 1\n";
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    let rows = of(&rows, "load", "all");
    let system = [
        &c::OS_READ_BYTES,
        &c::OS_WRITE_BYTES,
        &c::OS_WRITE_AMP,
        &c::OS_WRITE_BYTES_SETTLED,
        &c::OS_WRITE_AMP_SETTLED,
    ];
    assert!(system.iter().all(|column| rows[1].get(column).is_empty()), "memory is no storage of the system");
    let [written, settled] =
        [&c::OS_WRITE_BYTES, &c::OS_WRITE_BYTES_SETTLED].map(|column| number(rows[0], column));
    let tables = number(rows[0], &c::FLUSH_BYTES_SETTLED) + number(rows[0], &c::WAL_BYTES);
    assert!(settled >= written && settled >= tables, "{written} {settled} {tables}");
    let amplification = written / number(rows[0], &c::USER_BYTES_WRITTEN);
    assert!((number(rows[0], &c::OS_WRITE_AMP) - amplification).abs() < 1e-9);
    assert!(number(rows[0], &c::WRITE_AMP_WAL_SETTLED) >= number(rows[0], &c::WRITE_AMP_WAL));
}

#[test]
fn rows_of_levels_that_were_changed_are_refused() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let rows = bench.read("results/small/levels.csv");
    let (kept, _) = rows.trim_end().rsplit_once('\n').unwrap();
    fs::write(bench.path("results/small/levels.csv"), format!("{kept}\n")).unwrap();
    let error = bench.run(&["run", "small.toml", "--resume"]).refusal();
    assert!(error.contains("levels.csv") && error.contains("missing"), "{error}");
    // The rows of a killed run are completed.
    bench.forget_seals("small");
    fs::remove_file(bench.path("results/small/runs.csv")).unwrap();
    bench.ok(&["run", "small.toml", "--resume"]);
    assert_eq!(bench.read("results/small/levels.csv"), rows);
}

#[test]
fn charts_of_levels_have_their_columns() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT.replace("x      = \"level\"", "x      = \"levels\""));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(error.contains("chart.x") && error.contains("level"), "{error}");
    bench.write("x.toml", EXPERIMENT.replace("kind   = \"grouped-bar\"", "kind   = \"timeline\""));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(error.contains("not with kind = \"timeline\""), "{error}");
}
