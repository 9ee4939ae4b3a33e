//! Designs as they are: nothing is found, and the same seed gives the same numbers.

use std::time::Instant;

use lsmbench_torture::{Subject, crash, errors, small};
use tree::Design;

fn subject(toml: &str) -> Subject {
    let design = small(&Design::default()).with(&toml.parse().unwrap()).unwrap();
    Subject::tree(toml, design).unwrap()
}

#[test]
fn no_crash_loses_or_invents_anything() {
    for wal in ["none", "buffered", "sync", "group", "interval"] {
        let subject = subject(&format!("wal = \"{wal}\""));
        let start = Instant::now();
        let tally = crash::explore(&subject, crash::Budget { seed: 1, states: 2000 });
        println!("{wal}: {tally:?} {:?}", start.elapsed());
    }
}

#[test]
fn no_error() {
    for wal in ["none", "buffered", "sync", "group", "interval"] {
        let subject = subject(&format!("wal = \"{wal}\""));
        let start = Instant::now();
        let tally = errors::explore(&subject, errors::Budget { seed: 1, faults: 300 });
        println!("{wal}: {tally:?} {:?}", start.elapsed());
    }
}
