//! Tests of value policies, which store values in SSTables, in blob files or in a value log.

use results::{Row, columns as c};

use crate::bench::{Bench, SMALL, count, number, of, text};

/// An experiment that overwrites values of 600 bytes in every kind of tree, executes reads of all kinds, and checks the
/// answers.
const OVERWRITES: &str = r#"
question = "Where should values of 600 bytes live?"
[design]
memtable   = { capacity = "32KiB" }
table      = { capacity = "32KiB" }
compaction = { kind = "leveled", size_ratio = 3 }
cache      = { kind = "lru", capacity = "64KiB" }
storage    = "pread"
[[phase]]
name   = "load"
insert = 600
order  = "random"
value  = { kind = "fixed", bytes = 600 }
[[phase]]
name       = "churn"
operations = 3_000
mix        = { put = 70, delete = 8, delete_range = 2, get = 15, range = 5 }
keys       = "zipfian"
value      = { kind = "fixed", bytes = 600 }
range      = { kind = "uniform", max = 9 }
[[phase]]
name = "reopen"
step = "reopen"
[[phase]]
name       = "read"
operations = 800
mix        = { get = 5, multi_get = 1, range = 2 }
keys       = "zipfian"
range      = { kind = "uniform", max = 9 }
[sweep]
"design.values" = [
    "inline", "blob-files(file_size=64KiB, stale_share=0.3)", "value-log(file_size=64KiB)",
    "tiered-by-size(large=1KiB, medium=100B, medium_level=1, file_size=64KiB)",
]
[trials]
count = 1
check = 1
mode  = "counted"
"#;

#[test]
fn every_place_of_values_gives_the_answers_of_the_model_and_blob_files_write_less() {
    let bench = Bench::new();
    bench.write("x.toml", OVERWRITES);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    for phase in ["churn", "read"] {
        for row in of(&rows, phase, "all") {
            assert!(count(row, &c::CHECKED_ANSWERS) > 500, "{phase}");
            assert_eq!(count(row, &c::WRONG_ANSWERS), 0, "{phase}");
        }
    }
    let is_inline = |row: &&Row| text(row, &c::LABEL) == "inline";
    let load = of(&rows, "load", "all");
    let inline = load.iter().copied().find(is_inline).expect("one configuration is inline");
    for row in load.iter().filter(|row| !is_inline(row)) {
        let (amp, most) = (number(row, &c::WRITE_AMP), 0.8 * number(inline, &c::WRITE_AMP));
        assert!(amp < most, "{}: {amp}, not below {most}", text(row, &c::LABEL));
    }
    for row in of(&rows, "churn", "all") {
        let label = text(row, &c::LABEL);
        if is_inline(&row) {
            assert!(row.get(&c::BLOB_BYTES).is_empty() && row.get(&c::BLOB_VALUES_READ).is_empty());
            continue;
        }
        let (blobs, written) = (count(row, &c::BLOB_BYTES), count(row, &c::BLOB_BYTES_WRITTEN));
        assert!(blobs > 100_000 && blobs < count(row, &c::TABLE_BYTES), "{label}: {blobs} bytes");
        let all = count(row, &c::FLUSH_BYTES) + count(row, &c::COMPACTION_BYTES_WRITTEN);
        assert!(written > 500_000 && written < all, "{label}: {written} of {all} bytes");
        let live = number(row, &c::BLOB_LIVE_SHARE);
        assert!(live > 0.4 && live <= 1.0, "{label}: {live}");
    }
    for row in of(&rows, "read", "all").into_iter().filter(|row| !is_inline(row)) {
        let (read, cached) = (count(row, &c::BLOB_VALUES_READ), count(row, &c::BLOB_VALUES_FROM_CACHE));
        assert!(read > 50 && cached > 50, "{}: {read} read, {cached} from the cache", text(row, &c::LABEL));
    }
}

/// An experiment that overwrites random keys until garbage collection is in its steady state. Flushes, blob files and
/// the time between two compactions are small in comparison with the store, and each blob file has at least 15 values.
const STEADY: &str = r#"
question = "What does garbage collection of blob files write?"
[design]
memtable   = { capacity = "16KiB" }
compaction = { kind = "l0-tiered", level0_runs = 4, size_ratio = 4, level1_memtables = 64 }
storage    = "memory"
wal        = "none"
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 256 }
[[phase]]
name       = "age"
operations = 16_000
mix        = { put = 1 }
keys       = "uniform"
value      = { kind = "fixed", bytes = 256 }
[[phase]]
name       = "overwrite"
operations = 16_000
mix        = { put = 1 }
keys       = "uniform"
value      = { kind = "fixed", bytes = 256 }
[sweep]
combine                       = "zip"
"design.values"               = [
    "blob-files(threshold=32, file_size=64KiB)",
    "blob-files(threshold=32, file_size=64KiB, stale_share=0.3, relocation=apart)",
    "value-log(file_size=64KiB)",
    "value-log(file_size=512KiB, stale_share=0.5)",
    "hash-partitioned(file_size=64KiB, partitions=4)",
    "tiered-by-size(large=1KiB, file_size=512KiB)",
]
"design.memtable.capacity"    = ["16KiB", "16KiB", "16KiB", "128KiB", "16KiB", "128KiB"]
"phase.load.value.bytes"      = [256, 256, 256, 2_048, 256, 2_048]
"phase.age.value.bytes"       = [256, 256, 256, 2_048, 256, 2_048]
"phase.overwrite.value.bytes" = [256, 256, 256, 2_048, 256, 2_048]
[trials]
count = 1
mode  = "counted"
[[chart]]
kind   = "bar"
x      = "design.values"
y      = "blob_bytes_written"
filter = { phase = "overwrite" }
theory = true
"#;

#[test]
fn closed_forms_predict_the_writes_and_the_space_of_every_value_policy() {
    let bench = Bench::new();
    bench.write("x.toml", STEADY);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    let near = |row: &Row, residual: f64, most: f64| {
        let (label, phase) = (text(row, &c::LABEL), text(row, &c::PHASE));
        assert!(residual.abs() < most, "{label}, {phase}: {residual}");
    };
    let share =
        |row: &Row| number(row, &c::BLOB_LIVE_SHARE) / number(row, &c::EXPECTED_BLOB_LIVE_SHARE) - 1.0;
    let [loads, ages] = ["load", "age"].map(|phase| of(&rows, phase, "all"));
    assert_eq!((loads.len(), ages.len()), (6, 6));
    for row in loads {
        near(row, number(row, &c::BLOB_BYTES_RESIDUAL), 0.001);
        near(row, number(row, &c::WRITE_AMP_RESIDUAL), 0.01);
        near(row, share(row), 1e-9);
        assert_eq!(text(row, &c::EXPECTED_RUNS), text(row, &c::RUNS_SETTLED));
        assert_eq!(text(row, &c::EXPECTED_LEVELS), text(row, &c::LEVELS_SETTLED));
    }
    for row in ages {
        assert!(row.get(&c::EXPECTED_BLOB_BYTES_WRITTEN).is_empty(), "the store is not in the steady state");
    }
    let overwrites = of(&rows, "overwrite", "all");
    assert_eq!(overwrites.len(), 6);
    for row in overwrites {
        near(row, number(row, &c::BLOB_BYTES_RESIDUAL), 0.025);
        near(row, share(row), 0.03);
        assert!(row.get(&c::EXPECTED_WRITE_AMP).is_empty(), "no form is known of the SSTables");
    }
    let chart = bench.read("plots/x/blob_bytes_written-by-values.svg");
    assert!(chart.contains("theory"), "{chart}");
}

/// Tests that skewed overwrites, mixes with gets, files of few values and policies other than leveled compaction have no
/// expected values.
#[test]
fn overwrites_without_a_closed_form_have_no_expectation() {
    let bench = Bench::new();
    let fixed = STEADY.split("[sweep]").next().unwrap_or_default();
    let values = "values = { kind = \"blob-files\", threshold = 32, file_size = \"64KiB\" }\n";
    let design = fixed.replace("[design]\n", &format!("[design]\n{values}"));
    let leveled = "kind = \"l0-tiered\", level0_runs = 4, size_ratio = 4, level1_memtables = 64";
    for (at, (from, to)) in [
        ("", ""),
        ("\"uniform\"", "\"zipfian\""),
        ("\"16KiB\"", "\"2KiB\""),
        ("\"64KiB\"", "\"1KiB\""),
        ("{ put = 1 }", "{ put = 1, get = 1 }"),
        (leveled, "kind = \"tiered\""),
        ("{ kind = \"fixed\", bytes = 256 }", "{ kind = \"uniform\", min = 200, max = 300 }"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("x{at}");
        let changed = design.replace(from, to).replace("4_000", "400").replace("16_000", "1_600");
        bench.write(&format!("{name}.toml"), changed + "[trials]\ncount = 1\nmode = \"counted\"\n");
        bench.ok(&["run", &format!("{name}.toml")]);
        let rows = bench.rows(&name);
        let [row] = of(&rows, "overwrite", "all")[..] else { panic!("one configuration") };
        assert_eq!(row.get(&c::EXPECTED_BLOB_BYTES_WRITTEN).is_empty(), at > 0, "{to}");
    }
}

#[test]
fn impossible_parameters_name_the_valid_values() {
    let bench = Bench::new();
    for (values, said) in [
        ("{ kind = \"blob-files\", stale_share = 0 }", "stale_share is 0; it must be above 0 and at most 1"),
        ("{ kind = \"value-log\", file_size = 10 }", "file_size is 10B; it must be at least 256B"),
        (
            "{ kind = \"tiered-by-size\", medium = \"1MiB\" }",
            "medium is 1MiB; it must be at most 8KiB, the value of large",
        ),
        ("\"blobs\"", "blob-files"),
    ] {
        let design = format!("[design]\nvalues = {values}\n");
        let fixed = OVERWRITES.split("[sweep]").next().unwrap_or_default().replace("[design]\n", &design);
        bench.write("x.toml", fixed);
        let refusal = bench.run(&["describe", "x.toml"]).refusal();
        assert!(refusal.contains(said), "{values}: {refusal}");
    }
    bench.write("x.toml", SMALL.replace("[design]\n", "[design]\nvalues = \"blob-files\"\n"));
    let refusal = bench.run(&["simulate", "x.toml"]).refusal();
    assert!(refusal.contains("cannot be simulated, because the simulation has no blob files"), "{refusal}");
}
