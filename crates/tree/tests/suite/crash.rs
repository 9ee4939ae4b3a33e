//! Tests of crashes: the disk fails at every call, or the power fails. The recovered content is a prefix of the writes,
//! and contains all writes that the WAL mode must preserve.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::common::{Model, open, small_design};
use crate::probe::is_a;
use lsmbench_tree::{Design, Error, Mode, OpenOptions, WriteBatch, verify};
use storage::{
    DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault, Memory, Storage, Unsynced,
};

const DIRECTORY: &str = "tree";

/// One commit: an atomic batch of writes.
type Commit = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// Returns commits that cause several flushes and compactions, with overwrites, deletes and batches.
fn commits() -> Vec<Commit> {
    let key = |n: usize| format!("key{:03}", n * 37 % 101).into_bytes();
    let value = |n: usize| format!("value {n} {}", "x".repeat(n % 90)).into_bytes();
    (0..220usize)
        .map(|n| match n % 10 {
            3 => vec![(key(n / 2), None)],
            7 => (0..8).map(|i| (key(n + i * 5), (i != 4).then(|| value(n + i)))).collect(),
            _ => vec![(key(n), Some(value(n)))],
        })
        .collect()
}

/// Returns the expected content after 0, 1, 2, … commits.
fn histories(commits: &[Commit]) -> Vec<Model> {
    let mut model = Model::new();
    let mut all = vec![model.clone()];
    for commit in commits {
        for (key, value) in commit {
            match value {
                Some(value) => model.insert(key.clone(), value.clone()),
                None => model.remove(key),
            };
        }
        all.push(model.clone());
    }
    all
}

/// Writes commits until a commit fails. Returns the number of acknowledged commits.
fn write(design: &Design, storage: &Arc<dyn Storage>, commits: &[Commit]) -> usize {
    // All stores have the same identity, so that equal writes give equal files.
    let options =
        OpenOptions::new(design.clone()).mode(Mode::Counted).identity(7).storage(Arc::clone(storage));
    let Ok(tree) = options.open(DIRECTORY) else { return 0 };
    for (acknowledged, commit) in commits.iter().enumerate() {
        let mut batch = WriteBatch::new();
        for (key, value) in commit {
            match value {
                Some(value) => batch.put(key, value).unwrap(),
                None => batch.delete(key).unwrap(),
            }
        }
        if tree.write(&batch).is_err() {
            // The tree rejects writes after the failure. The earlier content remains readable.
            assert!(tree.put(b"after", b"failure").is_err());
            let _ = tree.get(b"key001");
            return acknowledged;
        }
    }
    commits.len()
}

/// Opens the tree and returns its content.
fn content(design: &Design, storage: &Arc<dyn Storage>) -> Model {
    let tree = open(design, Mode::Counted, storage, Path::new(DIRECTORY));
    let mut range = tree.range(..).unwrap();
    let mut content = Model::new();
    while let Some((key, value)) = range.next().unwrap() {
        content.insert(key.to_vec(), value.to_vec());
    }
    content
}

/// Returns the storage calls that occur while all commits are written.
fn call_count(design: &Design, commits: &[Commit]) -> Vec<FileOperation> {
    let faulty = Arc::new(Faulty::new(Arc::new(Memory::default())));
    let storage: Arc<dyn Storage> = Arc::clone(&faulty) as _;
    assert_eq!(write(design, &storage, commits), commits.len());
    faulty.calls().iter().map(|call| call.operation).collect()
}

/// The recovery of a disk after a crash.
struct Recovered {
    /// The error of `verify`, if the disk has no store.
    missing: Option<String>,
    content: Model,
}

/// The recoveries of all disks so far, by the fingerprint of the disk. Many crashes leave equal disks.
type Recoveries = HashMap<u128, Recovered>;

/// Verifies and opens the store on a disk after a crash. Checks that the store continues to work.
fn recover(design: &Design, disk: Memory, context: &str) -> Recovered {
    let disk: Arc<dyn Storage> = Arc::new(disk);
    let missing = match verify(&disk, Path::new(DIRECTORY)) {
        Ok(report) => {
            assert!(report.damage.is_empty(), "{context}: {:?}", report.damage);
            None
        }
        Err(error) => Some(error.to_string()),
    };
    let recovered = content(design, &disk);
    // The store continues to work, and its later commits also survive.
    let tree = open(design, Mode::Counted, &disk, Path::new(DIRECTORY));
    tree.put(b"second life", b"1").unwrap();
    tree.flush().unwrap();
    drop(tree);
    assert_eq!(content(design, &disk).get(&b"second life"[..]), Some(&b"1".to_vec()), "{context}");
    Recovered { missing, content: recovered }
}

/// Lets a call to storage fail at `fault`, then lets the power fail in each way of `unsynced`, and checks the recovered
/// contents.
fn crash(
    design: &Design,
    commits: &[Commit],
    histories: &[Model],
    fault: InjectedFault,
    unsynced: &[Unsynced],
    all_acknowledged: bool,
    recoveries: &mut Recoveries,
) {
    let memory = Arc::new(Memory::default());
    let faulty = Arc::new(Faulty::new(Arc::clone(&memory) as _));
    faulty.inject(fault);
    let storage: Arc<dyn Storage> = Arc::clone(&faulty) as _;
    let acknowledged = write(design, &storage, commits);
    for unsynced in unsynced {
        let disk = memory.after_crash(*unsynced);
        let context = format!("wal = {}, {fault:?}, {unsynced:?}", design.choice("wal"));
        let recovery = recoveries.entry(disk.fingerprint());
        let recovered = recovery.or_insert_with(|| recover(design, disk, &context));
        // The store may be missing if the crash happened before the store existed.
        assert!(recovered.missing.is_none() || acknowledged == 0, "{context}: {:?}", recovered.missing);
        let least = if all_acknowledged { acknowledged } else { 0 };
        // The failed commit may have reached the disk before the error was reported.
        let most = (acknowledged + 1).min(commits.len());
        let drops = design.choice("compaction").kind() == "fifo";
        let found = (least..=most).any(|count| match drops {
            false => histories[count] == recovered.content,
            true => is_the_end_of(&recovered.content, &histories[count], &commits[..count]),
        });
        assert!(
            found,
            "{context}: {acknowledged} commits were acknowledged; what came back is none of {least}..={most}"
        );
    }
}

/// Returns whether `recovered` equals `whole` except for dropped data. The last commits must all be present.
fn is_the_end_of(recovered: &Model, whole: &Model, commits: &[Commit]) -> bool {
    let last = commits.iter().rev().take(10).flatten();
    recovered.iter().all(|(key, value)| whole.get(key) == Some(value))
        && last.into_iter().all(|(key, _)| whole.get(key) == recovered.get(key))
}

/// For every `step`-th call to storage, runs a crash test in which this call fails.
fn crash_everywhere(wal: &str, unsynced: &[Unsynced], all_acknowledged: bool, step: usize) {
    crash_under("", wal, unsynced, all_acknowledged, step);
}

/// Runs the crash tests of [`crash_everywhere`] for a design with more options.
fn crash_under(options: &str, wal: &str, unsynced: &[Unsynced], all_acknowledged: bool, step: usize) {
    let leveled = "compaction = { kind = \"leveled\", size_ratio = 3 }";
    crash_design(&format!("wal = \"{wal}\"\n{leveled}\n{options}"), unsynced, all_acknowledged, step);
}

fn crash_design(design: &str, unsynced: &[Unsynced], all_acknowledged: bool, step: usize) {
    let design = small_design(design);
    let commits = commits();
    let histories = histories(&commits);
    let calls = call_count(&design, &commits);
    let mut recoveries = Recoveries::new();
    for at in (0..calls.len()).step_by(step) {
        for effect in [FaultEffect::Nothing, FaultEffect::Prefix(5), FaultEffect::Whole] {
            if effect != FaultEffect::Nothing && !calls[at].writes() {
                continue;
            }
            let fault = InjectedFault { at, extent: FaultExtent::Onwards, error: DiskError::Io, effect };
            crash(&design, &commits, &histories, fault, unsynced, all_acknowledged, &mut recoveries);
        }
    }
    let wal = design.choice("wal");
    let (crashes, disks) = (calls.len().div_ceil(step), recoveries.len());
    println!("wal = {wal}: crashes at {crashes} of {} calls, with {disks} different disks", calls.len());
}

const POWER_LOSS: [Unsynced; 3] = [Unsynced::Dropped, Unsynced::Torn { seed: 1 }, Unsynced::Torn { seed: 2 }];

#[test]
fn synced_writes_survive_power_loss_at_every_call() {
    crash_everywhere("sync", &POWER_LOSS, true, 1);
}

#[test]
fn group_commits_survive_power_loss() {
    crash_everywhere("group", &POWER_LOSS, true, 3);
}

#[test]
fn buffered_writes_survive_the_death_of_the_process() {
    crash_everywhere("buffered", &[Unsynced::Kept], true, 1);
}

#[test]
fn buffered_writes_come_back_as_a_prefix_after_power_loss() {
    crash_everywhere("buffered", &POWER_LOSS, false, 1);
}

/// Tests a store without a manifest. Its only records of a change are the names of its files.
#[test]
fn the_names_of_files_lead_back_to_every_write() {
    let design = |wal: &str| {
        format!(
            "wal = \"{wal}\"\ncompaction = {{ kind = \"merge-all\", runs = 3 }}\ntable = {{ manifest = \"none\" }}"
        )
    };
    crash_design(&design("sync"), &POWER_LOSS, true, 1);
    crash_design(&design("buffered"), &[Unsynced::Kept], true, 3);
    crash_design(&design("buffered"), &POWER_LOSS, false, 2);
    crash_design(&design("none"), &[Unsynced::Kept, Unsynced::Torn { seed: 3 }], false, 3);
}

#[test]
fn a_compaction_in_parts_is_there_whole_or_not_at_all() {
    crash_under("threads = { max_subcompactions = 3 }", "sync", &POWER_LOSS, true, 2);
}

#[test]
fn what_a_drop_leaves_survives_power_loss_at_every_call() {
    let design = "wal = \"sync\"\ncompaction = \"fifo(capacity=8KiB)\"";
    let tree = open(&small_design(design), Mode::Counted, &crate::common::memory(), Path::new(DIRECTORY));
    for (key, value) in commits().into_iter().flatten() {
        value.map_or_else(|| tree.delete(&key), |value| tree.put(&key, &value)).unwrap();
    }
    assert!(tree.stats().counts.drops > 3, "{:?}", tree.stats().counts);
    crash_design(design, &POWER_LOSS, true, 1);
}

#[test]
fn without_a_log_a_prefix_of_what_was_flushed_comes_back() {
    crash_everywhere("none", &[Unsynced::Kept, Unsynced::Dropped, Unsynced::Torn { seed: 3 }], false, 1);
}

#[test]
fn one_failed_call_loses_nothing_acknowledged_and_names_its_cause() {
    let design = small_design("wal = \"sync\"");
    let commits = commits();
    let histories = histories(&commits);
    let calls = call_count(&design, &commits);
    let mut recoveries = Recoveries::new();
    for (at, operation) in calls.iter().enumerate() {
        for error in [DiskError::Io, DiskError::NoSpace] {
            if error == DiskError::NoSpace && !operation.takes_space() {
                continue;
            }
            let fault = InjectedFault { at, extent: FaultExtent::Once, error, effect: FaultEffect::Nothing };
            let unsynced = [Unsynced::Kept, Unsynced::Dropped];
            crash(&design, &commits, &histories, fault, &unsynced, true, &mut recoveries);
        }
    }
    println!("single faults at {} calls", calls.len());
}

#[test]
fn a_failed_sync_is_reported_with_its_file_and_stops_the_writes() {
    let faulty = Arc::new(Faulty::new(Arc::new(Memory::default())));
    let storage: Arc<dyn Storage> = Arc::clone(&faulty) as _;
    let tree = open(&small_design("wal = \"sync\""), Mode::Counted, &storage, Path::new(DIRECTORY));
    tree.put(b"a", b"1").unwrap();
    let at = faulty.calls().len() + 1;
    faulty.inject(InjectedFault {
        at,
        extent: FaultExtent::Once,
        error: DiskError::Io,
        effect: FaultEffect::Nothing,
    });
    let error = tree.put(b"b", b"2").unwrap_err().to_string();
    assert!(error.contains("cannot sync") && error.contains(".wal"), "{error}");
    let error = tree.put(b"c", b"3").unwrap_err();
    assert!(matches!(&error, Error::Failed(cause) if cause.contains("cannot sync")), "{error}");
    assert_eq!(tree.get(b"a").unwrap(), Some(b"1".to_vec()));
    assert_eq!(tree.get(b"b").unwrap(), None, "a write that failed cannot be read");
    drop(tree);
    let tree = open(&small_design("wal = \"sync\""), Mode::Counted, &storage, Path::new(DIRECTORY));
    assert_eq!(tree.get(b"a").unwrap(), Some(b"1".to_vec()));
    tree.put(b"c", b"3").unwrap();
}

/// Tests that recovery writes the operations of a WAL to SSTables, and then removes the WAL, as the document golsm
/// describes.
#[test]
fn recovery_flushes_the_operations_of_a_wal_and_removes_it() {
    let design = small_design("wal = \"sync\"\ncompaction = \"none\"\nmemtable = { capacity = \"64KiB\" }");
    let memory = Arc::new(Memory::default());
    let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
    let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
    (0..40u8).for_each(|number| tree.put(&[number], b"value").unwrap());
    assert_eq!(tree.stats().counts.flushes, 0);
    let logs = |storage: &dyn Storage| {
        let mut names = storage.list(Path::new(DIRECTORY)).unwrap();
        names.retain(|name| is_a(name, "wal"));
        names
    };
    let disk: Arc<dyn Storage> = Arc::new(memory.after_crash(Unsynced::Dropped));
    let before = logs(&*disk);
    let tree = open(&design, Mode::Counted, &disk, Path::new(DIRECTORY));
    let stats = tree.stats();
    assert_eq!((tree.recovery().replayed_operations, stats.counts.flushes, stats.runs()), (40, 1, 1));
    assert!((0..40u8).all(|number| tree.get(&[number]).unwrap().is_some()));
    assert_eq!(tree.stats().counts.gets_from_memtable, 0, "no operation is in a memtable again");
    assert!(before.len() == 1 && !logs(&*disk).contains(&before[0]), "{before:?} {:?}", logs(&*disk));
}

#[test]
fn a_crash_during_recovery_changes_nothing() {
    let scanned = "compaction = { kind = \"merge-all\", runs = 3 }\ntable = { manifest = \"none\" }";
    for options in ["", scanned] {
        crash_during_recovery(&small_design(&format!("wal = \"sync\"\n{options}")));
    }
}

fn crash_during_recovery(design: &Design) {
    let commits = commits();
    let histories = histories(&commits);
    let memory = Arc::new(Memory::default());
    let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
    let half = &commits[..commits.len() / 2];
    assert_eq!(write(design, &storage, half), half.len());
    let crashed = Arc::new(memory.after_crash(Unsynced::Dropped));
    let faulty = Arc::new(Faulty::new(Arc::new(crashed.after_crash(Unsynced::Kept))));
    drop(open(design, Mode::Counted, &(Arc::clone(&faulty) as _), Path::new(DIRECTORY)));
    for at in 0..faulty.calls().len() {
        for unsynced in POWER_LOSS {
            let disk = Arc::new(crashed.after_crash(Unsynced::Kept));
            let faulty = Arc::new(Faulty::new(Arc::clone(&disk) as _));
            faulty.inject(InjectedFault {
                at,
                extent: FaultExtent::Onwards,
                error: DiskError::Io,
                effect: FaultEffect::Nothing,
            });
            let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(faulty);
            let _ = options.open(DIRECTORY);
            let disk: Arc<dyn Storage> = Arc::new(disk.after_crash(unsynced));
            assert_eq!(content(design, &disk), histories[half.len()], "call {at}, {unsynced:?}");
        }
    }
}
