//! Tests of compactions that are divided into key ranges. A compaction with several parts changes no content and takes
//! effect atomically. In `counted` mode, its result is equal in every run.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use lsmbench_tree::{Counts, Design, LevelStats, Mode, Tree, verify};
use parking_lot::Mutex;
use storage::{DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault, Memory, Storage};

use crate::common::{Model, memory, open, small_design};
use crate::probe::{Probe, in_time, is_a};

const DIRECTORY: &str = "tree";

fn design(parts: usize, more: &str) -> Design {
    small_design(&format!("wal = \"none\"\nthreads = {{ max_subcompactions = {parts} }}\n{more}"))
}

fn key(number: u64) -> Vec<u8> {
    format!("key{:06}", number * 7919 % 100_003).into_bytes()
}

/// Fills several overlapping runs, with overwrites and deletes.
fn fill(tree: &Tree, count: u64) -> Model {
    let mut model = Model::new();
    for number in 0..count {
        let (key, value) = (key(number % (count * 2 / 3)), number.to_be_bytes().repeat(4));
        if number % 9 == 8 {
            tree.delete(&key).unwrap();
            model.remove(&key);
        } else {
            tree.put(&key, &value).unwrap();
            model.insert(key, value);
        }
    }
    tree.flush().unwrap();
    model
}

fn content(tree: &Tree) -> Model {
    let mut range = tree.range(..).unwrap();
    let mut content = Model::new();
    while let Some((key, value)) = range.next().unwrap() {
        content.insert(key.to_vec(), value.to_vec());
    }
    content
}

fn tables_in(storage: &dyn Storage) -> HashSet<String> {
    let names = storage.list(Path::new(DIRECTORY)).unwrap();
    names.into_iter().filter(|name| is_a(Path::new(name), "table")).collect()
}

/// Fills and reads a tree in `counted` mode, with compactions of at most `parts` subcompactions. Returns the counters,
/// the statistics of the levels, and the content.
fn counted(parts: usize) -> (Counts, Vec<LevelStats>, Model) {
    let design = design(parts, "compaction = { kind = \"leveled\", size_ratio = 3 }");
    let tree = open(&design, Mode::Counted, &memory(), Path::new(DIRECTORY));
    let model = fill(&tree, 3000);
    assert_eq!(content(&tree), model);
    let stats = tree.stats();
    (stats.counts, stats.levels, model)
}

#[test]
fn the_number_of_parts_alone_decides_what_is_counted() {
    let (one, three, again) = (counted(1), counted(3), counted(3));
    assert_eq!(three, again);
    let tables = |levels: &[LevelStats]| levels.iter().map(|level| level.tables).sum::<u64>();
    let entries = |levels: &[LevelStats]| levels.iter().map(|level| level.entries).collect::<Vec<_>>();
    assert_eq!((entries(&one.1), one.2), (entries(&three.1), three.2));
    assert_eq!((one.0.flushes, one.0.compactions), (three.0.flushes, three.0.compactions));
    assert!(tables(&one.1) < tables(&three.1), "each part begins tables of its own");
    assert!(one.0.compaction_bytes_read < three.0.compaction_bytes_read, "cuts are looked for");
}

#[test]
fn parts_are_merged_by_threads_of_their_own() {
    let writers: Arc<Mutex<HashSet<thread::ThreadId>>> = Arc::default();
    let seen = Arc::clone(&writers);
    let disk = Probe::new(move |_, operation, path| {
        if operation == FileOperation::Create && is_a(path, "table") {
            seen.lock().insert(thread::current().id());
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let tree = open(&design(4, "compaction = \"none\""), Mode::Timed, &storage, Path::new(DIRECTORY));
    let model = fill(&tree, 3000);
    writers.lock().clear();
    tree.compact().unwrap();
    assert_eq!(writers.lock().len(), 4);
    let stats = tree.stats();
    assert_eq!((stats.runs(), stats.counts.compactions), (1, 1), "one job, one run");
    assert_eq!(content(&tree), model);
}

#[test]
fn a_part_that_fails_takes_the_others_with_it() {
    let design = design(3, "compaction = \"none\"");
    let filled = || {
        let memory = Arc::new(Memory::default());
        let faulty = Arc::new(Faulty::new(Arc::clone(&memory) as _));
        let storage: Arc<dyn Storage> = Arc::clone(&faulty) as _;
        let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
        let model = fill(&tree, 700);
        (memory, faulty, tree, model)
    };
    let (_, faulty, tree, _) = filled();
    let before = faulty.calls().len();
    tree.compact().unwrap();
    let calls = faulty.calls().len() - before;
    let mut failures = 0;
    for call in 0..calls {
        let (memory, faulty, tree, model) = filled();
        let old = tables_in(&*memory);
        let at = faulty.calls().len() + call;
        faulty.inject(InjectedFault {
            at,
            extent: FaultExtent::Once,
            error: DiskError::Io,
            effect: FaultEffect::Nothing,
        });
        let failed = tree.compact().is_err();
        failures += usize::from(failed);
        let calls = faulty.calls();
        // The number of blocks that the threads still had to read varies slightly between runs.
        let Some(hit) = calls.get(at) else { continue };
        if failed && is_a(&hit.path, "table") {
            assert_eq!(tables_in(&*memory), old, "what was begun is removed, {hit:?}");
        }
        assert_eq!(content(&tree), model, "{hit:?}");
        drop(tree);
        faulty.heal();
        let storage: Arc<dyn Storage> = faulty;
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        assert_eq!(content(&tree), model, "{hit:?}");
        let named: u64 = tree.stats().levels.iter().map(|level| level.tables).sum();
        assert_eq!(tables_in(&*memory).len() as u64, named, "{hit:?}");
        drop(tree);
        assert!(verify(&storage, Path::new(DIRECTORY)).unwrap().damage.is_empty(), "{hit:?}");
    }
    println!("{failures} of {calls} calls make a compaction in parts fail");
    assert!(failures > calls / 2);
}

#[test]
fn a_panic_in_a_part_reaches_the_writers() {
    let panics = Arc::new(AtomicBool::new(false));
    let armed = Arc::clone(&panics);
    let disk = Probe::new(move |_, operation, path| {
        let is_part = thread::current().name() == Some("lsm-subcompact");
        let is_table = operation == FileOperation::Create && is_a(path, "table");
        assert!(!(is_part && is_table && armed.load(Ordering::SeqCst)), "planned");
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let tree = open(&design(2, ""), Mode::Timed, &storage, Path::new(DIRECTORY));
    panics.store(true, Ordering::SeqCst);
    let error = in_time("writers", move || {
        let write = |number| tree.put(&key(number), &[1; 30]).err();
        (0..2_000).find_map(write).or_else(|| tree.settle().err())
    });
    let message = error.expect("the writers hear of it").to_string();
    assert!(message.contains("panicked"), "{message}");
}
