//! Tests of variants that the source documents describe, but that no engine would choose. The counted runs check all
//! answers, and the counters show the effect of each variant.

use results::{Metric, columns as c};

use crate::bench::{Bench, count, of, unwrapped};

/// An experiment on a small tree with 8-byte keys: a load, and then a mix of deletes, gets and scans.
const BASE: &str = r#"
question = "?"
[design]
storage    = "memory"
memtable   = { capacity = "16KiB" }
compaction = { kind = "leveled", size_ratio = 4 }
table      = { capacity = "64KiB" }
block      = { size = "512B" }
[key]
format = "u64"
bytes  = "8B"
[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "fixed", bytes = 20, compressible = 0.5 }
[[phase]]
name       = "mixed"
operations = 2_000
mix        = { get = 0.5, range = 0.3, delete = 0.2 }
absent     = 0.2
[trials]
count = 1
mode  = "counted"
"#;

/// Runs the base experiment with a sweep of one axis. Returns a counter of the mixed phase for each value of the sweep,
/// in order.
fn swept(axis: &str, values: &[&str], set: &[&str], column: &Metric) -> Vec<u64> {
    let bench = Bench::new();
    bench.write("x.toml", format!("{BASE}[sweep]\n\"design.{axis}\" = {values:?}\n"));
    let set = set.iter().flat_map(|set| ["--set", set]);
    bench.ok(&["run", "x.toml"].into_iter().chain(set).collect::<Vec<_>>());
    let rows = bench.rows("x");
    let mut rows = of(&rows, "mixed", "all");
    assert_eq!(rows.len(), values.len());
    rows.sort_by_key(|row| row.get(&c::CELL).integer());
    rows.into_iter().map(|row| count(row, column)).collect()
}

#[test]
fn a_standard_fence_keeps_both_ends_and_an_adaptive_one_both_layouts() {
    let fences = ["free", "binary", "eytzinger", "min-max", "by-access"];
    let bytes = swept("fence", &fences, &[], &c::FENCE_BYTES);
    // The column also has the block directory, which is all that an ideal fence needs.
    let [binary, eytzinger, min_max, by_access] = [1, 2, 3, 4].map(|fence: usize| bytes[fence] - bytes[0]);
    assert!(min_max > binary, "{bytes:?}");
    assert!(by_access >= binary + eytzinger && by_access < (binary + eytzinger) * 5 / 4, "{bytes:?}");
}

/// Tests that a tree of largest keys is larger than a tree of shortest separators. Largest keys are full keys, but
/// separators are parts of keys. The pages have 512 bytes, so longer keys fill more pages.
#[test]
fn largest_keys_make_a_larger_tree_than_shortest_separators() {
    let fences = ["static-btree(page_bytes=512)", "static-btree(page_bytes=512, separators=largest)"];
    let bytes = swept("fence", &fences, &["design.table.capacity=1MiB"], &c::TABLE_BYTES);
    assert!(bytes[0] < bytes[1], "{bytes:?}");
}

#[test]
fn the_load_of_the_machine_selects_the_codec() {
    let of_loads = |loads: &str| format!("by-load(loads=[{loads}])");
    let loads = ["0.9, 0.0, 0.0", "0.0, 0.0, 0.0", "0.0, 0.9, 0.0", "0.0, 0.0, 0.9"].map(of_loads);
    let loads = loads.each_ref().map(String::as_str);
    let bytes = swept("compression", &loads, &["design.block.size=16KiB"], &c::TABLE_BYTES);
    assert!(bytes[0] > bytes[1] && bytes[1] >= bytes[2], "{bytes:?}");
    assert_eq!(bytes[2], bytes[3], "both are the codec for ratio");
    // Measured loads differ from run to run, so a counted run has no such configuration.
    let bench = Bench::new();
    bench.write("x.toml", format!("{BASE}[sweep]\n\"design.compression\" = [\"none\", \"by-load\"]\n"));
    let answer = bench.run(&["run", "x.toml"]).expect(0);
    let skipped = "counted mode: compression = by-load depends on time";
    assert!(answer.out.contains(skipped) || unwrapped(&answer.err).contains(skipped), "{answer:?}");
}

/// Tests the list of codecs that a codec by content uses for each level. Half of the bytes of a value are printable, so
/// the codec treats the blocks as neither text nor binary data.
#[test]
fn a_level_table_compresses_what_is_neither_text_nor_binary() {
    let codecs = [
        "by-content",
        r#"by-content(binary_below=0.1, levels=["none"])"#,
        r#"by-content(binary_below=0.1, levels=["none", "zstd(level=3)"])"#,
    ];
    let bytes = swept("compression", &codecs, &[], &c::TABLE_BYTES);
    assert!(bytes[1] > bytes[0] && bytes[1] > bytes[2], "{bytes:?}");
}

/// Tests that a block with tombstones keeps the fixed-pairs layout if a tombstone is a pair with the value `INT_MAX`.
/// This layout stores no lengths.
#[test]
fn tombstones_with_the_value_int_max_keep_pages_of_pairs() {
    let pairs = ["key.bytes=4B", "phase.load.value.bytes=4", "design.memtable.capacity=4KiB"];
    let bytes = swept("format", &["fixed-pairs", "sentinel-pairs"], &pairs, &c::FLUSH_BYTES);
    assert!(bytes[1] < bytes[0], "{bytes:?}");
}

/// Tests a memtable on a hash ring that adds shards. At the end, 16 shards divide the keys as evenly as the ring
/// allows.
#[test]
fn shards_that_are_added_take_over_keys() {
    let bench = Bench::new();
    let experiment = "question = \"?\"\nsubject = \"memtable\"\n[component]\nentries = 16_000\noperations = 1000\n\
                      [sweep]\n\"design.memtable\" = [\"growing-shards(most_shards=4)\", \"growing-shards\"]\n\
                      [trials]\ncount = 1\n";
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("component-x");
    let counts =
        |column| of(&rows, "insert", "all").into_iter().map(|row| count(row, column)).collect::<Vec<_>>();
    let (fullest, moved) = (counts(&c::SHARD_ENTRIES_MAX), counts(&c::SHARD_MOVED_KEYS));
    assert!(fullest[0] >= 4000 && (1000..2500).contains(&fullest[1]), "{fullest:?}");
    // A shard is added for every thousand entries from the fourth on. The shard n + 1 gets 1/(n + 1) of n thousand keys.
    let expected: f64 = (4..16).map(|shards| 1000.0 * f64::from(shards) / f64::from(shards + 1)).sum();
    assert_eq!(moved[0], 0);
    assert!((expected * 0.8..expected * 1.2).contains(&(moved[1] as f64)), "{moved:?}, expected {expected}");
}

/// Tests a store that has the file names of cs265 and describes each SSTable in JSON.
#[test]
fn tables_have_the_names_that_the_documents_print() {
    let bench = Bench::new();
    for (names, start, end) in [("level-run", "L0_R", ".bin"), ("level-time", "sst_0000_", ".sst")] {
        bench.write("d.toml", format!("[design]\nwal = \"none\"\ntable = {{ names = \"{names}\" }}\n"));
        let shell = ["shell", names, "--design", "d.toml"];
        bench.run_with(&shell, "p 1 10\np 2 20\n").expect(0);
        bench.run_with(&shell, "p 3 30\n").expect(0);
        assert_eq!(bench.run_with(&shell, "g 1\ng 3\n").expect(0).out, "10\n30\n");
        let files: Vec<String> = std::fs::read_dir(bench.path(names))
            .unwrap()
            .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        let tables = files.iter().filter(|name| name.starts_with(start) && name.ends_with(end));
        let tables: Vec<&String> = tables.collect();
        assert!(!tables.is_empty(), "{files:?}");
        if end == ".bin" {
            let text = bench.read(&format!("{names}/{}", tables[0].replace(".bin", ".meta")));
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!((json["level"].as_u64(), json["min_key"].is_string()), (Some(0), true), "{json}");
        }
        bench.ok(&["verify", names]);
    }
}
