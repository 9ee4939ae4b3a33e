//! Tests that the older variants of three options give equal answers and equal bytes. The options are the references of
//! scans, the key copies of table writers, and the merge kernel of compactions.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use lsmbench_tree::{Counts, Design, Mode, OpenOptions, Tree};
use storage::{Memory, Purpose, Storage};

use crate::common::{memory, open, small_design};
use crate::probe::is_a;

const DIRECTORY: &str = "tree";

fn key(number: u64) -> Vec<u8> {
    format!("key{number:06}").into_bytes()
}

fn filled(design: &Design, storage: &Arc<dyn Storage>) -> Tree {
    let options = OpenOptions::new(design.clone()).mode(Mode::Counted).storage(Arc::clone(storage));
    let tree = options.identity(1).open(DIRECTORY).unwrap();
    (0..3001).for_each(|number| tree.put(&key(number * 7919 % 3001), &number.to_be_bytes()).unwrap());
    tree.flush().unwrap();
    tree
}

/// Returns the names and the content of all tables of a tree.
fn tables(storage: &Memory) -> Vec<(String, Vec<u8>)> {
    let mut names = storage.list(Path::new(DIRECTORY)).unwrap();
    names.retain(|name| is_a(name, "table"));
    names.sort();
    let read = |name: String| {
        let file = storage.open(&Path::new(DIRECTORY).join(&name), Purpose::Table).unwrap();
        let bytes = file.read(0, file.len() as usize).unwrap().to_vec();
        (name, bytes)
    };
    names.into_iter().map(read).collect()
}

#[test]
fn a_last_key_copied_for_every_entry_leaves_the_same_tables() {
    for more in ["", "bloom = \"grafite\"", "format = \"btree-page\""] {
        let written = ["block", "entry"].map(|last_key| {
            let memory = Arc::new(Memory::default());
            let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
            let text = format!("{more}\ntable = {{ last_key = \"{last_key}\" }}");
            drop(filled(&small_design(&text), &storage));
            tables(&memory)
        });
        assert!(written[0].len() > 20, "{more}");
        assert!(written[0] == written[1], "{more}");
    }
}

#[test]
fn both_kernels_of_a_merge_leave_the_same_tables() {
    for more in ["", "compaction = \"tiered\"", "threads = { max_subcompactions = 3 }"] {
        let written = ["loser-tree", "heap"].map(|kernel| {
            let memory = Arc::new(Memory::default());
            let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
            let text = format!("{more}\nmerge = {{ kernel = \"{kernel}\" }}");
            let tree = filled(&small_design(&text), &storage);
            assert!(tree.stats().counts.compactions > 5, "{more}");
            drop(tree);
            tables(&memory)
        });
        assert!(written[0] == written[1], "{more}");
    }
}

/// Returns the counters of scans over ten keys, from both ends.
fn counts_of_ranges(tree: &Tree) -> Counts {
    let before = tree.stats().counts;
    for number in (0..2900).step_by(37) {
        let (low, high) = (key(number), key(number + 10));
        let (low, high) = (Bound::Included(&low[..]), Bound::Excluded(&high[..]));
        let mut range = tree.range((low, high)).unwrap();
        for at in 0..5 {
            assert_eq!(range.next().unwrap().unwrap().0, key(number + at));
            assert_eq!(range.next_back().unwrap().unwrap().0, key(number + 9 - at));
        }
        assert!(range.next().unwrap().is_none());
        // For ranges without a bound on one side, a run has many tables after the first entry.
        assert_eq!(tree.range((low, Bound::Unbounded)).unwrap().next().unwrap().unwrap().0, key(number));
        assert_eq!(
            tree.range((Bound::Unbounded, high)).unwrap().next_back().unwrap().unwrap().0,
            key(number + 9)
        );
    }
    tree.stats().counts.since(&before)
}

/// Tests that readers that are created in advance read no block before the scan reaches the block.
#[test]
fn readers_made_at_once_read_what_lazy_ones_read() {
    let counts = |text: &str| counts_of_ranges(&filled(&small_design(text), &memory()));
    let lazy = counts("cache = \"none\"");
    assert!(lazy.data_blocks_read > 300, "{lazy:?}");
    for range in ["readers = \"eager\"", "references = \"table\", readers = \"eager\""] {
        let counts = counts(&format!("cache = \"none\"\nrange = {{ {range} }}"));
        assert_eq!(counts, lazy, "{range}");
    }
}

/// Tests that the input tables of a compaction remain as long as a scan reads them, and no longer.
#[test]
fn a_range_keeps_its_tables_whatever_it_holds_them_by() {
    for range in ["references = \"run\"", "references = \"table\"", "readers = \"eager\""] {
        let memory = Arc::new(Memory::default());
        let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
        let tree = filled(&small_design(&format!("range = {{ {range} }}")), &storage);
        let before = tables(&memory).len();
        let mut walk = tree.range(..).unwrap();
        assert_eq!(walk.next().unwrap().unwrap().0, key(0));
        (0..3001).for_each(|number| tree.put(&key(number), b"new").unwrap());
        tree.compact().unwrap();
        let during = tables(&memory).len();
        for number in 1..3001 {
            let (found, value) = walk.next().unwrap().unwrap();
            assert!(found == key(number) && value != b"new", "{range}: {number}");
        }
        drop(walk);
        let after = tables(&memory).len();
        assert!(during >= before + after, "{range}: {before}, {during}, {after}");
    }
}

/// Tests that the input tables of a compaction also remain until the next compaction, if the design says so, and no
/// longer.
#[test]
fn tables_are_released_when_unused_or_at_the_next_compaction() {
    for (release, kept) in [("unused", 0), ("next-compaction", 1)] {
        let memory = Arc::new(Memory::default());
        let storage: Arc<dyn Storage> = Arc::clone(&memory) as _;
        let text = format!("compaction = \"none\"\ntable = {{ release = \"{release}\" }}");
        let tree = filled(&small_design(&text), &storage);
        let mut inputs = tables(&memory).len();
        for round in 0..3 {
            tree.compact().unwrap();
            let outputs = tree.stats().levels.iter().map(|level| level.tables as usize).sum::<usize>();
            assert_eq!(tables(&memory).len(), outputs + kept * inputs, "{release}, round {round}");
            tree.put(&key(0), b"new").unwrap();
            tree.flush().unwrap();
            inputs = outputs + 1;
        }
        drop(tree);
        assert_eq!(tables(&memory).len(), inputs, "{release}");
        assert_eq!(
            open(&small_design(&text), Mode::Counted, &storage, Path::new(DIRECTORY))
                .get(&key(0))
                .unwrap()
                .as_deref(),
            Some(&b"new"[..])
        );
    }
}

#[test]
fn the_switches_are_said_in_toml_and_misspellings_are_refused() {
    let design = small_design("range = { references = \"table\" }\ntable = { last_key = \"entry\" }");
    let again = Design::default().with(&design.to_toml()).unwrap();
    assert_eq!(again, design);
    for (text, key) in [
        ("range = { readers = \"early\" }", "range.readers"),
        ("range = { read_ahead = \"17MiB\" }", "range.read_ahead"),
        ("range = { reference = \"run\" }", "reference"),
        ("table = { last_key = \"item\" }", "table.last_key"),
        ("table = { release = \"later\" }", "table.release"),
        ("table = { manifest = \"later\" }", "table.manifest"),
        ("threads = { inline = \"flushes\" }", "threads.inline"),
        ("threads = { background = \"pool\" }", "threads.background"),
        ("threads = { schedule = \"random\" }", "threads.schedule"),
        (
            "threads = { schedule = \"silk\", background = \"shared\" }",
            "threads.schedule: must be \"in-order\" if background is \"shared\"",
        ),
        (
            "threads = { bandwidth = \"1MiB\" }",
            "threads.bandwidth: must be 0 B, not 1MiB, unless schedule is \"silk\"",
        ),
        ("threads = { per_lookup = 0 }", "threads.per_lookup: must be 1 to 64, not 0"),
        ("threads = { per_lookup = -1 }", "threads.per_lookup"),
    ] {
        let error = Design::default().with(&text.parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains(key), "{text}: {error}");
    }
    assert!(open(&design, Mode::Counted, &memory(), Path::new(DIRECTORY)).get(b"a").unwrap().is_none());
}
