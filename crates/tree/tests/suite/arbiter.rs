//! Tests of an arbiter that moves memory between memtables, filters and cache while the tree is open.

use std::path::Path;
use std::sync::Arc;

use cache::Cache;
use lsmbench_tree::{Error, Mode, OpenOptions, Stats, Tree};

use crate::common::{memory, open, small_design};

const BUDGET: u64 = 256 << 10;

const MARGINAL: &str = r#"
    memory = "256KiB"
    memtable = { capacity = "16KiB" }
    table = { capacity = "64KiB" }
    block = { size = "2KiB" }
    compaction = "leveled(size_ratio=3)"
    cache = "lru(shards=1)"
    arbiter = { kind = "marginal", sampled_blocks = 200 }
"#;

fn key(number: u64) -> Vec<u8> {
    format!("key{number:06}").into_bytes()
}

/// Overwrites random keys with `writes` puts.
fn write(tree: &Tree, writes: u64) {
    (0..writes).for_each(|number| tree.put(&key(number * 7919 % 10_007), &[number as u8; 60]).unwrap());
}

/// Reads keys with `reads` gets. The blocks of these keys take about 160 KiB.
fn read(tree: &Tree, reads: u64) {
    for number in 0..reads {
        assert_eq!(tree.get(&key(number * 31 % 2000)).unwrap().map(|value| value.len()), Some(60));
    }
}

/// Checks that memtables, filters, fences and cache fit into the budget.
fn check(stats: &Stats) {
    let used = 2 * stats.memtable_capacity_bytes
        + stats.filter_bytes
        + stats.fence_bytes
        + stats.cache_capacity_bytes;
    assert!(used <= BUDGET, "{used} bytes are used: {stats:?}");
    assert!(stats.cache_bytes <= stats.cache_capacity_bytes);
}

#[test]
fn memory_moves_to_the_memtables_for_writes_and_to_the_cache_for_reads() {
    let run = || {
        let tree = open(&small_design(MARGINAL), Mode::Counted, &memory(), Path::new("/moves"));
        let mut split = Vec::new();
        for _ in 0..2 {
            write(&tree, 15_000);
            split.push(tree.stats());
            read(&tree, 30_000);
            split.push(tree.stats());
        }
        split
    };
    let split = run();
    split.iter().for_each(check);
    for pair in split.chunks(2) {
        let [written, looked] = [&pair[0], &pair[1]];
        assert!(
            written.memtable_capacity_bytes > 2 * looked.memtable_capacity_bytes,
            "{written:?} {looked:?}"
        );
        assert!(looked.cache_capacity_bytes > 2 * written.cache_capacity_bytes, "{written:?} {looked:?}");
    }
    assert!(split[3].memory_moves > split[2].memory_moves);
    let again = run();
    assert!(split == again, "equal operations give equal decisions");
}

/// Tests that reads trigger the flush of a memtable that is larger than its new capacity, because a phase without
/// writes never fills the memtable.
#[test]
fn a_memtable_that_is_too_large_is_flushed_after_reads() {
    let (design, storage) = (small_design(MARGINAL), memory());
    let tree = open(&design, Mode::Counted, &storage, Path::new("/reads"));
    write(&tree, 15_000);
    // A new memtable gets about 38 KiB.
    let flushes = tree.stats().counts.flushes;
    while tree.stats().counts.flushes == flushes {
        write(&tree, 1);
    }
    write(&tree, 500);
    let before = tree.stats();
    assert!(before.memtable_capacity_bytes > 48 << 10, "{before:?}");
    read(&tree, 30_000);
    let after = tree.stats();
    assert_eq!(after.counts.flushes, before.counts.flushes + 1);
    assert_eq!(after.counts.puts, before.counts.puts);
    check(&after);
    // The arbiter knows no operations in a tree that is opened again.
    drop(tree);
    let tree = open(&design, Mode::Counted, &storage, Path::new("/reads"));
    assert_eq!((tree.stats().memtable_capacity_bytes, tree.stats().memory_moves), (16 << 10, 0));
}

#[test]
fn without_a_memory_limit_the_memtables_and_the_cache_share_their_memory() {
    let text = MARGINAL.replace("memory = \"256KiB\"", "").replace("shards=1", "shards=1, capacity=64KiB");
    let tree = open(&small_design(&text), Mode::Counted, &memory(), Path::new("/shared"));
    write(&tree, 15_000);
    let stats = tree.stats();
    assert!(stats.memtable_capacity_bytes > 24 << 10, "{stats:?}");
    let used = 2 * stats.memtable_capacity_bytes + stats.cache_capacity_bytes;
    // The sample of requests takes a part of the memory.
    assert!((80 << 10..=96 << 10).contains(&used), "{used}");
    assert_eq!(stats.filter_bits_per_key, Some(10.0), "filters are not part of the budget");
}

/// A cache with a fixed capacity.
struct Fixed(Box<dyn Cache>);

impl Cache for Fixed {
    fn get(&self, id: &cache::BlockId) -> Option<types::Bytes> {
        self.0.get(id)
    }

    fn insert(&self, id: cache::BlockId, block: types::Bytes) {
        self.0.insert(id, block);
    }

    fn remove_table(&self, tree: u64, table: u64) {
        self.0.remove_table(tree, table);
    }

    fn set_capacity(&self, _: u64) {}

    fn is_resizable(&self) -> bool {
        false
    }

    fn capacity(&self) -> u64 {
        self.0.capacity()
    }

    fn weight_bytes(&self) -> u64 {
        self.0.weight_bytes()
    }
}

#[test]
fn a_cache_with_a_fixed_capacity_is_rejected() {
    let design = small_design(MARGINAL);
    let fixed = Fixed(cache::CATALOG.build(design.choice("cache")).unwrap());
    let options = OpenOptions::new(design).mode(Mode::Counted).storage(memory()).cache(Arc::new(fixed));
    match options.open("/fixed").err() {
        Some(Error::Misuse(message)) => {
            assert!(message.contains("the given cache has a fixed capacity"), "{message}");
        }
        other => panic!("the tree must not open: {other:?}"),
    }
    for cache in ["none", "unbounded"] {
        let changes = format!("arbiter = \"marginal\"\ncache = \"{cache}\"").parse().unwrap();
        let error = lsmbench_tree::Design::default().with(&changes).unwrap_err();
        assert_eq!(error.path, ["arbiter"]);
        assert!(error.message.contains(&format!("the cache \"{cache}\" cannot be resized")), "{error}");
    }
}
