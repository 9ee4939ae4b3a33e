//! Tests of scans over a sorted view of all sorted runs: the order of the entries, the ends of the scan, and the blocks
//! that the scan reads.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;

use lsmbench_tree::{Mode, Tree};

use crate::common::{mapped_memory, open, small_design};

/// Returns a tree with many sorted runs, and the live entries of the tree. All versions of some keys are in different
/// runs, and some keys are deleted.
fn tree(view: &str) -> (Tree, BTreeMap<Vec<u8>, Vec<u8>>) {
    let design = small_design(&format!(
        "compaction = {{ kind = \"tiered\", size_ratio = 6 }}\ncache = \"none\"\nsorted_view = {view}"
    ));
    let tree = open(&design, Mode::Counted, &mapped_memory(), Path::new("/views"));
    let mut live = BTreeMap::new();
    for number in 0..2_000u64 {
        let key = format!("key{:05}", number * 7919 % 1_500).into_bytes();
        if number % 11 == 10 {
            tree.delete(&key).unwrap();
            live.remove(&key);
        } else {
            tree.put(&key, &number.to_be_bytes()).unwrap();
            live.insert(key, number.to_be_bytes().to_vec());
        }
    }
    tree.flush().unwrap();
    (tree, live)
}

#[test]
fn both_ends_of_a_scan_meet_at_every_key() {
    for view in ["{ kind = \"remix\", segment_entries = 1 }", "\"remix\""] {
        let (tree, live) = tree(view);
        assert!(tree.stats().runs() > 4, "{:?}", tree.stats().levels);
        let keys: Vec<&Vec<u8>> = live.keys().collect();
        for front in [0, 1, 2, 700, keys.len() - 1, keys.len()] {
            let mut scan = tree.range(..).unwrap();
            for key in &keys[..front] {
                assert_eq!(scan.next().unwrap().unwrap().0, key.as_slice());
            }
            for key in keys[front..].iter().rev() {
                let (found, value) = scan.next_back().unwrap().unwrap();
                assert_eq!((found, value), (key.as_slice(), live[*key].as_slice()));
            }
            assert!(scan.next().unwrap().is_none() && scan.next_back().unwrap().is_none());
        }
    }
}

#[test]
fn a_scan_compares_no_keys_after_its_seek() {
    let (tree, live) = tree("\"remix\"");
    let before = tree.stats().counts;
    let mut scan = tree.range((Bound::Included(&b"key00700"[..]), Bound::Unbounded)).unwrap();
    let mut entries = 0;
    while scan.next().unwrap().is_some() {
        entries += 1;
    }
    drop(scan);
    assert_eq!(entries, live.range(b"key00700".to_vec()..).count());
    let counts = tree.stats().counts.since(&before);
    assert_eq!(counts.range_sources, 1);
    // Two binary searches: over at most 128 segments, and over the 32 entries of a segment.
    assert!((1..=12).contains(&counts.range_comparisons), "{}", counts.range_comparisons);
}

#[test]
fn an_update_reads_less_than_a_construction() {
    let (tree, _) = tree("\"remix\"");
    let table_bytes = tree.stats().table_bytes();
    let before = tree.stats().counts;
    tree.put(b"key00700", b"new").unwrap();
    tree.flush().unwrap();
    let counts = tree.stats().counts.since(&before);
    let read = counts.index_bytes_read;
    assert!(read > 0, "the new table is read");
    if counts.compactions == 0 {
        assert!(read < table_bytes / 4, "{read} of {table_bytes} bytes");
    }
}

/// Tests that the construction of a view after a flush reads each block of the tree about once, although the flushed
/// keys lie between all old keys.
#[test]
fn an_update_reads_no_block_many_times() {
    let text = "compaction = \"none\"\nmemtable = { capacity = \"16KiB\" }\ncache = \"none\"\nsorted_view = \"remix\"";
    let tree = open(&small_design(text), Mode::Counted, &mapped_memory(), Path::new("/views"));
    let write = |numbers: std::ops::Range<u64>, step: u64| {
        for number in numbers {
            tree.put(format!("key{:05}", number * step % 10_000).as_bytes(), b"value").unwrap();
        }
        tree.flush().unwrap();
    };
    write(0..2_000, 7919);
    let before = tree.stats();
    assert!(before.runs() > 2, "{:?}", before.levels);
    write(0..200, 7877);
    let after = tree.stats();
    let read = after.counts.since(&before.counts).index_bytes_read;
    assert!(read < 3 * after.table_bytes() / 2, "{read} of {} bytes", after.table_bytes());
}

/// Tests that the first index of the keys of all runs reads each key once.
#[test]
fn an_index_of_keys_reads_each_key_once() {
    let design = small_design("compaction = \"tiered\"\nculling = \"chucky\"\nbloom = \"none\"");
    let (storage, path) = (mapped_memory(), Path::new("/index"));
    let tree = open(&design, Mode::Counted, &storage, path);
    (0..2_000u64).for_each(|number| tree.put(format!("key{number:05}").as_bytes(), b"value").unwrap());
    drop(tree);
    let tree = open(&design, Mode::Counted, &storage, path);
    let stats = tree.stats();
    let blocks: u64 = stats.levels.iter().map(|level| level.block_bytes).sum();
    let read = stats.counts.index_bytes_read;
    assert!(blocks > 20_000 && read >= blocks && read < blocks + blocks / 4, "{read} of {blocks} bytes");
}
