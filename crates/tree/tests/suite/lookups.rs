//! Tests of lookups that search several sorted runs at the same time, and of lookups with the restart points and hash
//! indexes of blocks in memory.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cache::{BlockId, Cache};
use lsmbench_tree::{Counts, Mode, OpenOptions, Tree};
use parking_lot::{Condvar, Mutex};
use types::Bytes;

use crate::common::{mapped_memory, memory, open, small_design};
use crate::probe::in_time;

const DIRECTORY: &str = "tree";

fn key(number: u64) -> Vec<u8> {
    format!("key{number:06}").into_bytes()
}

/// A cache without blocks, in which a read of a block waits until several threads read blocks at the same time.
#[derive(Default)]
struct Meeting {
    state: Mutex<MeetingState>,
    changed: Condvar,
}

#[derive(Default)]
struct MeetingState {
    /// The number of threads that must meet. With 0, no thread waits.
    wanted: usize,
    arrived: usize,
    /// The table whose blocks are corrupt in the cache.
    corrupt: Option<u64>,
}

impl Meeting {
    /// Sets the number of threads that must meet, and the table whose blocks are corrupt.
    fn expect(&self, wanted: usize, corrupt: Option<u64>) {
        *self.state.lock() = MeetingState { wanted, arrived: 0, corrupt };
    }
}

impl Cache for Meeting {
    fn get(&self, id: &BlockId) -> Option<Bytes> {
        let mut state = self.state.lock();
        state.arrived += 1;
        self.changed.notify_all();
        while state.arrived < state.wanted {
            let waited = self.changed.wait_for(&mut state, Duration::from_secs(50));
            assert!(!waited.timed_out(), "{} of {} threads came", state.arrived, state.wanted);
        }
        (state.corrupt == Some(id.table)).then(|| Bytes::copy_from(b"no block"))
    }

    fn insert(&self, _: BlockId, _: Bytes) {}

    fn remove_table(&self, _: u64, _: u64) {}

    fn set_capacity(&self, _: u64) {}

    fn is_resizable(&self) -> bool {
        false
    }

    fn capacity(&self) -> u64 {
        0
    }

    fn weight_bytes(&self) -> u64 {
        0
    }
}

/// Returns a tree with three runs and without filters, the cache of the tree, and the numbers of its tables from the
/// oldest to the newest. The key `all` is in every run, and the key `middle` only in the second run. The newest run
/// has a tombstone of the key `deleted`, and a range tombstone of the keys that begin with `range`.
fn three_runs(per_lookup: usize) -> (Tree, Arc<Meeting>, Vec<u64>) {
    let text = format!(
        "compaction = \"none\"\nbloom = \"none\"\nwal = \"none\"\nmemtable = {{ capacity = \"64KiB\" }}\n\
         threads = {{ per_lookup = {per_lookup} }}"
    );
    let (storage, cache) = (memory(), Arc::new(Meeting::default()));
    let options = OpenOptions::new(small_design(&text)).storage(Arc::clone(&storage));
    let tree = options.cache(Arc::clone(&cache) as _).open(DIRECTORY).unwrap();
    for run in 0..3u8 {
        for bound in [b"a", b"z"] {
            tree.put(bound, &[run]).unwrap();
        }
        tree.put(b"all", &[run]).unwrap();
        if run == 1 {
            tree.put(b"middle", &[run]).unwrap();
        }
        if run == 2 {
            tree.delete(b"deleted").unwrap();
            tree.delete_range(b"range", b"rangf").unwrap();
        } else {
            tree.put(b"deleted", &[run]).unwrap();
            tree.put(b"range-1", &[run]).unwrap();
        }
        tree.flush().unwrap();
    }
    let mut tables: Vec<u64> = storage
        .list(Path::new(DIRECTORY))
        .unwrap()
        .iter()
        .filter_map(|name| name.strip_suffix(".table").map(|number| number.parse().unwrap()))
        .collect();
    tables.sort_unstable();
    assert_eq!(tables.len(), 3);
    (tree, cache, tables)
}

/// Runs `work`, and returns the increase of the counters of the tree.
fn counted(tree: &Tree, work: impl FnOnce()) -> Counts {
    let before = tree.stats().counts;
    work();
    tree.stats().counts.since(&before)
}

/// Tests that one get reads blocks of three runs at the same time. Each read of a block waits until three threads read,
/// so a single thread would wait forever.
#[test]
fn one_get_reads_blocks_of_several_runs_at_the_same_time() {
    in_time("a get with three threads", || {
        let (tree, cache, _) = three_runs(3);
        let counts = counted(&tree, || {
            for _ in 0..20 {
                cache.expect(3, None);
                assert_eq!(tree.get(b"absent").unwrap(), None);
                cache.expect(3, None);
                assert_eq!(tree.get(b"all").unwrap(), Some(vec![2]));
            }
        });
        assert_eq!((counts.gets, counts.parallel_gets, counts.gets_found), (40, 40, 20));
        assert_eq!(counts.blocks_searched, 120);
    });
}

#[test]
fn the_newest_run_decides_also_about_tombstones_and_errors() {
    let (tree, cache, tables) = three_runs(2);
    for _ in 0..200 {
        for (name, value) in [
            ("all", Some(vec![2])),
            ("middle", Some(vec![1])),
            ("deleted", None),
            ("range-1", None),
            ("a", Some(vec![2])),
        ] {
            assert_eq!(tree.get(name.as_bytes()).unwrap(), value, "{name}");
            assert_eq!(tree.snapshot().get(name.as_bytes()).unwrap(), value, "{name}");
        }
    }
    // An error counts as the answer of its run, as in a search of one run after another.
    for (corrupt, is_lost) in [(0, false), (1, true), (2, true)] {
        cache.expect(0, Some(tables[corrupt]));
        for _ in 0..100 {
            let found = tree.get(b"middle");
            assert_eq!(found.is_err(), is_lost, "run {corrupt}: {found:?}");
            assert_eq!(tree.get(b"deleted").is_err(), corrupt == 2, "run {corrupt}");
        }
    }
}

#[test]
fn runs_that_filters_exclude_need_no_further_thread() {
    let design = small_design(
        "compaction = \"none\"\nbloom = \"perfect\"\nthreads = { per_lookup = 4 }\nmemtable = { capacity = \"1KiB\" }",
    );
    let get_all = |mode| {
        let tree = open(&design, mode, &memory(), Path::new(DIRECTORY));
        (0..400).for_each(|number| tree.put(&key(number), &[1; 30]).unwrap());
        (0..40).for_each(|number| tree.put(&key(number), &[2; 30]).unwrap());
        tree.flush().unwrap();
        counted(&tree, || {
            for number in 0..420 {
                let value = [2, 1][usize::from(number >= 40)];
                assert_eq!(tree.get(&key(number)).unwrap(), (number < 400).then(|| vec![value; 30]));
            }
        })
    };
    let counts = get_all(Mode::Timed);
    // Only the 40 keys with two versions are in two runs.
    assert_eq!((counts.gets, counts.gets_found, counts.parallel_gets), (420, 400, 40));
    assert_eq!(get_all(Mode::Counted).parallel_gets, 0, "counters of counted mode do not depend on threads");
}

/// Tests that a get reads no block if the hash index in memory shows that its key is absent, which is the case for most
/// absent keys.
#[test]
fn an_index_in_memory_answers_without_a_block() {
    for (storage, format) in [(memory(), "delta"), (mapped_memory(), "delta"), (memory(), "btree-page")] {
        let gets = |memory_index: bool| {
            let text = format!(
                "compaction = \"none\"\nbloom = \"none\"\ncache = \"none\"\nformat = \"{format}\"\n\
                 memtable = {{ capacity = \"64KiB\" }}\ntable = {{ capacity = \"1MiB\" }}\n\
                 block = {{ memory_index = {memory_index}, index_load = 0.5, restart_interval = 10 }}"
            );
            let path = format!("{DIRECTORY}-{memory_index}");
            let tree = open(&small_design(&text), Mode::Counted, &storage, Path::new(&path));
            (0..500).for_each(|number| tree.put(&key(number * 2), &number.to_be_bytes()).unwrap());
            tree.flush().unwrap();
            drop(tree);
            // Opening the tree creates the index again.
            let tree = open(&small_design(&text), Mode::Counted, &storage, Path::new(&path));
            let present = counted(&tree, || {
                (0..500u64).for_each(|number| {
                    assert_eq!(tree.get(&key(number * 2)).unwrap(), Some(number.to_be_bytes().to_vec()));
                });
            });
            let absent = counted(&tree, || {
                (0..499).for_each(|number| assert_eq!(tree.get(&key(number * 2 + 1)).unwrap(), None));
            });
            (present, absent, tree.stats().fence_bytes)
        };
        let ((present, absent, bytes), (old_present, old_absent, old_bytes)) = (gets(true), gets(false));
        assert_eq!(
            (present.blocks_searched, old_present.blocks_searched, old_absent.blocks_searched),
            (500, 500, 499)
        );
        assert_eq!((present.block_index_probes, absent.block_index_probes), (500, 499));
        // With two buckets per key, a bucket is empty with a probability of about exp(-0.5) = 61 %.
        assert!((250..350).contains(&(499 - absent.blocks_searched)), "{format}: {absent:?}");
        assert!(present.block_index_answers > 250, "{format}: {present:?}");
        assert_eq!(old_present.block_index_probes + old_absent.block_index_probes, 0);
        assert!(bytes > old_bytes + 2 * 500, "{format}: {bytes} and {old_bytes} bytes");
    }
}
