//! Every back end of the catalog keeps the invariants of the axis.

use catalog::laws;
use lsmbench_storage::{CATALOG, conformance};

#[test]
fn every_back_end_keeps_every_invariant() {
    laws::check(&CATALOG).unwrap();
    assert_eq!(
        CATALOG.kinds().collect::<Vec<_>>(),
        ["pread", "mmap", "direct", "uring", "memory", "simulated"]
    );
    let broken = CATALOG.variants().iter().filter_map(|variant| conformance::check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}
