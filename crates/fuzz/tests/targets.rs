//! Every target keeps its laws on its corpus, on what was found before, and on thousands of changes of both; and
//! the hunt finds laws that are broken on purpose.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};
use std::time::Duration;

use lsmbench_fuzz::{Failure, Hunt, TARGETS, regressions};

/// Changed inputs for each target.
const CHANGES: usize = 2000;

/// How long one input may take, on a machine that does much else.
const PATIENCE: Duration = Duration::from_mins(1);

/// The seed of the changes; another one is another hunt.
const SEED: u64 = 4;

#[test]
fn every_target_keeps_its_laws() {
    let set = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("it is a number"));
    let hunt = Hunt {
        seed: set("FUZZ_SEED").unwrap_or(SEED),
        changes: set("FUZZ_CHANGES").map_or(CHANGES, |changes| changes as usize),
        patience: PATIENCE,
    };
    let next = AtomicUsize::new(0);
    let found: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            while let Some(target) = TARGETS.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(Failure { input, message }) = hunt.run(target) {
                    found.push(format!("{}: {message}\n  on \"{}\"", target.name, input.escape_ascii()));
                }
            }
            found
        };
        let threads = available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a hunt catches panics")).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn names_are_unique_and_corpora_are_not_empty() {
    for (at, target) in TARGETS.iter().enumerate() {
        assert!(TARGETS[..at].iter().all(|other| other.name != target.name), "{} stands twice", target.name);
        assert!(!(target.seeds)().is_empty(), "{} has no corpus", target.name);
    }
}

#[test]
fn every_regression_belongs_to_a_target() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for entry in folder.read_dir().into_iter().flatten() {
        let name =
            entry.expect("the folder can be listed").file_name().into_string().expect("names are text");
        assert!(TARGETS.iter().any(|target| target.name == name), "there is no target {name}");
        assert!(!regressions(&name).is_empty(), "{name} is empty");
    }
}
