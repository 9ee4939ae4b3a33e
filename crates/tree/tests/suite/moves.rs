//! Tests that data written in key order moves through the levels without a rewrite, if the policy allows trivial moves.

use std::ops::Bound;
use std::path::Path;

use lsmbench_tree::{Mode, Tree};

use crate::common::{Model, memory, open, small_design};

/// Returns a tree with three thousand entries written in key order, optionally with deletes, and its expected
/// content.
fn filled(trivial_moves: bool, deletes: bool) -> (Tree, Model) {
    let design = small_design(&format!(
        "memtable = {{ capacity = \"8KiB\" }}
         compaction = {{ kind = \"l0-tiered\", level0_runs = 2, size_ratio = 3, trivial_moves = {trivial_moves} }}"
    ));
    let tree = open(&design, Mode::Counted, &memory(), Path::new("tree"));
    let mut model = Model::new();
    for n in 0..3_000u32 {
        let (key, value) = (format!("key{n:05}").into_bytes(), vec![n as u8; 40]);
        tree.put(&key, &value).unwrap();
        model.insert(key, value);
        if deletes && n % 50 == 49 {
            let key = format!("key{:05}", n - 20).into_bytes();
            tree.delete(&key).unwrap();
            model.remove(&key);
        }
    }
    tree.settle().unwrap();
    (tree, model)
}

fn agrees(tree: &Tree, model: &Model) {
    for (key, value) in model {
        assert_eq!(tree.get(key).unwrap().as_deref(), Some(&**value));
    }
    let mut range = tree.range((Bound::Unbounded, Bound::<&[u8]>::Unbounded)).unwrap();
    for (key, value) in model {
        assert_eq!(range.next().unwrap(), Some((&**key, &**value)));
    }
    assert_eq!(range.next().unwrap(), None);
}

#[test]
fn entries_in_key_order_are_written_once() {
    let (tree, model) = filled(true, false);
    agrees(&tree, &model);
    let stats = tree.stats();
    assert!(stats.counts.moves > 2, "{} moves", stats.counts.moves);
    assert_eq!((stats.counts.compactions, stats.counts.compaction_bytes_written), (0, 0));
    assert!(stats.levels.len() > 2, "{} levels", stats.levels.len());
    // After overwrites of the second half of the keys, the tree compacts again.
    let mut model = model;
    for key in model.keys().skip(1_500).cloned().collect::<Vec<_>>() {
        tree.put(&key, b"new").unwrap();
        model.insert(key, b"new".to_vec());
    }
    tree.settle().unwrap();
    agrees(&tree, &model);
    assert!(tree.stats().counts.compactions > 0);
}

#[test]
fn without_moves_they_are_merged_and_with_tombstones_too() {
    for (trivial_moves, deletes) in [(false, false), (true, true)] {
        let (tree, model) = filled(trivial_moves, deletes);
        agrees(&tree, &model);
        assert!(tree.stats().counts.compaction_bytes_written > 0);
    }
}

/// Tests that tables end at the keys at which the policy cuts its output. Each table of the largest level must then
/// have its own table in the level above.
#[test]
fn tables_are_cut_where_the_policy_says() {
    let tables = |policy: &str| {
        let design = small_design(&format!(
            "memtable = {{ capacity = \"4KiB\" }}
             table = {{ capacity = \"4KiB\" }}
             compaction = {{ kind = \"{policy}\", size_ratio = 4 }}"
        ));
        let tree = open(&design, Mode::Counted, &memory(), Path::new("tree"));
        let mut model = Model::new();
        for n in 0..6_000u32 {
            let (key, value) = (format!("key{:05}", n * 7919 % 6_000).into_bytes(), vec![n as u8; 40]);
            tree.put(&key, &value).unwrap();
            model.insert(key, value);
        }
        tree.settle().unwrap();
        agrees(&tree, &model);
        let levels: Vec<u64> = tree.stats().levels.iter().map(|level| level.tables).collect();
        (levels[levels.len() - 2], levels[levels.len() - 1])
    };
    let (above, largest) = tables("leveled");
    assert!(above > 0 && above < largest * 3 / 4, "{above} of {largest}");
    let (above, largest) = tables("spooky");
    assert!(above >= largest * 9 / 10, "{above} of {largest}");
}
