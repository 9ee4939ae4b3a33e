//! Tests that the conformance check detects an arbiter that breaks an invariant.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{INVARIANTS, Subject};
use crate::arbiter::{DecisionPeriod, MemoryArbiter, MemoryObservation, MemorySizes};

/// The fault that a test injects into an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Moods,
    NoRoom,
    Restlessness,
    Leaps,
}

struct Wrong(Fault, AtomicBool);

impl MemoryArbiter for Wrong {
    fn period(&self) -> Option<DecisionPeriod> {
        None
    }

    fn decide(&self, observed: &MemoryObservation<'_>, now: MemorySizes) -> MemorySizes {
        let is_idle = observed.flush_bytes + observed.compaction_bytes + observed.fetched_bytes <= 0.0;
        let memtable_bytes = match self.0 {
            _ if is_idle && self.0 != Fault::Restlessness => now.memtable_bytes,
            Fault::Moods => now.memtable_bytes - u64::from(self.1.fetch_not(Ordering::Relaxed)),
            Fault::NoRoom => 1000,
            Fault::Restlessness => now.memtable_bytes * 3 / 4 + 256,
            Fault::Leaps => (now.memtable_bytes / 8).max(1024),
        };
        MemorySizes { memtable_bytes, ..now }
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    let faults = [Fault::Moods, Fault::NoRoom, Fault::Restlessness, Fault::Leaps];
    assert_eq!(faults.len(), INVARIANTS.len());
    for (fault, (name, check)) in faults.into_iter().zip(INVARIANTS) {
        let subject = Subject(Box::new(Wrong(fault, AtomicBool::default())));
        assert!(check(&subject).is_err(), "the invariant \"{name}\" does not catch {fault:?}");
    }
}
