//! Executes random calls on a store, and compares the answers with a map.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::process::Command;

use types::SplitMix64;

use crate::calls::{Db, Walk};

/// The number of calls per design.
const CALLS: usize = 4000;

/// The number of different keys.
const KEYS: u64 = 800;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// The random choices of a test.
struct Choices(SplitMix64);

impl Choices {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    fn key(&mut self) -> Vec<u8> {
        format!("key{:04}", self.below(KEYS)).into_bytes()
    }

    fn value(&mut self) -> Vec<u8> {
        let byte = b'a' + self.below(26) as u8;
        vec![byte; self.below(200) as usize]
    }
}

/// Calls the functions of a store at random, and compares all answers with a map.
fn compare(directory: &Path, calls: usize) {
    let (mut db, mut model) = (Db::open(directory), Model::new());
    let mut choices = Choices(SplitMix64::new(25));
    for _ in 0..calls {
        match choices.below(100) {
            0..50 => {
                let (key, value) = (choices.key(), choices.value());
                db.put(&key, &value);
                model.insert(key, value);
            }
            50..60 => {
                let key = choices.key();
                db.delete(&key);
                model.remove(&key);
            }
            60..65 => write_batch(&db, &mut model, &mut choices),
            65..90 => {
                let key = choices.key();
                assert_eq!(db.get(&key), model.get(&key).cloned());
            }
            90..95 => walk(&db.iterator(), &model, &mut choices),
            95..97 => check_snapshot(&db, &mut model, &mut choices),
            97..99 => {
                let (low, high) = (choices.key(), choices.key());
                db.compact_range(&low.clone().min(high.clone()), &low.max(high));
            }
            _ => {
                drop(db);
                db = Db::open(directory);
            }
        }
    }
    let walk = db.iterator();
    walk.seek_to_first();
    for (key, value) in &model {
        assert_eq!(walk.entry(), Some((key.clone(), value.clone())));
        walk.next();
    }
    assert_eq!(walk.entry(), None);
}

fn write_batch(db: &Db, model: &mut Model, choices: &mut Choices) {
    let mut batch = Vec::new();
    for _ in 0..choices.below(9) {
        let key = choices.key();
        let value = (choices.below(3) > 0).then(|| choices.value());
        match &value {
            Some(value) => model.insert(key.clone(), value.clone()),
            None => model.remove(&key),
        };
        batch.push((key, value));
    }
    db.write(&batch);
}

/// Moves an iterator at random. After each move, compares the current entry with the map.
fn walk(walk: &Walk, model: &Model, choices: &mut Choices) {
    let owned = |(key, value): (&Vec<u8>, &Vec<u8>)| (key.clone(), value.clone());
    let mut expected: Option<(Vec<u8>, Vec<u8>)> = None;
    for _ in 0..60 {
        expected = match (choices.below(20), expected) {
            (0, _) => {
                walk.seek_to_first();
                model.first_key_value().map(owned)
            }
            (1, _) => {
                walk.seek_to_last();
                model.last_key_value().map(owned)
            }
            (2, _) => {
                let key = choices.key();
                walk.seek(&key);
                model.range(key..).next().map(owned)
            }
            (3..14, Some((key, _))) => {
                walk.next();
                model.range((Bound::Excluded(key), Bound::Unbounded)).next().map(owned)
            }
            (_, Some((key, _))) => {
                walk.prev();
                model.range(..key).next_back().map(owned)
            }
            (_, None) => {
                walk.next();
                walk.prev();
                None
            }
        };
        assert_eq!(walk.entry(), expected);
    }
}

/// Takes a snapshot, changes the store, and checks that reads of the snapshot return the old state.
fn check_snapshot(db: &Db, model: &mut Model, choices: &mut Choices) {
    let (snapshot, before) = (db.read_snapshot(), model.clone());
    for _ in 0..20 {
        let (key, value) = (choices.key(), choices.value());
        db.put(&key, &value);
        model.insert(key, value);
    }
    for _ in 0..20 {
        let key = choices.key();
        assert_eq!(db.get(&key), before.get(&key).cloned());
    }
    walk(&db.iterator(), &before, choices);
    db.release(snapshot);
}

#[test]
fn answers_are_those_of_a_map() {
    let folder = tempfile::tempdir().unwrap();
    compare(&folder.path().join("db"), CALLS);
}

/// Rule: with every design file, the store gives the answers of a map. Each design runs in its own process, because the
/// environment variable applies to the whole process.
#[test]
fn every_design_file_gives_the_answers_of_a_map() {
    let folder = tempfile::tempdir().unwrap();
    let designs = [
        ("tiered", "[design]\ncompaction = \"tiered\"\nbloom = \"ribbon\"\n"),
        ("blobs", "[design]\nvalues = { kind = \"blob-files\", threshold = 50 }\ncompression = \"lz4\"\n"),
        ("merging", "[design]\nmerge_operator = \"append\"\nwal = \"none\"\ncache = \"none\"\n"),
    ];
    for (name, text) in designs {
        let file = folder.path().join(format!("{name}.toml"));
        std::fs::write(&file, text).unwrap();
        let ended = again_with(&file);
        assert!(ended.status.success(), "{name}: {}", String::from_utf8_lossy(&ended.stdout));
        assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"), "the test has run");
    }
    // A file that is wrong is an error with its place.
    let file = folder.path().join("wrong.toml");
    std::fs::write(&file, "[design]\nblom = \"none\"\n").unwrap();
    let ended = again_with(&file);
    let output =
        String::from_utf8_lossy(&ended.stderr).into_owned() + &String::from_utf8_lossy(&ended.stdout);
    assert!(output.contains("Invalid argument: LSMBENCH_DESIGN: "), "{output}");
    assert!(output.contains("wrong.toml:2: ") && output.contains("blom"), "{output}");
}

/// Runs the first test again in a new process, with a design file.
fn again_with(design: &PathBuf) -> std::process::Output {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--exact", "model::answers_are_those_of_a_map"];
    Command::new(program).args(arguments).env("LSMBENCH_DESIGN", design).output().unwrap()
}
