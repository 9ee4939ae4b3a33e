//! Every block format, WAL mode and hash function of the catalogs keeps the invariants of its axis, in isolation and
//! in a tree.

use catalog::{Catalog, Variant, laws};
use lsmbench_tree::{block, hash, wal};

fn check<T: ?Sized>(catalog: &Catalog<T>, check: fn(&'static Variant<T>) -> Result<(), String>) {
    laws::check(catalog).unwrap();
    let broken = catalog.variants().iter().filter_map(|variant| check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}

#[test]
fn every_block_format_keeps_every_invariant() {
    check(&block::CATALOG, block::conformance::check);
}

#[test]
fn every_wal_mode_keeps_every_invariant() {
    check(&wal::CATALOG, wal::conformance::check);
}

#[test]
fn every_hash_function_keeps_every_invariant() {
    check(&hash::CATALOG, hash::conformance::check);
}
