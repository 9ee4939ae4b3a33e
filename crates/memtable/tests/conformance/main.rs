//! The laws of the memtable axis, for every memtable of the catalog, and proof that they can be broken.

mod canary;
mod laws;
mod model;
mod stress;

use canary::{Canary, Fault};
use lsmbench_memtable::{CATALOG, MemtablePolicy, with_filter, with_key_range};
use model::Write;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Every memtable of the catalog with its defaults, the sharded ones at their extremes, and some behind the range of
/// their keys.
fn policies() -> Vec<(String, Box<dyn MemtablePolicy>)> {
    let odd = [
        "sharded-btree(shards=1)",
        "sharded-btree(shards=3, router=modulo)",
        "sharded-btree(shards=5, router=range)",
        "sharded-btree(shards=40, virtual_nodes=1)",
        "sharded-btree(shards=2, virtual_nodes=1, weights=[1, 1000])",
    ];
    let odd = odd.map(|label| CATALOG.choose(&toml::Value::String(label.to_owned())).unwrap());
    let ranged = ["btree", "sharded-btree", "bplus", "vector"];
    let ranged = ranged.map(|kind| {
        let choice = CATALOG.choose(&toml::Value::String(kind.to_owned())).unwrap();
        (format!("{kind} with its range"), with_key_range(CATALOG.build(&choice).unwrap()))
    });
    let filtered = ["btree", "bplus", "hash-vector"].map(|kind| {
        let choice = CATALOG.choose(&toml::Value::String(kind.to_owned())).unwrap();
        (format!("{kind} behind a filter"), with_filter(CATALOG.build(&choice).unwrap(), 1000))
    });
    let plain = CATALOG.all().chain(odd).map(|choice| (choice.label(), CATALOG.build(&choice).unwrap()));
    plain.chain(ranged).chain(filtered).collect()
}

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
}

#[test]
fn every_memtable_answers_like_the_model() {
    for (label, policy) in policies() {
        for (name, history) in laws::histories() {
            laws::check(&*policy, &history).unwrap_or_else(|broken| panic!("{label}: {name}: {broken}"));
        }
    }
}

#[test]
fn every_memtable_keeps_its_laws_under_concurrency() {
    for (label, policy) in policies() {
        let checked = stress::check(&*policy).and_then(|()| stress::check_count(&*policy));
        checked.unwrap_or_else(|broken| panic!("{label}: {broken}"));
    }
}

#[test]
fn a_walk_goes_on_whatever_is_written_meanwhile() {
    for (label, policy) in policies() {
        laws::check_going_on(&*policy).unwrap_or_else(|broken| panic!("{label}: {broken}"));
    }
    let late = laws::check_going_on(&Canary(Some(Fault::GoesOnOneLate)));
    assert!(late.is_err_and(|broken| broken.contains("law 3")));
}

#[test]
fn every_memtable_takes_keys_values_and_batches_of_any_size() {
    for (label, policy) in policies() {
        let checked = laws::check_sizes(&*policy).and_then(|()| laws::check_large_batches(&*policy));
        checked.unwrap_or_else(|broken| panic!("{label}: {broken}"));
    }
}

#[test]
fn the_suite_passes_a_memtable_without_fault() {
    for (_, history) in laws::histories() {
        laws::check(&Canary(None), &history).unwrap();
    }
    laws::check_sizes(&Canary(None)).unwrap();
    laws::check_large_batches(&Canary(None)).unwrap();
    stress::check(&Canary(None)).unwrap();
    stress::check_count(&Canary(None)).unwrap();
}

#[test]
fn the_suite_catches_every_fault() {
    let caught_alone = |fault| {
        let policy = Canary(Some(fault));
        laws::histories().iter().find_map(|(_, history)| laws::check(&policy, history).err())
    };
    let cases = [
        (Fault::ForgetsOldestVersion, "law 1"),
        (Fault::SeesTheFuture, "law 1"),
        (Fault::InsertsLate, "law 2"),
        (Fault::HidesTombstones, "law 3"),
        (Fault::RepeatsTheBoundary, "law 3"),
        (Fault::GoesOnPastTheLimit, "law 3"),
        (Fault::GoesOnOneLate, "law 3"),
        (Fault::ForgetsValuesInPlace, "law 3"),
        (Fault::LosesTheLastInsertAtFreeze, "law 4"),
        (Fault::DrainsOldVersions, "law 4"),
        (Fault::ForgetsAShard, "the versions in shards"),
        (Fault::ForgetsTheEndOfABatch, "law 5"),
    ];
    for (fault, law) in cases {
        let broken = caught_alone(fault).unwrap_or_else(|| panic!("{fault:?} was not caught"));
        assert!(broken.contains(law), "{fault:?} was caught as: {broken}");
    }
    let forgetful = Canary(Some(Fault::ForgetsTheEndOfABatch));
    assert!(laws::check_large_batches(&forgetful).is_err_and(|broken| broken.contains("law 5")));
    assert!(stress::check_count(&forgetful).is_err_and(|broken| broken.contains("law 2")));
}

#[test]
fn the_stress_catches_torn_and_unpublished_writes() {
    for fault in [Fault::WritesInTwoSteps, Fault::SeesTheFuture, Fault::InsertsLate] {
        // On a machine that is busy elsewhere a run may see no two threads at once.
        let is_caught = (0..20).any(|_| stress::check(&Canary(Some(fault))).is_err());
        assert!(is_caught, "{fault:?} was not caught");
    }
}

/// Keys from few letters, so that they meet, around the lengths at which layouts change.
fn key() -> impl Strategy<Value = Vec<u8>> {
    let letters = prop_oneof![Just(0u8), Just(b'a'), Just(b'b'), Just(0xff)];
    let short = prop::collection::vec(letters.clone(), 0..4);
    let long = (prop_oneof![6..10usize, 28..34usize], letters)
        .prop_map(|(len, last)| [vec![b'a'; len], vec![last]].concat());
    prop_oneof![3 => short, 1 => long]
}

/// A history whose numbers are used once each, in any order.
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
    #![proptest_config(ProptestConfig { cases: 40, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn any_history_is_answered_like_by_the_model(history in history()) {
        for (label, policy) in policies() {
            prop_assert_eq!(laws::check(&*policy, &history), Ok(()), "{}", label);
        }
    }
}
