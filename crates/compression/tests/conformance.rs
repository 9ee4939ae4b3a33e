//! Tests that every codec of the catalog keeps every invariant.

use catalog::laws;
use lsmbench_compression::{CATALOG, conformance};

#[test]
fn every_codec_keeps_every_invariant() {
    laws::check_each(&CATALOG, conformance::check).unwrap();
}
