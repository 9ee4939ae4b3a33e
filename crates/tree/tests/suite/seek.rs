//! Tests of read-triggered compaction: scans that read several sources trigger a compaction when the sum of their costs
//! is high enough.

use std::ops::Bound;
use std::path::Path;

use lsmbench_tree::{Design, Mode, OpenOptions, Tree};

use crate::common::{Model, memory, open, small_design};

const PRICES: &str = r#"
    compaction = { kind = "l0-tiered", level0_runs = 9, read_triggered = "1KiB" }
    memtable = { capacity = "64KiB" }
"#;

/// Returns a design in which writers run this part of the background work inline.
fn inline_design(inline: &str) -> Design {
    small_design(&format!("{PRICES}threads = {{ inline = \"{inline}\" }}"))
}

fn free() -> Design {
    small_design(&PRICES.replace("1KiB", "0B"))
}

/// Fills three runs and a memtable with different keys. If `interleaved` is set, each of the four has every fourth key.
/// Otherwise, each of the four has a quarter of the key space.
fn fill(tree: &Tree, interleaved: bool) -> Model {
    let mut model = Model::new();
    for source in 0..4u32 {
        for n in 0..100u32 {
            let number = if interleaved { n * 4 + source } else { source * 100 + n };
            let (key, value) = (format!("key{number:04}").into_bytes(), vec![b'v'; 40]);
            tree.put(&key, &value).unwrap();
            model.insert(key, value);
        }
        if source < 3 {
            tree.flush().unwrap();
        }
    }
    model
}

/// Runs `ranges` scans of ten entries from many positions.
fn read(tree: &Tree, model: &Model, ranges: usize) {
    for (key, _) in model.iter().cycle().step_by(7).take(ranges) {
        let mut expected = model.range(key.clone()..).take(10);
        let mut range = tree.range((Bound::Included(key.as_slice()), Bound::Unbounded)).unwrap();
        for _ in 0..10 {
            let found = range.next().unwrap().map(|(key, value)| (key.to_vec(), value.to_vec()));
            assert_eq!(found, expected.next().map(|(key, value)| (key.clone(), value.clone())));
        }
    }
}

fn runs(tree: &Tree) -> u64 {
    tree.stats().levels.iter().map(|level| level.runs).sum()
}

#[test]
fn what_ranges_have_paid_for_is_merged_with_the_memtable() {
    let ways = [(Mode::Counted, "none"), (Mode::Timed, "none"), (Mode::Timed, "flush"), (Mode::Timed, "all")];
    for (mode, inline) in ways {
        let tree = open(&inline_design(inline), mode, &memory(), Path::new("tree"));
        let model = fill(&tree, true);
        assert_eq!(runs(&tree), 3);
        read(&tree, &model, 640);
        tree.settle().unwrap();
        let counts = tree.stats().counts;
        assert_eq!((runs(&tree), counts.compactions, counts.flushes), (1, 1, 4), "{mode:?}, {inline}");
        // The scans after the compaction read only one source.
        let before = tree.stats().counts;
        read(&tree, &model, 640);
        let since = tree.stats().counts.since(&before);
        assert_eq!((since.ranges, since.range_sources, since.compactions), (640, 640, 0));
    }
}

#[test]
fn in_counted_mode_the_merge_comes_with_the_range_that_makes_it_due() {
    let due = |tree: &Tree, model: &Model| {
        (0..40).find(|_| {
            read(tree, model, 2);
            runs(tree) == 1
        })
    };
    let rounds = [0, 1].map(|_| {
        let tree = open(&small_design(PRICES), Mode::Counted, &memory(), Path::new("tree"));
        let model = fill(&tree, true);
        due(&tree, &model).expect("it is merged")
    });
    assert_eq!(rounds[0], rounds[1]);
    assert!(rounds[0] > 0, "not before it was paid for");
}

#[test]
fn ranges_have_no_say_without_a_price() {
    let tree = open(&free(), Mode::Counted, &memory(), Path::new("tree"));
    let model = fill(&tree, true);
    read(&tree, &model, 6400);
    assert_eq!(runs(&tree), 3);
    assert!(
        tree.stats().counts.range_sources > 3 * 6400,
        "all but the last keys are looked for in four sources"
    );
}

#[test]
fn runs_that_do_not_overlap_cost_ranges_nothing() {
    let tree = open(&small_design(PRICES), Mode::Counted, &memory(), Path::new("tree"));
    let model = fill(&tree, false);
    for (key, _) in model.iter().filter(|(key, _)| key.as_slice() < b"key0290".as_slice()).cycle().take(640) {
        let last = [key.as_slice(), b"~"].concat();
        let mut range =
            tree.range((Bound::Included(key.as_slice()), Bound::Included(last.as_slice()))).unwrap();
        assert_eq!(range.next().unwrap().map(|(found, _)| found.to_vec()), Some(key.clone()));
    }
    assert_eq!(runs(&tree), 3);
}

#[test]
fn readers_and_writers_meet_merges_for_ranges() {
    ["none", "flush", "all"].into_iter().for_each(readers_and_writers);
}

fn readers_and_writers(inline: &str) {
    let tree = open(&inline_design(inline), Mode::Timed, &memory(), Path::new("tree"));
    let model = fill(&tree, true);
    std::thread::scope(|scope| {
        for reader in 0..3 {
            let (tree, model) = (&tree, &model);
            scope.spawn(move || (0..20).for_each(|_| read(tree, model, 100 + reader)));
        }
        // Rewriting existing values does not change the content.
        model.iter().cycle().take(4000).for_each(|(key, value)| tree.put(key, value).unwrap());
    });
    tree.settle().unwrap();
    assert!(tree.stats().counts.compactions > 0);
    read(&tree, &model, 400);
}

#[test]
fn damage_that_a_merge_for_ranges_meets_stops_no_writer() {
    for mode in [Mode::Counted, Mode::Timed] {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join("tree");
        let tree = OpenOptions::new(small_design(PRICES)).mode(mode).open(&at).unwrap();
        let model = fill(&tree, true);
        // The scans below do not read the first block of this run.
        let files = std::fs::read_dir(&at).unwrap().map(|entry| entry.unwrap().path());
        let mut tables: Vec<_> =
            files.filter(|path| path.extension().is_some_and(|is| is == "table")).collect();
        tables.sort();
        let table = std::fs::File::options().write(true).open(&tables[0]).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&table, b"!", 60).unwrap();
        let rest: Model =
            model.into_iter().filter(|(key, _)| key.as_slice() > b"key0200".as_slice()).collect();
        read(&tree, &rest, 2000);
        tree.settle().unwrap();
        tree.put(b"key", b"value").unwrap();
        tree.flush().unwrap();
        assert_eq!(
            (tree.stats().counts.compactions, tree.get(b"key").unwrap()),
            (0, Some(b"value".to_vec()))
        );
        read(&tree, &rest, 100);
    }
}
