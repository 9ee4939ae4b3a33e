//! Tests of engines other than our own tree. Installed engines run in the same experiment as our own tree, and the
//! output names missing engines.

use results::{Row, columns as c};

use crate::bench::{Bench, text, unwrapped};

const EXPERIMENT: &str = r#"
question = "Which engine?"
[design]
memtable = { capacity = "128KiB" }
[[phase]]
name   = "load"
insert = 10_000
value  = { kind = "fixed", bytes = 40 }
[[phase]]
name       = "mixed"
operations = 5_000
mix        = { get = 4, put = 2, delete = 1, range = 2, rmw = 1, batch = 1, multi_get = 1 }
absent     = 0.3
value      = { kind = "fixed", bytes = 40 }
range      = { kind = "fixed", entries = 7 }
[trials]
count = 1
check = 1
"#;

/// Returns the experiment with a sweep over these engines.
fn over(engines: &str) -> String {
    format!("{EXPERIMENT}[sweep]\n\"engine\" = {engines}\n")
}

fn of_engine<'a>(rows: &'a [Row], engine: &str) -> Vec<&'a Row> {
    let at = rows[0].schema().find("engine").unwrap();
    let is_of = |row: &&Row| row.cells()[at].to_string() == engine && text(row, &c::OPERATION) == "all";
    rows.iter().filter(is_of).collect()
}

/// Tests that the program skips a missing engine with a message and runs the other engines. If only our own tree
/// remains, the experiment has nothing to compare.
#[test]
fn an_engine_that_is_not_there_leaves_the_others() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        over(
            "[\"lsmbench\", { kind = \"rocksdb\", library = \"/nowhere/librocksdb.so\", label = \"rocks\" }]",
        ),
    );
    let error = bench.run(&["run", "x.toml", "--allow-debug"]).refusal();
    assert!(
        error.contains(
            "engine \"rocks\" is not installed: cannot find librocksdb.so in /nowhere; extract the library from Maven's"
        ),
        "{error}"
    );
    assert!(error.contains("use [sweep] \"engine\" = \"all\" to run only the installed engines"), "{error}");
    bench.write(
        "two.toml",
        over("[\"lsmbench\", \"rocksdb(library=/nowhere/a.so)\", \"leveldb(library=/nowhere/b.so)\"]"),
    );
    let error = bench.run(&["run", "two.toml", "--allow-debug"]).refusal();
    assert!(
        error.contains("cannot find a.so in /nowhere") && error.contains("cannot find b.so in /nowhere"),
        "{error}"
    );
    bench.write("x.toml", over("\"all\""));
    let described = bench.ok(&["describe", "x.toml"]);
    // Only a build with all features and all libraries has every engine.
    let is_here = |kind: &str| described.contains(&format!(" {kind}\n"));
    assert!(is_here("lsmbench"), "{described}");
    for kind in ["terarkdb", "tidesdb"].into_iter().filter(|kind| !is_here(kind)) {
        assert!(described.contains(&format!("skipped: engine={kind}: ")), "{described}");
    }
}

/// Tests a sweep of which only some engines are installed. The installed engines run, and the output names the missing
/// engines at the start and at the end.
#[test]
fn the_rest_of_a_sweep_goes_on_without_an_engine() {
    let bench = Bench::new();
    bench.write("all.toml", over("\"all\""));
    let described = bench.ok(&["describe", "all.toml"]);
    let kinds = ["fjall", "lmdb", "rocksdb", "speedb", "leveldb"];
    let Some(here) = kinds.into_iter().find(|kind| described.contains(&format!(" {kind}\n"))) else { return };
    let absent = "{ kind = \"terarkdb\", library = \"/nowhere/libx.so\", label = \"terark\" }";
    bench.write("x.toml", over(&format!("[\"lsmbench\", \"{here}\", {absent}]")));
    let answer = bench.run(&["run", "x.toml", "--allow-debug"]).expect(0);
    let warning = "skipped: engine=terark: cannot find libx.so in /nowhere; build TerarkDB";
    assert_eq!(unwrapped(&answer.err).matches(warning).count(), 1, "{}", answer.err);
    assert!(answer.out.contains("Skipped: terark (not installed; "), "{}", answer.out);
    let manifest = bench.manifest("x");
    let labels: Vec<&str> = manifest.cells.iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(labels, ["lsmbench", here]);
    assert_eq!(manifest.left_out.len(), 1);
}

#[test]
fn counted_mode_refuses_other_engines_in_words() {
    let bench = Bench::new();
    bench.write("x.toml", over("[\"lsmbench\", \"rocksdb\"]"));
    let error = bench.run(&["describe", "x.toml", "--set", "trials.mode=counted"]).refusal();
    let expected = "engine \"rocksdb\" cannot run in counted mode (because the timing of its background \
                    threads affects its counters)";
    assert!(error.contains(expected) && error.contains("use trials.mode = \"timed\""), "{error}");
}

#[test]
fn options_that_nobody_can_read_are_refused_before_anything_runs() {
    let bench = Bench::new();
    bench.write("x.toml", over("[{ kind = \"rocksdb\", options = \"write_buffer_size\" }]"));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(error.contains("options: \"write_buffer_size\" is not key=value"), "{error}");
}

#[test]
fn engine_tables_are_of_engines() {
    let bench = Bench::new();
    bench.write("x.toml", over("\"all\"") + "\"phase.load.threads\" = [1, 2]\n");
    bench.run(&["run", "x.toml", "--allow-debug"]).expect(0);
    let tables = bench.ok(&["engines", "results/x"]);
    assert!(
        tables.contains("| 1 thread | load | mixed, load.threads 1 | mixed, load.threads 2 |"),
        "{tables}"
    );
    assert!(tables.contains("| 2 threads | load |"), "{tables}");
    assert!(tables.contains("| lsmbench | **"), "{tables}");
    for again in ["results/x", "./results/../results/x"] {
        let error = bench.run(&["engines", "results/x", again]).refusal();
        assert!(error.contains("twice") || error.contains("the same folder as results/x"), "{error}");
    }
    let error = bench.run(&["engines", "results/x", "--baseline", "nobody"]).refusal();
    assert!(error.contains("there is no row \"nobody\" Valid: \"lsmbench\""), "{error}");
    bench.write("y.toml", EXPERIMENT);
    bench.run(&["run", "y.toml", "--allow-debug"]).expect(0);
    let error = bench.run(&["engines", "results/y"]).refusal();
    assert!(error.contains("the experiment does not sweep engines"), "{error}");
    // Characters of a question with a meaning in Markdown are escaped.
    let marked = over("[\"lsmbench\"]").replace("Which engine?", "Which *engine* | <b>which</b>?");
    bench.write("z.toml", marked);
    bench.run(&["run", "z.toml", "--allow-debug"]).expect(0);
    let tables = bench.ok(&["engines", "results/z"]);
    assert!(tables.starts_with("### z: Which \\*engine\\* \\| \\<b>which\\</b>?\n"), "{tables}");
}

/// Tests that every engine of this machine and of this build runs in one experiment with our own tree, and gives the
/// same answers.
#[test]
fn engines_that_are_there_run_in_one_run() {
    let bench = Bench::new();
    bench.write("x.toml", over("\"all\""));
    let answer = bench.run(&["run", "x.toml", "--allow-debug"]).expect(0);
    let (rows, manifest) = (bench.rows("x"), bench.manifest("x"));
    let engines: Vec<&str> = manifest.cells.iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(engines.len() + manifest.left_out.len(), engines::CATALOG.variants().len());
    for cell in &manifest.cells {
        let rows = of_engine(&rows, &cell.label);
        assert_eq!(rows.len(), 2, "{}", cell.label);
        for row in rows {
            assert_eq!(text(row, &c::WRONG_ANSWERS), "0");
            assert_ne!(text(row, &c::CHECKED_ANSWERS), "");
            assert_ne!(text(row, &c::DISK_BYTES), "");
            // Only our own tree reports its filters, and a value without a measurement is empty.
            assert_eq!(text(row, &c::FILTER_PROBES).is_empty(), cell.label != "lsmbench");
        }
        let Some(engine) = &cell.engine else {
            assert_eq!(cell.label, "lsmbench");
            continue;
        };
        assert!(engine.version.as_ref().is_some_and(|version| version.contains('.')), "{engine:?}");
        assert!(answer.err.contains(&format!("engine {}: ", engine.name)), "{}", answer.err);
        for line in &engine.mapping {
            assert!(unwrapped(&answer.err).contains(line), "{line}");
        }
        for doubt in &engine.doubts {
            assert!(
                manifest.warnings.iter().any(|warning| warning.contains(doubt)),
                "{:?}",
                manifest.warnings
            );
        }
    }
}

/// Tests that the engine `leveldb` can run our own tree through the LevelDB interface. Without the library of this
/// interface next to the test, the test checks nothing.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
fn our_own_tree_runs_through_the_leveldb_interface() {
    let test = std::env::current_exe().unwrap();
    let library = test.with_file_name("liblsmbench_leveldb.so");
    if !library.exists() {
        return eprintln!("NOT CHECKED: the LevelDB interface; cargo build -p lsmbench-leveldb");
    }
    let bench = Bench::new();
    let engine =
        format!("{{ kind = \"leveldb\", library = \"{}\", label = \"interface\" }}", library.display());
    bench.write("x.toml", over(&format!("[\"lsmbench\", {engine}]")));
    bench.run(&["run", "x.toml", "--allow-debug"]).expect(0);
    let (rows, manifest) = (bench.rows("x"), bench.manifest("x"));
    let version = manifest.cells[1].engine.as_ref().and_then(|engine| engine.version.as_deref());
    assert_eq!(version, Some("1.23"));
    let rows = of_engine(&rows, "interface");
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| text(row, &c::WRONG_ANSWERS) == "0"));
    assert_ne!(text(rows[1], &c::CHECKED_ANSWERS), "0", "the phase with reads is checked");
}

/// Tests that other engines report blocks per get only in phases with nothing but gets, because they count the block
/// reads of all operations together. Without RocksDB, the test checks only our own tree.
#[test]
fn blocks_per_get_are_of_phases_that_only_get() {
    let bench = Bench::new();
    let gets = "[[phase]]\nname = \"point\"\noperations = 2_000\nmix = { get = 1 }\n[trials]";
    let experiment = EXPERIMENT.replace("[trials]", gets);
    let counting = "{ kind = \"rocksdb\", statistics = true }";
    let over = |engines: &str| format!("{experiment}[sweep]\n\"engine\" = {engines}\n");
    bench.write("x.toml", over(&format!("[\"lsmbench\", \"rocksdb\", {counting}]")));
    if bench.run(&["describe", "x.toml"]).code != Some(0) {
        bench.write("x.toml", over("[\"lsmbench\"]"));
    }
    bench.run(&["run", "x.toml", "--allow-debug"]).expect(0);
    let rows = bench.rows("x");
    for (engine, counts) in [("lsmbench", true), ("rocksdb", false), ("rocksdb(statistics=true)", true)] {
        for row in of_engine(&rows, engine) {
            let blocks = text(row, &c::BLOCKS_PER_GET);
            match text(row, &c::PHASE).as_str() {
                "point" if counts => {
                    let blocks: f64 = blocks.parse().unwrap();
                    assert!((0.5..=3.0).contains(&blocks), "{engine}: {blocks} blocks per get");
                }
                _ => assert_eq!(blocks.is_empty(), engine != "lsmbench" || text(row, &c::PHASE) == "load"),
            }
        }
    }
}

#[test]
fn an_engine_is_one_line_of_an_experiment() {
    let bench = Bench::new();
    bench.write("x.toml", EXPERIMENT.replace("question", "engine = \"lsmbench\"\nquestion"));
    assert!(!bench.ok(&["describe", "x.toml"]).contains("engine ="));
    bench.write("x.toml", EXPERIMENT.replace("question", "engine = \"rocksbd\"\nquestion"));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(
        error.contains("x.toml:2: engine: unknown variant \"rocksbd\"; did you mean \"rocksdb\"?"),
        "{error}"
    );
    let error = bench.run(&["describe", "x.toml", "--set", "engine.library=x"]).refusal();
    assert!(error.contains("unknown variant \"rocksbd\""), "{error}");
    bench.write("x.toml", EXPERIMENT);
    let error = bench.run(&["describe", "x.toml", "--set", "engine.library=x"]).refusal();
    assert!(error.contains("--set engine.library: lsmbench has no parameter \"library\""), "{error}");
    let error =
        bench.run(&["describe", "x.toml", "--set", "engine=rocksdb(library=/nowhere/x.so)"]).refusal();
    assert!(
        error.contains(
            "engine \"rocksdb(library=\"/nowhere/x.so\")\" is not installed: cannot find x.so in /nowhere"
        ),
        "{error}"
    );
    let component = "question = \"?\"\nengine = \"rocksdb\"\nsubject = \"hash\"\n";
    bench.write("x.toml", component);
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(error.contains("x.toml:2: engine: a component experiment runs no engine"), "{error}");
}
