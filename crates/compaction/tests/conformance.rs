//! Tests that every policy of the catalog keeps the invariants of the axis.

use catalog::laws;
use lsmbench_compaction::{CATALOG, conformance};

#[test]
fn every_policy_keeps_every_invariant() {
    laws::check(&CATALOG).unwrap();
    let first = ["none", "leveled", "leveled-partial", "spooky", "multi-level", "tiered"];
    assert_eq!(CATALOG.kinds().take(first.len()).collect::<Vec<_>>(), first);
    assert!(CATALOG.variants()[0].oracle);
    let broken = CATALOG.variants().iter().filter_map(|variant| conformance::check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}
