//! Tests of column families: a store of several families gives the answers of one ordered map per family, and no crash
//! keeps only a part of a batch.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use catalog::laws::is_nightly;
use lsmbench_tree::{Design, Error, Families, Family, FamilyBatch, Mode, OpenOptions, destroy, verify};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use storage::{
    DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault, Memory, Storage, Unsynced,
};

use crate::common::{Model, memory, open, small_design};
use crate::probe::{in_time, is_a};

const DIRECTORY: &str = "store";

/// The names of the families. Their designs differ.
const NAMES: [&str; 3] = ["cold", "index", "values"];

/// The content of a store: one map per family.
type Content = [Model; 3];

/// One commit: writes to families, by the position of the family in [`NAMES`].
type Commit = Vec<(usize, Vec<u8>, Option<Vec<u8>>)>;

/// Returns a small design with the families of [`NAMES`] and more settings.
fn design(toml: &str) -> Design {
    let families = "[families.cold]\ncompression = \"lz4\"\n[families.index]\nbloom = \"ribbon\"\nmemtable = \"vector\"\n\
                    [families.values]\ncompaction = \"tiered\"\nvalues = { kind = \"blob-files\", threshold = 60 }\n";
    small_design(&format!("{toml}\n{families}"))
}

fn options(design: &Design, mode: Mode, storage: &Arc<dyn Storage>) -> OpenOptions {
    OpenOptions::new(design.clone()).mode(mode).storage(Arc::clone(storage))
}

fn open_families(design: &Design, mode: Mode, storage: &Arc<dyn Storage>) -> Families {
    let opened = Families::open(options(design, mode, storage), DIRECTORY);
    opened.unwrap_or_else(|error| panic!("the store does not open: {error}"))
}

fn handles(store: &Families) -> [Family<'_>; 3] {
    NAMES.map(|name| store.family(name).unwrap())
}

fn content(store: &Families) -> Content {
    handles(store).map(|family| {
        let (mut model, mut range) = (Model::new(), family.range(..).unwrap());
        while let Some((key, value)) = range.next().unwrap() {
            model.insert(key.to_vec(), value.to_vec());
        }
        model
    })
}

fn batch(store: &Families, commit: &Commit) -> FamilyBatch {
    let (handles, mut batch) = (handles(store), FamilyBatch::new());
    for (family, key, value) in commit {
        let part = batch.of(handles[*family].id());
        match value {
            Some(value) => part.put(key, value).unwrap(),
            None => part.delete(key).unwrap(),
        }
    }
    batch
}

fn apply(content: &mut Content, commit: &Commit) {
    for (family, key, value) in commit {
        match value {
            Some(value) => content[*family].insert(key.clone(), value.clone()),
            None => content[*family].remove(key),
        };
    }
}

/// Returns the file names of the segments of the shared WAL.
fn segments(storage: &dyn Storage) -> Vec<String> {
    let mut names = storage.list(Path::new(DIRECTORY)).unwrap();
    names.retain(|name| is_a(name, "wal"));
    names
}

/// Runs seeded operations of all kinds on a store and on one map per family.
fn replay(design: &Design, mode: Mode, seed: u64) {
    let (storage, mut random) = (memory(), Xoshiro256PlusPlus::seed_from_u64(seed));
    let (mut store, mut model) = (open_families(design, mode, &storage), Content::default());
    let key = |random: &mut Xoshiro256PlusPlus| format!("{:03}", random.random_range(0..300)).into_bytes();
    let value = |random: &mut Xoshiro256PlusPlus| vec![random.random::<u8>(); random.random_range(0..120)];
    for step in 0..1_500 {
        let at = random.random_range(0..NAMES.len());
        let (first, second) = (key(&mut random), key(&mut random));
        let family = handles(&store)[at];
        match random.random_range(0..100) {
            0..40 => {
                let value = value(&mut random);
                family.put(&first, &value).unwrap();
                model[at].insert(first, value);
            }
            40..50 => {
                family.delete(&first).unwrap();
                model[at].remove(&first);
            }
            50..65 => {
                let write = |random: &mut Xoshiro256PlusPlus| {
                    let value = random.random_bool(0.8).then(|| value(random));
                    (random.random_range(0..NAMES.len()), key(random), value)
                };
                let commit: Commit = (0..random.random_range(0..8)).map(|_| write(&mut random)).collect();
                store.write(&batch(&store, &commit)).unwrap();
                apply(&mut model, &commit);
            }
            65..68 => {
                let (low, high) = (first.clone().min(second.clone()), first.max(second));
                family.delete_range(&low, &high).unwrap();
                model[at].retain(|key, _| *key < low || *key >= high);
            }
            68..74 => {
                let value = value(&mut random);
                let is_absent = !model[at].contains_key(&first);
                assert_eq!(family.put_if_absent(&first, &value).unwrap(), is_absent, "step {step}");
                model[at].entry(first).or_insert(value);
            }
            74..92 => {
                assert_eq!(family.get(&first).unwrap(), model[at].get(&first).cloned(), "step {step}");
                let found = family.multi_get(&[&first, &second]).unwrap();
                let expected = [&first, &second].map(|key| model[at].get(key).cloned());
                assert_eq!(found, expected, "step {step}");
            }
            92..95 => assert_eq!(content(&store), model, "step {step}"),
            95 => store.flush().unwrap(),
            96 => store.compact().unwrap(),
            97 => store.sync().unwrap(),
            _ => {
                if design.choice("wal").kind() == "none" || random.random_bool(0.5) {
                    store.close().unwrap();
                } else {
                    drop(store);
                }
                let report = verify(&storage, Path::new(DIRECTORY)).unwrap();
                assert!(report.damage.is_empty(), "step {step}: {:?}", report.damage);
                store = open_families(design, mode, &storage);
            }
        }
    }
    assert_eq!(content(&store), model);
    store.checkpoint("copy").unwrap();
    drop(store);
    let copy = Families::open(options(design, mode, &storage), "copy").unwrap();
    assert_eq!(content(&copy), model);
    drop(copy);
    destroy(&storage, Path::new("copy")).unwrap();
    for directory in ["copy", "copy/cold", "copy/index", "copy/values"] {
        assert!(storage.list(Path::new(directory)).unwrap().is_empty(), "{directory}");
    }
}

#[test]
fn families_answer_like_one_ordered_map_each() {
    for (seed, wal) in ["buffered", "sync", "group", "none"].into_iter().enumerate() {
        replay(&design(&format!("wal = \"{wal}\"")), Mode::Counted, seed as u64);
    }
    for toml in ["wal = \"group\"", "memory = \"64KiB\"\nstall = { pacing = \"delay\" }"] {
        let design = design(toml);
        in_time(toml, move || replay(&design, Mode::Timed, 9));
    }
}

/// Returns commits of several families that cause flushes and compactions. The family `cold` is rarely written.
fn commits() -> Vec<Commit> {
    let key = |n: usize| format!("key{:03}", n * 37 % 61).into_bytes();
    let value = |n: usize| format!("value {n} {}", "x".repeat(n % 90)).into_bytes();
    let one = |n: usize| match n % 10 {
        3 => vec![(1 + n % 2, key(n / 2), None)],
        0 | 7 => (0..6).map(|i| (i % 3, key(n + i * 5), (i != 4).then(|| value(n + i)))).collect(),
        _ => vec![(1, key(n), Some(value(n / 4))), (2, key(n), Some(value(n)))],
    };
    (0..70).map(one).collect()
}

/// Returns the expected content after 0, 1, 2, … commits.
fn histories(commits: &[Commit]) -> Vec<Content> {
    let mut content = Content::default();
    let mut all = vec![content.clone()];
    for commit in commits {
        apply(&mut content, commit);
        all.push(content.clone());
    }
    all
}

/// Writes commits until a commit fails. Returns the number of acknowledged commits.
fn write(design: &Design, storage: &Arc<dyn Storage>, commits: &[Commit]) -> usize {
    let Ok(store) = Families::open(options(design, Mode::Counted, storage), DIRECTORY) else { return 0 };
    for (acknowledged, commit) in commits.iter().enumerate() {
        if store.write(&batch(&store, commit)).is_err() {
            // The store rejects writes to the failed families. The earlier content remains readable.
            let _ = handles(&store)[0].get(b"key001");
            return acknowledged;
        }
    }
    commits.len()
}

/// Lets a call to storage fail at `fault`, then lets the power fail as `unsynced` defines. The recovered content is the
/// content after some number of commits, the same number in all families.
fn crash(
    design: &Design,
    (commits, histories): (&[Commit], &[Content]),
    fault: InjectedFault,
    unsynced: Unsynced,
    all_acknowledged: bool,
) {
    let memory = Arc::new(Memory::default());
    let faulty = Arc::new(Faulty::new(Arc::clone(&memory) as _));
    faulty.inject(fault);
    let acknowledged = write(design, &(Arc::clone(&faulty) as _), commits);
    let disk: Arc<dyn Storage> = Arc::new(memory.after_crash(unsynced));
    let context = format!("wal = {}, {fault:?}, {unsynced:?}", design.choice("wal"));
    match verify(&disk, Path::new(DIRECTORY)) {
        Ok(report) => assert!(report.damage.is_empty(), "{context}: {:?}", report.damage),
        // The crash happened before the store existed.
        Err(error) => assert!(acknowledged == 0, "{context}: {error}"),
    }
    let store = open_families(design, Mode::Counted, &disk);
    let recovered = content(&store);
    let least = if all_acknowledged { acknowledged } else { 0 };
    // The failed commit may have reached the disk before the error was reported.
    let most = (acknowledged + 1).min(commits.len());
    assert!(
        histories[least..=most].contains(&recovered),
        "{context}: {acknowledged} commits were acknowledged; what came back is none of {least}..={most}"
    );
    // The store continues to work, and its later commits also survive.
    let mut expected = recovered;
    let second = vec![(0, b"second life".to_vec(), Some(b"1".to_vec())), (2, b"key001".to_vec(), None)];
    store.write(&batch(&store, &second)).unwrap();
    apply(&mut expected, &second);
    drop(store);
    let store = open_families(design, Mode::Counted, &disk);
    assert_eq!(content(&store), expected, "{context}: the second life");
}

/// Returns the storage calls that occur while all commits are written.
fn calls(design: &Design, commits: &[Commit]) -> Vec<FileOperation> {
    let faulty = Arc::new(Faulty::new(Arc::new(Memory::default())));
    assert_eq!(write(design, &(Arc::clone(&faulty) as _), commits), commits.len());
    faulty.calls().iter().map(|call| call.operation).collect()
}

/// For every `step`-th call to storage, runs a crash test in which this call fails. Nightly tests use every call.
fn crash_everywhere(wal: &str, unsynced: &[Unsynced], all_acknowledged: bool, step: usize) {
    let step = if is_nightly() { 1 } else { step };
    let design = design(&format!("wal = \"{wal}\""));
    let commits = commits();
    let histories = histories(&commits);
    let calls = calls(&design, &commits);
    for at in (0..calls.len()).step_by(step) {
        for effect in [FaultEffect::Nothing, FaultEffect::Prefix(5), FaultEffect::Whole] {
            if effect != FaultEffect::Nothing && !calls[at].writes() {
                continue;
            }
            let fault = InjectedFault { at, extent: FaultExtent::Onwards, error: DiskError::Io, effect };
            // Each call fails with another state of the unsynced data.
            let unsynced = unsynced[(at / step + effect_number(effect)) % unsynced.len()];
            crash(&design, (&commits, &histories), fault, unsynced, all_acknowledged);
        }
    }
    println!("wal = {wal}: crashes at {} of {} calls", calls.len().div_ceil(step), calls.len());
}

fn effect_number(effect: FaultEffect) -> usize {
    match effect {
        FaultEffect::Nothing => 0,
        FaultEffect::Whole => 2,
        FaultEffect::Prefix(_) => 1,
    }
}

const POWER_LOSS: [Unsynced; 3] = [Unsynced::Dropped, Unsynced::Torn { seed: 1 }, Unsynced::Torn { seed: 2 }];

#[test]
fn synced_batches_of_families_survive_power_loss_at_every_call() {
    crash_everywhere("sync", &POWER_LOSS, true, 5);
    crash_everywhere("group", &POWER_LOSS, true, 13);
}

#[test]
fn buffered_batches_of_families_are_whole_after_any_crash() {
    crash_everywhere("buffered", &[Unsynced::Kept], true, 7);
    crash_everywhere("buffered", &POWER_LOSS, false, 3);
}

#[test]
fn one_failed_call_loses_no_acknowledged_batch_of_families() {
    let design = design("wal = \"sync\"");
    let commits = commits();
    let histories = histories(&commits);
    for at in (0..calls(&design, &commits).len()).step_by(if is_nightly() { 1 } else { 7 }) {
        let unsynced = if at % 2 == 0 { Unsynced::Kept } else { Unsynced::Dropped };
        let (extent, error, effect) = (FaultExtent::Once, DiskError::Io, FaultEffect::Nothing);
        crash(&design, (&commits, &histories), InjectedFault { at, extent, error, effect }, unsynced, true);
    }
}

#[test]
fn a_crash_during_the_recovery_of_families_changes_nothing() {
    let commits = commits();
    let half = &commits[..commits.len() / 2];
    let expected = histories(half).pop().unwrap();
    for wal in ["sync", "buffered"] {
        let design = design(&format!("wal = \"{wal}\""));
        let memory = Arc::new(Memory::default());
        assert_eq!(write(&design, &(Arc::clone(&memory) as _), half), half.len());
        // After the death of a process, the end of a buffered WAL is only in the page cache.
        let crashed = || {
            if wal == "sync" { Arc::new(memory.after_crash(Unsynced::Dropped)) } else { Arc::clone(&memory) }
        };
        let copied = Arc::new(crashed().after_crash(Unsynced::Kept));
        let faulty = Arc::new(Faulty::new(copied));
        drop(open_families(&design, Mode::Counted, &(Arc::clone(&faulty) as _)));
        for at in (0..faulty.calls().len()).step_by(if is_nightly() { 1 } else { 2 }) {
            let disk = Arc::new(crashed().after_crash(Unsynced::Kept));
            let faulty = Arc::new(Faulty::new(Arc::clone(&disk) as _));
            let (extent, error, effect) = (FaultExtent::Onwards, DiskError::Io, FaultEffect::Nothing);
            faulty.inject(InjectedFault { at, extent, error, effect });
            let _ = Families::open(options(&design, Mode::Counted, &(faulty as _)), DIRECTORY);
            let disk: Arc<dyn Storage> = Arc::new(disk.after_crash(POWER_LOSS[at % POWER_LOSS.len()]));
            assert_eq!(
                content(&open_families(&design, Mode::Counted, &disk)),
                expected,
                "wal = {wal}, call {at}"
            );
        }
    }
}

#[test]
fn snapshots_of_all_families_see_whole_batches_of_many_threads() {
    let design = design("wal = \"group\"");
    in_time("snapshots", move || {
        let store = open_families(&design, Mode::Timed, &memory());
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (store, done) = (&store, &done);
            let write = move |writer: u8| {
                for round in 0..200u32 {
                    let value = [&[writer][..], &round.to_be_bytes(), &[0; 40]].concat();
                    let commit =
                        (0..3).map(|family| (family, b"shared".to_vec(), Some(value.clone()))).collect();
                    store.write(&batch(store, &commit)).unwrap();
                    handles(store)[1].put(&value, b"own").unwrap();
                }
            };
            let writers: Vec<_> = (0..3).map(|writer| scope.spawn(move || write(writer))).collect();
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let snapshots = store.snapshots();
                    let values: Vec<_> = snapshots.iter().map(|of| of.get(b"shared").unwrap()).collect();
                    assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
                }
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            done.store(true, Ordering::SeqCst);
        });
        assert_eq!(content(&store)[1].len(), 1 + 3 * 200);
        store.close().unwrap();
    });
}

#[test]
fn the_largest_memtable_is_flushed_first_and_old_segments_go() {
    let design =
        small_design("memtable = { capacity = \"8KiB\" }\nfamilies = { cold = {}, index = {}, values = {} }");
    let storage = memory();
    let store = open_families(&design, Mode::Counted, &storage);
    let [cold, index, values] = handles(&store);
    cold.put(b"one", b"entry").unwrap();
    let flushes = || handles(&store).map(|family| family.stats().counts.flushes);
    let mut number = 0u32;
    let mut fill = |until: &dyn Fn() -> bool| {
        while !until() {
            number += 1;
            index.put(&(number % 64).to_be_bytes(), b"row").unwrap();
            values.put(&number.to_be_bytes(), &[7; 90]).unwrap();
        }
    };
    // The memtables of all families together have one budget.
    fill(&|| flushes() != [0; 3]);
    assert_eq!(flushes(), [0, 0, 1]);
    assert!(values.stats().counts.user_bytes_written < 8 << 10);
    // The cold family needs the first segment until the WAL is too long. Then the family is flushed, and the old
    // segments are removed.
    let first = segments(&*storage)[0].clone();
    fill(&|| flushes()[0] > 0);
    assert!(flushes()[2] > 3, "{:?}", flushes());
    assert!(!segments(&*storage).contains(&first), "{:?}", segments(&*storage));
    store.flush().unwrap();
    assert_eq!(segments(&*storage).len(), 1);
    let stats = store.stats();
    assert_eq!(stats.counts.flushes, flushes().iter().sum::<u64>());
    assert!(stats.counts.wal_bytes > stats.counts.user_bytes_written && stats.counts.wal_syncs > 0);
}

#[test]
fn a_store_opens_again_with_a_budget_that_its_log_exceeds() {
    let design = |capacity: &str| {
        small_design(&format!(
            "memtable = {{ capacity = \"{capacity}\" }}\nfamilies = {{ cold = {{}}, index = {{}}, values = {{}} }}"
        ))
    };
    let storage = memory();
    let store = open_families(&design("16KiB"), Mode::Counted, &storage);
    for number in 0..400u32 {
        let commit = [(0, number / 100), (1, number), (2, number % 7)];
        let commit =
            commit.map(|(family, key)| (family, key.to_be_bytes().to_vec(), Some(vec![family as u8; 20])));
        store.write(&batch(&store, &commit.to_vec())).unwrap();
    }
    let expected = content(&store);
    drop(store);
    let store = open_families(&design("1KiB"), Mode::Counted, &storage);
    assert_eq!(content(&store), expected);
    let flushes = store.stats().counts.flushes;
    assert!((3..100).contains(&flushes), "{flushes}");
    // The segments fit into the limit again.
    let bytes =
        |name: &String| storage.open(&Path::new(DIRECTORY).join(name), storage::Purpose::Log).unwrap().len();
    let log: u64 = segments(&*storage).iter().map(bytes).sum();
    assert!(log <= 4 << 10, "{log}");
}

#[test]
fn a_store_opens_only_with_its_families() {
    let storage = memory();
    let store = open_families(&design(""), Mode::Counted, &storage);
    handles(&store)[2].put(b"a", b"1").unwrap();
    store.close().unwrap();
    let refusal = |design: &Design| match Families::open(options(design, Mode::Counted, &storage), DIRECTORY)
    {
        Ok(_) => panic!("the store opens"),
        Err(error) => error.to_string(),
    };
    let fewer = small_design("families = { index = {}, values = {} }");
    assert!(
        refusal(&fewer).contains("has the family \"cold\", but the design does not; add families.cold = {}"),
        "{}",
        refusal(&fewer)
    );
    assert!(
        refusal(&small_design("")).contains("the design has no column families"),
        "{}",
        refusal(&small_design(""))
    );
    let interval = design("wal = \"interval\"");
    let valid = "use \"buffered\", \"sync\", \"group\" or \"none\"";
    assert!(refusal(&interval).contains(valid), "{}", refusal(&interval));
    match options(&small_design(""), Mode::Counted, &storage).open(DIRECTORY) {
        Err(Error::Misuse(message)) => {
            assert!(message.contains("has the families \"cold\", \"index\", \"values\""), "{message}");
        }
        other => panic!("{:?}", other.map(|_| "a tree opens")),
    }
    match options(&design(""), Mode::Counted, &storage).open("new") {
        Err(Error::Misuse(message)) => assert!(message.contains("this call opens one tree"), "{message}"),
        other => panic!("{:?}", other.map(|_| "a tree opens")),
    }
    // A store can get further families.
    let more = design("").with(&"families = { new = {}, more = {} }".parse().unwrap()).unwrap();
    let store = open_families(&more, Mode::Counted, &storage);
    assert_eq!(store.names().collect::<Vec<_>>(), ["cold", "index", "values", "more", "new"]);
    store.family("new").unwrap().put(b"b", b"2").unwrap();
    assert_eq!(handles(&store)[2].get(b"a").unwrap(), Some(b"1".to_vec()));
    drop(store);
    // A tree is no store of families.
    let tree = open(&small_design(""), Mode::Counted, &storage, Path::new("tree"));
    tree.put(b"a", b"1").unwrap();
    drop(tree);
    match Families::open(options(&design(""), Mode::Counted, &storage), "tree") {
        Err(Error::Misuse(message)) => assert!(message.contains("is a store without families"), "{message}"),
        other => panic!("{:?}", other.map(|_| "families open")),
    }
    let bounds = (Bound::<&[u8]>::Unbounded, Bound::Unbounded);
    assert!(open(&small_design(""), Mode::Counted, &storage, Path::new("tree")).range(bounds).is_ok());
}

#[test]
fn damage_of_the_shared_log_and_of_a_family_is_found() {
    let storage = memory();
    let design = design("wal = \"sync\"");
    let store = open_families(&design, Mode::Counted, &storage);
    for number in 0..40u32 {
        let commit =
            (0..3).map(|family| (family, number.to_be_bytes().to_vec(), Some(vec![7; 30]))).collect();
        store.write(&batch(&store, &commit)).unwrap();
    }
    store.close().unwrap();
    let change = |path: &Path, purpose: storage::Purpose| {
        let file = storage.open(path, purpose).unwrap();
        let mut bytes = file.read(0, file.len() as usize).unwrap().to_vec();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        let mut changed = storage.create(path, purpose).unwrap();
        changed.append(&bytes).unwrap();
        changed.sync().unwrap();
    };
    let log = segments(&*storage).pop().unwrap();
    change(&Path::new(DIRECTORY).join(&log), storage::Purpose::Log);
    let damage = verify(&storage, Path::new(DIRECTORY)).unwrap().damage;
    assert!(damage.len() == 1 && damage[0].to_string().contains(&log), "{damage:?}");
    let error = Families::open(options(&design, Mode::Counted, &storage), DIRECTORY).err().unwrap();
    assert!(error.is_damage() && error.to_string().contains(&log), "{error}");
    let opened =
        Families::open(options(&design, Mode::Counted, &storage).quarantine(true), DIRECTORY).unwrap();
    assert!(opened.recovery().quarantined_files[0].contains(&log), "{:?}", opened.recovery());
    let table = storage.list(&Path::new(DIRECTORY).join("index")).unwrap();
    let table = table.into_iter().find(|name| is_a(name, "table")).unwrap();
    drop(opened);
    change(&Path::new(DIRECTORY).join("index").join(&table), storage::Purpose::Table);
    let damage = verify(&storage, Path::new(DIRECTORY)).unwrap().damage;
    assert!(!damage.is_empty() && damage[0].to_string().contains("index"), "{damage:?}");
}
