//! Tests of the compaction and of the approximate size of key ranges.

use std::ops::Bound;
use std::path::Path;

use catalog::Limit;
use lsmbench_tree::{Design, Mode, Tree};

use crate::common::{Model, all_designs, memory, open, small_design};

fn key(number: u32) -> Vec<u8> {
    format!("key{number:04}").into_bytes()
}

/// Writes every third key from `first`, and deletes some of the keys of earlier calls.
fn fill(tree: &Tree, model: &mut Model, first: u32) {
    for number in (first..900).step_by(3) {
        tree.put(&key(number), &[b'v'; 30]).unwrap();
        model.insert(key(number), vec![b'v'; 30]);
        if number % 7 == 0 {
            tree.delete(&key(number.saturating_sub(1))).unwrap();
            model.remove(&key(number.saturating_sub(1)));
        }
    }
    tree.flush().unwrap();
}

#[track_caller]
fn expect(tree: &Tree, model: &Model, design: &str) {
    let mut range = tree.range(..).unwrap();
    for (key, value) in model {
        assert_eq!(range.next().unwrap(), Some((&**key, &**value)), "{design}");
    }
    assert_eq!(range.next().unwrap(), None, "{design}");
}

#[test]
fn a_compacted_range_has_the_same_entries_in_every_design() {
    let drops = |design: &Design| design.limits().iter().any(|(.., limit)| *limit == Limit::DropsData);
    for (name, design) in all_designs().into_iter().filter(|(_, design)| !drops(design)) {
        let tree = open(&design, Mode::Counted, &memory(), Path::new("db"));
        let mut model = Model::new();
        for (first, low, high) in [(0, 100, 300), (1, 290, 310), (2, 0, 899), (0, 600, 500)] {
            fill(&tree, &mut model, first);
            let (low, high) = (key(low), key(high));
            tree.compact_range((Bound::Included(&*low), Bound::Included(&*high))).unwrap();
            expect(&tree, &model, &name);
        }
    }
}

#[test]
fn only_the_range_is_compacted() {
    let design = small_design(
        "compaction = \"none\"\ntable = { capacity = \"4KiB\" }\nmemtable = { capacity = \"1MiB\" }",
    );
    let tree = open(&design, Mode::Counted, &memory(), Path::new("db"));
    let runs = || -> Vec<u64> { tree.stats().levels.iter().map(|level| level.runs).collect() };
    // The first three runs have the lower keys, and the others the upper keys.
    for run in 0..6 {
        for number in 0..200 {
            tree.put(&key(run / 3 * 500 + number), &[run as u8; 50]).unwrap();
        }
        tree.flush().unwrap();
    }
    assert_eq!(runs(), [6]);
    let none = (key(300), key(400));
    tree.compact_range((Bound::Included(&*none.0), Bound::Included(&*none.1))).unwrap();
    assert_eq!(runs(), [6], "no SSTable overlaps the range");
    tree.compact_range((Bound::Included(&*key(500)), Bound::Unbounded)).unwrap();
    assert_eq!(runs(), [3, 1]);
    let tables = tree.stats().levels[1].tables;
    tree.compact_range((Bound::Unbounded, Bound::Excluded(&*key(10)))).unwrap();
    assert_eq!(runs(), [3, 1], "the output joins the run of the last level");
    assert_eq!(tree.stats().levels[1].tables, tables + 1, "the first SSTable of each run has the keys");
    assert_eq!(tree.get(&key(0)).unwrap(), Some(vec![2; 50]));
    assert_eq!(tree.get(&key(699)).unwrap(), Some(vec![5; 50]));
    tree.compact().unwrap();
    assert_eq!(runs(), [0, 1]);
}

#[test]
fn sizes_are_close_to_the_bytes_of_the_range() {
    for storage in ["block = { mapped = \"cached\" }", "fence = \"static-btree\"", ""] {
        let design = small_design(&format!("{storage}\nmemtable = {{ capacity = \"1MiB\" }}"));
        let tree = open(&design, Mode::Counted, &memory(), Path::new("db"));
        for number in 0..4000 {
            tree.put(&key(number), &[number as u8; 93]).unwrap();
        }
        let size = |low, high| tree.approximate_bytes(&key(low), &key(high)).unwrap();
        assert_eq!(size(1000, 3000), 2000 * 100, "the memtable has exact sizes");
        tree.flush().unwrap();
        let whole = size(0, 9999);
        assert!((4000 * 100..4000 * 125).contains(&whole), "{storage}: {whole}");
        let half = size(1000, 3000);
        assert!((whole * 2 / 5..whole * 3 / 5).contains(&half), "{storage}: {half} of {whole}");
        assert_eq!((size(3000, 1000), size(5, 5)), (0, 0));
        assert_eq!(tree.approximate_bytes(b"l", b"m").unwrap(), 0);
    }
}
