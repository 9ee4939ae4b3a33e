//! Tests with corrupt files: every error names the file, and no read returns a wrong answer.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{AXES, Design, Error, Mode, OpenOptions, Tree, verify};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::{Purpose, Storage, Unsynced};
use types::Direction;

use crate::common::{Model, mapped_memory, memory, open, small_design};
use crate::probe::{gated_disk, in_time, is_a};

const DIRECTORY: &str = "tree";

/// Builds a store with SSTables on several levels and a non-empty WAL, and returns its content. The key-value pairs
/// in the lower half of the keys have equal sizes.
fn build(design: &Design, storage: &Arc<dyn Storage>) -> Model {
    let tree = open(design, Mode::Counted, storage, Path::new(DIRECTORY));
    let mut model = Model::new();
    for n in 0..260u32 {
        let number = n * 7919 % 1000;
        let more = if number < 500 { 10 } else { n % 40 };
        let key = format!("key{number:04}").into_bytes();
        let value = format!("value {n:03} {}", "x".repeat(more as usize)).into_bytes();
        tree.put(&key, &value).unwrap();
        model.insert(key, value);
    }
    model
}

fn files(storage: &Arc<dyn Storage>) -> Vec<String> {
    let names = storage.list(Path::new(DIRECTORY)).unwrap();
    names.into_iter().filter(|name| name != "lock" && name != "quarantine").collect()
}

fn read(storage: &Arc<dyn Storage>, name: &str) -> Vec<u8> {
    let file = storage.open(&Path::new(DIRECTORY).join(name), Purpose::Table).unwrap();
    file.read(0, file.len() as usize).unwrap().to_vec()
}

/// Returns a copy of the store in which the file `name` is replaced with `bytes`, or removed if `bytes` is `None`.
fn copy_with(storage: &Arc<dyn Storage>, name: &str, bytes: Option<&[u8]>) -> Arc<dyn Storage> {
    copy_to(memory(), storage, name, bytes)
}

/// Copies the store to the empty storage `copy` and replaces or removes one file, like [`copy_with`].
fn copy_to(
    copy: Arc<dyn Storage>,
    storage: &Arc<dyn Storage>,
    name: &str,
    bytes: Option<&[u8]>,
) -> Arc<dyn Storage> {
    copy.create_directory(Path::new(DIRECTORY)).unwrap();
    for file in files(storage) {
        let content = match (file == name, bytes) {
            (true, None) => continue,
            (true, Some(bytes)) => bytes.to_vec(),
            (false, _) => read(storage, &file),
        };
        copy.create(&Path::new(DIRECTORY).join(&file), Purpose::Table).unwrap().append(&content).unwrap();
    }
    copy
}

/// Opens the corrupt store and reads everything. Each answer must be right or an error about corruption. Returns
/// whether the corruption caused an error.
fn check_answers(design: &Design, storage: &Arc<dyn Storage>, model: &Model, what: &str) -> bool {
    let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(storage));
    let tree = match options.open(DIRECTORY) {
        Ok(tree) => tree,
        Err(error) => {
            assert!(error.is_damage(), "{what}: {error}");
            return true;
        }
    };
    let mut seen = false;
    for (key, value) in model {
        match tree.get(key) {
            Ok(got) => assert_eq!(got.as_ref(), Some(value), "{what}: key {}", String::from_utf8_lossy(key)),
            Err(error) => {
                assert!(error.is_damage(), "{what}: {error}");
                seen = true;
            }
        }
    }
    let mut range = tree.range(..).unwrap();
    let mut expected = model.iter();
    loop {
        match range.next() {
            Ok(Some((key, value))) => {
                let (wanted_key, wanted_value) =
                    expected.next().expect("a range gives out no more than there is");
                assert_eq!((key, value), (&wanted_key[..], &wanted_value[..]), "{what}");
            }
            Ok(None) => {
                assert_eq!(expected.next(), None, "{what}: a range ended early without an error");
                break;
            }
            Err(error) => {
                assert!(error.is_damage(), "{what}: {error}");
                seen = true;
                break;
            }
        }
    }
    seen
}

#[test]
fn a_damaged_block_ahead_is_told_when_a_range_gets_there() {
    let given_out = |read_ahead: &str| {
        let text = "cache = \"none\"\nmemtable = { capacity = \"64KiB\" }\ntable = { capacity = \"64KiB\" }";
        let design = small_design(&format!("{text}\nrange = {{ read_ahead = \"{read_ahead}\" }}"));
        let storage = memory();
        build(&design, &storage);
        open(&design, Mode::Counted, &storage, Path::new(DIRECTORY)).compact().unwrap();
        let name = files(&storage).into_iter().find(|name| is_a(name, "table")).unwrap();
        let mut bytes = read(&storage, &name);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let damaged = copy_with(&storage, &name, Some(&bytes));
        let tree = open(&design, Mode::Counted, &damaged, Path::new(DIRECTORY));
        let mut visited = 0;
        let mut range = tree.range(..).unwrap();
        let error = range.visit(Direction::Forward, usize::MAX, |_, _| visited += 1).unwrap_err();
        assert!(error.is_damage(), "{error}");
        assert_eq!(range.visit(Direction::Forward, 1, |_, _| {}).unwrap(), 0, "it is at its end");
        let mut range = tree.range(..).unwrap().expecting(260);
        let mut entries = 0;
        while range.next().is_ok_and(|entry| entry.is_some()) {
            entries += 1;
        }
        assert!(range.next().is_ok_and(|entry| entry.is_none()), "a range that failed is at its end");
        assert_eq!(visited, entries, "what is before the damage is visited");
        entries
    };
    let one_by_one = given_out("0B");
    assert!((50..250).contains(&one_by_one), "{one_by_one}");
    assert_eq!(given_out("128KiB"), one_by_one);
}

#[test]
fn flipped_bits_in_tables_are_found_out_or_harmless() {
    for toml in [
        "",
        "compression = \"lz4\"",
        "fence = \"static-btree\"",
        "block = { align = true, index = \"hash\" }",
        "block = { index = \"fingerprint\", checksum = \"xxh3\" }",
        "block = { format = \"btree-page\" }\nfence = \"page-search\"",
        "range = { read_ahead = \"4KiB\" }\ncache = \"none\"",
        "compression = \"fsst\"",
        "compression = \"zstd(dictionary=256)\"\ntable = { capacity = \"4KiB\" }\nmemtable = { capacity = \"4KiB\" }",
    ] {
        let design = small_design(toml);
        let storage = memory();
        let model = build(&design, &storage);
        let table = files(&storage).into_iter().rfind(|name| is_a(name, "table")).unwrap();
        let bytes = read(&storage, &table);
        let (mut tried, mut found) = (0, 0);
        for at in (0..bytes.len()).step_by(3) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let copy = copy_with(&storage, &table, Some(&damaged));
            let report = verify(&copy, Path::new(DIRECTORY)).unwrap();
            let seen = check_answers(&design, &copy, &model, &format!("{toml}: {table}, byte {at}"));
            tried += 1;
            found += usize::from(!report.damage.is_empty());
            assert!(
                !seen || !report.damage.is_empty(),
                "{toml}: byte {at}: a reader meets damage that verify does not see"
            );
        }
        assert_eq!(found, tried, "{toml}: verify does not find every flipped bit");
    }
}

/// Tests flipped bits in blocks without checksums, in which only the block format can detect corruption. Answers may be
/// wrong, but the tree must not panic, hang or read out of bounds.
#[test]
fn flipped_bits_under_no_checksum_do_no_harm() {
    let format = AXES.iter().find(|axis| axis.name() == "format").expect("there is such an axis");
    for kind in format.variants().iter().map(|variant| variant.kind) {
        for index in ["none", "hash", "fingerprint"] {
            let text = format!("block = {{ format = \"{kind}\", index = \"{index}\", checksum = \"none\" }}");
            let (design, storage) = (small_design(&text), memory());
            let model = build(&design, &storage);
            let table = files(&storage).into_iter().rfind(|name| is_a(name, "table")).unwrap();
            let bytes = read(&storage, &table);
            for at in (0..bytes.len()).step_by(5) {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << (at % 8);
                // The test uses blocks that are copied out of files, and blocks that are read in place.
                for copy in [memory(), mapped_memory()] {
                    let copy = copy_to(copy, &storage, &table, Some(&damaged));
                    let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(copy);
                    let Ok(tree) = options.open(DIRECTORY) else { continue };
                    look_at_all(&tree, &model);
                }
            }
        }
    }
}

/// Reads large parts of a corrupt store through every read path. The answers are ignored.
fn look_at_all(tree: &Tree, model: &Model) {
    for key in model.keys().step_by(3) {
        let _ = tree.get(key);
        let from = (Bound::Included(key.as_slice()), Bound::Unbounded);
        let _ = tree.range(from).unwrap().expecting(3).visit(Direction::Forward, 3, |_, _| {});
    }
    for front in [true, false] {
        let mut range = tree.range(..).unwrap();
        while let Ok(Some(_)) = if front { range.next() } else { range.next_back() } {}
        let direction = if front { Direction::Forward } else { Direction::Backward };
        let _ = tree.range(..).unwrap().visit(direction, usize::MAX, |_, _| {});
    }
}

#[test]
fn cut_tables_are_found_out() {
    let design = small_design("");
    let storage = memory();
    let model = build(&design, &storage);
    let table = files(&storage).into_iter().rfind(|name| is_a(name, "table")).unwrap();
    let bytes = read(&storage, &table);
    for len in (0..bytes.len()).step_by(7) {
        let copy = copy_with(&storage, &table, Some(&bytes[..len]));
        assert!(check_answers(&design, &copy, &model, &format!("{table} cut to {len}")));
        assert!(!verify(&copy, Path::new(DIRECTORY)).unwrap().damage.is_empty());
    }
}

#[test]
fn swapped_and_missing_files_are_found_out() {
    let design = small_design("wal = \"sync\"");
    let storage = memory();
    let model = build(&design, &storage);
    let names = files(&storage);
    let tables: Vec<&String> = names.iter().filter(|name| is_a(name, "table")).collect();
    let swapped = copy_with(&storage, tables[0], Some(&read(&storage, tables[1])));
    assert!(check_answers(&design, &swapped, &model, "swapped tables"));
    for name in &names {
        let copy = copy_with(&storage, name, None);
        assert!(check_answers(&design, &copy, &model, &format!("{name} is missing")));
        let report = verify(&copy, Path::new(DIRECTORY)).unwrap();
        assert!(!report.damage.is_empty(), "verify does not miss {name}");
    }
}

#[test]
fn a_damaged_manifest_never_gives_wrong_answers() {
    let design = small_design("wal = \"sync\"");
    let storage = memory();
    let model = build(&design, &storage);
    let bytes = read(&storage, "manifest");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let copy = copy_with(&storage, "manifest", Some(&damaged));
        check_answers(&design, &copy, &model, &format!("manifest, byte {at}"));
    }
}

#[test]
fn a_damaged_synced_log_is_an_error_unless_it_is_its_end() {
    let design = small_design("wal = \"sync\"");
    let storage = memory();
    let model = build(&design, &storage);
    let log = files(&storage).into_iter().find(|name| is_a(name, "wal")).unwrap();
    let bytes = read(&storage, &log);
    let mut errors = 0;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let copy = copy_with(&storage, &log, Some(&damaged));
        let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(&copy));
        match options.open(DIRECTORY) {
            Err(error) => {
                assert!(error.is_damage(), "{error}");
                errors += 1;
            }
            // Only the last record can look like a commit that a crash truncated.
            Ok(tree) => {
                let missing = model
                    .iter()
                    .filter(|(key, value)| tree.get(key).unwrap().as_ref() != Some(value))
                    .count();
                assert!(missing <= 1, "byte {at}: {missing} keys are wrong");
            }
        }
    }
    assert!(errors * 100 > bytes.len() * 80, "{errors} of {} flips are errors", bytes.len());
}

#[test]
fn quarantine_lets_the_rest_be_read() {
    let design = small_design("");
    let storage = memory();
    let model = build(&design, &storage);
    let table = files(&storage).into_iter().find(|name| is_a(name, "table")).unwrap();
    let bytes = read(&storage, &table);
    let copy = copy_with(&storage, &table, Some(&bytes[..bytes.len() / 2]));
    let open = |quarantine| {
        let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(&copy));
        options.quarantine(quarantine).open(DIRECTORY)
    };
    let error = open(false).err().expect("damage is an error").to_string();
    assert!(error.contains(&table) && error.contains("quarantine"), "{error}");
    let tree = open(true).unwrap();
    assert_eq!(tree.recovery().quarantined_files.len(), 1);
    let readable = model.iter().filter(|(key, value)| tree.get(key).unwrap().as_ref() == Some(value)).count();
    assert!(readable > 0 && readable < model.len(), "{readable} of {}", model.len());
    drop(tree);
    assert!(open(false).is_ok(), "the damaged file is out of the way");
    assert!(matches!(verify(&copy, Path::new(DIRECTORY)), Ok(report) if report.damage.is_empty()));
}

#[test]
fn other_directories_and_other_owners_are_refused() {
    let storage = memory();
    storage.create_directory(Path::new("home")).unwrap();
    storage.create(Path::new("home/letter.txt"), Purpose::Manifest).unwrap().append(b"dear").unwrap();
    let options = || OpenOptions::new(small_design("")).mode(Mode::Counted).storage(Arc::clone(&storage));
    assert!(matches!(options().open("home"), Err(Error::NotATree(_))));
    assert_eq!(storage.list(Path::new("home")).unwrap(), ["letter.txt"], "nothing was made there");
    let tree = options().open(DIRECTORY).unwrap();
    assert!(matches!(options().open(DIRECTORY), Err(Error::InUse(..))));
    drop(tree);
    assert!(options().open(DIRECTORY).is_ok());
}

/// Returns a store whose last writes are in several WALs, because its SSTables could not be created.
fn store_of_several_logs() -> (Arc<dyn Storage>, Vec<String>) {
    let (probe, gate) = gated_disk();
    let storage: Arc<dyn Storage> = Arc::new(probe.clone());
    let design = small_design("wal = \"sync\"\nstall = { frozen_memtables = 8 }");
    let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
    gate.close();
    (0..150u32).for_each(|n| tree.put(format!("key{n:04}").as_bytes(), &[1; 30]).unwrap());
    let image: Arc<dyn Storage> = probe.after_crash(Unsynced::Kept);
    gate.open();
    drop(tree);
    // The next WAL may exist already. It has no records, so it is as long as the WAL of a new store.
    let (fresh, is_log) = (memory(), |name: &String| is_a(name, "wal"));
    let open_tree = open(&design, Mode::Counted, &fresh, Path::new(DIRECTORY));
    let unused = files(&fresh).iter().filter(|name| is_log(name)).map(|name| read(&fresh, name).len()).max();
    drop(open_tree);
    let mut logs: Vec<String> = files(&image).into_iter().filter(is_log).collect();
    logs.retain(|name| Some(read(&image, name).len()) > unused);
    assert!(logs.len() >= 3, "{logs:?}");
    (image, logs)
}

#[test]
fn a_missing_log_is_seen_by_open_and_verify() {
    let (storage, logs) = store_of_several_logs();
    let storage = copy_with(&storage, &logs[1], None);
    let report = verify(&storage, Path::new(DIRECTORY)).unwrap();
    assert_eq!(report.damage.len(), logs.len() - 2, "{:?}", report.damage);
    let options = OpenOptions::new(small_design("wal = \"sync\"")).mode(Mode::Counted).storage(storage);
    let error = options.open(DIRECTORY).err().expect("the store does not open");
    assert!(error.is_damage() && error.to_string().contains(&logs[2]), "{error}");
}

#[test]
fn quarantine_keeps_every_log_that_it_does_not_replay() {
    let (storage, logs) = store_of_several_logs();
    let mut bytes = read(&storage, &logs[1]);
    bytes[100] ^= 1;
    let storage = copy_with(&storage, &logs[1], Some(&bytes));
    let options = OpenOptions::new(small_design("wal = \"sync\"")).mode(Mode::Counted).quarantine(true);
    let tree = options.storage(Arc::clone(&storage)).open(DIRECTORY).unwrap();
    assert_eq!(tree.recovery().quarantined_files.len(), logs.len() - 1);
    let kept = storage.list(&Path::new(DIRECTORY).join("quarantine")).unwrap();
    assert_eq!(kept.len(), logs.len() - 1, "{kept:?}");
}

#[test]
fn files_with_odd_names_do_no_harm() {
    for name in ["18446744073709551615.wal", "18446744073709551615.table", "+7.table", "7.table", "0.wal"] {
        let (storage, design) = (memory(), small_design(""));
        let model = build(&design, &storage);
        let path = Path::new(DIRECTORY).join(name);
        storage.create(&path, Purpose::Log).unwrap().append(b"x").unwrap();
        assert!(!check_answers(&design, &storage, &model, name), "{name} is no damage");
        assert!(files(&storage).iter().any(|file| file == name), "{name} is not the tree's to remove");
    }
}

#[test]
fn a_large_record_that_was_cut_off_is_no_damage() {
    let design = small_design("wal = \"sync\"\nmemtable = { capacity = \"64MiB\" }");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let values = [
        (0..4 << 20).map(|_| random.random()).collect::<Vec<u8>>(),
        // Every four bytes of this value could be the length of a record.
        (2u32 << 20).to_le_bytes().repeat(1 << 20),
    ];
    for value in values {
        let storage = memory();
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        tree.put(b"a", b"1").unwrap();
        tree.put(b"big", &value).unwrap();
        drop(tree);
        let log = files(&storage).into_iter().find(|name| is_a(name, "wal")).unwrap();
        let bytes = read(&storage, &log);
        let cut = copy_with(&storage, &log, Some(&bytes[..bytes.len() - 1]));
        let design = design.clone();
        in_time("recovery", move || {
            let tree = open(&design, Mode::Counted, &cut, Path::new(DIRECTORY));
            assert_eq!(tree.get(b"a").unwrap(), Some(b"1".to_vec()));
            assert_eq!(tree.get(b"big").unwrap(), None);
        });
    }
}

#[test]
fn a_table_of_another_store_is_found_out() {
    let design = small_design("");
    let stores = [1, 2].map(|identity| {
        let storage = memory();
        let options = OpenOptions::new(design.clone()).mode(Mode::Counted).identity(identity);
        let tree = options.storage(Arc::clone(&storage)).open(DIRECTORY).unwrap();
        (0..100u32).for_each(|n| tree.put(format!("key{n:04}").as_bytes(), &[identity as u8; 30]).unwrap());
        tree.close().unwrap();
        storage
    });
    let [own, other] = &stores;
    let tables: Vec<String> = files(own).into_iter().filter(|name| is_a(name, "table")).collect();
    assert_eq!(tables, files(other).into_iter().filter(|name| is_a(name, "table")).collect::<Vec<_>>());
    for table in &tables {
        let mixed = copy_with(own, table, Some(&read(other, table)));
        let report = verify(&mixed, Path::new(DIRECTORY)).unwrap();
        assert!(report.damage.iter().any(|error| error.to_string().contains(&**table)), "{table}");
        let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(mixed);
        assert!(options.open(DIRECTORY).is_err_and(|error| error.is_damage()), "{table}");
    }
}

#[test]
fn a_closed_store_misses_every_byte_of_its_log() {
    for wal in ["buffered", "sync", "group", "interval"] {
        let design = small_design(&format!("wal = \"{wal}\""));
        let storage = memory();
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        (0..5u32).for_each(|n| tree.put(&n.to_be_bytes(), b"value").unwrap());
        tree.close().unwrap();
        let log = files(&storage).into_iter().find(|name| is_a(name, "wal")).unwrap();
        let bytes = read(&storage, &log);
        assert!(verify(&storage, Path::new(DIRECTORY)).unwrap().damage.is_empty());
        for len in 0..bytes.len() {
            let copy = copy_with(&storage, &log, Some(&bytes[..len]));
            assert_eq!(verify(&copy, Path::new(DIRECTORY)).unwrap().damage.len(), 1, "{wal}: cut to {len}");
            let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(copy);
            assert!(options.open(DIRECTORY).is_err_and(|error| error.is_damage()), "{wal}: cut to {len}");
        }
        // A store that was opened again is no longer marked as closed.
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        assert_eq!(tree.get(&4u32.to_be_bytes()).unwrap(), Some(b"value".to_vec()));
        drop(tree);
        assert!(verify(&storage, Path::new(DIRECTORY)).unwrap().damage.is_empty());
    }
}

#[test]
fn a_damaged_block_that_a_compaction_meets_stops_writes_and_no_reads() {
    let design = small_design("compaction = \"leveled\"");
    let storage = memory();
    let model = build(&design, &storage);
    let table = files(&storage).into_iter().find(|name| is_a(name, "table")).unwrap();
    let mut bytes = read(&storage, &table);
    bytes[8] ^= 1;
    let copy = copy_with(&storage, &table, Some(&bytes));
    let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(&copy));
    let tree = options.open(DIRECTORY).unwrap();
    for n in 0..400u32 {
        if tree.put(format!("new{n:04}").as_bytes(), &[7; 40]).is_err() {
            break;
        }
    }
    assert!(tree.compact().is_err());
    let readable = model.keys().filter(|key| tree.get(key).is_ok()).count();
    assert!(readable > 0 && readable < model.len(), "{readable} of {}", model.len());
    drop(tree);
    // Without the corrupt SSTable, the store accepts writes again.
    let options = OpenOptions::new(design).mode(Mode::Counted).storage(copy).quarantine(true);
    let tree = options.open(DIRECTORY).unwrap();
    let report = &tree.recovery().quarantined_files;
    assert!(report.len() == 1 && report[0].contains("the SSTable had keys from \"key"), "{report:?}");
    tree.put(b"new", b"1").unwrap();
    tree.compact().unwrap();
}
