//! Checks every policy of the catalog against the invariants of the axis.

use catalog::laws;
use lsmbench_compaction::{CATALOG, conformance};

#[test]
fn every_policy_keeps_every_invariant() {
    let first = ["none", "leveled", "leveled-partial", "spooky", "multi-level", "tiered"];
    assert_eq!(CATALOG.kinds().take(first.len()).collect::<Vec<_>>(), first);
    assert!(CATALOG.variants()[0].oracle);
    laws::check_each(&CATALOG, conformance::check).unwrap();
}
