//! Tests that caches keep every invariant with each hash function and each policy. The tests also check that seeded
//! faults in a cache are detected.

mod c;
mod canary;
mod exact_lru;
mod zipf;

use canary::{Canary, Fault};
use catalog::Choice;
use catalog::laws::{check_all, check_invariants};
use toml::{Table, Value};

use super::invariants::{self, INVARIANTS, Subject};
use crate::{CATALOG, Cache};

/// Valid values of the parameter `hasher`.
const HASHERS: [&str; 5] = ["xxh3", "foldhash", "ahash", "rustc-hash", "sip"];

/// Returns every cache of the catalog with each of these hash functions and capacities. Capacities that a cache
/// rejects are omitted.
fn choices(capacities: &[&str], hashers: &[&str]) -> Vec<Choice> {
    let mut choices = Vec::new();
    for variant in CATALOG.variants() {
        let mut base = Table::from_iter([("kind".to_owned(), Value::from(variant.kind))]);
        let is_param = |name: &str| variant.defaults().contains_key(name);
        let values = |name: &str, values: &[&str]| -> Vec<Option<Value>> {
            if is_param(name) {
                values.iter().map(|value| Some(Value::from(*value))).collect()
            } else {
                vec![None]
            }
        };
        for capacity in values("capacity", capacities) {
            for hasher in values("hasher", hashers) {
                base.extend(capacity.clone().map(|capacity| ("capacity".to_owned(), capacity)));
                base.extend(hasher.map(|hasher| ("hasher".to_owned(), hasher)));
                choices.push(CATALOG.choose(&Value::Table(base.clone())).unwrap());
            }
        }
    }
    choices
}

fn subject(choice: &Choice) -> Subject {
    let choice = choice.clone();
    Subject(Box::new(move || build(&choice)))
}

fn build(choice: &Choice) -> Box<dyn Cache> {
    CATALOG.build(choice).unwrap()
}

#[test]
fn every_hash_function_keeps_every_invariant() {
    let hashed = choices(&["600KiB"], &HASHERS[1..]).into_iter();
    let hashed = hashed.filter(|choice| choice.params().contains_key("hasher")).collect::<Vec<_>>();
    check_all(&hashed, |choice| check_invariants(&choice.label(), &subject(choice), INVARIANTS)).unwrap();
}

/// Tests each eviction policy of the crate `foyer` except `lru`, the default. The tests of the catalog cover the
/// default.
#[cfg(feature = "foyer")]
#[test]
fn every_policy_of_foyer_keeps_every_invariant() {
    for eviction in ["lfu", "s3-fifo", "sieve", "fifo"] {
        let label = format!("foyer(capacity=600KiB, eviction={eviction})");
        let choice = CATALOG.choose(&Value::from(label)).unwrap();
        check_invariants(&choice.label(), &subject(&choice), INVARIANTS).unwrap();
    }
}

#[test]
fn lru_in_one_part_is_exactly_lru() {
    for hasher in HASHERS {
        for kind in ["lru(shards=1, ", "library(shards=1, "] {
            let label = format!("{kind}capacity=200KiB, hasher={hasher})");
            let choice = CATALOG.choose(&Value::from(label)).unwrap();
            exact_lru::check(&*build(&choice), 200 << 10)
                .unwrap_or_else(|broken| panic!("{choice}: {broken}"));
        }
    }
}

#[test]
fn hit_rates_are_what_the_policies_promise() {
    let run = |label: &str, one_touch: f64| {
        let cache = build(&CATALOG.choose(&Value::from(label)).unwrap());
        zipf::run(&*cache, one_touch)
    };
    let capacity = zipf::CAPACITY_BYTES;
    let lru = run(&format!("lru(capacity={capacity}B)"), 0.0);
    let expected = zipf::lru_hit_rate();
    assert!((lru.hits - expected).abs() < 0.02, "lru hits {}, theory {expected}", lru.hits);
    for choice in choices(&[&format!("{capacity}B")], &["xxh3"]) {
        let result = zipf::run(&*build(&choice), 0.0);
        let bound = result.repeats;
        let is_bounded = choice.params().contains_key("capacity");
        let least = if is_bounded { 0.9 * lru.hits } else { 0.0 };
        assert!((least..=bound).contains(&result.hits), "{choice} hits {}", result.hits);
    }
    assert!(run("none", 0.0).hits <= f64::EPSILON);
    let oracle = run("unbounded", 0.0);
    assert!((oracle.hits - oracle.repeats).abs() < f64::EPSILON, "the ideal bound misses only first uses");
    let sized = |kind: &str, one_touch: f64| run(&format!("{kind}(capacity={capacity}B)"), one_touch).hits;
    let scanned = sized("lru", 0.5);
    for kind in ["s3-fifo", "2q", "arc", "lirs", "w-tinylfu", "lockfree-clock", "quick", "moka"] {
        let resistant = sized(kind, 0.5);
        assert!(resistant > scanned + 0.02, "{kind} hits {resistant}, lru {scanned} under scans");
    }
    let (ours, crates) = (sized("lockfree-clock", 0.0), sized("quick", 0.0));
    assert!((ours - crates).abs() < 0.01, "lockfree-clock hits {ours}, quick {crates}");
}

#[test]
fn a_cache_without_fault_keeps_every_invariant() {
    let sound = Subject(Box::new(|| Box::new(Canary::new(None))));
    check_invariants("canary", &sound, INVARIANTS).unwrap();
}

#[test]
fn a_cache_that_never_grows_is_caught() {
    let broken = invariants::check_resizing(&Canary::new(Some(Fault::NeverGrows))).unwrap_err();
    assert!(broken.contains("from 131072 to 524288 bytes. The cache contained 131072 bytes"), "{broken}");
}

#[test]
fn every_canary_is_caught() {
    let cases = [
        (Fault::ReturnsBlocksOfOtherTables, "invariant 1"),
        (Fault::ShowsNoBlockToReaders, "invariant 1"),
        (Fault::KeepsTheOldBlockOnDecline, "invariant 1"),
        (Fault::ForgetsABlockOfARemovedTable, "after the removal"),
        (Fault::RemovesTheTableInOtherTrees, "after the removal"),
        (Fault::ExceedsTheCapacity, "invariant 2"),
        (Fault::CountsReplacedBlocks, "invariant 2"),
        (Fault::ShrinksLater, "invariant 2"),
        (Fault::EvictsByARandomSeed, "invariant 3"),
    ];
    for (fault, invariant) in cases {
        let broken = invariants::check(&|| Box::new(Canary::new(Some(fault)))).err();
        let broken = broken.unwrap_or_else(|| panic!("{fault:?} was not caught"));
        assert!(broken.contains(invariant), "{fault:?} was caught as: {broken}");
    }
}

#[test]
fn the_model_tells_other_policies_from_lru() {
    assert!(exact_lru::check(&Canary::new(None), canary::CAPACITY_BYTES).is_err(), "it evicts in turn");
}
