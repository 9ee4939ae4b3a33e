//! Tests that the conformance check detects a value policy that breaks an invariant.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{INVARIANTS, Subject};
use crate::values::{BlobFileShape, ValuePolicy, Writing};

/// The fault that a test injects into a value policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Moods,
    NoRoom,
    Inventions,
    Endless,
}

struct Wrong(Fault, AtomicBool);

impl ValuePolicy for Wrong {
    fn separates_from(&self, _: Writing) -> Option<u64> {
        (self.0 == Fault::Moods).then(|| u64::from(self.1.fetch_not(Ordering::Relaxed)))
    }

    fn file_bytes(&self) -> u64 {
        u64::from(self.0 != Fault::NoRoom)
    }

    fn relocates(&self, files: &[BlobFileShape]) -> Vec<u64> {
        if self.0 == Fault::Inventions { vec![files.len() as u64 + 1_000_000] } else { Vec::new() }
    }

    fn collects(&self, files: &[BlobFileShape]) -> Vec<u64> {
        let newest = files.last().map(|file| file.id);
        newest.filter(|_| self.0 == Fault::Endless).into_iter().collect()
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    let faults = [Fault::Moods, Fault::NoRoom, Fault::Inventions, Fault::Endless];
    assert_eq!(faults.len(), INVARIANTS.len());
    for fault in faults {
        let subject = Subject(Box::new(Wrong(fault, AtomicBool::default())));
        let caught: Vec<bool> = INVARIANTS.iter().map(|(_, check)| check(&subject).is_err()).collect();
        let expected: Vec<bool> = faults.iter().map(|other| *other == fault).collect();
        assert_eq!(caught, expected, "{fault:?}");
    }
}
