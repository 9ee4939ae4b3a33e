//! Checks every filter and every allocation of the catalogs against the invariants of its axis.

use lsmbench_bloom::{ALLOCATIONS, CATALOG, conformance};

#[test]
fn every_filter_keeps_every_invariant() {
    assert_eq!(CATALOG.variants()[0].kind, "none");
    assert!(CATALOG.variants().last().unwrap().oracle);
    catalog::laws::check_each(&CATALOG, conformance::check).unwrap();
}

#[test]
fn every_allocation_keeps_every_invariant() {
    assert_eq!(ALLOCATIONS.variants()[0].kind, "uniform");
    catalog::laws::check_each(&ALLOCATIONS, conformance::check_allocation).unwrap();
}
