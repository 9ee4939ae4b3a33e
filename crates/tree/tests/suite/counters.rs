//! The tree's counters: they say what storage saw, and the same in every run.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{AXES, Counts, Mode};
use storage::{Counting, Purpose, Storage};

use crate::common::{memory, open, small_design};

const DIRECTORY: &str = "tree";

fn key(number: u64) -> Vec<u8> {
    format!("key{number:06}").into_bytes()
}

#[test]
fn log_counters_are_what_storage_saw() {
    for wal in ["none", "buffered", "sync", "group"] {
        let counting = Arc::new(Counting::new(memory()));
        let storage: Arc<dyn Storage> = Arc::clone(&counting) as _;
        let design = small_design(&format!("wal = \"{wal}\""));
        let tree = open(&design, Mode::Counted, &storage, Path::new(DIRECTORY));
        (0..300).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
        let (counts, seen) = (tree.stats().counts, counting.counts().of(Purpose::Log));
        assert_eq!((counts.wal_bytes, counts.wal_syncs), (seen.bytes_written, seen.syncs), "wal = {wal}");
    }
}

#[test]
fn two_runs_count_the_same_with_every_cache() {
    let axis = AXES.iter().find(|axis| axis.name() == "cache").expect("there is such an axis");
    for cache in axis.variants() {
        let design = small_design(&format!("cache = \"{}\"", cache.kind));
        let run = || -> Counts {
            let tree = open(&design, Mode::Counted, &memory(), Path::new(DIRECTORY));
            (0..2000).for_each(|number| tree.put(&key(number * 7919 % 5000), &[1; 300]).unwrap());
            for number in 0..5000u64 {
                // Squared, so that some are asked for more often than others.
                let place = number * 2_654_435_761 % 5000;
                tree.get(&key(place * place / 5000)).unwrap();
            }
            tree.stats().counts
        };
        assert_eq!(run(), run(), "{}", cache.kind);
    }
}

#[test]
fn blocks_that_only_a_scan_looks_into_are_not_searched_by_gets() {
    let tree = open(&small_design("fence = \"page-search\""), Mode::Counted, &memory(), Path::new(DIRECTORY));
    (0..600).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
    let before = tree.stats().counts;
    let mut range = tree.range((Bound::Included(&key(100)[..]), Bound::Unbounded)).unwrap();
    while range.next().unwrap().is_some() {}
    drop(range);
    assert_eq!(tree.stats().counts.since(&before).blocks_searched, 0);
}
