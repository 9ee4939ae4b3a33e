//! What our own tree is held to, for the adapter of every engine of the catalog, and proof that it can be broken.
//!
//! An engine that is not on this machine is told and left out. `LSMBENCH_PEERS` names choices that must be there,
//! with semicolons between them: `LSMBENCH_PEERS='rocksdb(library="/opt/librocksdb.so");fjall'`.
//!
//! `RocksDB` and its kin have C++ names in common that one process has once: of them, a process checks the first.

#![allow(clippy::print_stdout)] // which engines were checked, and which are not here, is told

mod canary;
mod laws;

use std::path::Path;

use canary::{Canary, Fault};
use catalog::Choice;
use laws::{Law, Opener};
use lsmbench_peers::{Budget, CATALOG, Codec, Engine, Log, Peer};
use toml::Value;
use workload::Target;

/// Kinds whose libraries cannot be in one process.
const KIN: [&str; 3] = ["rocksdb", "speedb", "terarkdb"];

/// The engines to check, by their labels.
fn peers() -> Vec<(String, Box<dyn Peer>)> {
    let asked = std::env::var("LSMBENCH_PEERS").unwrap_or_default();
    let asked: Vec<Choice> = asked
        .split(';')
        .filter(|label| !label.trim().is_empty())
        .map(|label| CATALOG.choose(&Value::String(label.trim().to_owned())).unwrap())
        .collect();
    let is_needed = !asked.is_empty();
    let choices = if is_needed { asked } else { CATALOG.all().collect() };
    let (mut found, mut has_kin) = (Vec::new(), false);
    for choice in choices {
        let Engine::Peer(peer) = *CATALOG.build(&choice).unwrap() else { continue };
        match peer.identify() {
            Ok(_) if has_kin && KIN.contains(&choice.kind()) => {
                assert!(!is_needed, "{choice} needs a process of its own");
                println!("{choice} needs a process of its own: LSMBENCH_PEERS={}", choice.kind());
            }
            Ok(identity) => {
                has_kin |= KIN.contains(&choice.kind());
                println!("{choice}: version {:?}, {:?}", identity.version, identity.doubts);
                found.push((choice.label(), peer));
            }
            Err(missing) if is_needed => panic!("{choice} must be here: {missing}"),
            Err(missing) => println!("{choice} is not here: {missing}"),
        }
    }
    found
}

/// A small budget, so that a few thousand writes flush and compact.
fn small() -> Budget {
    Budget { memtable_bytes: 128 << 10, cache_bytes: 1 << 20, ..Budget::default() }
}

/// Checks a law over every engine that is here.
fn hold_all(law: Law, budget: &Budget) {
    for (label, peer) in peers() {
        let home = tempfile::tempdir().unwrap();
        let held = law(&|| open(&*peer, home.path(), budget));
        held.unwrap_or_else(|broken| panic!("{label}: {broken}"));
    }
}

fn open(peer: &dyn Peer, home: &Path, budget: &Budget) -> Box<dyn Target> {
    peer.open(home, budget).unwrap()
}

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
    let choice = CATALOG.baseline();
    assert_eq!(choice.kind(), "lsmbench");
    assert!(matches!(*CATALOG.build(&choice).unwrap(), Engine::Tree));
}

#[test]
fn every_engine_answers_like_the_model() {
    hold_all(laws::model, &small());
}

#[test]
fn every_engine_takes_keys_and_values_of_any_size() {
    hold_all(laws::sizes, &small());
}

#[test]
fn readers_see_whole_batches() {
    for (label, peer) in peers().into_iter().filter(|(_, peer)| peer.ranges_are_of_one_moment()) {
        let home = tempfile::tempdir().unwrap();
        let held = laws::whole_batches(&|| open(&*peer, home.path(), &small()));
        held.unwrap_or_else(|broken| panic!("{label}: {broken}"));
    }
}

#[test]
fn threads_write_side_by_side() {
    hold_all(laws::threads, &small());
}

/// Whatever the terms: no filters, no cache, each log, each codec that it has.
#[test]
fn every_term_of_a_budget_is_taken() {
    let base = Budget { memtable_bytes: 256 << 10, ..Budget::default() };
    let budgets = [
        Budget { filter_bits_per_key: 0.0, cache_bytes: 0, ..base.clone() },
        Budget { filter_bits_per_key: 6.5, block_bytes: 16 << 10, log: Log::None, ..base.clone() },
        Budget { log: Log::Sync, ..base.clone() },
        Budget { log: Log::Interval { period_ns: 1_000_000 }, codec: Codec::Lz4, ..base.clone() },
        Budget { codec: Codec::Other("delta".to_owned()), ..base },
    ];
    for (label, peer) in peers() {
        for budget in &budgets {
            let home = tempfile::tempdir().unwrap();
            if let Err(refusal) = peer.open(home.path(), budget) {
                // A library may be built without a codec. Nothing else may be missing.
                let lacks_codec = refusal.to_string().contains("not linked with the binary");
                assert!(lacks_codec && budget.codec != Codec::None, "{label}: {budget:?}: {refusal}");
                println!("{label} was built without {}: {refusal}", budget.codec);
                continue;
            }
            let held = laws::survives(&|| open(&*peer, home.path(), budget));
            held.unwrap_or_else(|broken| panic!("{label}: {budget:?}: {broken}"));
            assert!(peer.mapping(budget).len() >= 4, "{label}: {:?}", peer.mapping(budget));
        }
    }
}

/// What an engine tells of itself once it holds something is not nothing.
#[test]
fn what_is_told_is_of_the_store() {
    for (label, peer) in peers() {
        let home = tempfile::tempdir().unwrap();
        let store = peer.open(home.path(), &small()).unwrap();
        for number in 0..5_000u32 {
            store.put(&number.to_be_bytes(), &[7; 100]).unwrap();
        }
        store.flush().unwrap();
        store.settle().unwrap();
        let stats = store.stats();
        println!("{label}: version {:?}, {stats:?}", store.version());
        assert!(
            store.version().is_some_and(|version| version.contains('.')),
            "{label}: {:?}",
            store.version()
        );
        if let Some(bytes) = stats.table_bytes {
            assert!(bytes > 100_000, "{label}: 5,000 entries of 104 bytes lie in {bytes} bytes of tables");
        }
        store.close().unwrap();
    }
}

#[test]
fn the_laws_pass_a_store_without_fault() {
    for law in [laws::model, laws::sizes, laws::whole_batches, laws::threads, laws::survives] {
        let store = Canary::shared(None);
        let opener: &Opener<'_> = &|| Box::new(store.opened());
        law(opener).unwrap();
    }
}

#[test]
fn the_laws_catch_every_fault() {
    for (fault, law) in [
        (Fault::DropsLastOfRange, laws::model as Law),
        (Fault::ReadsHighBound, laws::model),
        (Fault::ForgetsDirection, laws::model),
        (Fault::ForgetsDeletes, laws::model),
        (Fault::SwapsMultiGet, laws::model),
        (Fault::SkipsEmptyValues, laws::model),
        (Fault::EndsKeysAtZero, laws::model),
        (Fault::FirstOfBatchWins, laws::model),
        (Fault::ForgetsOnOpening, laws::survives),
        (Fault::CutsLargeValues, laws::sizes),
        (Fault::TearsBatches, laws::whole_batches),
        (Fault::LosesRaces, laws::threads),
    ] {
        let store = Canary::shared(Some(fault));
        let caught = law(&|| Box::new(store.opened()));
        assert!(caught.is_err(), "{fault:?} is not caught");
    }
}
