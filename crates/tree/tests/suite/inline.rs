//! Tests of writers that run background work. If a write makes work due, the work is finished when the write returns,
//! and runs on the thread of the write. No thread waits forever.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use lsmbench_tree::{Counts, Design, Mode, Tree};
use parking_lot::Mutex;
use storage::{DiskError, FaultEffect, FaultExtent, Faulty, FileOperation, InjectedFault, Storage};

use crate::common::{memory, open, small_design};
use crate::probe::{Probe, in_time, is_a};

const DIRECTORY: &str = "tree";

fn design(inline: &str, more: &str) -> Design {
    small_design(&format!("threads = {{ inline = \"{inline}\" }}\n{more}"))
}

fn key(number: u64) -> Vec<u8> {
    format!("key{:06}", number * 7919 % 100_003).into_bytes()
}

/// Writes and reads, and returns the counters.
fn counted(tree: &Tree) -> Counts {
    for number in 0..3000 {
        match number % 7 {
            6 => tree.delete(&key(number / 2)).unwrap(),
            _ => tree.put(&key(number), &[1; 40]).unwrap(),
        }
        assert_eq!(tree.get(&key(number)).unwrap().is_some(), number % 7 != 6);
    }
    tree.stats().counts
}

#[test]
fn a_single_writer_counts_as_in_counted_mode() {
    let run = |design: &Design, mode| counted(&open(design, mode, &memory(), Path::new(DIRECTORY)));
    for more in ["", "compaction = \"binary-counter\"", "stall = { frozen_memtables = 1, level0_runs = 2 }"] {
        let behind = run(&small_design(more), Mode::Counted);
        assert!(behind.flushes > 10 && behind.compactions > 3, "{behind:?}");
        assert_eq!(run(&design("all", more), Mode::Timed), behind, "{more}");
        assert_eq!(run(&design("all", more), Mode::Counted), behind, "{more}");
    }
}

#[test]
fn flushes_are_done_when_the_write_returns_and_compactions_where_the_design_says() {
    for inline in ["flush", "all"] {
        let workers: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&workers);
        let storage: Arc<dyn Storage> = Arc::new(Probe::new(move |_, operation, path| {
            if operation == FileOperation::Create && is_a(path, "table") {
                seen.lock().push(thread::current().name().unwrap_or_default().to_owned());
            }
        }));
        let design = design(inline, "compaction = { kind = \"tiered\", size_ratio = 3 }");
        let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
        let writer = thread::Builder::new().name("writer".to_owned());
        let work = || {
            for number in 0..600 {
                let before = tree.stats().memtable_bytes;
                tree.put(&key(number), &[1; 40]).unwrap();
                let after = tree.stats();
                // If the memtable is smaller than before, it is a new memtable. The full memtable is then already in
                // an SSTable.
                let flushes = workers.lock().iter().filter(|name| *name == "writer").count();
                assert!(after.memtable_bytes >= before || flushes > 0, "{inline}: {number}");
            }
        };
        thread::scope(|scope| writer.spawn_scoped(scope, work).unwrap().join().unwrap());
        tree.settle().unwrap();
        let counts = tree.stats().counts;
        let workers = workers.lock();
        let of_writer = workers.iter().filter(|name| *name == "writer").count() as u64;
        let of_compactor = workers.iter().filter(|name| *name == "lsm-compact").count();
        assert!(counts.flushes > 5 && counts.compactions > 0, "{inline}: {counts:?}");
        assert_eq!(of_writer as usize + of_compactor, workers.len(), "{inline}: {workers:?}");
        match inline {
            "flush" => assert!(of_writer >= counts.flushes && of_compactor > 0, "{workers:?}"),
            _ => assert_eq!(of_compactor, 0, "{workers:?}"),
        }
    }
}

/// Tests that no writer waits forever if several writers find the list of immutable memtables full while another writer
/// flushes.
#[test]
fn many_writers_wait_for_each_other_and_not_for_ever() {
    for inline in ["flush", "all"] {
        for (frozen, level0) in [(1, 0), (1, 2), (3, 2)] {
            let text =
                format!("stall = {{ frozen_memtables = {frozen}, level0_runs = {level0} }}\nwal = \"none\"");
            let design = design(inline, &text);
            in_time(&text, move || {
                let tree = open(&design, Mode::Timed, &memory(), Path::new(DIRECTORY));
                thread::scope(|scope| {
                    for writer in 0..6 {
                        let tree = &tree;
                        scope.spawn(move || {
                            for number in 0..400 {
                                tree.put(&key(writer * 1000 + number), &number.to_be_bytes()).unwrap();
                                if number % 97 == writer {
                                    tree.compact().unwrap();
                                }
                            }
                        });
                    }
                });
                tree.settle().unwrap();
                for (writer, number) in (0..6).flat_map(|writer| (0..400).map(move |number| (writer, number)))
                {
                    let got = tree.get(&key(writer * 1000 + number)).unwrap();
                    assert_eq!(got, Some(number.to_be_bytes().to_vec()), "{writer} {number}");
                }
            });
        }
    }
}

/// Puts keys with several threads until each thread gets an error, and returns the errors.
fn errors(tree: &Tree) -> Vec<String> {
    thread::scope(|scope| {
        let put = |writer: u64| (0..2000).find_map(|n| tree.put(&key(writer * 5000 + n), &[1; 30]).err());
        let writers: Vec<_> = (0..4).map(|writer| scope.spawn(move || put(writer))).collect();
        let joined = writers.into_iter().filter_map(|writer| writer.join().ok());
        joined.map(|error| error.expect("the writers hear of it").to_string()).collect()
    })
}

#[test]
fn a_disk_that_fails_one_writer_fails_all() {
    for inline in ["flush", "all"] {
        let faulty = Arc::new(Faulty::new(memory()));
        let storage: Arc<dyn Storage> = Arc::clone(&faulty) as _;
        let design = design(inline, "wal = \"none\"\nstall = { frozen_memtables = 1 }");
        let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
        let at = faulty.calls().len() + 30;
        faulty.inject(InjectedFault {
            at,
            extent: FaultExtent::Onwards,
            error: DiskError::NoSpace,
            effect: FaultEffect::Nothing,
        });
        let errors = in_time(inline, move || errors(&tree));
        assert_eq!(errors.len(), 4, "{errors:?}");
    }
}

#[test]
fn a_panic_of_one_writer_reaches_those_who_wait_for_it() {
    let panics = Arc::new(AtomicBool::new(true));
    let armed = Arc::clone(&panics);
    let disk = Probe::new(move |_, operation, path| {
        let is_table = operation == FileOperation::Create && is_a(path, "table");
        if is_table && armed.swap(false, Ordering::SeqCst) {
            // The other threads fill the next memtable during this time.
            thread::sleep(Duration::from_millis(50));
            panic!("planned");
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let design = design("all", "wal = \"none\"\nstall = { frozen_memtables = 1 }");
    let tree = open(&design, Mode::Timed, &storage, Path::new(DIRECTORY));
    let errors = in_time("writers", move || errors(&tree));
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors.iter().all(|error| error.contains("panicked")), "{errors:?}");
}
