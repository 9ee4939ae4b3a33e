//! Every policy of the catalog keeps the laws of the axis, and a policy that breaks one is caught.

mod canary;
mod laws;
mod store;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;

use canary::{Canary, Fault};
use laws::{History, LAWS, Promise, Subject};
use lsmbench_compaction::{CATALOG, CompactionPolicy};
use proptest::prelude::{ProptestConfig, Strategy, any, prop_assert, proptest};
use proptest::test_runner::RngSeed;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use store::{KEYS, RunPlan};
use toml::Value;

/// Every policy, as it is by default and with small numbers, so that small trees have several levels.
const LABELS: [&str; 10] = [
    "none",
    "leveled",
    "leveled(size_ratio=2)",
    "leveled(size_ratio=1.5, level0_runs=3)",
    "tiered",
    "tiered(size_ratio=2)",
    "lazy-leveled",
    "lazy-leveled(size_ratio=2)",
    "l0-tiered",
    "l0-tiered(size_ratio=2, level0_runs=2)",
];

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
    assert_eq!(
        CATALOG.kinds().collect::<Vec<_>>(),
        ["none", "leveled", "tiered", "lazy-leveled", "l0-tiered"]
    );
    assert!(CATALOG.variants[0].oracle);
    for kind in CATALOG.kinds() {
        assert!(LABELS.contains(&kind), "{kind} is not tested");
    }
}

#[test]
fn impossible_parameters_are_refused_with_a_sentence() {
    let labels = [
        "leveled(size_ratio=1)",
        "leveled(size_ratio=-2)",
        "leveled(size_ratio=nan)",
        "leveled(level0_runs=0)",
        "tiered(size_ratio=1)",
        "tiered(size_ratio=0)",
        "lazy-leveled(size_ratio=1)",
        "l0-tiered(size_ratio=1.0)",
        "l0-tiered(level0_runs=0)",
    ];
    for label in labels {
        let error = CATALOG.choose(&Value::String(label.to_owned())).unwrap_err().to_string();
        assert!(error.contains("it must be "), "{label}: {error}");
    }
}

#[test]
fn every_canary_is_caught_by_its_law() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let histories: Vec<History> = (0..50).map(|_| random_history(&mut random)).collect();
    for (fault, law_name) in Fault::ALL {
        let label = "l0-tiered(size_ratio=2, level0_runs=2)";
        let canary = Canary { fault, sound: policy(label), calls: AtomicU64::new(0) };
        let subject =
            Subject { label: format!("{fault:?}"), policy: Box::new(canary), promise: promise(label) };
        let (_, law) = LAWS.iter().find(|(name, _)| *name == law_name).expect("there is such a law");
        let caught = histories.iter().any(|history| law(&subject, history).is_err());
        assert!(caught, "{fault:?}: \"{law_name}\" did not see it");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        rng_seed: RngSeed::Fixed(42),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_policy_keeps_every_law(history in histories()) {
        for label in LABELS {
            let subject = Subject { label: label.to_owned(), policy: policy(label), promise: promise(label) };
            for (name, law) in LAWS {
                if let Err(error) = law(&subject, &history) {
                    prop_assert!(false, "{}: {}: {}", subject.label, name, error);
                }
            }
        }
    }
}

/// A store of up to four levels with up to twelve runs each, and up to forty flushes.
fn histories() -> impl Strategy<Value = History> {
    let run = || proptest::collection::btree_map(0..KEYS, any::<bool>(), 1..14);
    let level = proptest::collection::vec(run(), 0..12);
    let levels = proptest::collection::vec(level, 0..4);
    (levels, proptest::collection::vec(run(), 0..40))
        .prop_map(|(levels, flushes)| History { levels, flushes })
}

fn random_history(random: &mut Xoshiro256PlusPlus) -> History {
    let level = |random: &mut Xoshiro256PlusPlus| {
        (0..random.random_range(0..4)).map(|_| random_run(random)).collect()
    };
    History {
        levels: (0..3).map(|_| level(random)).collect(),
        flushes: (0..10).map(|_| random_run(random)).collect(),
    }
}

fn random_run(random: &mut Xoshiro256PlusPlus) -> RunPlan {
    let entry = |_| (random.random_range(0..KEYS), random.next_u32().is_multiple_of(4));
    (0..10).map(entry).collect::<BTreeMap<_, _>>()
}

fn policy(label: &str) -> Box<dyn CompactionPolicy> {
    CATALOG.build(&CATALOG.choose(&Value::String(label.to_owned())).unwrap()).unwrap()
}

/// What a policy promises of a tree at rest, from its parameters.
fn promise(label: &str) -> Promise {
    let choice = CATALOG.choose(&Value::String(label.to_owned())).unwrap();
    let whole = |name: &str| choice.params()[name].as_integer().unwrap() as usize;
    match choice.kind() {
        "leveled" | "l0-tiered" => Promise::Leveled {
            size_ratio: choice.params()["size_ratio"].as_float().unwrap(),
            level0_runs: whole("level0_runs"),
        },
        "tiered" => Promise::Tiered { size_ratio: whole("size_ratio") },
        "lazy-leveled" => Promise::LazyLeveled { size_ratio: whole("size_ratio") },
        _ => Promise::Nothing,
    }
}
