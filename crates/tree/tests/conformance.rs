//! Every block format, WAL mode, hash function, value policy, memory arbiter and sorted view of the catalogs satisfies
//! the invariants of its axis, both in isolation and in a tree.

use catalog::laws;
use lsmbench_tree::{arbiter, block, hash, sorted_view, values, wal};

#[test]
fn every_block_format_keeps_every_invariant() {
    laws::check_each(&block::CATALOG, block::conformance::check).unwrap();
}

#[test]
fn every_wal_mode_keeps_every_invariant() {
    laws::check_each(&wal::CATALOG, wal::conformance::check).unwrap();
}

#[test]
fn every_hash_function_keeps_every_invariant() {
    laws::check_each(&hash::CATALOG, hash::conformance::check).unwrap();
}

#[test]
fn every_value_policy_keeps_every_invariant() {
    laws::check_each(&values::CATALOG, values::conformance::check).unwrap();
}

#[test]
fn every_arbiter_keeps_every_invariant() {
    laws::check_each(&arbiter::CATALOG, arbiter::conformance::check).unwrap();
}

#[test]
fn every_sorted_view_keeps_every_invariant() {
    laws::check_each(&sorted_view::CATALOG, sorted_view::conformance::check).unwrap();
}
