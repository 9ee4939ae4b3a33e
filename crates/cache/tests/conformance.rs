//! Tests that every cache of the catalog keeps every invariant.

use catalog::laws;
use lsmbench_cache::{CATALOG, conformance};

#[test]
fn every_cache_keeps_every_invariant() {
    laws::check_each(&CATALOG, conformance::check).unwrap();
}
