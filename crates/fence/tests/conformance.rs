//! Tests that every fence and every culling of the catalogs keeps every invariant.

use catalog::laws;
use lsmbench_fence::{CATALOG, conformance, culling};

#[test]
fn every_fence_keeps_every_invariant() {
    laws::check(&CATALOG).unwrap();
    assert!(CATALOG.variants().last().unwrap().oracle);
    let broken = CATALOG.variants().iter().filter_map(|variant| conformance::check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}

#[test]
fn every_culling_keeps_every_invariant() {
    laws::check(&culling::CATALOG).unwrap();
    let variants = culling::CATALOG.variants().iter();
    let broken = variants.filter_map(|variant| culling::conformance::check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}
