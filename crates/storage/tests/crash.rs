//! Tests of the content of a disk after a crash. The disk must contain all bytes that a sync has made durable, and no
//! bytes that were never written. The tests compare [`Memory`] with an independent model that tracks every name and
//! every byte.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use lsmbench_storage::{Memory, Purpose, Storage, Unsynced, WriteFile};
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_assert, prop_oneof, proptest};
use proptest::test_runner::{RngSeed, TestCaseError};

const DIRECTORIES: [&str; 2] = ["/a", "/b"];

/// One step of a history. The numbers in a step identify names and writers.
#[derive(Clone, Debug)]
enum Step {
    Create(usize),
    Append(usize, usize),
    Sync(usize),
    Rename(usize, usize),
    Remove(usize),
    Link(usize, usize),
    SyncDirectory(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..6usize;
    let writer = 0..10usize;
    let step = prop_oneof![
        3 => name.clone().prop_map(Step::Create),
        6 => (writer.clone(), 1..2000usize).prop_map(|(writer, len)| Step::Append(writer, len)),
        3 => writer.prop_map(Step::Sync),
        2 => (name.clone(), name.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => name.clone().prop_map(Step::Remove),
        1 => (name.clone(), name).prop_map(|(existing, new)| Step::Link(existing, new)),
        2 => (0..2usize).prop_map(Step::SyncDirectory),
        1 => Just(Step::SyncDirectory(0)),
    ];
    proptest::collection::vec(step, 0..60)
}

/// Returns the path of a numbered name. Names 0 to 2 are in the first directory, and names 3 to 5 in the second.
fn path(name: usize) -> PathBuf {
    Path::new(DIRECTORIES[name / 3]).join(name.to_string())
}

/// A model of a disk. The model contains the files that each name may refer to after a crash, and the bytes of each
/// file.
#[derive(Default)]
struct Model {
    current: BTreeMap<usize, usize>,
    /// For each name, the files that the name referred to at any time since the last sync of its directory. `None`
    /// means no file.
    possible: BTreeMap<usize, HashSet<Option<usize>>>,
    files: Vec<File>,
}

#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    synced: usize,
}

impl Model {
    fn set(&mut self, name: usize, file: Option<usize>) {
        self.possible.entry(name).or_insert_with(|| HashSet::from([None])).insert(file);
        match file {
            Some(file) => self.current.insert(name, file),
            None => self.current.remove(&name),
        };
    }

    fn sync_directory(&mut self, directory: usize) {
        for name in directory * 3..directory * 3 + 3 {
            self.possible.insert(name, HashSet::from([self.current.get(&name).copied()]));
        }
    }
}

/// Applies `steps` to the disk and to the model. Skips invalid steps.
fn play(steps: &[Step]) -> (Memory, Model, Vec<Box<dyn WriteFile>>) {
    let (memory, mut model, mut writers) = (Memory::default(), Model::default(), Vec::new());
    for directory in DIRECTORIES {
        memory.create_directory(Path::new(directory)).unwrap();
    }
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Create(name) => {
                writers.push(memory.create(&path(name), Purpose::Log).unwrap());
                model.set(name, None);
                model.files.push(File::default());
                model.set(name, Some(model.files.len() - 1));
            }
            Step::Append(writer, len) if writer < writers.len() => {
                // The bytes are never zero, so that a hole in a file can be recognised.
                let bytes = vec![number as u8 % 255 + 1; len];
                writers[writer].append(&bytes).unwrap();
                model.files[writer].bytes.extend(bytes);
            }
            Step::Sync(writer) if writer < writers.len() => {
                writers[writer].sync().unwrap();
                model.files[writer].synced = model.files[writer].bytes.len();
            }
            Step::Rename(from, to) if model.current.contains_key(&from) && from != to => {
                memory.rename(&path(from), &path(to)).unwrap();
                let file = model.current[&from];
                model.set(from, None);
                model.set(to, Some(file));
            }
            Step::Remove(name) if model.current.contains_key(&name) => {
                memory.remove(&path(name)).unwrap();
                model.set(name, None);
            }
            Step::Link(existing, new)
                if model.current.contains_key(&existing) && !model.current.contains_key(&new) =>
            {
                memory.hard_link(&path(existing), &path(new)).unwrap();
                model.set(new, Some(model.current[&existing]));
            }
            Step::SyncDirectory(directory) => {
                memory.sync_directory(Path::new(DIRECTORIES[directory])).unwrap();
                model.sync_directory(directory);
            }
            _ => {}
        }
    }
    (memory, model, writers)
}

fn read(disk: &Memory, name: usize) -> Option<Vec<u8>> {
    let file = disk.open(&path(name), Purpose::Log).ok()?;
    Some(file.read(0, file.len() as usize).unwrap().to_vec())
}

/// Returns whether `file` may have the content `found` after a crash.
fn may_be(found: &[u8], file: &File) -> bool {
    found.len() >= file.synced
        && found.len() <= file.bytes.len()
        && found[..file.synced] == file.bytes[..file.synced]
        && found.iter().zip(&file.bytes).skip(file.synced).all(|(found, byte)| found == byte || *found == 0)
}

fn check_possible(disk: &Memory, model: &Model) -> Result<(), TestCaseError> {
    for name in 0..6 {
        let never_named = HashSet::from([None]);
        let possible = model.possible.get(&name).unwrap_or(&never_named);
        let fits = match read(disk, name) {
            None => possible.contains(&None),
            Some(found) => possible.iter().flatten().any(|file| may_be(&found, &model.files[*file])),
        };
        prop_assert!(fits, "name {} is in a state it cannot be in", name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: RngSeed::Fixed(42),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_was_promised_is_there_after_a_crash(steps in steps(), seed in 0..1000u64) {
        let (memory, model, _writers) = play(&steps);
        for seed in [seed, seed + 1, seed + 2] {
            check_possible(&memory.after_crash(Unsynced::Torn { seed }), &model)?;
        }
        check_possible(&memory.after_crash(Unsynced::Dropped), &model)?;
        let kept = memory.after_crash(Unsynced::Kept);
        for name in 0..6 {
            let expected = model.current.get(&name).map(|file| model.files[*file].bytes.clone());
            prop_assert!(read(&kept, name) == expected && read(&memory, name) == expected);
        }
        // After the restart, everything on the disk is durable.
        let torn = memory.after_crash(Unsynced::Torn { seed });
        let again = torn.after_crash(Unsynced::Dropped);
        prop_assert!((0..6).all(|name| read(&torn, name) == read(&again, name)));
    }
}

/// Creates a file with content, without a sync.
fn write(disk: &Memory, path: &Path, bytes: &[u8]) -> Box<dyn WriteFile> {
    let mut writer = disk.create(path, Purpose::Manifest).unwrap();
    writer.append(bytes).unwrap();
    writer
}

#[test]
fn a_name_is_durable_once_its_directory_is_synced() {
    let (disk, file) = (Memory::default(), Path::new("/a/file"));
    disk.create_directory(Path::new("/a")).unwrap();
    write(&disk, file, b"content").sync().unwrap();
    assert!(disk.after_crash(Unsynced::Dropped).open(file, Purpose::Log).is_err());
    disk.sync_directory(Path::new("/a")).unwrap();
    let after = disk.after_crash(Unsynced::Dropped);
    assert_eq!(after.open(file, Purpose::Log).unwrap().len(), 7);
    assert_eq!(after.list(Path::new("/a")).unwrap(), ["file"]);
}

#[test]
fn a_sync_is_of_one_directory_and_of_what_its_names_rest_on() {
    let disk = Memory::default();
    let (a, b) = (Path::new("/a"), Path::new("/b"));
    for directory in [a, b] {
        disk.create_directory(directory).unwrap();
        for name in ["1", "2"] {
            write(&disk, &directory.join(name), b"x");
        }
    }
    // A name that was moved from one directory to the other is in exactly one of them.
    disk.rename(&b.join("1"), &a.join("3")).unwrap();
    disk.sync_directory(a).unwrap();
    let after = disk.after_crash(Unsynced::Dropped);
    assert_eq!(after.list(a).unwrap(), ["1", "2", "3"]);
    assert!(after.list(b).unwrap().is_empty());
}

/// Tests the replacement of a manifest by a rename. After any crash, either the complete old content or the complete
/// new content is present.
#[test]
fn a_synced_file_renamed_over_another_leaves_one_of_both() {
    let (old, new) = (Path::new("/a/manifest"), Path::new("/a/manifest.new"));
    let disk = Memory::default();
    disk.create_directory(Path::new("/a")).unwrap();
    write(&disk, old, b"old").sync().unwrap();
    disk.sync_directory(Path::new("/a")).unwrap();
    write(&disk, new, b"new").sync().unwrap();
    disk.rename(new, old).unwrap();
    let mut seen = HashSet::new();
    for seed in 0..100 {
        let after = disk.after_crash(Unsynced::Torn { seed });
        let file = after.open(old, Purpose::Manifest).unwrap();
        seen.insert(file.read(0, 3).unwrap().to_vec());
    }
    assert_eq!(seen, HashSet::from([b"old".to_vec(), b"new".to_vec()]));
}

/// Tests the classic mistake of a rename without a sync before it. The model must show that both contents can be lost.
#[test]
fn an_unsynced_file_renamed_over_another_can_lose_both() {
    let (old, new) = (Path::new("/a/manifest"), Path::new("/a/manifest.new"));
    let disk = Memory::default();
    disk.create_directory(Path::new("/a")).unwrap();
    write(&disk, old, b"old").sync().unwrap();
    disk.sync_directory(Path::new("/a")).unwrap();
    let _writer = write(&disk, new, b"new");
    disk.rename(new, old).unwrap();
    let len = |seed| disk.after_crash(Unsynced::Torn { seed }).open(old, Purpose::Manifest).unwrap().len();
    assert!((0..100).any(|seed| len(seed) == 0));
}

#[test]
fn the_same_seed_leaves_the_same_state_and_locks_die() {
    let disk = Memory::default();
    let paths: Vec<PathBuf> = (0..20).map(|number| PathBuf::from(format!("/{number}"))).collect();
    for path in &paths {
        write(&disk, path, &[7; 3000]);
    }
    let _held = disk.lock(Path::new("/lock")).unwrap();
    let state = |seed| {
        let after = disk.after_crash(Unsynced::Torn { seed });
        let content = |path: &PathBuf| {
            let file = after.open(path, Purpose::Log).ok()?;
            Some(file.read(0, file.len() as usize).unwrap().to_vec())
        };
        paths.iter().map(content).collect::<Vec<_>>()
    };
    assert_eq!(state(1), state(1));
    assert_ne!(state(1), state(2));
    assert!(disk.lock(Path::new("/lock")).is_err());
    assert!(disk.after_crash(Unsynced::Kept).lock(Path::new("/lock")).is_ok());
}
