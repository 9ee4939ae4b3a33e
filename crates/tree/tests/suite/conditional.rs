//! Tests that of several threads with conditional puts of one key, exactly one thread writes the key.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use lsmbench_tree::Mode;

use crate::common::{memory, open, small_design};

/// The number of threads that put the same keys.
const THREADS: u32 = 4;

/// The number of keys that all threads put.
const KEYS: u32 = 600;

#[test]
fn one_of_several_conditional_puts_wins() {
    for toml in ["", "merge_operator = \"append\"\nwal = \"buffered\""] {
        let (design, storage, path) = (small_design(toml), memory(), Path::new("tree"));
        let tree = open(&design, Mode::Timed, &storage, path);
        let wins: Vec<AtomicU32> = (0..KEYS).map(|_| AtomicU32::new(u32::MAX)).collect();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (tree, wins) = (&tree, &wins);
                scope.spawn(move || {
                    for key in 0..KEYS {
                        if tree.put_if_absent(&key.to_be_bytes(), &thread.to_be_bytes()).unwrap() {
                            let before = wins[key as usize].swap(thread, Ordering::Relaxed);
                            assert_eq!(
                                before,
                                u32::MAX,
                                "threads {before} and {thread} both wrote key {key}"
                            );
                        }
                    }
                });
            }
        });
        let check = |tree: &lsmbench_tree::Tree| {
            for (key, winner) in (0..KEYS).zip(&wins) {
                let winner = winner.load(Ordering::Relaxed).to_be_bytes();
                assert_eq!(tree.get(&key.to_be_bytes()).unwrap().as_deref(), Some(&winner[..]), "key {key}");
            }
        };
        check(&tree);
        // The next open replays the WAL and repeats the checks of the last conditional puts.
        tree.close().unwrap();
        check(&open(&design, Mode::Timed, &storage, path));
    }
}
