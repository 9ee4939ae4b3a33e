//! Tests of values in blob files: which files exist, which values move between files, and which values readers get.

use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{Design, Mode, OpenOptions, Tree, verify};
use storage::{Purpose, Storage};

use crate::common::{memory, open, small_design};

const DIRECTORY: &str = "tree";

/// Returns a design that stores values of at least 100 bytes in blob files, with these additional parameters.
fn apart(parameters: &str) -> Design {
    small_design(&format!("values = {{ kind = \"blob-files\", threshold = 100{parameters} }}"))
}

fn in_directory(design: &Design, storage: &Arc<dyn Storage>) -> Tree {
    open(design, Mode::Counted, storage, Path::new(DIRECTORY))
}

/// Returns the names of the blob files in the storage.
fn blobs(storage: &Arc<dyn Storage>) -> Vec<String> {
    let names = storage.list(Path::new(DIRECTORY)).unwrap();
    names
        .into_iter()
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "blob"))
        .collect()
}

fn value(number: usize) -> Vec<u8> {
    vec![number as u8; 200]
}

/// Puts values of 200 bytes under the keys with these numbers, and flushes the memtable.
fn put(tree: &Tree, numbers: std::ops::Range<usize>) {
    for number in numbers {
        tree.put(format!("key{number:03}").as_bytes(), &value(number)).unwrap();
    }
    tree.flush().unwrap();
}

/// Checks with gets and with a scan that the tree contains exactly these values.
fn expect(tree: &Tree, numbers: std::ops::Range<usize>) {
    let mut range = tree.range(..).unwrap();
    for number in numbers {
        let key = format!("key{number:03}").into_bytes();
        assert_eq!(tree.get(&key).unwrap(), Some(value(number)));
        assert_eq!(range.next().unwrap(), Some((&key[..], &value(number)[..])));
    }
    assert_eq!(range.next().unwrap(), None);
}

fn is_clean(storage: &Arc<dyn Storage>) {
    let report = verify(storage, Path::new(DIRECTORY)).unwrap();
    assert!(report.damage.is_empty(), "{:?}", report.damage);
    assert_eq!(report.blobs as usize, blobs(storage).len());
}

#[test]
fn small_values_stay_and_a_design_without_blob_files_moves_values_back() {
    let storage = memory();
    let tree = in_directory(&apart(""), &storage);
    tree.put(b"small", b"value").unwrap();
    tree.flush().unwrap();
    assert_eq!((blobs(&storage).len(), tree.stats().blobs.files), (0, 0));
    tree.delete(b"small").unwrap();
    put(&tree, 0..30);
    let stats = tree.stats().blobs;
    assert!(stats.files > 0 && stats.live_bytes == stats.bytes && stats.bytes == 30 * (12 + 6 + 200));
    tree.close().unwrap();
    is_clean(&storage);
    let inline = in_directory(&small_design(""), &storage);
    expect(&inline, 0..30);
    inline.put(b"key000", &value(0)).unwrap();
    inline.compact().unwrap();
    expect(&inline, 0..30);
    assert_eq!((blobs(&storage).len(), inline.stats().blobs.files), (0, 0));
    assert_eq!(inline.stats().counts.blob_values_relocated, 29);
    inline.close().unwrap();
    let again = in_directory(&apart(""), &storage);
    again.compact().unwrap();
    put(&again, 0..1);
    again.compact().unwrap();
    expect(&again, 0..30);
    assert_eq!(again.stats().blobs.bytes, 30 * (12 + 6 + 200));
}

#[test]
fn a_compaction_leaves_values_in_place_until_their_file_is_stale() {
    let storage = memory();
    let tree = in_directory(&apart(", stale_share = 0.5"), &storage);
    put(&tree, 0..10);
    let first = blobs(&storage);
    put(&tree, 0..4);
    tree.compact().unwrap();
    assert_eq!(tree.stats().counts.blob_values_relocated, 0);
    assert!(blobs(&storage).contains(&first[0]));
    let stats = tree.stats().blobs;
    assert_eq!((stats.bytes, stats.live_bytes), (14 * 218, 10 * 218));
    put(&tree, 4..7);
    tree.compact().unwrap();
    // Seven of ten values in the first file are stale now. The next compaction moves the other three values.
    put(&tree, 0..1);
    tree.compact().unwrap();
    assert_eq!(tree.stats().counts.blob_values_relocated, 3);
    assert!(!blobs(&storage).contains(&first[0]));
    expect(&tree, 0..10);
    tree.close().unwrap();
    is_clean(&storage);
}

#[test]
fn a_snapshot_keeps_the_files_of_its_values() {
    let storage = memory();
    let tree = in_directory(&apart(", stale_share = 0.1, relocation = \"apart\""), &storage);
    put(&tree, 0..10);
    let (first, snapshot) = (blobs(&storage), tree.snapshot());
    tree.delete_range(b"key000", b"key009").unwrap();
    tree.compact().unwrap();
    tree.settle().unwrap();
    expect(&tree, 9..10);
    assert!(blobs(&storage).contains(&first[0]), "the snapshot reads it");
    assert_eq!(snapshot.get(b"key004").unwrap(), Some(value(4)));
    let mut range = snapshot.range(..).unwrap();
    assert_eq!(range.next_back().unwrap(), Some((&b"key009"[..], &value(9)[..])));
    drop(range);
    drop(snapshot);
    let left = blobs(&storage);
    assert!(!left.contains(&first[0]) && left.len() == 1, "{left:?}");
    let copy = Path::new("copy");
    tree.checkpoint(copy).unwrap();
    tree.delete(b"key009").unwrap();
    tree.compact().unwrap();
    assert!(blobs(&storage).is_empty());
    drop(tree);
    let copied = open(&apart(""), Mode::Counted, &storage, copy);
    assert_eq!(copied.get(b"key009").unwrap(), Some(value(9)));
}

/// Changes the byte at the offset `at` of the file `name`.
fn damage(storage: &Arc<dyn Storage>, name: &str, at: usize) {
    let path = Path::new(DIRECTORY).join(name);
    let file = storage.open(&path, Purpose::Table).unwrap();
    let mut bytes = file.read(0, file.len() as usize).unwrap().to_vec();
    bytes[at] ^= 1;
    let mut file = storage.create(&path, Purpose::Table).unwrap();
    file.append(&bytes).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_corrupt_or_missing_blob_file_is_named() {
    let storage = memory();
    let tree = in_directory(&apart(""), &storage);
    put(&tree, 0..5);
    tree.close().unwrap();
    let [name] = &blobs(&storage)[..] else { panic!("one blob file") };
    damage(&storage, name, 20);
    let expected =
        format!("{DIRECTORY}/{name}, offset 0: the record in the blob file does not match its checksum");
    let tree = in_directory(&apart(""), &storage);
    let error = tree.get(b"key000").unwrap_err();
    assert!(error.is_damage() && error.to_string().starts_with(&expected), "{error}");
    let error = tree.range(..).unwrap().next().map(|_| ()).unwrap_err();
    assert!(error.to_string().starts_with(&expected), "{error}");
    assert_eq!(tree.get(b"key001").unwrap(), Some(value(1)));
    drop(tree);
    let report = verify(&storage, Path::new(DIRECTORY)).unwrap();
    assert_eq!(report.damage.len(), 1, "{:?}", report.damage);
    assert!(report.damage[0].to_string().starts_with(&expected), "{:?}", report.damage);
    storage.remove(&Path::new(DIRECTORY).join(name)).unwrap();
    let options = OpenOptions::new(apart("")).mode(Mode::Counted).storage(Arc::clone(&storage));
    let error = options.open(DIRECTORY).err().unwrap().to_string();
    assert!(error.contains(&**name) && error.contains("open the store with quarantine"), "{error}");
}
