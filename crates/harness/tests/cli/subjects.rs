//! Tests of component experiments, which run one component without a tree. Every subject must run, invalid requests
//! must be rejected, and interrupted runs must resume.

use std::fs;

use results::{Row, columns as c};

use crate::bench::{Bench, number, of, text};

/// A small experiment on a subject: the name of the subject, the other keys of `[component]`, two variants, the mode,
/// the phases, and columns that must have values in the last phase.
type Small<'a> = (&'a str, &'a str, [&'a str; 2], &'a str, &'a [&'a str], &'a [&'a results::Metric]);

const SMALL: &[Small<'_>] = &[
    (
        "memtable",
        "entries = 2000\noperations = 1000\nthreads = 2",
        ["skiplist", "bplus"],
        "timed",
        &["insert", "get", "get-absent", "scan", "freeze", "drain"],
        &[&c::BYTES_PER_ENTRY, &c::MEMTABLE_BYTES, &c::P50_SLICE_NS, &c::OPS_PER_SECOND],
    ),
    (
        "bloom",
        "entries = 5000\noperations = 20000",
        ["standard", "ribbon"],
        "timed",
        &["build", "absent", "present", "absent-batch", "present-batch"],
        &[
            &c::FILTER_PROBES,
            &c::EXPECTED_FPR,
            &c::BITS_PER_KEY,
            &c::BUILD_NS_PER_ENTRY,
            &c::LOOP_NS,
            &c::MEAN_NS,
        ],
    ),
    (
        "ranges",
        "entries = 5000\noperations = 2000\nkeys = \"path\"",
        ["grafite", "diva"],
        "counted",
        &["build", "anywhere", "after-keys"],
        &[&c::RANGE_FPR, &c::RANGE_FILTER_PROBES, &c::RANGE_FILTER_NEGATIVES, &c::BITS_PER_KEY],
    ),
    (
        "fence",
        "entries = 1000\noperations = 5000\nkeys = \"user\"",
        ["binary", "s-tree"],
        "timed",
        &["build", "throughput", "latency", "batch", "range"],
        &[&c::BYTES_PER_ENTRY, &c::FENCE_BYTES, &c::BUILD_NS_PER_ENTRY, &c::P50_SLICE_NS, &c::LOOP_NS],
    ),
    (
        "cache",
        "blocks = 2000\noperations = 20000\nrequests = \"scan-mixed\"",
        ["lru(capacity=1MiB)", "quick(capacity=1MiB)"],
        "counted",
        &["requests", "hits"],
        &[&c::CACHE_HIT_RATE, &c::CACHE_BYTES, &c::BLOCKS_READ],
    ),
    (
        "compression",
        "blocks = 50",
        ["lz4", "zstd"],
        "timed",
        &["compress", "decompress"],
        &[&c::RATIO, &c::MEGABYTES_PER_SECOND, &c::TABLE_BYTES],
    ),
    (
        "compaction",
        "entries = 300_000",
        ["leveled", "tiered"],
        "counted",
        &["grow"],
        &[&c::WRITE_AMP, &c::RUNS_PER_GET, &c::WORST_RUNS, &c::FLUSHES, &c::COMPACTION_BYTES_WRITTEN],
    ),
    (
        "format",
        "entries = 500\noperations = 3000",
        ["delta", "btree-page"],
        "timed",
        &["build", "hit", "miss", "check"],
        &[&c::BYTES_PER_ENTRY, &c::BUILD_NS_PER_ENTRY, &c::TABLE_BYTES, &c::P50_SLICE_NS, &c::LOOP_NS],
    ),
    (
        "storage",
        "file = \"1MiB\"\nsyncs = 2\noperations = 200",
        ["pread", "memory"],
        "timed",
        &["append", "sync", "read"],
        &[&c::MEGABYTES_PER_SECOND, &c::P50_SLICE_NS, &c::BLOCKS_READ],
    ),
    (
        "hash",
        "bytes = \"8B\"\noperations = 20_000",
        ["xxh3", "siphash"],
        "timed",
        &["throughput", "latency"],
        &[&c::MEGABYTES_PER_SECOND, &c::P50_SLICE_NS, &c::LOOP_NS],
    ),
];

/// Returns an experiment on a subject.
fn experiment(subject: &str, component: &str, variants: &str, mode: &str) -> String {
    let axis = if subject == "ranges" { "bloom" } else { subject };
    format!(
        "question = \"?\"\nsubject = \"{subject}\"\n[component]\n{component}\n[sweep]\n\"design.{axis}\" = {variants}\n\
         [trials]\ncount = 1\nmode = \"{mode}\"\n"
    )
}

const FENCE: &str = "entries = 1000\noperations = 5000";

fn fence() -> String {
    experiment("fence", FENCE, "[\"binary\", \"eytzinger\"]", "timed")
}

#[test]
fn every_subject_fills_its_rows() {
    for (subject, component, variants, mode, phases, columns) in SMALL {
        let bench = Bench::new();
        bench.write("x.toml", experiment(subject, component, &format!("{variants:?}"), mode));
        let answer = bench.ok(&["run", "x.toml", "--allow-debug"]);
        let rows = bench.rows("component-x");
        assert_eq!(rows.len(), 2 * phases.len(), "{subject}");
        for phase in *phases {
            assert_eq!(of(&rows, phase, "all").len(), 2, "{subject}: {phase}");
        }
        for row in &rows {
            assert!(number(row, &c::OPS) > 0.0, "{subject}");
            assert_eq!(text(row, &c::WRONG_ANSWERS), "0", "{subject}");
            assert_eq!(row.get(&c::SECONDS).is_empty(), *mode == "counted", "{subject}");
        }
        for row in of(&rows, phases.last().unwrap(), "all") {
            for column in *columns {
                assert!(!row.get(column).is_empty(), "{subject}: {} is empty", column.name);
            }
        }
        let checked: f64 = rows.iter().map(|row| number(row, &c::CHECKED_ANSWERS)).sum();
        assert!(checked >= 2.0, "{subject}: nothing is checked");
        assert_eq!(bench.manifest("component-x").phases, *phases, "{subject}");
        assert!(variants.iter().all(|variant| answer.contains(variant)), "{answer}");
        assert!(!bench.path("results/component-x/data").exists(), "{subject} leaves files behind");
    }
}

#[test]
fn counters_of_components_are_the_same_every_time() {
    for (subject, component, variants, ..) in
        SMALL.iter().filter(|small| ["bloom", "cache"].contains(&small.0))
    {
        let bench = Bench::new();
        bench.write("x.toml", experiment(subject, component, &format!("{variants:?}"), "counted"));
        bench.ok(&["run", "x.toml"]);
        let once = fs::read(bench.path("results/component-x/runs.csv")).unwrap();
        bench.ok(&["run", "x.toml", "--out", "again"]);
        assert!(once == fs::read(bench.path("again/component-x/runs.csv")).unwrap(), "{subject}");
    }
}

#[test]
fn oracles_and_theory_stand_beside_what_was_measured() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        experiment("cache", "blocks = 2000\noperations = 40000", "[\"fifo\", \"quick\"]", "counted")
            + "[set]\n\"design.cache.capacity\" = \"1MiB\"\n\
               [[chart]]\nkind = \"bar\"\nx = \"design.cache\"\ny = \"cache_hit_rate\"\nfilter = { phase = \"requests\" }\n",
    );
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("component-x");
    for row in of(&rows, "requests", "all") {
        let (hits, best) = (number(row, &c::CACHE_HIT_RATE), number(row, &c::BEST_HIT_RATE));
        assert!(hits > 0.2 && hits <= best && best < 1.0, "{hits} {best}");
    }
    assert!(bench.path("plots/component-x/cache_hit_rate-by-cache.png").exists());
    bench
        .write("y.toml", experiment("bloom", "entries = 20_000\noperations = 400_000", "\"all\"", "counted"));
    bench.ok(&["run", "y.toml"]);
    let rows = bench.rows("component-y");
    for row in of(&rows, "absent", "all") {
        let (fpr, expected) = (number(row, &c::FPR), number(row, &c::EXPECTED_FPR));
        let spread = 4.0 * (expected / 400_000.0).sqrt() + 0.15 * expected;
        assert!((fpr - expected).abs() <= spread, "{}: {fpr}, not {expected}", text(row, &c::LABEL));
        assert!(row.get(&c::P50_SLICE_NS).is_empty(), "no time is measured");
    }
}

/// Tests that options of blocks can be swept as in a tree. Combinations with an option that a single block does not
/// have are omitted.
#[test]
fn block_formats_are_swept_with_their_options() {
    let bench = Bench::new();
    let sweep = "[\"delta\", \"plain\"]\n\"design.block.index\" = [\"none\", \"fingerprint\"]\n\
                 \"design.block.align\" = [false, true]";
    bench.write("x.toml", experiment("format", "entries = 300\noperations = 2000", sweep, "timed"));
    let described = bench.ok(&["describe", "x.toml"]);
    assert!(described.contains("remove block.align"), "{described}");
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("component-x");
    assert_eq!(rows.len(), 4 * 4);
    let bytes = |label: &str| {
        let rows = of(&rows, "hit", "all");
        let row = rows.iter().find(|row| text(row, &c::LABEL) == label);
        number(row.unwrap_or_else(|| panic!("no {label}")), &c::BYTES_PER_ENTRY)
    };
    let taken = bytes("delta + block.index=fingerprint + block.align=false")
        - bytes("delta + block.index=none + block.align=false");
    assert!((1.0..2.0).contains(&taken), "a fingerprint takes a byte and its share of the head: {taken}");
}

#[test]
fn a_sweep_compares_variants_where_all_else_is_the_same() {
    let bench = Bench::new();
    let sweep = "[\"binary\", \"eytzinger\"]\n\"component.entries\" = [100, 2000]";
    bench.write(
        "x.toml",
        experiment("fence", "operations = 5000", sweep, "timed") + "[verdict]\nbaseline = \"binary\"\n",
    );
    let answer = bench.ok(&["run", "x.toml", "--allow-debug"]);
    let captions =
        answer.lines().filter_map(|line| line.split_once(": phase throughput, time per operation"));
    let captions: Vec<&str> = captions.map(|(heading, _)| heading).collect();
    assert_eq!(captions, ["entries = 100", "entries = 2000"], "{answer}");
    assert_eq!(answer.matches("No verdict: ").count(), 2, "each group has a verdict: {answer}");
    assert_eq!(answer.matches("bytes_per_entry").count(), 2, "{answer}");
    assert_eq!(answer.lines().filter(|line| line.trim_start().starts_with("binary ")).count(), 2, "{answer}");
    let rows = bench.rows("component-x");
    assert!(rows.iter().any(|row| text(row, &c::LABEL) == "binary + entries=100"));
}

#[test]
fn bad_requests_say_where_and_what_instead() {
    let base = fence();
    for (what, by, line, message) in [
        (
            "\"fence\"\n",
            "\"fense\"\n",
            2,
            "unknown subject \"fense\"; did you mean \"fence\"? Valid: \"memtable\"",
        ),
        (
            "entries =",
            "entris =",
            4,
            "fence has no parameter \"entris\"; did you mean \"entries\"? Valid: \"entries\"",
        ),
        ("entries = 1000", "entries = 0", 3, "entries is 0; it must be at least 1"),
        ("entries = 1000", "entries = \"many\"", 4, "\"many\" is not a count"),
        ("operations = 5000", "keys = \"usr\"", 5, "unknown variant \"usr\"; did you mean \"user\"?"),
        ("[sweep]\n", "[sweep]\n\"component.entris\" = [1, 2]\n", 7, "did you mean \"entries\"?"),
        (
            "[sweep]\n",
            "[sweep]\n\"design.cache\" = [\"lru\"]\n",
            7,
            "subject = \"fence\" uses only design.fence; remove design.cache",
        ),
        ("[sweep]\n", "[sweep]\n\"phase.load.insert\" = [1]\n", 7, "Valid: \"design\", \"component\""),
        ("[sweep]\n", "[sweep]\n\"componet.entries\" = [1]\n", 7, "did you mean \"component\"?"),
        ("[component]\n", "[design]\ncache = \"lru\"\n[component]\n", 4, "remove design.cache"),
        (
            "[component]\n",
            "[[phase]]\nname = \"load\"\ninsert = 3\n[component]\n",
            3,
            "a component experiment has no workload",
        ),
        ("subject = \"fence\"\n", "", 2, "the subject of the experiment is missing"),
        (
            "\"timed\"",
            "\"counted\"",
            10,
            "subject \"fence\" measures only times, but mode \"counted\" does not measure times; use trials.mode = \"timed\"",
        ),
        (
            "[trials]\n",
            "[verdict]\nphase = \"lookup\"\n[trials]\n",
            9,
            "Valid: \"build\", \"throughput\", \"latency\", \"batch\"",
        ),
        ("[trials]\n", "[verdict]\nbaseline = \"binry\"\n[trials]\n", 9, "did you mean \"binary\"?"),
        ("[trials]\n", "[[chart]]\nkind = \"cdf\"\n[trials]\n", 9, "no timeline and no latency distribution"),
    ] {
        let bench = Bench::new();
        assert!(base.contains(what), "{what}");
        bench.write("x.toml", base.replacen(what, by, 1));
        let error = bench.run(&["run", "x.toml", "--allow-debug"]).refusal();
        assert!(error.starts_with(&format!("x.toml:{line}: ")), "{by}: {error}");
        assert!(error.contains(message), "{by}: {error}");
        assert!(!bench.path("results").exists(), "{by}");
    }
}

#[test]
fn what_is_set_must_be_read() {
    let bench = Bench::new();
    bench.write("x.toml", fence());
    for (set, message) in [
        ("design.cache=lru", "remove design.cache"),
        ("design.memtable.capacity=1MiB", "remove design.memtable"),
        ("component.entris=3", "did you mean \"entries\"?"),
        ("phase.load.insert=3", "a component experiment has no workload"),
    ] {
        let error = bench.run(&["run", "x.toml", "--allow-debug", "--set", set]).refusal();
        assert!(error.starts_with(&format!("--set {}", set.split('=').next().unwrap())), "{error}");
        assert!(error.contains(message), "{error}");
    }
    bench.write("m.toml", experiment("memtable", "entries = 100", "[\"btree\"]", "timed"));
    let error = bench.run(&["run", "m.toml", "--set", "design.memtable.capacity=1MiB"]).refusal();
    assert!(error.contains("derives the size of the memtable from component.entries"), "{error}");
    let error = bench.run(&["workload", "x.toml"]).refusal();
    assert!(error.contains("there are no operations to print"), "{error}");
    bench.write("small.toml", crate::bench::SMALL);
    let error = bench.run(&["run", "small.toml", "--set", "component.entries=3"]).refusal();
    assert!(error.contains("the subject of the experiment is missing"), "{error}");
}

#[test]
fn ranges_need_a_range_filter() {
    let bench = Bench::new();
    bench.write("x.toml", experiment("ranges", "entries = 100", "[\"ribbon\"]", "counted"));
    let error = bench.run(&["run", "x.toml"]).refusal();
    assert!(error.contains("bloom = ribbon does not answer ranges; use a range filter"), "{error}");
    bench.write("y.toml", experiment("ranges", "length = 1_000_000_000_000_000", "[\"grafite\"]", "counted"));
    let error = bench.run(&["run", "y.toml"]).refusal();
    assert!(
        error.starts_with("y.toml:3: ") && error.contains("length is 1000000000000000; the maximum"),
        "{error}"
    );
}

#[test]
fn a_missing_file_comes_to_light_before_anything_runs() {
    let bench = Bench::new();
    let component =
        "requests = { kind = \"trace\", file = \"t.bin\", width = 2 }\noperations = 100\nbound = false";
    bench.write("x.toml", experiment("cache", component, "[\"lru\"]", "counted"));
    let error = bench.run(&["run", "x.toml"]).refusal();
    assert!(error.starts_with("x.toml:4: ") && error.contains("check the path"), "{error}");
    bench.write("t.bin", [0, 1, 0, 2, 0, 1, 0, 2]);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("component-x");
    assert_eq!(number(of(&rows, "requests", "all")[0], &c::CACHE_HIT_RATE).to_bits(), 1f64.to_bits());
    bench.write(
        "y.toml",
        experiment("compression", "content = \"file(file=none.txt)\"", "[\"lz4\"]", "counted"),
    );
    let error = bench.run(&["run", "y.toml"]).refusal();
    assert!(error.contains("cannot read") && error.contains("none.txt"), "{error}");
}

#[test]
fn describe_spells_a_component_out_and_its_output_runs() {
    let bench = Bench::new();
    bench.write("x.toml", fence());
    let described = bench.ok(&["describe", "x.toml"]);
    for expected in [
        "subject = \"fence\"",
        "spread = \"random\"",
        "#   throughput: about",
        "estimate: 2 configurations × 1 trial, ",
    ] {
        assert!(described.contains(expected), "{expected}: {described}");
    }
    assert!(!described.contains("bits_per_key"), "nothing that is not read: {described}");
    bench.write("elsewhere/x.toml", &described);
    assert_eq!(bench.ok(&["describe", "elsewhere/x.toml"]), described);
    bench.ok(&["run", "elsewhere/x.toml", "--allow-debug"]);
}

#[test]
fn designs_are_extended_and_quick_runs_are_small() {
    let bench = Bench::new();
    bench.write("d.toml", "about = \"x\"\n[design]\nfence = \"eytzinger\"\ncache = \"lru\"\n");
    let text = fence().replace("\"binary\", \"eytzinger\"", "\"eytzinger\", \"lanes\"");
    bench.write("x.toml", text.replace("[component]", "extends = \"d.toml\"\n[component]"));
    let described = bench.ok(&["describe", "x.toml", "--quick"]);
    assert!(described.contains("entries = 100\n") && described.contains("operations = 500\n"), "{described}");
    bench.write("y.toml", "question = \"?\"\nsubject = \"fence\"\n");
    let described = bench.ok(&["describe", "y.toml", "--design", "d.toml"]);
    assert!(described.contains("eytzinger") && !described.contains("lru"), "{described}");
    let listed = bench.ok(&["list", "subject"]);
    assert!(listed.contains("fence") && listed.contains("entries    = 1_000_000"), "{listed}");
}

#[test]
fn counted_mode_leaves_out_what_has_several_threads() {
    let bench = Bench::new();
    let component = "blocks = 1000\noperations = 4000\nbound = false";
    let sweep = "[\"lru\"]\n\"component.threads\" = [1, 2]";
    bench.write("x.toml", experiment("cache", component, sweep, "counted"));
    let described = bench.ok(&["describe", "x.toml"]);
    assert!(described.contains("component.threads = 2 exceeds the maximum of 1"), "{described}");
    bench.ok(&["run", "x.toml"]);
    assert_eq!(bench.rows("component-x").len(), 2);
}

#[test]
fn a_run_that_broke_off_goes_on() {
    let bench = Bench::new();
    bench.write("x.toml", experiment("bloom", "entries = 5000\noperations = 5000", "\"all\"", "counted"));
    bench.ok(&["run", "x.toml"]);
    let whole = bench.read("results/component-x/runs.csv");
    // As if it had been killed within the fourth trial.
    let kept: Vec<&str> = whole.lines().take(1 + 3 * 4 + 2).collect();
    bench.write("results/component-x/runs.csv", kept.join("\n") + "\nx,3,torn");
    bench.forget_seals("component-x");
    bench.ok(&["run", "x.toml", "--resume"]);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&bench.read("results/component-x/runs.csv")), sorted(&whole));
    let error = bench.run(&["run", "x.toml", "--resume", "--set", "component.entries=6000"]).refusal();
    assert!(error.contains("cannot be resumed"), "{error}");
}

#[test]
fn shipped_experiments_on_components_can_be_described() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/components");
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        for quick in [&[][..], &["--quick"]] {
            Bench::new().ok(&[&["describe", path.to_str().unwrap()], quick].concat());
        }
        names.push(path.file_stem().unwrap().to_string_lossy().into_owned());
    }
    names.sort();
    let mut subjects: Vec<&str> = SMALL.iter().map(|small| small.0).collect();
    subjects.sort_unstable();
    assert_eq!(names, subjects, "one for each subject");
}

/// Tests that all rows of a phase have values in the same columns. A chart of the phase then omits no configuration.
#[test]
fn rows_of_a_phase_are_alike() {
    let bench = Bench::new();
    bench.write("x.toml", experiment("compression", "blocks = 20", "\"all\"", "timed"));
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let filled = |row: &Row| -> Vec<String> {
        let cells = row.schema().columns().iter().zip(row.cells());
        cells.filter(|(_, value)| !value.is_empty()).map(|(column, _)| column.name().to_owned()).collect()
    };
    let rows = bench.rows("component-x");
    let rows = of(&rows, "decompress", "all");
    assert!(rows.iter().all(|row| filled(row) == filled(rows[0])));
}
