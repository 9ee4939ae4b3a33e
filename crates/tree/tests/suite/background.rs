//! Tests that flushes, compactions and syncs in the background finish in time, and report their errors.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lsmbench_tree::{Mode, OpenOptions};
use parking_lot::Mutex;
use storage::{
    DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault, Memory, Storage, Unsynced,
};

use crate::common::{memory, open, small_design};
use crate::probe::{Probe, gated_disk, in_time, is_a};

const DIRECTORY: &str = "tree";

fn key(number: u64) -> Vec<u8> {
    format!("key{number:06}").into_bytes()
}

#[test]
fn threads_read_what_they_wrote_in_counted_mode_too() {
    for round in 0..10 {
        let tree =
            open(&small_design("compaction = \"none\""), Mode::Counted, &memory(), Path::new(DIRECTORY));
        thread::scope(|scope| {
            for writer in 0..4u64 {
                let tree = &tree;
                scope.spawn(move || {
                    for number in 0..300u64 {
                        let key = key(writer * 8 + number % 8);
                        tree.put(&key, &number.to_be_bytes()).unwrap();
                        let got = tree.get(&key).unwrap();
                        assert_eq!(
                            got,
                            Some(number.to_be_bytes().to_vec()),
                            "round {round}, writer {writer}"
                        );
                    }
                });
            }
        });
    }
}

#[test]
fn nothing_goes_on_behind_a_settled_tree() {
    let design = small_design("compaction = { kind = \"leveled\", size_ratio = 3 }");
    for _ in 0..5 {
        let tree = open(&design, Mode::Timed, &memory(), Path::new(DIRECTORY));
        for number in 0..1000u64 {
            tree.put(&key(number % 300), &[7; 40]).unwrap();
            if number % 25 == 24 {
                tree.settle().unwrap();
                let settled = tree.stats().counts;
                thread::sleep(Duration::from_micros(300));
                let later = tree.stats().counts;
                let work =
                    |counts: &lsmbench_tree::Counts| (counts.flushes, counts.compactions, counts.moves);
                assert_eq!(work(&settled), work(&later), "after {number} writes");
            }
        }
    }
}

#[test]
fn a_flush_ends_while_others_go_on_writing() {
    // On this disk, the creation of an SSTable is slow, so that writers are always faster than flushes.
    let disk = Probe::new(|_, operation, path| {
        if operation == FileOperation::Create && is_a(path, "table") {
            thread::sleep(Duration::from_millis(2));
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let text = "compaction = \"none\"\nwal = \"none\"\nmemory = \"1GiB\"\nstall = { frozen_memtables = 4 }";
    let tree = open(&small_design(text), Mode::Timed, &storage, Path::new(DIRECTORY));
    in_time("flush", move || {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for writer in 0..3u64 {
                let (tree, stop) = (&tree, &stop);
                scope.spawn(move || {
                    for number in 0.. {
                        if stop.load(Ordering::Relaxed) {
                            return;
                        }
                        tree.put(&key(writer * 1000 + number % 500), &[3; 50]).unwrap();
                    }
                });
            }
            (0..10).for_each(|_| tree.flush().unwrap());
            stop.store(true, Ordering::Relaxed);
        });
    });
}

/// Tests that one thread is always kept for compactions, unless a design has one thread for flushes and compactions.
#[test]
fn compactions_have_their_own_thread_unless_threads_are_shared() {
    for (background, names) in [("apart", &["lsm-compact", "lsm-flush"][..]), ("shared", &["lsm-background"])]
    {
        let writers = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&writers);
        let disk = Probe::new(move |_, operation, path| {
            if operation == FileOperation::Create && is_a(path, "table") {
                let name = thread::current().name().unwrap_or_default().to_owned();
                seen.lock().insert(name);
            }
        });
        let storage: Arc<dyn Storage> = Arc::new(disk);
        let text = format!("threads = {{ background = \"{background}\" }}\ncompaction = \"tiered\"");
        let tree = open(&small_design(&text), Mode::Timed, &storage, Path::new(DIRECTORY));
        let counts = in_time(background, move || {
            (0..2000).for_each(|number| tree.put(&key(number % 500), &[1; 30]).unwrap());
            tree.settle().unwrap();
            assert!((0..500).all(|number| tree.get(&key(number)).unwrap().is_some()));
            tree.stats().counts
        });
        assert!(counts.flushes > 10 && counts.compactions > 0, "{counts:?}");
        assert!(writers.lock().iter().eq(names), "{background}: {:?}", writers.lock());
    }
}

#[test]
fn a_panic_in_the_background_reaches_the_writers() {
    let panics = Arc::new(AtomicBool::new(false));
    let armed = Arc::clone(&panics);
    let disk = Probe::new(move |_, operation, path| {
        let is_table = operation == FileOperation::Create && is_a(path, "table");
        assert!(!(is_table && armed.load(Ordering::SeqCst)), "planned");
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let tree = open(&small_design(""), Mode::Timed, &storage, Path::new(DIRECTORY));
    panics.store(true, Ordering::SeqCst);
    let error =
        in_time("writers", move || (0..2000).find_map(|number| tree.put(&key(number), &[1; 30]).err()));
    let message = error.expect("the writers hear of it").to_string();
    assert!(message.contains("panicked"), "{message}");
}

#[test]
fn sync_makes_frozen_memtables_durable() {
    let design = small_design("wal = \"buffered\"\nstall = { frozen_memtables = 4 }");
    let (probe, gate) = gated_disk();
    let storage: Arc<dyn Storage> = Arc::new(probe.clone());
    let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
    gate.close();
    (0..60).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    let image = in_time("sync", move || {
        let opener = thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            gate.open();
        });
        tree.sync().unwrap();
        let image = probe.after_crash(Unsynced::Dropped);
        opener.join().unwrap();
        image
    });
    let image: Arc<dyn Storage> = image;
    let tree = open(&design, Mode::Counted, &image, Path::new(DIRECTORY));
    let missing = (0..60).filter(|number| tree.get(&key(*number)).unwrap().is_none()).count();
    assert_eq!(missing, 0);
}

#[test]
fn closing_syncs_what_waits_for_its_period() {
    let design = small_design("wal = { kind = \"interval\", period = \"10s\" }");
    let probe = Probe::new(|_, _, _| {});
    let storage: Arc<dyn Storage> = Arc::new(probe.clone());
    let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
    tree.put(b"a", b"1").unwrap();
    let start = Instant::now();
    tree.close().unwrap();
    assert!(start.elapsed() < Duration::from_secs(9), "closing waits for no period");
    let image: Arc<dyn Storage> = probe.after_crash(Unsynced::Dropped);
    let tree = open(&design, Mode::Counted, &image, Path::new(DIRECTORY));
    assert_eq!(tree.get(b"a").unwrap(), Some(b"1".to_vec()));
}

#[test]
fn a_table_that_could_not_be_written_is_removed() {
    let memory = Arc::new(Memory::default());
    let faulty = Arc::new(Faulty::new(Arc::clone(&memory) as _));
    let storage: Arc<dyn Storage> = Arc::clone(&faulty) as _;
    let tree = open(&small_design("wal = \"none\""), Mode::Counted, &storage, Path::new(DIRECTORY));
    (0..20).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    let at = faulty.calls().len() + 1;
    faulty.inject(InjectedFault {
        at,
        extent: FaultExtent::Once,
        error: DiskError::NoSpace,
        effect: FaultEffect::Prefix(100),
    });
    tree.flush().unwrap_err();
    let names = memory.list(Path::new(DIRECTORY)).unwrap();
    assert!(!names.iter().any(|name| is_a(name, "table")), "{names:?}");
}

/// Writes ten memtables to a disk that takes 20 ms to create an SSTable, and returns the counters.
fn write_to_a_slow_disk(pacing: &str) -> lsmbench_tree::Counts {
    let disk = Probe::new(|_, operation, path| {
        if operation == FileOperation::Create && is_a(path, "table") {
            thread::sleep(Duration::from_millis(20));
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let text = format!(
        "compaction = \"none\"\nmemtable = {{ capacity = \"64KiB\" }}\ntable = {{ capacity = \"1MiB\" }}\n\
         stall = {{ frozen_memtables = 2, pacing = \"{pacing}\" }}"
    );
    let tree = open(&small_design(&text), Mode::Timed, &storage, Path::new(DIRECTORY));
    let pacing = pacing.to_owned();
    in_time(&pacing, move || {
        (0..5000).for_each(|number| tree.put(&key(number), &[1; 100]).unwrap());
        assert!((0..5000).all(|number| tree.get(&key(number)).unwrap().is_some()));
        tree.stats().counts
    })
}

#[test]
fn delayed_writers_do_not_stop() {
    let (stopped, delayed) = (write_to_a_slow_disk("stop"), write_to_a_slow_disk("delay"));
    assert_eq!(stopped.delays, 0);
    assert!(stopped.stalls >= 4, "{stopped:?}");
    assert!(delayed.delays > 10, "{delayed:?}");
    assert!(delayed.stalls * 2 <= stopped.stalls, "{delayed:?}");
    assert!(delayed.rotations >= 8, "{delayed:?}");
}

/// Writes and flushes one memtable of 200 entries.
fn fill(tree: &lsmbench_tree::Tree) {
    (0..200).for_each(|number| tree.put(&key(number), &[1; 1000]).unwrap());
    tree.flush().unwrap();
}

#[test]
fn writers_create_no_wal_after_the_first_flush() {
    let creators = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&creators);
    let disk = Probe::new(move |_, operation, path| {
        if operation == FileOperation::Create && is_a(path, "wal") {
            seen.lock().insert(thread::current().name().unwrap_or_default().to_owned());
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let design = small_design("memtable = { capacity = \"1MiB\" }");
    let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
    in_time("flushes", move || {
        fill(&tree);
        creators.lock().clear();
        (0..5).for_each(|_| fill(&tree));
        assert!(creators.lock().iter().eq(["lsm-flush"]), "{:?}", creators.lock());
    });
}

/// Tests that a WAL that the flush thread creates has as much space as the previous WAL, if the design reserves space
/// for WALs and the WAL is not synced.
#[test]
fn next_wals_have_space_in_advance() {
    for (wal, reserves, is_reserved) in
        [("buffered", true, true), ("buffered", false, false), ("group", true, false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "memtable = {{ capacity = \"1MiB\" }}\nstorage = \"mmap\"\nwal = \"{wal}\"\n\
             stall = {{ reserve_wal = {reserves} }}"
        );
        let tree = OpenOptions::new(small_design(&text)).mode(Mode::Timed).open(folder.path()).unwrap();
        // The second flush finds the size of the first WAL.
        (0..3).for_each(|_| fill(&tree));
        tree.settle().unwrap();
        let files = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap);
        let logs = files.filter(|file| file.file_name().to_string_lossy().ends_with(".wal"));
        let mut sizes: Vec<u64> = logs.map(|file| file.metadata().unwrap().len()).collect();
        sizes.sort_unstable();
        // Two WALs are for the next memtables, and one is for the active memtable.
        assert_eq!(sizes.len(), 3, "{sizes:?}");
        assert_eq!(sizes[2] >= 200_000, is_reserved, "{wal}: {sizes:?}");
        drop(tree);
        let tree = OpenOptions::new(small_design(&text)).mode(Mode::Counted).open(folder.path()).unwrap();
        assert!((0..200).all(|number| tree.get(&key(number)).unwrap().is_some()), "{wal}");
    }
}

/// Writes so many entries that about `memtables` memtables are full.
fn write_memtables(tree: &lsmbench_tree::Tree, memtables: u64) {
    (0..memtables * 50).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
}

fn has_all(tree: &lsmbench_tree::Tree, memtables: u64) -> bool {
    (0..memtables * 50).all(|number| tree.get(&key(number)).unwrap().is_some())
}

/// While the flush thread reserves space for a WAL, writers create their own WALs. These WALs are newer than the WAL of
/// the flush thread, so nobody may use the WAL of the flush thread.
#[test]
fn writers_wait_for_no_reservation() {
    let text = "wal = \"buffered\"\ncompaction = \"none\"\n\
                stall = { reserve_wal = true, frozen_memtables = 100 }";
    let design = small_design(text);
    let probe = Probe::new(|_, _, _| {});
    probe.reservations().close();
    let storage: Arc<dyn Storage> = Arc::new(probe.clone());
    let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
    in_time("writers", move || {
        write_memtables(&tree, 10);
        let counts = tree.stats().counts;
        assert!(counts.rotations > 3 && counts.flushes == 0, "{counts:?}");
        let image: Arc<dyn Storage> = probe.after_crash(Unsynced::Kept);
        assert!(has_all(&open(&design, Mode::Counted, &image, Path::new(DIRECTORY)), 10));
        probe.reservations().open();
        write_memtables(&tree, 20);
        tree.settle().unwrap();
        assert!(has_all(&tree, 20));
        let image: Arc<dyn Storage> = probe.after_crash(Unsynced::Kept);
        assert!(has_all(&open(&design, Mode::Counted, &image, Path::new(DIRECTORY)), 20));
        tree.close().unwrap();
        let names = storage.list(Path::new(DIRECTORY)).unwrap();
        assert_eq!(names.iter().filter(|name| is_a(name, "wal")).count(), 1, "{names:?}");
    });
}

/// Opens a tree on a disk on which the flush thread cannot execute `failing` on WALs. Writes twenty memtables.
fn write_without_next_logs(wal: &str, failing: FileOperation) -> Result<lsmbench_tree::Counts, String> {
    let disk = Probe::failing(move |_, operation, path| {
        let is_next = thread::current().name() == Some("lsm-flush") && is_a(path, "wal");
        if is_next && operation == failing { Err(DiskError::NoSpace) } else { Ok(()) }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let text = format!("wal = \"{wal}\"\ncompaction = \"none\"");
    let tree = open(&small_design(&text), Mode::Timed, &storage, Path::new(DIRECTORY));
    in_time("writers", move || {
        for number in 0..1000 {
            tree.put(&key(number), &[1; 30]).map_err(|error| error.to_string())?;
        }
        tree.settle().map_err(|error| error.to_string())?;
        assert!(has_all(&tree, 20));
        let counts = tree.stats().counts;
        tree.close().map_err(|error| error.to_string())?;
        let names = storage.list(Path::new(DIRECTORY)).unwrap();
        assert_eq!(names.iter().filter(|name| is_a(name, "wal")).count(), 1, "{names:?}");
        Ok(counts)
    })
}

/// A WAL that cannot be created in advance is created by the writer that needs it.
#[test]
fn a_next_wal_that_cannot_be_created_fails_no_write() {
    for failing in [FileOperation::Create, FileOperation::Append] {
        for wal in ["buffered", "group"] {
            let counts = write_without_next_logs(wal, failing).unwrap();
            assert!(counts.wal_creation_errors > 0 && counts.rotations > 3, "{wal}, {failing:?}: {counts:?}");
        }
    }
}

/// A failed sync may lose data of other files, so the tree accepts no further writes.
#[test]
fn a_failed_sync_of_a_next_wal_fails_the_tree() {
    let error = write_without_next_logs("group", FileOperation::Sync).unwrap_err();
    assert!(error.contains("00000"), "{error}");
}

#[test]
fn a_panic_of_a_removal_reaches_those_who_wait_for_it() {
    let panics = Arc::new(AtomicBool::new(true));
    let disk = Probe::new(move |_, operation, path| {
        let is_removal = operation == FileOperation::Remove && is_a(path, "wal");
        assert!(!(is_removal && panics.swap(false, Ordering::SeqCst)), "planned");
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let tree = open(&small_design("wal = \"buffered\""), Mode::Timed, &storage, Path::new(DIRECTORY));
    let error = in_time("settle", move || {
        let written = (0..2000).find_map(|number| tree.put(&key(number), &[1; 30]).err());
        written.or_else(|| tree.settle().err()).map(|error| error.to_string())
    });
    let error = error.expect("the caller hears of it");
    assert!(error.contains("lsm-remove panicked"), "{error}");
}

/// A put that owns the last view with an obsolete SSTable would remove its file. A separate thread removes the files
/// instead.
#[test]
fn readers_remove_no_obsolete_tables() {
    let removers = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&removers);
    let disk = Probe::new(move |_, operation, path| {
        if operation == FileOperation::Remove && is_a(path, "table") {
            seen.lock().insert(thread::current().name().unwrap_or_default().to_owned());
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let design = small_design("compaction = \"tiered\"");
    let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
    in_time("removals", move || {
        for round in 0..20 {
            (0..100).for_each(|number| tree.put(&key(number), &[round; 30]).unwrap());
            // The snapshot owns the SSTables of its view longer than the compaction that replaces them.
            let snapshot = tree.snapshot();
            (0..100).for_each(|number| tree.put(&key(number), &[round; 30]).unwrap());
            tree.settle().unwrap();
            assert_eq!(snapshot.get(&key(round.into())).unwrap(), Some(vec![round; 30]));
            drop(snapshot);
        }
        assert!(tree.stats().counts.compactions > 0);
        assert!(removers.lock().iter().eq(["lsm-remove"]), "{:?}", removers.lock());
        // The files of the last snapshot are removed without further writes.
        while storage.list(Path::new(DIRECTORY)).unwrap().iter().filter(|name| is_a(name, "table")).count()
            > tree.stats().levels.iter().map(|level| level.tables).sum::<u64>() as usize
        {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
