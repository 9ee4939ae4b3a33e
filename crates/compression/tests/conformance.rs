//! Tests that every codec of the catalog keeps every invariant.

use catalog::laws;
use lsmbench_compression::{CATALOG, conformance};

#[test]
fn every_codec_keeps_every_invariant() {
    laws::check(&CATALOG).unwrap();
    let broken = CATALOG.variants().iter().filter_map(|variant| conformance::check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}
