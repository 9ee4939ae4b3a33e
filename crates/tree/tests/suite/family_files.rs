//! The files of families: the manifest of a family names its store, and no file of another time or store is accepted.

use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{Design, Error, Families, Mode, OpenOptions, verify};
use storage::{Purpose, Storage};

use crate::common::{memory, open, small_design};
use crate::probe::is_a;

const DIRECTORY: &str = "store";

fn design() -> Design {
    small_design("[families.index]\n[families.values]\n")
}

fn opened(storage: &Arc<dyn Storage>, directory: &str) -> Result<Families, Error> {
    Families::open(OpenOptions::new(design()).mode(Mode::Counted).storage(Arc::clone(storage)), directory)
}

/// Creates a store whose families have SSTables, and writes in the WAL.
fn build(storage: &Arc<dyn Storage>, directory: &str) {
    let store = opened(storage, directory).unwrap();
    for round in 0..3u32 {
        for name in ["index", "values"] {
            let family = store.family(name).unwrap();
            (0..20u32).for_each(|key| family.put(&key.to_be_bytes(), &round.to_be_bytes()).unwrap());
        }
        if round < 2 {
            store.flush().unwrap();
        }
    }
    store.close().unwrap();
}

fn read(storage: &dyn Storage, path: &str) -> Vec<u8> {
    let file = storage.open(Path::new(path), Purpose::Manifest).unwrap();
    file.read(0, file.len() as usize).unwrap().to_vec()
}

fn write(storage: &dyn Storage, path: &str, bytes: &[u8]) {
    let mut file = storage.create(Path::new(path), Purpose::Manifest).unwrap();
    file.append(bytes).and_then(|()| file.sync()).unwrap();
}

/// Returns the names of all files of the store and of its families.
fn files(storage: &dyn Storage) -> Vec<String> {
    let of = |folder: &str| storage.list(Path::new(folder)).unwrap();
    ["store", "store/index", "store/values"].into_iter().flat_map(of).collect()
}

/// Checks that `verify` reports corruption with this text, and that opening the store fails with it.
fn check_told(storage: &Arc<dyn Storage>, text: &str) {
    let damage = verify(storage, Path::new(DIRECTORY)).unwrap().damage;
    assert!(damage.iter().any(|error| error.to_string().contains(text)), "{text}: {damage:?}");
    let error = opened(storage, DIRECTORY).err().unwrap();
    assert!(error.is_damage() && error.to_string().contains(text), "{text}: {error}");
}

#[test]
fn failed_openings_leave_no_files() {
    let storage = memory();
    build(&storage, DIRECTORY);
    let tables = storage.list(Path::new("store/values")).unwrap();
    let table = tables.into_iter().find(|name| is_a(name, "table")).unwrap();
    let table = format!("store/values/{table}");
    let content = read(&*storage, &table);
    write(&*storage, &table, &content[..content.len() / 2]);
    let before = files(&*storage);
    for attempt in 0..5 {
        assert!(opened(&storage, DIRECTORY).err().unwrap().is_damage());
        assert_eq!(files(&*storage), before, "attempt {attempt}");
    }
    // The family is missing.
    for name in storage.list(Path::new("store/values")).unwrap() {
        storage.remove(&Path::new("store/values").join(name)).unwrap();
    }
    let before = files(&*storage);
    for attempt in 0..5 {
        assert!(matches!(opened(&storage, DIRECTORY), Err(Error::NotAStore(_))));
        assert_eq!(files(&*storage), before, "attempt {attempt}");
    }
}

#[test]
fn failed_replays_of_a_tree_leave_no_files() {
    let storage = memory();
    let design = small_design("wal = \"sync\"");
    let tree = open(&design, Mode::Counted, &storage, Path::new("tree"));
    (0..9u32).for_each(|key| tree.put(&key.to_be_bytes(), b"value").unwrap());
    tree.close().unwrap();
    let of_tree = || storage.list(Path::new("tree")).unwrap();
    let log = format!("tree/{}", of_tree().into_iter().find(|name| is_a(name, "wal")).unwrap());
    let mut content = read(&*storage, &log);
    let middle = content.len() / 2;
    content[middle] ^= 1;
    write(&*storage, &log, &content);
    let before = of_tree();
    for attempt in 0..5 {
        let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(&storage));
        assert!(options.open("tree").err().unwrap().is_damage());
        assert_eq!(of_tree(), before, "attempt {attempt}");
    }
}

#[test]
fn a_copied_folder_of_a_family_is_no_store() {
    let storage = memory();
    build(&storage, DIRECTORY);
    storage.create_directory(Path::new("copy")).unwrap();
    for name in storage.list(Path::new("store/index")).unwrap() {
        write(&*storage, &format!("copy/{name}"), &read(&*storage, &format!("store/index/{name}")));
    }
    let is_told = |error: Error| {
        let is_misuse = matches!(error, Error::Misuse(_));
        let text = error.to_string();
        assert!(is_misuse && text.contains("copy is the family \"index\" of a store"), "{text}");
    };
    let options = || OpenOptions::new(small_design("")).mode(Mode::Counted).storage(Arc::clone(&storage));
    is_told(options().open("copy").err().unwrap());
    is_told(opened(&storage, "copy").err().unwrap());
    is_told(verify(&storage, Path::new("copy")).unwrap_err());
    // The families of a checkpoint belong to the checkpoint.
    let store = opened(&storage, DIRECTORY).unwrap();
    store.checkpoint("checkpoint").unwrap();
    drop(store);
    drop(opened(&storage, "checkpoint").unwrap());
    assert!(verify(&storage, Path::new("checkpoint")).unwrap().damage.is_empty());
}

#[test]
fn files_of_another_family_store_or_time_are_told() {
    let storage = memory();
    build(&storage, DIRECTORY);
    build(&storage, "other");
    let [index, values, root] =
        ["store/index", "store/values", "store"].map(|of| read(&*storage, &format!("{of}/manifest")));
    for (bytes, text) in [
        (&values, "the manifest belongs to the family \"values\", not to the family \"index\""),
        (&root, "the manifest belongs to a store with families, not to the family \"index\""),
        (&read(&*storage, "other/index/manifest"), "the manifest belongs to a family of another store"),
    ] {
        write(&*storage, "store/index/manifest", bytes);
        check_told(&storage, text);
    }
    // The store itself has the manifest of a family.
    write(&*storage, "store/index/manifest", &index);
    write(&*storage, "store/manifest", &index);
    assert!(
        verify(&storage, Path::new(DIRECTORY)).unwrap_err().to_string().contains("as its manifest states")
    );
    write(&*storage, "store/manifest", &root);
    drop(opened(&storage, DIRECTORY).unwrap());
}

#[test]
fn an_older_manifest_of_a_family_is_told() {
    let storage = memory();
    let store = opened(&storage, DIRECTORY).unwrap();
    let put = |key: u32| store.family("index").unwrap().put(&key.to_be_bytes(), b"value").unwrap();
    (0..10).for_each(put);
    store.flush().unwrap();
    let older = read(&*storage, "store/index/manifest");
    (10..20).for_each(put);
    store.flush().unwrap();
    // The WAL has no write of the family.
    let newer = read(&*storage, "store/index/manifest");
    store.close().unwrap();
    assert_ne!(older.len(), newer.len());
    write(&*storage, "store/index/manifest", &older);
    check_told(
        &storage,
        "the last writes of the family are missing: the SSTables in the manifest end with write 10",
    );
}
