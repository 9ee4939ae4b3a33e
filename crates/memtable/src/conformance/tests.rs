//! Checks memtables with other than the default parameters against the invariants of the axis. Other tests check that
//! each invariant detects a memtable that violates this invariant.

mod canary;

use canary::{Canary, Fault};
use catalog::laws::{check_all, check_invariants, is_nightly};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::invariants::{self, INVARIANTS, Subject};
use super::model::Write;
use super::stress;
use crate::{CATALOG, MemtablePolicy, with_filter, with_key_range};

/// Returns memtables for the checks, each with its name: sharded memtables with extreme parameters, and memtables with
/// a key range or a filter.
fn forms() -> Vec<(String, Box<dyn MemtablePolicy>)> {
    let odd = [
        "sharded-btree(shards=1)",
        "sharded-btree(shards=3, router=modulo)",
        "sharded-btree(shards=5, router=range)",
        "sharded-btree(shards=40, virtual_nodes=1)",
        "sharded-btree(shards=2, virtual_nodes=1, weights=[1, 1000])",
        "hash-skiplist(buckets=3, prefix_length=1)",
        "per-thread(partitions=2)",
    ];
    let odd = odd.map(|label| CATALOG.choose(&toml::Value::String(label.to_owned())).unwrap());
    let ranged = ["btree", "sharded-btree", "bplus", "vector"];
    let ranged = ranged.map(|kind| {
        let choice = CATALOG.choose(&toml::Value::String(kind.to_owned())).unwrap();
        (format!("{kind} with its range"), with_key_range(CATALOG.build(&choice).unwrap()))
    });
    let filtered = ["btree", "bplus", "hash-vector"].map(|kind| {
        let choice = CATALOG.choose(&toml::Value::String(kind.to_owned())).unwrap();
        (format!("{kind} with a filter"), with_filter(CATALOG.build(&choice).unwrap(), 1000))
    });
    let odd = odd.map(|choice| (choice.label(), CATALOG.build(&choice).unwrap()));
    odd.into_iter().chain(ranged).chain(filtered).collect()
}

#[test]
fn every_form_keeps_every_invariant() {
    let forms = forms().into_iter().map(|(label, policy)| (label, Subject(policy))).collect::<Vec<_>>();
    check_all(&forms, |(label, subject)| check_invariants(label, subject, INVARIANTS)).unwrap();
}

#[test]
fn a_memtable_without_fault_keeps_every_invariant() {
    check_invariants("canary", &Subject(Box::new(Canary(None))), INVARIANTS).unwrap();
}

#[test]
fn every_canary_is_caught() {
    let caught_alone = |fault| {
        let policy = Canary(Some(fault));
        invariants::histories().iter().find_map(|(_, history)| invariants::check(&policy, history).err())
    };
    let cases = [
        (Fault::ForgetsOldestVersion, "invariant 1"),
        (Fault::SeesTheFuture, "invariant 1"),
        (Fault::InsertsLate, "invariant 2"),
        (Fault::HidesTombstones, "invariant 3"),
        (Fault::RepeatsTheBoundary, "invariant 3"),
        (Fault::GoesOnPastTheLimit, "invariant 3"),
        (Fault::GoesOnOneLate, "invariant 3"),
        (Fault::ForgetsValuesInPlace, "invariant 3"),
        (Fault::LosesTheLastInsertAtFreeze, "invariant 4"),
        (Fault::DrainsOldVersions, "invariant 4"),
        (Fault::ForgetsAShard, "sum of shard_lens() over all shards"),
        (Fault::ForgetsTheEndOfABatch, "invariant 5"),
        (Fault::NumbersTheNewest, "invariant 1"),
    ];
    for (fault, invariant) in cases {
        let broken = caught_alone(fault).unwrap_or_else(|| panic!("the checks did not detect {fault:?}"));
        assert!(
            broken.contains(invariant),
            "the checks detected {fault:?} with another message than expected: {broken}"
        );
    }
    let forgetful = Canary(Some(Fault::ForgetsTheEndOfABatch));
    assert!(invariants::check_large_batches(&forgetful).is_err_and(|broken| broken.contains("invariant 5")));
    let late = invariants::check_going_on(&Canary(Some(Fault::GoesOnOneLate)));
    assert!(late.is_err_and(|broken| broken.contains("invariant 3")));
    assert!(stress::check_count(&forgetful).is_err_and(|broken| broken.contains("invariant 2")));
}

#[test]
fn the_stress_catches_torn_and_unpublished_writes() {
    for fault in [Fault::WritesInTwoSteps, Fault::SeesTheFuture, Fault::InsertsLate] {
        // On a busy machine, the threads of one test may not overlap in time.
        let is_caught = (0..20).any(|_| stress::check(&Canary(Some(fault))).is_err());
        assert!(is_caught, "the stress test did not detect {fault:?} in 20 runs");
    }
}

/// Generates keys from few different letters, so that equal keys occur. The lengths are near the boundaries of memory
/// layouts.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let letters = prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(0xff)];
    let short = prop::collection::vec(letters.clone(), 0..4);
    let long = (prop_oneof![6..10usize, 28..34usize], letters)
        .prop_map(|(len, last)| [vec![b'a'; len], vec![last]].concat());
    prop_oneof![3 => short, 1 => long]
}

/// Generates a history whose writes have unique sequence numbers in any order.
fn history() -> impl Strategy<Value = Vec<Write>> {
    let value = prop::option::weighted(0.8, prop::collection::vec(any::<u8>(), 0..5));
    let writes = prop::collection::vec((key(), value), 0..40);
    let numbered = writes.prop_map(|writes| {
        let number = |(at, (key, value)): (usize, _)| Write { key, sequence: at as u64 + 1, value };
        writes.into_iter().enumerate().map(number).collect::<Vec<_>>()
    });
    (numbered, any::<bool>()).prop_flat_map(|(writes, is_shuffled)| {
        if is_shuffled { Just(writes).prop_shuffle().boxed() } else { Just(writes).boxed() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if is_nightly() { 40 } else { 10 },
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_history_is_answered_like_by_the_model(history in history()) {
        let plain = CATALOG.all().map(|choice| (choice.label(), CATALOG.build(&choice).unwrap()));
        let policies: Vec<_> = plain.chain(forms()).collect();
        let check = |(label, policy): &(String, Box<dyn MemtablePolicy>)| {
            invariants::check(&**policy, &history).map_err(|broken| format!("{label}: {broken}"))
        };
        prop_assert_eq!(check_all(&policies, check), Ok(()));
    }
}
