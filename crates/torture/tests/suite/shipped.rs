//! Designs as they are: nothing is found, and the same seed gives the same numbers.

use lsmbench_torture::{crash, errors};

use crate::subject;

const MODES: [&str; 5] = ["none", "buffered", "sync", "group", "interval"];

/// Compactions that differ in what they rewrite and what they only move.
const COMPACTIONS: [&str; 5] = ["l0-tiered", "leveled", "tiered", "leveled-partial", "universal"];

#[test]
fn no_crash_loses_or_invents_anything() {
    for (mode, compaction) in MODES.iter().zip(COMPACTIONS) {
        let subject = subject(&format!("wal = \"{mode}\"\ncompaction = \"{compaction}\""));
        let tally = crash::explore(&subject, crash::Budget { seed: 1, states: 500 });
        assert_eq!(tally.findings, [], "{}", subject.name);
        assert!(tally.recovered >= 500 && tally.second > 20, "{}: {tally:?}", subject.name);
    }
}

#[test]
fn no_error_is_lost_and_none_loses_anything() {
    for (mode, compaction) in MODES.iter().zip(COMPACTIONS) {
        let subject = subject(&format!("wal = \"{mode}\"\ncompaction = \"{compaction}\""));
        let tally = errors::explore(&subject, errors::Budget { seed: 1, faults: 150 });
        assert_eq!(tally.findings, [], "{}", subject.name);
        assert_eq!(tally.faults, 150);
        assert!(tally.reported > 100 && tally.failed_calls > 300, "{}: {tally:?}", subject.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let explored = |seed| {
        let subject = subject("wal = \"group\"");
        let crashes = crash::explore(&subject, crash::Budget { seed, states: 150 });
        (crashes, errors::explore(&subject, errors::Budget { seed, faults: 60 }))
    };
    assert_eq!(explored(5), explored(5));
    assert_ne!(explored(5), explored(6));
}
