//! Tests that every variant of the workload axes keeps the invariants of its axis.

use catalog::laws;
use lsmbench_workload::{FORMATS, KEYS, LENGTHS, SIZES, conformance};

#[test]
fn every_distribution_of_keys_keeps_every_invariant() {
    laws::check_each(&KEYS, conformance::check_keys).unwrap();
}

#[test]
fn every_distribution_of_lengths_keeps_every_invariant() {
    laws::check_each(&SIZES, conformance::check_value_size).unwrap();
    laws::check_each(&LENGTHS, conformance::check_scan_length).unwrap();
}

#[test]
fn every_key_format_keeps_every_invariant() {
    laws::check_each(&FORMATS, conformance::check_key_format).unwrap();
}
