//! Tests that the counters of the tree match the calls to storage, and are equal in every run.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{AXES, Counts, Mode};
use storage::{Counting, Purpose, Storage};
use toml::Value;
use types::Direction;

use crate::common::{memory, open, small_design};

const DIRECTORY: &str = "tree";

fn key(number: u64) -> Vec<u8> {
    format!("key{number:06}").into_bytes()
}

#[test]
fn log_counters_are_what_storage_saw() {
    for wal in ["none", "buffered", "sync", "group"] {
        let counting = Arc::new(Counting::new(memory()));
        let storage: Arc<dyn Storage> = Arc::clone(&counting) as _;
        let design = small_design(&format!("wal = \"{wal}\""));
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        (0..300).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
        let (counts, seen) = (tree.stats().counts, counting.counts().of(Purpose::Log));
        assert_eq!((counts.wal_bytes, counts.wal_syncs), (seen.bytes_written, seen.syncs), "wal = {wal}");
    }
}

#[test]
fn two_runs_count_the_same_with_every_cache() {
    let axis = AXES.iter().find(|axis| axis.name() == "cache").expect("there is such an axis");
    for cache in axis.variants() {
        let design = small_design(&format!("cache = \"{}\"", cache.kind));
        let run = || -> Counts {
            let tree = open(&design, Mode::Counted, &memory(), Path::new(DIRECTORY));
            (0..2000).for_each(|number| tree.put(&key(number * 7919 % 5000), &[1; 300]).unwrap());
            for number in 0..5000u64 {
                // The square causes some keys to be read more often than others.
                let place = number * 2_654_435_761 % 5000;
                tree.get(&key(place * place / 5000)).unwrap();
            }
            tree.stats().counts
        };
        assert_eq!(run(), run(), "{}", cache.kind);
    }
}

#[test]
fn blocks_that_only_a_scan_looks_into_are_not_searched_by_gets() {
    let tree = open(&small_design("fence = \"page-search\""), Mode::Counted, &memory(), Path::new(DIRECTORY));
    (0..600).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    let before = tree.stats().counts;
    let mut range = tree.range((Bound::Included(&key(100)[..]), Bound::Unbounded)).unwrap();
    while range.next().unwrap().is_some() {}
    drop(range);
    assert_eq!(tree.stats().counts.since(&before).blocks_searched, 0);
}

/// Tests that a multi-get waits only once for the device latency, while single gets wait for each key. The keys are in
/// one table and not in the cache.
#[test]
fn a_multi_get_reads_its_blocks_together() {
    let tree_over = |queue_depth: u32| {
        let storage = storage_of(&format!("simulated(queue_depth={queue_depth}, read_latency=1ms)"));
        let design = small_design("cache = \"none\"\ntable = { capacity = \"1MiB\" }\nbloom = \"none\"");
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        (0..2000).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
        tree.compact().unwrap();
        tree
    };
    let keys: Vec<Vec<u8>> =
        (0..40).map(|number| key(number * 50)).chain([key(50), b"no".to_vec()]).collect();
    let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
    let cost = |queue_depth| {
        let tree = tree_over(queue_depth);
        let before = tree.stats();
        let values = tree.multi_get(&keys).unwrap();
        assert!(
            values.iter().take(41).all(|value| value.as_deref() == Some(&[1; 30])) && values[41].is_none()
        );
        let after = tree.stats();
        let device = after.device.unwrap().since(before.device.unwrap());
        assert_eq!(device.write_ns, 0);
        let counts = after.counts.since(&before.counts);
        assert_eq!(
            (counts.fence_searches, counts.blocks_searched),
            (41, 41),
            "the last key is below all others"
        );
        (counts.data_blocks_read, device.read_ns / 1_000_000)
    };
    assert_eq!(cost(1), (41, 41));
    // Key 50 occurs twice in this list. If both lookups are in one batch, the block of the key is read once.
    assert_eq!(cost(64), (40, 1));
    assert_eq!(cost(10), (41, 5));
}

#[test]
fn device_time_is_told_where_a_device_is_modelled() {
    let tree =
        |storage: Arc<dyn Storage>| open(&small_design(""), Mode::Counted, &storage, Path::new(DIRECTORY));
    assert_eq!(tree(memory()).stats().device, None);
    let run = || {
        let tree = tree(Arc::new(Counting::new(storage_of("simulated(device=hdd)"))));
        (0..300).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
        (0..300).for_each(|number| assert!(tree.get(&key(number)).unwrap().is_some()));
        tree.stats().device.unwrap()
    };
    let device = run();
    assert!(device.read_ns > 12_000_000 && device.write_ns > 12_000_000, "{device:?}");
    assert_eq!(device, run());
}

/// Returns the storage with this label.
fn storage_of(label: &str) -> Arc<dyn Storage> {
    let choice = storage::CATALOG.choose(&Value::String(label.to_owned())).unwrap();
    Arc::from(storage::CATALOG.build(&choice).unwrap())
}

/// Tests that short scans between keys read a block only after a false positive of the range filter, and that the
/// counters count each false positive. Scans over existing keys must return these keys.
#[test]
fn range_filters_keep_empty_ranges_from_reading() {
    let silent = ["none", "standard"].map(|bloom| (bloom, 0.0));
    let range_filters =
        ["prefix", "grafite", "rosetta", "proteus", "memento", "diva", "surf"].map(|bloom| (bloom, 0.9));
    for (bloom, least) in silent.into_iter().chain(range_filters).chain([("snarf", 0.5)]) {
        let design = small_design(&format!("bloom = \"{bloom}\"\ncompaction = \"none\""));
        let tree = open(&design, Mode::Counted, &memory(), Path::new(DIRECTORY));
        (0..2000).for_each(|number| tree.put(&key(number * 7919 % 2000 * 100), &[1; 30]).unwrap());
        tree.flush().unwrap();
        let (mut found, before) = (0, tree.stats().counts);
        for number in 0..1000 {
            let (low, high) = (key(number * 200 + 10), key(number * 200 + 19));
            let mut range = tree.range((Bound::Included(&low[..]), Bound::Excluded(&high[..]))).unwrap();
            found += u64::from(range.next().unwrap().is_some());
        }
        let counts = tree.stats().counts.since(&before);
        let blocks = counts.data_blocks_read + counts.data_blocks_from_cache;
        let negatives = counts.range_filter_negatives;
        let wrong = counts.range_filter_false_positives;
        assert_eq!((found, counts.range_filter_probes), (0, negatives + wrong), "{bloom}");
        assert!(negatives as f64 >= least * counts.range_filter_probes as f64, "{bloom}: {negatives}");
        match least > 0.0 {
            true => assert!(negatives > 10_000 && blocks <= 2 * wrong, "{bloom}: {blocks} blocks, {wrong}"),
            false => assert!(negatives == 0 && blocks > 10_000, "{bloom}: {blocks} blocks"),
        }
        for number in 0..1000 {
            let (low, high) = (key(number * 100), key(number * 100 + 9));
            let mut range = tree.range((Bound::Included(&low[..]), Bound::Excluded(&high[..]))).unwrap();
            assert!(range.next_back().unwrap().is_some(), "{bloom}: key {number}");
        }
    }
}

/// Tests that a scan with `visit` has the same counters as a scan with the iterator.
#[test]
fn what_a_range_visits_is_counted() {
    let tree = open(&small_design(""), Mode::Counted, &memory(), Path::new(DIRECTORY));
    (0..300).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    let all = tree.range(..).unwrap().visit(Direction::Forward, usize::MAX, |_, _| {}).unwrap();
    assert_eq!((all, tree.stats().counts.range_entries), (300, 300));
    for most in [0, 1, 7, 300, 301] {
        let counted = |walk: &mut dyn FnMut(&mut lsmbench_tree::Range<'_>)| {
            let before = tree.stats().counts;
            walk(&mut tree.range(..).unwrap());
            let counts = tree.stats().counts.since(&before);
            (counts.ranges, counts.range_entries, counts.range_extra_entries, counts.range_sources)
        };
        for direction in [Direction::Forward, Direction::Backward] {
            let visited = counted(&mut |range| {
                assert_eq!(range.visit(direction, most, |_, _| {}).unwrap(), most.min(300));
            });
            let one_by_one = counted(&mut |range| {
                for _ in 0..most {
                    match direction {
                        Direction::Forward => drop(range.next().unwrap()),
                        Direction::Backward => drop(range.next_back().unwrap()),
                    }
                }
            });
            assert_eq!(visited, one_by_one, "{most} {direction:?}");
        }
    }
}

/// Returns two numbers for a tree with this allocation: filter bits per entry, and the sum of the false-positive
/// rates of all runs.
fn filters_under(allocation: &str) -> (f64, f64) {
    let design = small_design(&format!(
        "bloom = {{ kind = \"standard\", bits_per_key = 8, allocation = \"{allocation}\" }}\n\
         memtable = {{ capacity = \"8KiB\" }}\n\
         table = {{ capacity = \"1MiB\" }}\n\
         compaction = {{ kind = \"leveled\", size_ratio = 4 }}"
    ));
    let tree = open(&design, Mode::Counted, &memory(), Path::new(DIRECTORY));
    (0..30_000u64).for_each(|number| tree.put(&key(number * 7919 % 100_003), &[1; 10]).unwrap());
    let stats = tree.stats();
    let (entries, runs) =
        stats.levels.iter().fold((0, 0), |(e, r), level| (e + level.entries, r + level.runs));
    assert!(runs >= 3, "{runs} runs show nothing");
    let rates = stats.expected_fpr.expect("there are filters") * runs as f64;
    (stats.filter_bytes as f64 * 8.0 / entries as f64, rates)
}

/// Tests that `monkey` has fewer false positives than uniform bits per key in the same memory. A table keeps the filter
/// with which it was written, even if the levels around it grow. The memory of both allocations is therefore not
/// exactly equal, and the test corrects the difference with its theoretical effect.
#[test]
fn monkey_has_fewer_false_positives_in_the_same_memory() {
    let (bits, rates) = filters_under("uniform");
    let at_equal_memory = |allocation: &str| {
        let (own_bits, own_rates) = filters_under(allocation);
        let more = own_bits - bits;
        assert!(more.abs() < 0.1 * bits, "{allocation}: {own_bits} bits where uniform has {bits}");
        own_rates * (more * std::f64::consts::LN_2.powi(2)).exp()
    };
    let monkey = at_equal_memory("monkey");
    assert!(monkey < 0.8 * rates, "{monkey} {rates}");
}

#[test]
fn the_allocation_has_two_names_and_stays_until_it_is_named() {
    let under_bloom = small_design("bloom = { allocation = \"monkey\" }");
    assert_eq!(under_bloom, small_design("allocation = \"monkey\""));
    assert_eq!(under_bloom.choice("bloom"), small_design("").choice("bloom"));
    let swapped = under_bloom.with(&"bloom = \"ribbon\"".parse().unwrap()).unwrap();
    assert_eq!((swapped.choice("bloom").kind(), swapped.choice("allocation").kind()), ("ribbon", "monkey"));
    let error = under_bloom.with(&"bloom = { allocation = \"monky\" }".parse().unwrap()).unwrap_err();
    assert!(error.to_string().contains("did you mean \"monkey\""), "{error}");
}

/// Returns the memory of the filters in bits, for a tree with one table per level.
fn filter_bits_of(entries: u64, allocation: &str) -> u64 {
    let design = small_design(&format!(
        "bloom = {{ kind = \"standard\", allocation = '{allocation}' }}\n\
         memtable = {{ capacity = \"1MiB\" }}\ntable = {{ capacity = \"16MiB\" }}"
    ));
    let tree = open(&design, Mode::Counted, &memory(), Path::new(DIRECTORY));
    (0..entries).for_each(|number| tree.put(&key(number), &[1; 10]).unwrap());
    tree.flush().unwrap();
    assert_eq!(tree.stats().levels.iter().map(|level| level.tables).sum::<u64>(), 1);
    (0..entries).for_each(|number| assert!(tree.get(&key(number)).unwrap().is_some()));
    tree.stats().filter_bytes * 8
}

/// Tests that a filter has the number of bits that either notation of its size states, except for the last word and the
/// overhead of the filter.
#[test]
fn filters_of_a_stated_size_have_it_whatever_the_keys() {
    for entries in [2_000, 8_000, 20_000] {
        for allocation in ["per-table(bits=40000)", "total(bits=40000)"] {
            let bits = filter_bits_of(entries, allocation);
            assert!((40_000..42_000).contains(&bits), "{allocation}, {entries} entries: {bits}");
        }
        assert!(filter_bits_of(entries, "uniform") >= entries * 10);
    }
    // With few keys, a filter has at most 64 bits per key.
    assert!(filter_bits_of(100, "per-table(bits=40000)") < 100 * 64 + 2000);
}

/// Tests that a memtable becomes immutable at its maximum number of entries or at its capacity, whichever comes first.
/// Recovery of a WAL must split memtables at the same limits.
#[test]
fn memtables_are_frozen_at_a_number_of_entries() {
    for (entries, flushes) in [(1, 500), (10, 50), (100, 5), (0, 0)] {
        let text = format!(
            "memtable = {{ capacity = \"1MiB\", entries = {entries} }}\ncompaction = \"none\"\nwal = \"sync\""
        );
        let (design, storage) = (small_design(&text), memory());
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        // The limit counts writes and not keys, so an older version of a key also counts.
        (0..500).for_each(|number| tree.put(&key(number % 300), &[1; 30]).unwrap());
        assert_eq!(tree.stats().counts.flushes, flushes, "{entries} entries");
        let mut again = design.to_toml();
        again.remove("storage");
        assert_eq!(small_design(&again.to_string()), design, "{entries} entries");
    }
    let by_bytes = small_design("memtable = { entries = 1000 }\ncompaction = \"none\"");
    let tree = open(&by_bytes, Mode::Counted, &memory(), Path::new(DIRECTORY));
    (0..500).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    assert!(tree.stats().counts.flushes > 5, "2 KiB are full before");
}

#[test]
fn a_log_is_replayed_into_memtables_of_as_many_entries() {
    let storage = memory();
    let text = |entries: u64| {
        format!("memtable = {{ capacity = \"1MiB\", entries = {entries} }}\ncompaction = \"none\"")
    };
    let tree = open(&small_design(&text(0)), Mode::Counted, &storage, Path::new(DIRECTORY));
    (0..95).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    drop(tree);
    let tree = open(&small_design(&text(10)), Mode::Counted, &storage, Path::new(DIRECTORY));
    assert_eq!(tree.stats().levels[0].runs, 10, "nine of ten entries and the rest");
    (95..104).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    assert_eq!(tree.stats().levels[0].runs, 10);
    tree.put(&key(104), &[1; 30]).unwrap();
    assert_eq!(tree.stats().levels[0].runs, 11, "counted from the first write behind the log");
}

#[test]
fn entries_stay_until_they_are_named_and_are_no_fraction() {
    let design = small_design("memtable = { entries = 50 }");
    let swapped = design.with(&"memtable = \"skiplist\"".parse().unwrap()).unwrap();
    assert_eq!(swapped.memtable_entries, Some(50));
    let ranged = swapped.with(&"memtable = { key_range = true }".parse().unwrap()).unwrap();
    assert!(ranged.memtable_key_range && !swapped.memtable_key_range);
    assert_eq!(small_design(&ranged.to_toml().to_string()), ranged);
    let filtered = ranged.with(&"memtable = { filter = \"256B\" }".parse().unwrap()).unwrap();
    assert!(filtered.memtable_filter.is_some() && filtered.memtable_key_range);
    assert_eq!(small_design(&filtered.to_toml().to_string()), filtered);
    let without = filtered.with(&"memtable = { filter = \"0B\" }".parse().unwrap()).unwrap();
    assert_eq!(without, ranged);
    for wrong in ["true", "\"1GiB\""] {
        let error = design.with(&format!("memtable = {{ filter = {wrong} }}").parse().unwrap()).unwrap_err();
        assert_eq!(error.path, ["memtable", "filter"], "{error}");
    }
    let error = design.with(&"memtable = { key_range = 1 }".parse().unwrap()).unwrap_err();
    assert_eq!(error.path, ["memtable", "key_range"], "{error}");
    assert_eq!(swapped.with(&"memtable = { entries = 0 }".parse().unwrap()).unwrap().memtable_entries, None);
    for wrong in ["-1", "1.5", "\"many\""] {
        let error = design.with(&format!("memtable = {{ entries = {wrong} }}").parse().unwrap()).unwrap_err();
        assert_eq!(error.path, ["memtable", "entries"], "{error}");
    }
}

#[test]
fn gets_and_scans_share_the_locks_of_the_levels_that_they_read() {
    for (is_on, per_read) in [(false, 0), (true, 1)] {
        let text =
            format!("threads = {{ level_locks = {is_on} }}\nbloom = \"none\"\ncompaction = \"leveled\"");
        let tree = open(&small_design(&text), Mode::Counted, &memory(), Path::new("/locks"));
        for number in 0..500u32 {
            tree.put(&number.to_be_bytes(), &[1; 40]).unwrap();
        }
        tree.flush().unwrap();
        let levels = tree.stats().levels;
        let used = levels.iter().filter(|level| level.runs > 0).count() as u64;
        let before = tree.stats().counts;
        assert!(tree.get(&[0, 0, 1, 0, 9]).unwrap().is_none());
        assert_eq!(tree.stats().counts.since(&before).level_locks, per_read * used);
        let before = tree.stats().counts;
        assert!(tree.range(..).unwrap().next().unwrap().is_some());
        assert_eq!(tree.stats().counts.since(&before).level_locks, per_read * levels.len() as u64);
    }
}
