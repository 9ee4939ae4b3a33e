//! Tests that every back end of the catalog keeps the invariants of the storage axis.

use catalog::laws;
use lsmbench_storage::{CATALOG, conformance};

#[test]
fn every_back_end_keeps_every_invariant() {
    assert_eq!(
        CATALOG.kinds().collect::<Vec<_>>(),
        ["pread", "mmap", "direct", "uring", "memory", "simulated"]
    );
    laws::check_each(&CATALOG, conformance::check).unwrap();
}
