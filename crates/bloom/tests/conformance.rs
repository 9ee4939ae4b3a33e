//! Every filter and every allocation of the catalogs passes the invariants of its axis.

use lsmbench_bloom::{ALLOCATIONS, CATALOG, conformance};

#[test]
fn every_filter_keeps_every_invariant() {
    catalog::laws::check(&CATALOG).unwrap();
    assert_eq!(CATALOG.variants()[0].kind, "none");
    assert!(CATALOG.variants().last().unwrap().oracle);
    let broken = CATALOG.variants().iter().filter_map(|variant| conformance::check(variant).err());
    catalog::laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}

#[test]
fn every_allocation_keeps_every_invariant() {
    catalog::laws::check(&ALLOCATIONS).unwrap();
    assert_eq!(ALLOCATIONS.variants()[0].kind, "uniform");
    let broken =
        ALLOCATIONS.variants().iter().filter_map(|variant| conformance::check_allocation(variant).err());
    catalog::laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}
