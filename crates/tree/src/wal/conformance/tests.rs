//! Tests that the conformance check detects a WAL mode that breaks an invariant.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{INVARIANTS, Subject};
use crate::wal::{WalMode, WalPolicy};

/// A WAL mode that breaks the invariant of [`WalMode`]: it syncs commits, but has no WAL.
struct Impossible;

impl WalPolicy for Impossible {
    fn mode(&self) -> WalMode {
        WalMode { has_log: false, ..WalMode::SYNC }
    }
}

/// A WAL mode whose decisions differ from call to call.
#[derive(Default)]
struct Moody(AtomicBool);

impl WalPolicy for Moody {
    fn mode(&self) -> WalMode {
        if self.0.fetch_not(Ordering::Relaxed) { WalMode::SYNC } else { WalMode::BUFFERED }
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    let [together, same] = INVARIANTS else {
        panic!("the test must have a broken WAL mode for each invariant")
    };
    assert!(together.1(&Subject(Box::new(Impossible))).is_err());
    assert!(same.1(&Subject(Box::<Moody>::default())).is_err());
}
