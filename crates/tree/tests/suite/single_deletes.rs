//! Tests of single deletes: a tombstone leaves the tree together with its put, and no older value reappears.

use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{Mode, Tree, WriteBatch};
use storage::Storage;

use crate::common::{memory, open, small_design};

/// A policy that compacts nothing by itself, so each test chooses the sorted runs of its compactions.
const MANUAL: &str = "compaction = \"none\"";

/// A policy that compacts three runs of a level, so that newer runs are merged before they are merged with the oldest
/// run.
const TIERED: &str = "compaction = { kind = \"tiered\", size_ratio = 3 }";

fn tree(design: &str) -> Tree {
    open(&small_design(design), Mode::Counted, &memory(), Path::new("tree"))
}

/// Returns the number of entries, of tombstones, and of removed pairs.
fn counts(tree: &Tree) -> (u64, u64, u64) {
    let stats = tree.stats();
    let sum = |of: fn(&lsmbench_tree::LevelStats) -> u64| stats.levels.iter().map(of).sum();
    (sum(|level| level.entries), sum(|level| level.tombstones), stats.counts.single_delete_pairs)
}

fn put_and_flush(tree: &Tree, key: &[u8], value: &[u8]) {
    tree.put(key, value).unwrap();
    tree.flush().unwrap();
}

fn single_delete_and_flush(tree: &Tree, key: &[u8]) {
    tree.single_delete(key).unwrap();
    tree.flush().unwrap();
}

#[test]
fn a_pair_in_one_memtable_leaves_nothing() {
    let tree = tree(MANUAL);
    tree.put(b"key", b"value").unwrap();
    let snapshot = tree.snapshot();
    tree.single_delete(b"key").unwrap();
    assert_eq!(tree.get(b"key").unwrap(), None);
    tree.flush().unwrap();
    assert_eq!((tree.get(b"key").unwrap(), counts(&tree)), (None, (0, 0, 1)));
    assert_eq!(snapshot.get(b"key").unwrap().as_deref(), Some(&b"value"[..]));
    assert_eq!((tree.stats().counts.single_deletes, tree.stats().counts.deletes), (1, 0));
    put_and_flush(&tree, b"key", b"again");
    assert_eq!(tree.get(b"key").unwrap().as_deref(), Some(&b"again"[..]));
}

/// Tests that a compaction removes a single delete together with its put, while the tombstone of an ordinary delete
/// remains, because older versions may exist.
#[test]
fn a_pair_of_two_runs_leaves_together_and_a_delete_stays() {
    let tree = tree(TIERED);
    for number in 0..9 {
        tree.put(format!("old-{number}").as_bytes(), &[b'v'; 30]).unwrap();
    }
    tree.flush().unwrap();
    tree.put(b"single", b"value").unwrap();
    put_and_flush(&tree, b"plain", b"value");
    tree.single_delete(b"single").unwrap();
    tree.delete(b"plain").unwrap();
    let snapshot = tree.snapshot();
    tree.flush().unwrap();
    assert_eq!(counts(&tree), (9, 0, 1), "three runs meet");
    tree.put(b"single", b"value").unwrap();
    put_and_flush(&tree, b"plain", b"value");
    tree.single_delete(b"single").unwrap();
    tree.delete(b"plain").unwrap();
    tree.flush().unwrap();
    put_and_flush(&tree, b"another", b"value");
    assert_eq!((tree.get(b"single").unwrap(), tree.get(b"plain").unwrap()), (None, None));
    // The older run has the 9 entries. The compaction leaves one entry and the tombstone of the delete.
    assert_eq!(counts(&tree), (11, 1, 2));
    assert_eq!(snapshot.get(b"single").unwrap(), None);
}

/// Tests a key that is put and single-deleted several times. Its first put is in an old run while a compaction merges
/// the newer runs. The mark of the second put keeps the information about the first single delete.
#[test]
fn a_key_with_several_lives_never_returns_to_an_older_one() {
    let tree = tree(TIERED);
    for number in 0..9 {
        tree.put(format!("old-{number}").as_bytes(), &[b'v'; 30]).unwrap();
    }
    tree.put(b"key", b"first").unwrap();
    (0..3).for_each(|_| put_and_flush(&tree, b"z", b"so that three runs meet"));
    assert_eq!(counts(&tree).0, 11);
    single_delete_and_flush(&tree, b"key");
    put_and_flush(&tree, b"key", b"second");
    put_and_flush(&tree, b"z", b"another run");
    assert_eq!(tree.stats().levels[1].runs, 2, "the second put has replaced the single delete");
    assert_eq!(tree.get(b"key").unwrap().as_deref(), Some(&b"second"[..]));
    single_delete_and_flush(&tree, b"key");
    (0..2).for_each(|_| put_and_flush(&tree, b"z", b"more"));
    // The second pair is gone, and the first single delete is needed again.
    assert_eq!(tree.get(b"key").unwrap(), None);
    tree.compact().unwrap();
    assert_eq!((tree.get(b"key").unwrap(), counts(&tree).1), (None, 0));
    tree.compact().unwrap();
    assert_eq!((tree.get(b"key").unwrap(), counts(&tree)), (None, (10, 0, 2)));
}

#[test]
fn lives_within_a_memtable_leave_the_oldest_single_delete() {
    let tree = tree(MANUAL);
    put_and_flush(&tree, b"key", b"first");
    tree.single_delete(b"key").unwrap();
    for life in 0..3 {
        tree.put(b"key", &[life]).unwrap();
        tree.single_delete(b"key").unwrap();
    }
    tree.flush().unwrap();
    assert_eq!((tree.get(b"key").unwrap(), counts(&tree)), (None, (2, 1, 3)));
    tree.put(b"key", b"last").unwrap();
    tree.single_delete(b"key").unwrap();
    tree.put(b"key", b"really last").unwrap();
    tree.flush().unwrap();
    assert_eq!((tree.get(b"key").unwrap().as_deref(), counts(&tree)), (Some(&b"really last"[..]), (3, 1, 4)));
    tree.single_delete(b"key").unwrap();
    tree.compact().unwrap();
    assert_eq!((tree.get(b"key").unwrap(), counts(&tree).0), (None, 0));
}

/// Tests a single delete after two puts of a key. If one flush reads both puts, the single delete is safe. If the flush
/// reads only the newer put, the older put reappears, as in `RocksDB`.
#[test]
fn a_broken_promise_is_safe_only_where_it_is_seen() {
    let tree = tree(MANUAL);
    tree.put(b"seen", b"first").unwrap();
    tree.put(b"seen", b"second").unwrap();
    tree.single_delete(b"seen").unwrap();
    tree.flush().unwrap();
    assert_eq!((tree.get(b"seen").unwrap(), counts(&tree)), (None, (1, 1, 0)), "an ordinary tombstone");
    put_and_flush(&tree, b"unseen", b"first");
    tree.put(b"unseen", b"second").unwrap();
    tree.single_delete(b"unseen").unwrap();
    assert_eq!(tree.get(b"unseen").unwrap(), None, "the key is absent until the flush");
    tree.flush().unwrap();
    assert_eq!(tree.get(b"unseen").unwrap().as_deref(), Some(&b"first"[..]));
}

#[test]
fn range_deletes_and_merges_next_to_single_deletes() {
    let tree = tree(&format!("{MANUAL}\nmerge_operator = \"append\""));
    put_and_flush(&tree, b"key", b"first");
    tree.delete_range(b"k", b"l").unwrap();
    tree.flush().unwrap();
    put_and_flush(&tree, b"key", b"second");
    single_delete_and_flush(&tree, b"key");
    assert_eq!(tree.get(b"key").unwrap(), None);
    tree.compact().unwrap();
    assert_eq!((tree.get(b"key").unwrap(), counts(&tree).0), (None, 0));
    // A merge breaks the promise. The single delete then acts as a delete.
    put_and_flush(&tree, b"merged", b"a");
    tree.merge(b"merged", b"b").unwrap();
    tree.single_delete(b"merged").unwrap();
    tree.flush().unwrap();
    assert_eq!((tree.get(b"merged").unwrap(), counts(&tree).1), (None, 1));
    tree.merge(b"merged", b"c").unwrap();
    tree.flush().unwrap();
    assert_eq!(tree.get(b"merged").unwrap().as_deref(), Some(&b"c"[..]));
}

/// Tests that recovery replays single deletes as single deletes, from single writes and from batches.
#[test]
fn recovery_keeps_single_deletes_apart_from_deletes() {
    let storage = memory();
    let design = small_design(MANUAL);
    let open = || open(&design, Mode::Counted, &storage, Path::new("tree"));
    let tree = open();
    let mut batch = WriteBatch::new();
    batch.put(b"pair", b"value").unwrap();
    batch.single_delete(b"pair").unwrap();
    batch.delete(b"plain").unwrap();
    assert_eq!(batch.len(), 3);
    tree.write(&batch).unwrap();
    tree.single_delete(b"alone").unwrap();
    drop(tree);
    let tree = open();
    assert_eq!(counts(&tree), (2, 2, 1));
    tree.close().unwrap();
    let report = lsmbench_tree::verify(&storage, Path::new("tree")).unwrap();
    assert!(report.damage.is_empty(), "{:?}", report.damage);
}

/// Tests that a flipped bit in the marks of single deletes is found by `verify` and when the store opens.
#[test]
fn flipped_bits_of_marks_are_found() {
    let (storage, path) = (memory(), Path::new("tree"));
    let design = small_design(MANUAL);
    let tree = open(&design, Mode::Counted, &storage, path);
    (0..20u8).for_each(|key| tree.single_delete(&[key]).unwrap());
    tree.flush().unwrap();
    tree.close().unwrap();
    let name =
        storage.list(path).unwrap().into_iter().find(|name| name.strip_suffix(".table").is_some()).unwrap();
    let file = storage.open(&path.join(&name), storage::Purpose::Table).unwrap();
    let bytes = file.read(0, file.len() as usize).unwrap().to_vec();
    // The section of the marks is the third of five sections, each with offset, length and checksum.
    let entry = bytes.len() - 16 - 3 * 20;
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    for at in number(entry)..number(entry) + number(entry + 8) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        let mut writer = storage.create(&path.join(&name), storage::Purpose::Table).unwrap();
        writer.append(&damaged).and_then(|()| writer.sync()).unwrap();
        let report = lsmbench_tree::verify(&storage, path).unwrap();
        let [error] = &report.damage[..] else { panic!("byte {at}: {:?}", report.damage) };
        assert!(error.to_string().contains("marks of single deletes"), "{error}");
    }
}

/// Tests several threads that write pairs of puts and single deletes at the same time.
#[test]
fn threads_delete_their_own_keys() {
    let storage: Arc<dyn Storage> = memory();
    let design = small_design("compaction = { kind = \"tiered\", size_ratio = 2 }");
    let tree = open(&design, Mode::Timed, &storage, Path::new("tree"));
    let key = |thread: u32, number: u32| format!("{number:05}-{thread}").into_bytes();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let tree = &tree;
            scope.spawn(move || {
                for number in 0..600 {
                    tree.put(&key(thread, number), b"a value of some bytes").unwrap();
                    if let Some(head) = number.checked_sub(50) {
                        tree.single_delete(&key(thread, head)).unwrap();
                    }
                }
            });
        }
    });
    tree.settle().unwrap();
    for thread in 0..3 {
        for number in 0..600 {
            let is_there = tree.get(&key(thread, number)).unwrap().is_some();
            assert_eq!(is_there, number >= 550, "key {number} of thread {thread}");
        }
    }
    tree.compact().unwrap();
    assert_eq!((counts(&tree).0, counts(&tree).1), (150, 0));
}
