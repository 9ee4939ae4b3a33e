//! Tests that every fence and every culling method of the catalogs keeps every invariant.

use catalog::laws;
use lsmbench_fence::{CATALOG, conformance, culling};

#[test]
fn every_fence_keeps_every_invariant() {
    assert!(CATALOG.variants().last().unwrap().oracle);
    laws::check_each(&CATALOG, conformance::check).unwrap();
}

#[test]
fn every_culling_keeps_every_invariant() {
    laws::check_each(&culling::CATALOG, culling::conformance::check).unwrap();
}
