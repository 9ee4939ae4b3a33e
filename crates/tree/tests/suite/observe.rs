//! Tests of a compaction policy that observes operations: scans and gets trigger its compactions.

use std::path::Path;
use std::time::{Duration, Instant};

use lsmbench_tree::{Mode, Tree};

use crate::common::{Model, memory, open, small_design};

const ADAPTIVE: &str = r#"
    compaction = { kind = "adaptive", window = 2, fpr = 1 }
    memtable = { capacity = "4KiB" }
"#;

/// The longest time to wait for the compactor. The test usually waits for milliseconds.
const PATIENCE: Duration = Duration::from_mins(1);

/// Fills nine runs of one memtable each, which tiering with T = 10 does not compact. An entry counts 55 bytes.
fn fill(tree: &Tree) -> Model {
    let mut model = Model::new();
    for run in 0..9u32 {
        for n in 0..75u32 {
            let (key, value) = (format!("key{:04}", n * 9 + run).into_bytes(), vec![b'v'; 40]);
            tree.put(&key, &value).unwrap();
            model.insert(key, value);
        }
    }
    tree.settle().unwrap();
    model
}

fn runs(tree: &Tree) -> u64 {
    tree.stats().levels.iter().map(|level| level.runs).sum()
}

fn scan(tree: &Tree, model: &Model) {
    let mut range = tree.range(..).unwrap();
    let mut expected = model.iter();
    while let Some((key, value)) = range.next().unwrap() {
        assert_eq!(expected.next(), Some((&key.to_vec(), &value.to_vec())));
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn scans_trigger_the_compactions_of_a_policy_that_observes_them() {
    let tree = open(&small_design(ADAPTIVE), Mode::Counted, &memory(), Path::new("/scans"));
    let model = fill(&tree);
    assert_eq!(runs(&tree), 9);
    // The policy is asked at the 64th scan.
    (0..63).for_each(|_| scan(&tree, &model));
    assert_eq!(runs(&tree), 9);
    scan(&tree, &model);
    assert!(runs(&tree) < 9, "{} runs", runs(&tree));
    scan(&tree, &model);
}

#[test]
fn gets_trigger_the_compactions_of_a_policy_that_observes_them() {
    let tree = open(&small_design(ADAPTIVE), Mode::Counted, &memory(), Path::new("/gets"));
    let model = fill(&tree);
    let keys: Vec<&[u8]> = model.keys().map(Vec::as_slice).collect();
    for _ in 0..4096 / keys.len() {
        let values = tree.multi_get(&keys).unwrap();
        assert!(values.iter().zip(model.values()).all(|(value, expected)| value.as_ref() == Some(expected)));
    }
    assert_eq!(runs(&tree), 9);
    for (key, value) in &model {
        assert_eq!(tree.get(key).unwrap().as_ref(), Some(value));
    }
    assert!(runs(&tree) < 9, "{} runs", runs(&tree));
}

#[test]
fn the_compactor_runs_the_compactions_that_scans_trigger() {
    let tree = open(&small_design(ADAPTIVE), Mode::Timed, &memory(), Path::new("/timed"));
    let model = fill(&tree);
    (0..64).for_each(|_| scan(&tree, &model));
    let begun = Instant::now();
    while runs(&tree) >= 9 {
        assert!(begun.elapsed() < PATIENCE, "the compactor ran no compaction");
        std::thread::yield_now();
    }
    scan(&tree, &model);
}

/// Tests that the policy changes nothing after a tree is opened again, because the tree knows no operations yet.
#[test]
fn a_tree_that_is_opened_again_keeps_its_runs() {
    let storage = memory();
    let design = small_design(ADAPTIVE);
    let tree = open(&design, Mode::Counted, &storage, Path::new("/reopened"));
    let model = fill(&tree);
    (0..64).for_each(|_| scan(&tree, &model));
    let before = runs(&tree);
    drop(tree);
    let tree = open(&design, Mode::Counted, &storage, Path::new("/reopened"));
    assert_eq!(runs(&tree), before);
    scan(&tree, &model);
}
