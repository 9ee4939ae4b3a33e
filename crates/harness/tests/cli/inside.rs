//! Tests of columns about the internals of components and trees: sources of answers, balance of shards, memory, and
//! time of compactions.

use results::{Metric, Row, columns as c};

use crate::bench::{Bench, count, number, of, text};

/// Runs an experiment on a subject, and returns its rows. `component` contains the other keys of `[component]`, and
/// `rest` contains the other tables.
fn component(subject: &str, component: &str, rest: &str) -> Vec<Row> {
    let bench = Bench::new();
    let experiment = format!(
        "question = \"?\"\nsubject = \"{subject}\"\n[component]\n{component}\n{rest}\n[trials]\ncount = 1\n"
    );
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    bench.rows("component-x")
}

/// Returns the row of a phase for the configuration with this label.
fn labelled<'a>(rows: &'a [Row], phase: &str, label: &str) -> &'a Row {
    let mut rows = of(rows, phase, "all").into_iter();
    rows.find(|row| text(row, &c::LABEL) == label).unwrap_or_else(|| panic!("no {label}"))
}

/// Tests how many lookups the hash index of a block answers. With as many buckets as keys, a key is the only key of its
/// bucket with probability 1/e. For any other key, a lookup must also compare keys that do not follow the restart point
/// of the key: byron 3.3.
#[test]
fn the_index_of_a_block_tells_how_many_lookups_it_answered() {
    let sweep = "[design]\nblock = { restart_interval = 1, index_load = 1.0, size = \"4KiB\" }\n\
                 [sweep]\n\"design.block.index\" = [\"none\", \"hash\", \"fingerprint\"]";
    let keys = "entries = 2000\noperations = 20_000\nkeys = \"u64(scattered=true)\"\nvalue = \"16B\"";
    let rows = component("format", keys, sweep);
    for phase in ["hit", "miss"] {
        assert!(labelled(&rows, phase, "block.index=none").get(&c::BLOCK_INDEX_ANSWERS).is_empty());
        let hash = labelled(&rows, phase, "block.index=hash");
        let (answers, share) =
            (number(hash, &c::BLOCK_INDEX_ANSWERS), number(hash, &c::BLOCK_INDEX_HIT_RATE));
        assert!((answers - share * number(hash, &c::OPS)).abs() < 0.5);
        // An absent key is answered by an empty bucket too.
        let expected = if phase == "hit" { (-1.0_f64).exp() } else { 2.0 * (-1.0_f64).exp() };
        assert!((share - expected).abs() < 0.05, "{phase}: {share}, not {expected}");
        let fingerprint = labelled(&rows, phase, "block.index=fingerprint");
        assert_eq!(
            text(fingerprint, &c::BLOCK_INDEX_ANSWERS),
            text(fingerprint, &c::OPS),
            "it always answers"
        );
    }
}

#[test]
fn a_tree_counts_what_the_indexes_of_its_blocks_answered() {
    let bench = Bench::small();
    let run = |index: &str| {
        bench.ok(&["run", "small.toml", "--set", &format!("design.block.index={index}")]);
        bench.rows("small")
    };
    assert!(run("none").iter().all(|row| row.get(&c::BLOCK_INDEX_ANSWERS).is_empty()));
    let rows = run("hash");
    assert!(of(&rows, "load", "all").iter().all(|row| row.get(&c::BLOCK_INDEX_HIT_RATE).is_empty()));
    for row in of(&rows, "look", "all") {
        let (answers, share) = (number(row, &c::BLOCK_INDEX_ANSWERS), number(row, &c::BLOCK_INDEX_HIT_RATE));
        assert!(answers > 100.0 && share > 0.3 && share < 1.0, "{}: {answers} {share}", text(row, &c::LABEL));
    }
    let again = run("hash");
    let answers =
        |rows: &[Row]| rows.iter().map(|row| row.get(&c::BLOCK_INDEX_ANSWERS).to_string()).collect();
    let [first, second]: [Vec<String>; 2] = [answers(&rows), answers(&again)];
    assert_eq!(first, second, "it is a counter");
}

#[test]
fn what_comes_in_key_order_is_written_once_where_tables_are_moved() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        r#"
question = "?"
[design]
memtable   = { capacity = "16KiB" }
compaction = { kind = "l0-tiered", level0_runs = 2, size_ratio = 3 }
[[phase]]
name   = "load"
insert = 5_000
value  = { kind = "fixed", bytes = 64 }
[trials]
count = 1
mode  = "counted"
"#,
    );
    let written = |order: &str, moves: bool| {
        let order = format!("phase.load.order={order}");
        let moves = format!("design.compaction.trivial_moves={moves}");
        bench.ok(&["run", "x.toml", "--set", &order, "--set", &moves]);
        count(of(&bench.rows("x"), "load", "all")[0], &c::COMPACTION_BYTES_WRITTEN)
    };
    assert!(written("sequential", false) > 0);
    assert_eq!(written("sequential", true), 0);
    assert!(written("random", true) > 0);
    assert_eq!(written("random", true), written("random", false));
}

/// Tests the columns about the balance of shards. With a perfect hash function, the expected χ² is the number of shards
/// minus one. A hash ring with few points has a much larger χ², and weights cause an intended imbalance.
#[test]
fn shards_tell_how_even_they_are() {
    let sweep = "[sweep]\n\"design.memtable\" = [\"btree\", \"sharded-btree(router=modulo)\", \"sharded-btree\", \
                 \"sharded-btree(shards=2, weights=[1, 3])\"]";
    let rows = component("memtable", "entries = 16_000\noperations = 1000", sweep);
    let columns = [&c::SHARD_ENTRIES_MIN, &c::SHARD_ENTRIES_MAX, &c::SHARD_CV, &c::SHARD_CHI_SQUARE];
    let metrics_of =
        |label: &str| columns.map(|column: &Metric| number(labelled(&rows, "insert", label), column));
    let btree = labelled(&rows, "insert", "btree");
    assert!(columns.iter().all(|column| btree.get(column).is_empty()));
    let [fewest, most, cv, chi_square] = metrics_of("sharded-btree(shards=16, router=modulo)");
    assert!(fewest > 800.0 && fewest < 1000.0 && most > 1000.0 && most < 1200.0, "{fewest} {most}");
    assert!((chi_square - 16_000.0 * cv * cv).abs() < 1e-6 * chi_square);
    assert!((3.0..45.0).contains(&chi_square), "{chi_square} at 15 degrees of freedom");
    let [.., ring] = metrics_of("sharded-btree(shards=16, router=ring)");
    assert!(ring > 1.0);
    let [fewest, most, ..] = metrics_of("sharded-btree(shards=2, router=ring, weights=[1, 3])");
    assert!((2.0..4.5).contains(&(most / fewest)), "{most} to {fewest}, not 3 to 1");
}

/// Tests filters that threads fill in batches. lsmbench skips filters that cannot grow, and filters that cannot be
/// built by several threads. A filter that grew must equal a filter that was built at once.
#[test]
fn filters_take_keys_in_batches_by_several_threads() {
    let sweep = "[sweep]\n\"design.bloom\" = [\"double-probe\", \"ribbon\"]\n\
                 \"component.insertion\" = [\"whole\", \"batch\"]\n\"component.threads\" = [1, 2]";
    let rows = component("bloom", "entries = 20_000\noperations = 20_000", sweep);
    let built: Vec<&Row> = of(&rows, "build", "all");
    let mut labels: Vec<String> = built.iter().map(|row| text(row, &c::LABEL)).collect();
    labels.sort_unstable();
    let whole = ["double-probe + insertion=whole + threads=1", "ribbon + insertion=whole + threads=1"];
    let batches =
        ["double-probe + insertion=batch + threads=1", "double-probe + insertion=batch + threads=2"];
    assert_eq!(labels, [batches[0], batches[1], whole[0], whole[1]]);
    for row in built {
        assert!(number(row, &c::BUILD_NS_PER_ENTRY) > 0.0);
        let is_grown = batches.contains(&&*text(row, &c::LABEL));
        assert_eq!(text(row, &c::CHECKED_ANSWERS), if is_grown { "1" } else { "0" });
    }
    let negatives = |label: &str| text(labelled(&rows, "absent", label), &c::FILTER_NEGATIVES);
    assert_eq!(negatives(batches[1]), negatives(whole[0]), "the same bits give the same answers");
}

#[test]
fn a_codec_tells_what_memory_it_works_in() {
    let sweep =
        "[sweep]\n\"design.compression\" = [\"none\", \"lz4\", \"zstd(level=1)\", \"zstd(level=19)\"]";
    let rows = component("compression", "blocks = 20\nblock = \"64KiB\"", sweep);
    let working = |label: &str| number(labelled(&rows, "compress", label), &c::WORKING_BYTES);
    assert_eq!(text(labelled(&rows, "compress", "none"), &c::WORKING_BYTES), "0");
    assert!(working("lz4") >= 8192.0, "{}", working("lz4"));
    assert!(working("zstd(level=1)") > 0.0 && working("zstd(level=19)") > 2.0 * working("zstd(level=1)"));
    assert!(
        labelled(&rows, "decompress", "lz4").get(&c::WORKING_BYTES).is_empty(),
        "only the row of compression has a value"
    );
}

/// Tests the time of compactions that run inside writes. This time must be a part of the time of the phase. In counted
/// mode, the columns about time must be empty.
#[test]
fn a_tree_tells_how_long_its_compactions_took() {
    let bench = Bench::small();
    let set = ["--set", "design.compaction=leveled(size_ratio=3)", "--set", "design.threads.inline=all"];
    bench.ok(&[&["run", "small.toml", "--set", "trials.mode=timed", "--allow-debug"], &set[..]].concat());
    for row in of(&bench.rows("small"), "load", "all") {
        let (compactions, seconds) = (number(row, &c::COMPACTIONS), number(row, &c::COMPACTION_SECONDS));
        assert!(compactions > 0.0 && seconds > 0.0 && seconds < number(row, &c::SECONDS), "{seconds}");
        let one = number(row, &c::SECONDS_PER_COMPACTION);
        assert!((one * compactions / seconds - 1.0).abs() < 1e-9, "{one} × {compactions}, not {seconds}");
    }
    bench.ok(&[&["run", "small.toml"], &set[..]].concat());
    for row in &bench.rows("small") {
        assert!(row.get(&c::COMPACTION_SECONDS).is_empty() && row.get(&c::SECONDS_PER_COMPACTION).is_empty());
    }
}

/// Tests that a small cache holds the popular keys if these keys are adjacent. Adjacent popular keys are in few blocks,
/// but scattered popular keys are in all blocks.
#[test]
fn zipf_s_law_over_keys_side_by_side_is_kind_to_caches() {
    let bench = Bench::new();
    let experiment = "question = \"?\"\n[design]\nstorage = \"pread\"\nmemtable = { capacity = \"32KiB\" }\n\
        cache = { kind = \"lru\", capacity = \"16KiB\", shards = 1 }\ncompression = \"none\"\n\
        [[phase]]\nname = \"load\"\ninsert = 5000\nvalue = { kind = \"fixed\", bytes = 50 }\n\
        [[phase]]\nname = \"look\"\noperations = 5000\nmix = { get = 1 }\n\
        [sweep]\n\"phase.look.keys\" = [\"zipfian\", \"zipfian(contiguous=true)\"]\n\
        [trials]\ncount = 1\nmode = \"counted\"\n";
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    let column = |column: &Metric| -> Vec<f64> {
        of(&rows, "look", "all").iter().map(|row| number(row, column)).collect()
    };
    let [shares, rates] = [&c::REALISED_HOT_10_PERCENT, &c::CACHE_HIT_RATE].map(column);
    assert!((shares[0] - shares[1]).abs() < 0.02, "the law is the same: {shares:?}");
    assert!(rates[1] > rates[0] + 0.1, "{rates:?}");
}
