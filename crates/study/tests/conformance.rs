//! Tests that the variants keep the invariants of their axes, and that trees with them answer like a `BTreeMap`.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use cache::BlockId;
use catalog::laws::check_all;
use lsmbench_study::{
    BARE_DELTA, BY_ACCESS, BY_LOAD, FIXED_PAIRS, GROWING_SHARDS, INVERSE, MIN_MAX, PLAIN, SENTINEL_PAIRS,
    STRING_LRU, VECTOR_BTREEMAP, register,
};
use storage::{Memory, Storage};
use toml::Value;
use tree::block::{BLOCK_FOOTER_BYTES, BlockBuilder, CATALOG};
use tree::conformance::{Model, Replay, check, in_pairs, small, steps};
use tree::{BlockOptions, Design, Mode, OpenOptions};
use types::{Bytes, Entry, KeyHash, SplitMix64};

/// Adds the variants before the first lookup.
static REGISTERED: LazyLock<()> = LazyLock::new(|| register().unwrap());

/// Parses a design of small SSTables from TOML.
fn design(text: &str) -> Design {
    LazyLock::force(&REGISTERED);
    small(&text.parse().unwrap()).unwrap()
}

#[test]
fn every_variant_keeps_the_invariants_of_its_axis() {
    LazyLock::force(&REGISTERED);
    bloom::conformance::check_allocation(&INVERSE).unwrap();
    cache::conformance::check(&STRING_LRU).unwrap();
    compression::conformance::check(&BY_LOAD).unwrap();
    fence::conformance::check(&MIN_MAX).unwrap();
    fence::conformance::check(&BY_ACCESS).unwrap();
    memtable::conformance::check(&GROWING_SHARDS).unwrap();
    memtable::conformance::check(&VECTOR_BTREEMAP).unwrap();
    tree::block::conformance::check(&BARE_DELTA).unwrap();
    tree::block::conformance::check(&PLAIN).unwrap();
    tree::block::conformance::check(&FIXED_PAIRS).unwrap();
    tree::block::conformance::check(&SENTINEL_PAIRS).unwrap();
    let error = tree::block::CATALOG.choose(&Value::from("plain(version=3)")).unwrap_err();
    assert!(error.to_string().contains("the versions that cs265 prints"), "{error}");
}

#[test]
fn string_lru_keeps_what_lru_keeps() {
    LazyLock::force(&REGISTERED);
    for hasher in ["xxh3", "foldhash", "ahash", "rustc-hash", "sip"] {
        let caches = ["lru(shards=1, ", "string-lru("].map(|kind| {
            let label = format!("{kind}capacity=200KiB, hasher={hasher})");
            cache::CATALOG.build(&cache::CATALOG.choose(&Value::from(label)).unwrap()).unwrap()
        });
        let mut random = SplitMix64::new(7);
        let mut hits = 0;
        for _ in 0..20_000 {
            let number = random.below(40) * random.below(40);
            let id = BlockId { tree: 1, table: number % 7, offset: number };
            let found = caches.each_ref().map(|cache| cache.get(&id).is_some());
            assert_eq!(found[0], found[1], "{hasher}: block {number}");
            hits += u32::from(found[0]);
            if !found[0] {
                caches.iter().for_each(|cache| cache.insert(id, Bytes::copy_from(&[0; 4096])));
            }
        }
        assert!((2_000..18_000).contains(&hits), "{hits} hits show nothing");
    }
}

/// Encodes 20 keys of 16 bytes that share their first 13 bytes, without values.
fn block(format: &str) -> Vec<u8> {
    LazyLock::force(&REGISTERED);
    let format = CATALOG.build(&CATALOG.variant(format).unwrap().default_choice()).unwrap();
    let mut builder =
        BlockBuilder::new(&*format, &BlockOptions { restart_interval: 10, ..Default::default() });
    for number in 100..120 {
        let key = format!("user000000000{number}").into_bytes();
        builder.add(Entry { key: &key, value: Some(&[]) }, KeyHash(0));
    }
    builder.finish(<[u8]>::to_vec)
}

#[test]
fn a_bare_block_is_its_entries_and_a_footer() {
    let (bare, delta) = (block("bare-delta"), block("delta"));
    let entries = bare.len() - BLOCK_FOOTER_BYTES;
    assert_eq!(bare[..entries], delta[..entries], "the entries are those of delta");
    assert_eq!(delta.len() - bare.len(), 2 * size_of::<u32>(), "delta also has two restart pointers");
    // Each entry has three lengths of one byte. Two keys are complete. Of each other key, one byte differs.
    assert_eq!(entries, 20 * 3 + 2 * 16 + 18);
}

#[test]
fn trees_answer_like_the_model() {
    let designs = [
        "allocation = \"inverse\"",
        "cache = { kind = \"string-lru\", capacity = \"16KiB\" }",
        "memtable = \"vector-btreemap\"",
        "block = { format = \"bare-delta\", memory_index = true }",
        "block = { format = \"bare-delta\", memory_index = true, restart_interval = 3 }\ncompression = \"lz4\"",
        "block = { format = \"plain(version=1)\" }",
        "block = { format = \"plain\", index = \"hash\" }",
        "block = { format = \"plain\", index = \"fingerprint\" }\ncompression = \"lz4\"",
        "block = { format = \"fixed-pairs\", index = \"hash\" }",
        "memtable = \"growing-shards(shards=1, entries_per_shard=5)\"\nformat = \"sentinel-pairs\"",
        "fence = \"min-max\"\ncompression = \"by-load(loads=[0.9, 0.1, 0.1])\"",
        "fence = \"by-access(window=3, range_share=0.3)\"\ncompression = \"by-load(period=2)\"",
        "fence = \"static-btree(page_bytes=512, separators=largest)\"\ncache = \"none\"",
        "block = { format = \"fixed-pairs\", index = \"fingerprint\", align = true }\nfence = \"page-search\"",
    ];
    let answers = |text: &&str| check(&design(text)).map_err(|difference| format!("{text}: {difference}"));
    check_all(&designs, answers).unwrap();
}

#[test]
fn pairs_of_one_size_are_answered_like_the_model() {
    for format in ["plain", "plain(version=1)", "fixed-pairs", "sentinel-pairs"] {
        for more in ["", "block = { index = \"fingerprint\" }", "fence = \"page-search\"\ncache = \"none\""] {
            let design = design(&format!("format = \"{format}\"\n{more}"));
            let storage: Arc<dyn Storage> = Arc::new(Memory::default());
            let mut replay = Replay::new(&design, Mode::Counted, storage, Path::new("tree")).unwrap();
            let outcome = replay.run(&in_pairs(steps(0, 4_000)));
            outcome.unwrap_or_else(|difference| panic!("{format}, {more}: {difference}"));
        }
    }
}

/// Tests that each SSTable records its format, so that a tree with one format can read an SSTable of another format.
#[test]
fn tables_of_one_format_are_read_under_another() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let mut model = Model::new();
    for (round, format) in
        ["plain", "delta", "fixed-pairs", "sentinel-pairs", "plain(version=1)", "btree-page"]
            .into_iter()
            .cycle()
            .take(10)
            .enumerate()
    {
        let design = design(&format!("format = \"{format}\""));
        let options = OpenOptions::new(design).mode(Mode::Counted).storage(Arc::clone(&storage));
        let tree = options.open(Path::new("tree")).unwrap();
        for (key, value) in &model {
            assert_eq!(tree.get(key).unwrap().as_ref(), Some(value), "round {round}");
        }
        for number in 0..300u32 {
            let key = format!("user{:04}", (number * 7 + round as u32 * 131) % 900).into_bytes();
            let value = format!("{round:02}-{number:04}").into_bytes();
            tree.put(&key, &value).unwrap();
            model.insert(key, value);
        }
        tree.flush().unwrap();
    }
}
