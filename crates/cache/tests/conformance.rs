//! Tests that every cache of the catalog keeps every invariant.

use catalog::laws;
use lsmbench_cache::{CATALOG, conformance};

#[test]
fn every_cache_keeps_every_invariant() {
    laws::check(&CATALOG).unwrap();
    let broken = CATALOG.variants().iter().filter_map(|variant| conformance::check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}
