//! Every memtable of the catalog keeps the invariants of the axis.

use catalog::laws;
use lsmbench_memtable::{CATALOG, conformance};

#[test]
fn every_memtable_keeps_every_invariant() {
    laws::check(&CATALOG).unwrap();
    let broken = CATALOG.variants().iter().filter_map(|variant| conformance::check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}
