//! Tests that every variant of the axes of a workload keeps the invariants of its axis.

use catalog::{Catalog, Variant, laws};
use lsmbench_workload::{FORMATS, KEYS, LENGTHS, SIZES, conformance};

fn check<T: ?Sized>(catalog: &Catalog<T>, check: fn(&'static Variant<T>) -> Result<(), String>) {
    laws::check(catalog).unwrap();
    let broken = catalog.variants().iter().filter_map(|variant| check(variant).err());
    laws::all_kept(&broken.collect::<Vec<_>>()).unwrap();
}

#[test]
fn every_distribution_of_keys_keeps_every_invariant() {
    check(&KEYS, conformance::check_keys);
}

#[test]
fn every_distribution_of_lengths_keeps_every_invariant() {
    check(&SIZES, conformance::check_value_size);
    check(&LENGTHS, conformance::check_scan_length);
}

#[test]
fn every_key_format_keeps_every_invariant() {
    check(&FORMATS, conformance::check_key_format);
}
