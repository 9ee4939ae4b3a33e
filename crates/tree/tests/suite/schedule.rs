//! The schedule `silk`: a compaction of level 0 preempts a compaction of deeper levels, and compactions wait for the
//! bandwidth that clients leave.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use lsmbench_tree::{Counts, Mode, OpenOptions, Tree};
use storage::{FileOperation, Storage};

use crate::common::{memory, open, small_design};
use crate::probe::{Probe, in_time, is_a};

const DIRECTORY: &str = "tree";

/// The number of flushes that a deep compaction waits for.
const FLUSHES: usize = 2;

/// The longest time for which a deep compaction waits for flushes.
const MOST_WAIT: Duration = Duration::from_millis(300);

const KEYS: u64 = 4000;

/// The least number of times for which all keys are written.
const LEAST_ROUNDS: u64 = 3;

/// The largest number of times for which all keys are written.
const MOST_ROUNDS: u64 = 30;

fn key(number: u64) -> Vec<u8> {
    format!("key{:06}", number * 7919 % KEYS).into_bytes()
}

/// Writes and overwrites keys. A compaction into level 3 or a deeper level waits at its first SSTable until
/// [`FLUSHES`] memtables are flushed. Writes all keys at least `rounds` times, and stops when compactions of level 0 have
/// preempted at least `preempting` others. Checks that the tree then contains the newest values. Returns the number of
/// rounds, too.
fn write_during_deep_compactions(threads: &str, rounds: u64, preempting: u64) -> (Counts, u64) {
    let flushed = Arc::new(AtomicUsize::new(0));
    let disk = Probe::new(move |_, operation, path| {
        if operation != FileOperation::Create || !is_a(path, "bin") {
            return;
        }
        let level = path
            .file_name()
            .and_then(|name| name.to_str()?.split_once("_R")?.0.strip_prefix('L')?.parse().ok());
        match level.unwrap_or(0) {
            0 => {
                flushed.fetch_add(1, Ordering::SeqCst);
            }
            3.. => {
                let (until, deadline) =
                    (flushed.load(Ordering::SeqCst) + FLUSHES, Instant::now() + MOST_WAIT);
                while flushed.load(Ordering::SeqCst) < until && Instant::now() < deadline {
                    thread::sleep(Duration::from_micros(100));
                }
            }
            _ => {}
        }
    });
    let storage: Arc<dyn Storage> = Arc::new(disk);
    let text = format!(
        "threads = {{ {threads} }}\nmemtable = {{ capacity = \"4KiB\" }}\n\
         compaction = {{ kind = \"leveled\", size_ratio = 2, level0_runs = 2 }}\n\
         stall = {{ level0_runs = 8 }}\n\
         table = {{ names = \"level-run\", capacity = \"1MiB\" }}"
    );
    let tree = open(&small_design(&text), Mode::Timed, &storage, Path::new(DIRECTORY));
    in_time("a preempted compaction", move || {
        let mut round = 0;
        let is_done = |round| round >= rounds && tree.stats().counts.preempting_compactions >= preempting;
        while round < MOST_ROUNDS && !is_done(round) {
            round += 1;
            (0..KEYS).for_each(|number| tree.put(&key(number), &(round + number).to_be_bytes()).unwrap());
        }
        tree.settle().unwrap();
        for number in 0..KEYS {
            let value = tree.get(&key(number)).unwrap();
            assert_eq!(value, Some((round + number).to_be_bytes().to_vec()), "key {number}");
        }
        let stats = tree.stats();
        let read: u64 = stats.level_counts.iter().map(|level| level.bytes_read).sum();
        assert_eq!(read, stats.counts.compaction_bytes_read, "each read counts for one level");
        (stats.counts, round)
    })
}

#[test]
fn level_0_does_not_wait_for_a_deep_compaction() {
    for more in ["", ", max_subcompactions = 3"] {
        let silk = format!("schedule = \"silk\"{more}");
        let (silk, rounds) = write_during_deep_compactions(&silk, LEAST_ROUNDS, 3);
        assert!(silk.preempting_compactions >= 3, "{more}: {silk:?}");
        let in_order = format!("schedule = \"in-order\"{more}");
        let (in_order, _) = write_during_deep_compactions(&in_order, rounds, 0);
        assert_eq!(in_order.preempting_compactions, 0, "{more}");
    }
}

/// Opens a tree whose deep compactions have little bandwidth. The clock of the tree is the time since this call.
fn open_with_bandwidth(bandwidth: &str) -> Tree {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = format!(
        "threads = {{ schedule = \"silk\", bandwidth = \"{bandwidth}\" }}\n\
         compaction = {{ kind = \"leveled\", size_ratio = 2 }}"
    );
    let options = OpenOptions::new(small_design(&text)).mode(Mode::Timed).storage(memory());
    options.clock(|| START.elapsed().as_nanos() as u64).open(DIRECTORY).unwrap()
}

/// Writes a part of the keys and flushes them.
fn write_part(tree: &Tree, part: u64) {
    (0..100).for_each(|number| tree.put(&key(part * 100 + number), &[5; 40]).unwrap());
    tree.flush().unwrap();
}

#[test]
fn compactions_wait_for_bandwidth() {
    for (bandwidth, least_ns) in [("1MiB", 10_000_000), ("0B", 0)] {
        let tree = open_with_bandwidth(bandwidth);
        let counts = in_time("compactions with little bandwidth", move || {
            for part in 0..20 {
                write_part(&tree, part);
                tree.settle().unwrap();
            }
            assert!((0..2000).all(|number| tree.get(&key(number)).unwrap().is_some()));
            tree.stats().counts
        });
        assert!(counts.bandwidth_wait_ns >= least_ns, "{bandwidth}: {counts:?}");
        assert_eq!(counts.bandwidth_wait_ns == 0, least_ns == 0, "{bandwidth}: {counts:?}");
    }
}

/// Closing a tree does not wait for the bandwidth of a compaction.
#[test]
fn a_tree_closes_while_a_compaction_waits() {
    let tree = open_with_bandwidth("1KiB");
    let closing = in_time("close", move || {
        let is_waiting = || tree.stats().counts.bandwidth_wait_ns > 0;
        let parts = (0..).take_while(|part| {
            write_part(&tree, part % 40);
            thread::sleep(Duration::from_millis(5));
            !is_waiting()
        });
        assert!(parts.take(2000).count() < 2000, "no compaction waits");
        let start = Instant::now();
        drop(tree);
        start.elapsed()
    });
    assert!(closing < Duration::from_secs(5), "{closing:?}");
}
