//! Checks every memtable of the catalog against the invariants of the axis.

use catalog::laws;
use lsmbench_memtable::{CATALOG, conformance};

#[test]
fn every_memtable_keeps_every_invariant() {
    laws::check_each(&CATALOG, conformance::check).unwrap();
}
