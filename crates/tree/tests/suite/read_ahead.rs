//! Tests that scans that read several blocks at once give the same answers, and read few blocks that they do not need.

use std::ops::Bound;
use std::path::Path;

use lsmbench_tree::{Mode, Tree};

use crate::common::{memory, open, small_design};

const KEYS: u64 = 3000;

fn key(number: u64) -> Vec<u8> {
    format!("key{number:06}").into_bytes()
}

/// Returns a tree with one run. Every read of a block goes to storage.
fn tree(read_ahead: &str) -> Tree {
    let text = format!(
        "cache = \"none\"\ntable = {{ capacity = \"64KiB\" }}\nrange = {{ read_ahead = \"{read_ahead}\" }}"
    );
    let tree = open(&small_design(&text), Mode::Counted, &memory(), Path::new("tree"));
    (0..KEYS).for_each(|number| tree.put(&key(number), &number.to_be_bytes()).unwrap());
    tree.compact().unwrap();
    tree
}

/// Returns the number of blocks that scans read. The scans start at every 97th key, forward or backward, and read at
/// most `limit` entries up to an optional distance.
fn blocks_read(tree: &Tree, expected: Option<usize>, limit: u64, distance: Option<u64>) -> u64 {
    let before = tree.stats().counts.data_blocks_read;
    for from in (100..KEYS - 100).step_by(97) {
        for backward in [false, true] {
            let numbers: Vec<u64> = match backward {
                false => (from..KEYS.min(distance.map_or(KEYS, |distance| from + distance))).collect(),
                true => (distance.map_or(0, |distance| from + 1 - distance)..=from).rev().collect(),
            };
            let end = distance.and_then(|_| numbers.last()).map(|last| key(*last));
            let end = end.as_ref().map_or(Bound::Unbounded, |end| Bound::Included(&end[..]));
            let start = key(from);
            let start = Bound::Included(&start[..]);
            let bounds = if backward { (end, start) } else { (start, end) };
            let mut range = tree.range(bounds).unwrap();
            if let Some(expected) = expected {
                range = range.expecting(expected);
            }
            for number in numbers.iter().take(limit as usize) {
                let entry = if backward { range.next_back() } else { range.next() };
                assert_eq!(entry.unwrap().unwrap().0, key(*number));
            }
        }
    }
    tree.stats().counts.data_blocks_read - before
}

#[test]
fn what_is_expected_is_read_and_little_else() {
    let one_by_one = tree("0B");
    let ranges = (100..KEYS - 100).step_by(97).count() as u64 * 2;
    for limit in [1, 10, 200, 1500] {
        let walked = blocks_read(&one_by_one, Some(limit as usize), limit, None);
        for read_ahead in ["1KiB", "4KiB", "128KiB"] {
            let tree = tree(read_ahead);
            let expected = blocks_read(&tree, Some(limit as usize), limit, None);
            assert!(
                (walked..=walked + 2 * ranges).contains(&expected),
                "{read_ahead}, {limit}: {expected}, {walked}"
            );
            // If the caller announced more entries than the scan returned, the scan has also read the blocks of the
            // announced entries.
            if limit == 200 && read_ahead == "128KiB" {
                let expected = blocks_read(&tree, Some(200), 1, None);
                assert!(expected >= walked, "{expected}, {walked}");
            }
            // Without a hint from the caller, each read covers twice as many blocks as the previous read.
            let grown = blocks_read(&tree, None, limit, None);
            assert!((walked..=2 * walked).contains(&grown), "{read_ahead}, {limit}: {grown}, {walked}");
        }
    }
}

#[test]
fn nothing_is_read_beyond_the_end_of_a_range() {
    let one_by_one = tree("0B");
    for distance in [1, 30, 70] {
        let walked = blocks_read(&one_by_one, None, distance, Some(distance));
        let tree = tree("128KiB");
        for expected in [None, Some(usize::MAX)] {
            let read = blocks_read(&tree, expected, distance, Some(distance));
            assert!(read <= walked + walked / 10, "{distance}, {expected:?}: {read}, {walked}");
        }
    }
}
