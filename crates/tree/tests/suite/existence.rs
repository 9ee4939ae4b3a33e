//! Tests of the options for existing stores, and of the removal of stores.

use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{Error, Mode, OpenOptions, QUARANTINE, destroy};
use storage::{Purpose, Storage};

use crate::common::{memory, open, small_design};

/// Options that open a store in this storage.
fn options(storage: &Arc<dyn Storage>) -> OpenOptions {
    OpenOptions::new(small_design("")).mode(Mode::Counted).storage(Arc::clone(storage))
}

#[test]
fn a_missing_store_is_created_only_if_the_options_allow_it() {
    let (storage, directory) = (memory(), Path::new("a/b"));
    let missing = options(&storage).create_if_missing(false).open(directory);
    assert!(matches!(missing, Err(Error::NotAStore(_))));
    assert!(storage.list(directory).is_err(), "the failed opening created nothing");
    let tree = options(&storage).error_if_exists(true).open(directory).unwrap();
    tree.put(b"key", b"value").unwrap();
    tree.close().unwrap();
    assert!(matches!(options(&storage).error_if_exists(true).open(directory), Err(Error::Exists(_))));
    let tree = options(&storage).create_if_missing(false).open(directory).unwrap();
    assert_eq!(tree.get(b"key").unwrap().as_deref(), Some(&b"value"[..]));
}

#[test]
fn a_removed_store_leaves_only_other_files() {
    let (storage, directory) = (memory(), Path::new("db"));
    destroy(&storage, directory).unwrap();
    let design = small_design("values = { kind = \"blob-files\", threshold = 10 }");
    let tree = open(&design, Mode::Counted, &storage, directory);
    for key in 0..1000u32 {
        tree.put(&key.to_be_bytes(), &[7; 50]).unwrap();
    }
    assert!(matches!(destroy(&storage, directory), Err(Error::InUse(..))));
    tree.close().unwrap();
    let quarantine = directory.join(QUARANTINE);
    storage.create_directory(&quarantine).unwrap();
    for other in [directory.join("notes.txt"), quarantine.join("00000001.table")] {
        storage.create(&other, Purpose::Manifest).unwrap();
    }
    destroy(&storage, directory).unwrap();
    assert_eq!(storage.list(directory).unwrap(), ["notes.txt"]);
    assert!(storage.list(&quarantine).unwrap().is_empty());
    // A directory with other files only is no store.
    assert!(matches!(destroy(&storage, directory), Err(Error::NotATree(_))));
    storage.remove(&directory.join("notes.txt")).unwrap();
    assert!(open(&design, Mode::Counted, &storage, directory).get(&[0; 4]).unwrap().is_none());
}
