//! Tests of stores without a manifest, whose state follows from the names of their files.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{Design, Mode, OpenOptions, Result, Tree, WriteBatch, destroy, verify};
use storage::{Memory, Purpose, Storage, Unsynced};

use crate::common::{open, small_design};
use crate::probe::is_a;

const DIRECTORY: &str = "tree";

/// Returns a small design without a manifest, whose compactions run only when a test asks for them.
fn design(options: &str) -> Design {
    small_design(&format!("compaction = \"none\"\ntable = {{ manifest = \"none\" }}\n{options}"))
}

fn try_open(design: &Design, storage: &Arc<dyn Storage>, directory: &str) -> Result<Tree> {
    OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(storage)).open(directory)
}

fn reopened(tree: Tree, storage: &Arc<dyn Storage>) -> Tree {
    let design = tree.design().clone();
    tree.close().unwrap();
    open(&design, Mode::Counted, storage, Path::new(DIRECTORY))
}

fn names(storage: &Arc<dyn Storage>, ending: &str) -> Vec<String> {
    let mut names = storage.list(Path::new(DIRECTORY)).unwrap();
    names.retain(|name| is_a(name, ending));
    names.sort();
    names
}

/// Writes `keys` with equal values, and flushes the memtable.
fn flush(tree: &Tree, keys: std::ops::Range<u8>, value: &[u8]) {
    keys.for_each(|key| tree.put(&[key], value).unwrap());
    tree.flush().unwrap();
}

/// Writes a put and its single delete, and flushes the memtable, which leaves no entry.
fn flush_nothing(tree: &Tree) {
    let mut batch = WriteBatch::new();
    batch.put(&[90], b"short").unwrap();
    batch.single_delete(&[90]).unwrap();
    tree.write(&batch).unwrap();
    tree.flush().unwrap();
}

fn content(tree: &Tree) -> Vec<(u8, Vec<u8>)> {
    let (mut range, mut content) = (tree.range(..).unwrap(), Vec::new());
    while let Some((key, value)) = range.next().unwrap() {
        content.push((key[0], value.to_vec()));
    }
    content
}

fn copy(from: &Arc<dyn Storage>, to: &Arc<dyn Storage>, name: &str) {
    let path = Path::new(DIRECTORY).join(name);
    let file = from.open(&path, Purpose::Table).unwrap();
    let bytes = file.read(0, file.len() as usize).unwrap();
    to.create(&path, Purpose::Table).unwrap().append(&bytes).unwrap();
}

/// Tests that opening a store lists its directory, opens every SSTable, and flushes the operations of the WAL to an
/// SSTable before it removes the WAL, as the document golsm describes.
#[test]
fn the_directory_is_the_only_record_of_a_store() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(&design("wal = \"sync\""), Mode::Counted, &storage, Path::new(DIRECTORY));
    flush(&tree, 0..20, b"old");
    flush(&tree, 10..30, b"new");
    (30..40).for_each(|key| tree.put(&[key], b"log").unwrap());
    let tables = names(&storage, "table");
    assert!(tables[0].ends_with("_1_20.table") && tables[1].ends_with("_21_40.table"), "{tables:?}");
    let (before, logs) = (content(&tree), names(&storage, "wal"));
    let tree = reopened(tree, &storage);
    assert_eq!((content(&tree), before.len()), (before, 40));
    assert_eq!((tree.recovery().replayed_operations, tree.stats().runs()), (10, 3));
    let after = names(&storage, "table");
    assert!(after.len() == 3 && after[2].ends_with("_41_50.table"), "{after:?}");
    assert!(!names(&storage, "wal").contains(&logs[0]), "{logs:?}");
    let all = storage.list(Path::new(DIRECTORY)).unwrap();
    assert!(all.iter().all(|name| !name.contains("manifest")), "{all:?}");
    let report = verify(&storage, Path::new(DIRECTORY)).unwrap_err();
    assert!(report.to_string().contains("is in use"), "{report}");
    tree.close().unwrap();
    let report = verify(&storage, Path::new(DIRECTORY)).unwrap();
    assert_eq!((report.tables, report.logs, report.damage.len(), report.notes.len()), (3, 1, 0, 0));
}

/// Tests that the inputs of a compaction change no answer if they are still there after a crash, in any combination.
/// The compaction has dropped a tombstone, so each older SSTable alone would restore a deleted key.
#[test]
fn deleted_keys_stay_deleted_whatever_inputs_are_left() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(&design(""), Mode::Counted, &storage, Path::new(DIRECTORY));
    flush(&tree, 0..20, b"old");
    flush(&tree, 5..15, b"new");
    (0..10).for_each(|key| tree.delete(&[key]).unwrap());
    tree.flush().unwrap();
    let (inputs, before) = (names(&storage, "table"), content(&tree));
    assert_eq!((inputs.len(), before.len()), (3, 10));
    let memory = Memory::default();
    let old: Arc<dyn Storage> = Arc::new(memory);
    old.create_directory(Path::new(DIRECTORY)).unwrap();
    inputs.iter().for_each(|name| copy(&storage, &old, name));
    tree.compact().unwrap();
    let output = names(&storage, "table");
    assert!(output.len() == 1 && output[0].ends_with("_1_40.table"), "{output:?}");
    flush(&tree, 40..42, b"later");
    let expected = content(&tree);
    tree.close().unwrap();
    for left in 0..1 << inputs.len() {
        let disk = Arc::new(Memory::default());
        let disk: Arc<dyn Storage> = disk;
        disk.create_directory(Path::new(DIRECTORY)).unwrap();
        names(&storage, "table").iter().for_each(|name| copy(&storage, &disk, name));
        let left: Vec<String> = (0..inputs.len())
            .filter(|input| left >> input & 1 > 0)
            .map(|input| inputs[input].clone())
            .collect();
        left.iter().for_each(|name| copy(&old, &disk, name));
        let report = verify(&disk, Path::new(DIRECTORY)).unwrap();
        assert_eq!((report.tables, report.damage.len(), report.notes.len()), (2, 0, left.len()), "{left:?}");
        let tree = open(&design(""), Mode::Counted, &disk, Path::new(DIRECTORY));
        assert_eq!(content(&tree), expected, "{left:?}");
        let mut removed = tree.recovery().removed_files.clone();
        removed.sort();
        assert_eq!(removed, left);
        assert_eq!(names(&disk, "table").len(), 2);
    }
}

/// Tests that the sequence numbers go on after a compaction that leaves no entry, after writes without effect, and in a
/// store without a WAL.
#[test]
fn sequence_numbers_go_on_where_nothing_is_left() {
    for wal in ["sync", "buffered", "none"] {
        let storage: Arc<dyn Storage> = Arc::new(Memory::default());
        let options = format!("wal = \"{wal}\"");
        let mut tree = open(&design(&options), Mode::Counted, &storage, Path::new(DIRECTORY));
        for round in 0..4u8 {
            flush(&tree, 0..20, b"value");
            (0..110).for_each(|key| tree.delete(&[key]).unwrap());
            tree.compact().unwrap();
            assert_eq!(content(&tree), [], "{wal}");
            let tables = names(&storage, "table");
            assert_eq!(tables.len(), 1, "{wal}: {tables:?}");
            flush_nothing(&tree);
            assert_eq!(names(&storage, "table"), tables, "{wal}");
            tree.put(&[100 + round], b"kept").unwrap();
            assert!(!tree.put_if_absent(&[100 + round], b"other").unwrap());
            tree = reopened(tree, &storage);
            assert_eq!(content(&tree), [(100 + round, b"kept".to_vec())], "{wal}");
        }
    }
}

/// Tests that the WAL of a flush without an SSTable is kept, so that a crash does not separate the next WAL from the
/// SSTables.
#[test]
fn a_crash_after_a_flush_without_a_table_loses_nothing() {
    for wal in ["sync", "buffered"] {
        let memory = Arc::new(Memory::default());
        let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
        let design = design(&format!("wal = \"{wal}\""));
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        flush(&tree, 0..3, b"table");
        flush_nothing(&tree);
        assert_eq!(names(&storage, "table").len(), 1);
        tree.put(&[3], b"log").unwrap();
        tree.sync().unwrap();
        for unsynced in [Unsynced::Dropped, Unsynced::Kept] {
            let disk: Arc<dyn Storage> = Arc::new(memory.after_crash(unsynced));
            let tree = open(&design, Mode::Counted, &disk, Path::new(DIRECTORY));
            assert_eq!(content(&tree).len(), 4, "{wal}, {unsynced:?}");
            assert_eq!(content(&reopened(tree, &disk)).len(), 4, "{wal}, {unsynced:?}");
        }
        flush(&tree, 3..4, b"later");
        assert_eq!(names(&storage, "wal").len(), 1, "a table with later writes releases the WAL");
    }
}

#[test]
fn a_store_keeps_its_choice() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let (scanned, listed) = (design(""), small_design("compaction = \"none\""));
    for (made, other, remedy) in [
        (
            &scanned,
            &listed,
            "is a store without a manifest, but the design has one; set table.manifest = \"none\"",
        ),
        (
            &listed,
            &scanned,
            "is a store with a manifest, but the design has none; set table.manifest = \"file\"",
        ),
    ] {
        for is_flushed in [false, true] {
            let directory = format!("{}-{is_flushed}", remedy.len());
            let tree = try_open(made, &storage, &directory).unwrap();
            tree.put(b"a", b"1").unwrap();
            if is_flushed {
                tree.flush().unwrap();
            }
            tree.close().unwrap();
            let before = storage.list(Path::new(&directory)).unwrap();
            let error = try_open(other, &storage, &directory).err().unwrap();
            assert!(error.to_string().contains(remedy) && !error.is_damage(), "{error}");
            assert_eq!(storage.list(Path::new(&directory)).unwrap(), before);
            assert_eq!(try_open(made, &storage, &directory).unwrap().get(b"a").unwrap(), Some(b"1".to_vec()));
        }
    }
    // A store that has lost its manifest is not a store without a manifest, even if it has no SSTable.
    for is_flushed in [false, true] {
        let directory = format!("{is_flushed}");
        let tree = try_open(&listed, &storage, &directory).unwrap();
        tree.put(b"a", b"1").unwrap();
        if is_flushed {
            tree.flush().unwrap();
        }
        drop(tree);
        storage.remove(&Path::new(&directory).join("manifest")).unwrap();
        for design in [&scanned, &listed] {
            let error = try_open(design, &storage, &directory).err().unwrap();
            assert!(error.is_damage() && error.to_string().contains("the manifest is missing"), "{error}");
        }
        let report = verify(&storage, Path::new(&directory)).unwrap();
        assert!(report.damage[0].to_string().contains("the manifest is missing"), "{report:?}");
    }
}

#[test]
fn a_corrupt_table_is_an_error_and_its_quarantine_keeps_the_rest() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(&design("wal = \"sync\""), Mode::Counted, &storage, Path::new(DIRECTORY));
    flush(&tree, 0..10, b"first");
    flush(&tree, 10..20, b"second");
    (20..30).for_each(|key| tree.put(&[key], b"log").unwrap());
    tree.close().unwrap();
    let newest = names(&storage, "table").pop().unwrap();
    let path = Path::new(DIRECTORY).join(&newest);
    let file = storage.open(&path, Purpose::Table).unwrap();
    let bytes = file.read(0, file.len() as usize - 1).unwrap();
    storage.create(&path, Purpose::Table).unwrap().append(&bytes).unwrap();
    let error = try_open(&design("wal = \"sync\""), &storage, DIRECTORY).err().unwrap();
    assert!(error.is_damage() && error.to_string().contains(&newest), "{error}");
    assert!(verify(&storage, Path::new(DIRECTORY)).unwrap().damage[0].to_string().contains(&newest));
    let options = OpenOptions::new(design("wal = \"sync\"")).mode(Mode::Counted).quarantine(true);
    let tree = options.storage(Arc::clone(&storage)).open(DIRECTORY).unwrap();
    assert!(tree.recovery().quarantined_files[0].starts_with(&newest), "{:?}", tree.recovery());
    let keys = |tree: &Tree| content(tree).iter().map(|(key, _)| *key).collect::<Vec<_>>();
    let kept: Vec<u8> = (0..10).chain(20..30).collect();
    assert_eq!(keys(&tree), kept);
    let tree = reopened(tree, &storage);
    tree.put(&[40], b"later").unwrap();
    assert_eq!(keys(&reopened(tree, &storage)), [kept, vec![40]].concat());
}

#[test]
fn tables_whose_sequence_numbers_overlap_are_an_error() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(&design(""), Mode::Counted, &storage, Path::new(DIRECTORY));
    flush(&tree, 0..10, b"first");
    flush(&tree, 10..20, b"second");
    tree.close().unwrap();
    let newest = names(&storage, "table").pop().unwrap();
    let renamed = newest.replace("_11_", "_7_");
    let path = |name: &str| Path::new(DIRECTORY).join(name);
    storage.rename(&path(&newest), &path(&renamed)).unwrap();
    let error = try_open(&design(""), &storage, DIRECTORY).err().unwrap();
    assert!(
        error.is_damage()
            && error
                .to_string()
                .contains("the range of sequence numbers in the name of this SSTable overlaps"),
        "{error}"
    );
}

/// Tests that a compaction of a range merges all runs, because an output replaces all SSTables of its sequence numbers.
#[test]
fn a_compaction_of_a_range_merges_everything() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(&design(""), Mode::Counted, &storage, Path::new(DIRECTORY));
    flush(&tree, 0..10, b"first");
    flush(&tree, 50..60, b"second");
    flush(&tree, 5..12, b"third");
    let before = content(&tree);
    tree.compact_range((Bound::Included(&[0][..]), Bound::Excluded(&[20][..]))).unwrap();
    assert_eq!(tree.stats().runs(), 1);
    assert_eq!(content(&reopened(tree, &storage)), before);
}

#[test]
fn an_unfinished_copy_or_removal_is_no_store() {
    let storage: Arc<dyn Storage> = Arc::new(Memory::default());
    let tree = open(&design("wal = \"none\""), Mode::Counted, &storage, Path::new(DIRECTORY));
    tree.checkpoint("empty").unwrap();
    assert_eq!(content(&try_open(&design(""), &storage, "empty").unwrap()), []);
    flush(&tree, 0..10, b"first");
    flush(&tree, 5..15, b"second");
    tree.checkpoint("copy").unwrap();
    assert_eq!(content(&try_open(&design(""), &storage, "copy").unwrap()), content(&tree));
    let mark = Path::new("copy/incomplete.tmp");
    storage.create(mark, Purpose::Manifest).unwrap();
    let error = try_open(&design(""), &storage, "copy").err().unwrap();
    assert!(error.to_string().contains("incomplete.tmp") && error.is_damage(), "{error}");
    assert_eq!(verify(&storage, Path::new("copy")).unwrap().damage.len(), 1);
    for directory in ["copy", "empty"] {
        destroy(&storage, Path::new(directory)).unwrap();
        assert_eq!(storage.list(Path::new(directory)).unwrap(), [""; 0]);
    }
    drop(tree);
    destroy(&storage, Path::new(DIRECTORY)).unwrap();
    assert_eq!(storage.list(Path::new(DIRECTORY)).unwrap(), [""; 0]);
}
