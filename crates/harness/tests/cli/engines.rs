//! Tests of the tables that compare engines. `lsmbench engines` copies the results without paths of the machine, writes
//! the tables into a page, and compares the page with the copy.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use results::{CellInfo, EngineInfo, Folder, MANIFEST_VERSION, Manifest};

use crate::bench::Bench;

/// A path that a copy must not contain, because the path exists only on one machine.
const LIBRARY: &str = "/opt/of this machine/librocksdb.so";

/// The engines, each with its operations per second in the three phases. Our own tree has the label `lsmbench`.
const ENGINES: [(&str, [u64; 3]); 3] =
    [("lsmbench", [1_000, 1_000, 2_000]), ("rocksdb", [400, 800, 500]), ("lmdb", [100, 2_000, 500])];

const PHASES: [(&str, &str, u64); 3] = [("load", "insert", 1), ("point", "get", 1), ("point-2", "get", 2)];

const HEADER: &str = "experiment,cell,label,trial,phase,operation,mode,seed,loop,engine,ops,ops_per_second,\
                      user_bytes_written,cpu_seconds,rss_peak_bytes,flush_bytes_settled,\
                      compaction_bytes_written_settled,os_write_bytes_settled,os_read_bytes,threads,disk_bytes,\
                      settled_ops_per_second\n";

/// Writes results like those of six trials of three engines.
fn make(bench: &Bench, name: &str) -> PathBuf {
    let mut rows = HEADER.to_owned();
    for (cell, (engine, rates)) in ENGINES.iter().enumerate() {
        for trial in 0..6 {
            for ((phase, kind, threads), rate) in PHASES.iter().zip(rates) {
                // Compaction debt of the load is written during reads; lmdb reports no compactions.
                let (user, system, flushed, merged) =
                    if *phase == "load" { (1000, 2500, 1200, "0") } else { (0, 1000, 0, "800") };
                let merged = if *engine == "lmdb" { "" } else { merged };
                for operation in [*kind, "all"] {
                    let rate = rate + trial;
                    // The work after the load takes our tree as long as the load itself.
                    let settled = if *engine == "lsmbench" { rate / 2 } else { rate };
                    let _ = writeln!(
                        rows,
                        "{name},{cell},{engine},{trial},{phase},{operation},timed,42,closed,{engine},1000,{rate},\
                         {user},0.002,1048576,{flushed},{merged},{system},4096000,{threads},2097152,{settled}"
                    );
                }
            }
        }
    }
    let root = bench.path("runs").join(name);
    bench.write(&format!("runs/{name}/runs.csv"), rows);
    // The mismatch of LMDB has the prefix of earlier versions.
    let prefix = |name: &str| if name == "lmdb" { "not equal" } else { "mismatch" };
    let engine = |name: &str| EngineInfo {
        name: name.to_owned(),
        version: Some("1.2.3".to_owned()),
        library: (name == "rocksdb").then(|| LIBRARY.to_owned()),
        doubts: Vec::new(),
        mapping: vec![
            "memtable.capacity: write_buffer_size".to_owned(),
            format!("{}: shapes are its own", prefix(name)),
        ],
    };
    let cells = ENGINES.iter().enumerate().map(|(cell, (label, _))| CellInfo {
        cell: cell as u64,
        label: (*label).to_owned(),
        swept: vec![(*label).to_owned()],
        engine: (*label != "lsmbench").then(|| engine(label)),
        survives_kill: Some(if *label == "lmdb" { "flushed" } else { "acknowledged" }.to_owned()),
        ..CellInfo::default()
    });
    let mut manifest = Manifest {
        version: MANIFEST_VERSION,
        experiment: name.to_owned(),
        question: "Which?".to_owned(),
        trials: 6,
        mode: "timed".to_owned(),
        swept: vec!["engine".to_owned()],
        phases: PHASES.iter().map(|(phase, ..)| (*phase).to_owned()).collect(),
        cells: cells.collect(),
        command: vec!["/srv/somebody/target/release/lsmbench".to_owned(), "run".to_owned()],
        started: "2026-11-22T14:25:00Z".to_owned(),
        ended: Some("2026-11-22T14:45:00Z".to_owned()),
        warnings: vec![format!("engine rocksdb: {LIBRARY} has assertions")],
        ..Manifest::default()
    };
    "0.1.0".clone_into(&mut manifest.build.version);
    manifest.build.git_commit = Some("0123456789abcdef".to_owned());
    manifest.machine.cpu = Some("A processor".to_owned());
    manifest.machine.cores = Some(2);
    manifest.machine.load_average = Some([0.25, 0.0, 0.0]);
    manifest.machine.load_average_end = Some([1.5, 0.0, 0.0]);
    manifest.write(&Folder::new(&root).manifest()).unwrap();
    root
}

/// Returns a page with markers for the tables of each named experiment.
fn page(names: &[&str]) -> String {
    let place = |name: &&str| format!("<!-- engines {name} -->\nold\n<!-- /engines -->\n");
    format!("# Page\n{}end\n", names.iter().map(place).collect::<String>())
}

#[test]
fn rows_have_the_labels_of_a_sweep() {
    let bench = Bench::new();
    let root = make(&bench, "reads");
    let file = Folder::new(&root).manifest();
    let mut manifest = Manifest::read(&file).unwrap();
    "our tree".clone_into(&mut manifest.cells[0].label);
    "RocksDB, tuned".clone_into(&mut manifest.cells[1].label);
    manifest.write(&file).unwrap();
    // The name of an engine selects its first row.
    for baseline in ["lsmbench", "our tree"] {
        let table = bench.ok(&["engines", "runs/reads", "--baseline", baseline]);
        assert!(table.contains("| our tree | **1.00\u{a0}k** |"), "{table}");
        assert!(table.contains("| RocksDB, tuned | 2.49 (2.48 to 2.50) |"), "{table}");
    }
}

#[test]
fn results_of_earlier_versions_have_no_durability() {
    let bench = Bench::new();
    let file = Folder::new(make(&bench, "reads")).manifest();
    let mut manifest = Manifest::read(&file).unwrap();
    manifest.cells.iter_mut().for_each(|cell| cell.survives_kill = None);
    manifest.write(&file).unwrap();
    let table = bench.ok(&["engines", "runs/reads"]);
    assert!(table.contains("| write amplification by the engine |\n"), "{table}");
    assert!(!table.contains("kill"), "{table}");
}

#[test]
fn a_table_says_who_is_faster_and_what_falls_short() {
    let bench = Bench::new();
    make(&bench, "reads");
    let table = bench.ok(&["engines", "runs/reads"]);
    for line in [
        "### reads: Which?",
        "| 1 thread | load | point |",
        "| 2 threads | point |",
        "| CPU time per operation, 1 thread | load | point |",
        "| bytes read from storage per operation, 2 threads | point |",
        "* rocksdb, lmdb: shapes are its own",
        "Engines: rocksdb 1.2.3 (librocksdb.so), lmdb 1.2.3. Measured on 2026-11-22 by lsmbench 0.1.0 of commit \
         0123456789ab on A processor, 2 cores; load average 0.2 at the start and 1.5 at the end. The \
         manifest of the run contains a warning.",
    ] {
        assert!(table.lines().any(|found| found == line), "{line}\n{table}");
    }
    assert!(table.contains("| lsmbench | **1.00\u{a0}k** | **1.00\u{a0}k** |"), "{table}");
    assert!(table.contains("| rocksdb | 2.49 (2.48 to 2.50) | 1.25 (1.25 to 1.25) |"), "{table}");
    // Only the load writes, so only the load has a settled throughput.
    assert!(table.lines().any(|line| line == "| settled throughput, 1 thread | load |"), "{table}");
    assert!(table.contains("| lsmbench | **501** |\n| rocksdb | 1.24 (1.24 to 1.25) |"), "{table}");
    // Over all phases: 2500 and twice 1000 bytes for 1000 of the user.
    let costs = "| over the run | peak resident memory | most disk | write amplification | write amplification by the \
                 engine | writes that survive a kill |";
    assert!(table.lines().any(|line| line == costs), "{table}");
    assert!(table.contains("| lsmbench | 1\u{a0}MiB | 2\u{a0}MiB | 4.50 | 2.80 | acknowledged |"), "{table}");
    assert!(table.contains("| lmdb | 1\u{a0}MiB | 2\u{a0}MiB | 4.50 |  | flushed |"), "{table}");
    assert!(table.contains("| lsmbench | 2.00\u{a0}µs | 2.00\u{a0}µs |"), "{table}");
    let missed = "Missed targets (speedups of at least 2x over LSM-trees in phases with only writes, 1.5x over \
                  LSM-trees in all other phases, and 1x over B-trees): **point** 0.50 (0.50 to 0.50) lmdb, 1.25 \
                  (1.25 to 1.25) rocksdb.\n";
    assert!(table.contains(missed), "{table}");
    let modest = bench.ok(&["engines", "runs/reads", "--target-reads", "1.2", "--target-btrees", "0.1"]);
    let met = "All targets met: speedups of at least 2x over LSM-trees in phases with only writes, 1.2x over LSM-trees";
    assert!(modest.contains(met), "{modest}");
    let demanding = bench.ok(&["engines", "runs/reads", "--target-writes", "3"]);
    assert!(demanding.contains(": **load** 2.49 (2.48 to 2.50) rocksdb; **point** 0.50"), "{demanding}");
}

#[test]
fn what_is_kept_has_no_path_of_the_machine_and_gives_the_same_tables() {
    let bench = Bench::new();
    for name in ["writes", "reads"] {
        make(&bench, name);
    }
    bench.write("page.md", page(&["writes", "reads"]));
    let output = bench.run(&["engines", "runs", "--keep", "kept/peers", "--into", "page.md"]).expect(0);
    assert_eq!(output.out, "Updated: page.md\n");
    assert_eq!(output.err, "Copied: kept/peers/reads\nCopied: kept/peers/writes\n");
    for name in ["writes", "reads"] {
        let kept = bench.read(&format!("kept/peers/{name}/manifest.json"));
        assert!(
            !kept.contains("/opt") && !kept.contains("/home") && !kept.contains("this machine"),
            "{kept}"
        );
        assert!(
            kept.contains("\"librocksdb.so\"") && kept.contains("librocksdb.so has assertions"),
            "{kept}"
        );
        let [from_runs, from_kept] =
            ["runs", "kept/peers"].map(|folder| bench.ok(&["engines", &format!("{folder}/{name}")]));
        assert_eq!(from_runs, from_kept);
        assert!(bench.read("page.md").contains(&from_kept));
    }
    let written = bench.read("page.md");
    assert!(
        written.starts_with("# Page\n<!-- engines writes -->\n### writes: ") && written.ends_with("end\n")
    );
    // Kept again from itself, it is the same.
    bench.ok(&["engines", "kept/peers", "--keep", "kept/peers", "--into", "page.md"]);
    assert_eq!(bench.read("page.md"), written);
}

#[test]
fn a_page_follows_from_its_results_or_is_named() {
    let bench = Bench::new();
    make(&bench, "writes");
    bench.write("page.md", page(&["writes"]));
    let check = ["engines", "runs", "--into", "page.md", "--check"];
    let wrong = bench.run(&check).expect(1);
    assert!(wrong.err.contains("page.md: the tables of writes do not match the results"), "{}", wrong.err);
    bench.ok(&["engines", "runs", "--into", "page.md"]);
    assert_eq!(bench.ok(&check), "1 of 1 tables in page.md match the results\n");
    let written = bench.read("page.md");
    bench.write("page.md", written.replace("| rocksdb | 2.49", "| rocksdb | 2.94"));
    bench.run(&check).expect(1);
    bench.write("page.md", written.clone() + &page(&["sync"]));
    let wrong = bench.run(&check).expect(1);
    assert!(wrong.err.contains("the tables of sync have no results"), "{}", wrong.err);
    assert!(wrong.out.contains("1 of 2 tables"), "{}", wrong.out);
}

#[test]
fn what_has_no_place_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    make(&bench, "writes");
    bench.write("page.md", page(&["reads"]));
    let error = bench.run(&["engines", "runs", "--keep", "kept", "--into", "page.md"]).refusal();
    assert!(
        error
            .contains("page.md: the page has no place for the tables of writes; add <!-- engines writes -->"),
        "{error}"
    );
    assert!(!bench.path("kept").exists() && bench.read("page.md") == page(&["reads"]));
    bench.write("twice.md", page(&["writes"]).repeat(2));
    let error = bench.run(&["engines", "runs", "--into", "twice.md"]).refusal();
    assert!(error.contains("twice.md:7: the page has a second place for the tables of writes"), "{error}");
    let refused = bench.run(&["engines", "runs", "--check"]).expect(2);
    assert!(refused.err.contains("--into <FILE>"), "{}", refused.err);
    std::fs::create_dir_all(bench.path("empty")).unwrap();
    let error = bench.run(&["engines", "empty"]).refusal();
    assert!(error.contains("no results: neither this folder nor its subfolders"), "{error}");
    // The same experiment from two folders has one place.
    bench.ok(&["engines", "runs/writes", "--keep", "kept"]);
    let error = bench.run(&["engines", "runs/writes", "kept/writes", "--keep", "again"]).refusal();
    assert!(
        error.contains(
            "runs/writes also contains results of the experiment writes; name only one of the two folders"
        ),
        "{error}"
    );
}

/// Tests that the tables on the page of the repository follow from the results in the repository. Each experiment with
/// results must have a place on the page, and each place must have results. Without results in the repository, the test
/// checks nothing.
#[test]
fn the_page_of_performance_follows_from_the_results_of_engines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (kept, page) = (root.join("results/peers"), root.join("docs/results/engines.md"));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(
        text.contains("<!-- engines writes -->\n"),
        "docs/results/engines.md has no place for the tables of writes"
    );
    if !kept.exists() {
        return;
    }
    let [kept, page] = [kept, page].map(|path| path.to_string_lossy().into_owned());
    let answer = Bench::new().run(&["engines", &kept, "--into", &page, "--check"]);
    let advice =
        "update it with\n  cargo run --release -- engines results/peers --into docs/results/engines.md";
    assert_eq!(answer.code, Some(0), "{}{advice}", answer.err);
}
