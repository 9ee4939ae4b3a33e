//! Tests each target on its corpus, on earlier findings, and on mutations of both. There are hundreds of mutations, or
//! thousands in a nightly run. Other tests check that the search finds seeded faults.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};
use std::time::Duration;

use catalog::laws::is_nightly;
use lsmbench_fuzz::{Failure, Hunt, TARGETS, regressions};

/// The number of mutated inputs per target.
const CHANGES: usize = 500;

/// The number of mutated inputs per target in a nightly run.
const NIGHTLY_CHANGES: usize = 4000;

/// The maximum wall time for one input, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// The seed of the mutations. Another seed gives other mutations.
const SEED: u64 = 4;

#[test]
fn every_target_keeps_its_laws() {
    let set = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("it is a number"));
    let usual = if is_nightly() { NIGHTLY_CHANGES } else { CHANGES };
    let hunt = Hunt {
        seed: set("FUZZ_SEED").unwrap_or(SEED),
        changes: set("FUZZ_CHANGES").map_or(usual, |changes| changes as usize),
        patience: PATIENCE,
    };
    let next = AtomicUsize::new(0);
    let found: Vec<String> = thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            while let Some(target) = TARGETS.get(next.fetch_add(1, Ordering::Relaxed)) {
                match hunt.run(target) {
                    Ok(fed) if fed.accepted_changes > hunt.changes / 1000 => {}
                    Ok(fed) => found.push(format!("{}: hardly anything is accepted: {fed:?}", target.name)),
                    Err(Failure { input, message }) => {
                        found.push(format!("{}: {message}\n  on \"{}\"", target.name, input.escape_ascii()));
                    }
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
fn names_are_unique() {
    for (at, target) in TARGETS.iter().enumerate() {
        assert!(TARGETS[..at].iter().all(|other| other.name != target.name), "{} stands twice", target.name);
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
