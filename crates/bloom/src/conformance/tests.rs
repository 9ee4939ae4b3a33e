//! Checks filters with non-default parameters against the invariants of the axis. The tests also check that each
//! invariant detects a filter that breaks the invariant.

mod c;
mod canary;

use canary::{Canary, Fault};
use catalog::laws::{check_all, check_invariants};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use toml::Value;
use types::{Bytes, KeyHash};

use super::allocation;
use super::invariants::{INVARIANTS, Keys, Subject, may_contain};
use crate::{Allocation, CATALOG, FilterPolicy, LevelLoad};

#[test]
fn every_form_keeps_every_invariant() {
    let check = |label: &&str| {
        let spends_bits = label.starts_with("double-probe");
        let subject = Subject { policy: policy(label), spends_bits, oracle: false };
        check_invariants(label, &subject, INVARIANTS)
    };
    check_all(FORMS, check).unwrap();
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    for (fault, name) in Fault::ALL {
        let policy = Box::new(Canary::new(fault, policy("standard")));
        let canary = Subject { policy, spends_bits: true, oracle: false };
        let (_, check) =
            INVARIANTS.iter().find(|(other, _)| *other == name).expect("an invariant has this name");
        assert!(check(&canary).is_err(), "the invariant \"{name}\" did not detect the fault {fault:?}");
    }
}

/// An allocation that breaks one invariant on purpose. The first field is the name of the invariant.
struct BadAllocation(&'static str, std::sync::atomic::AtomicU32);

impl Allocation for BadAllocation {
    fn bits_per_key(&self, base: f64, levels: &[LevelLoad], level: usize) -> f64 {
        match self.0 {
            "if keeps_budget() returns true, the allocation stays within the memory budget" => 2.0 * base,
            "bits per key are finite and not negative" if levels[level].entries <= 0.0 => -1.0,
            "calls with equal arguments return equal bits per key" => {
                base + f64::from(self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
            }
            _ => base,
        }
    }

    fn keeps_budget(&self) -> bool {
        true
    }
}

#[test]
fn every_bad_allocation_is_caught_by_its_invariant() {
    for (name, check) in allocation::INVARIANTS {
        let bad = allocation::Subject(Box::new(BadAllocation(name, 0.into())));
        assert!(check(&bad).is_err(), "the invariant \"{name}\" did not detect its fault");
    }
}

#[test]
fn no_filter_opens_what_another_stored() {
    let hashes: Vec<KeyHash> = (0..100).map(KeyHash).collect();
    let keys = Keys::of(&hashes);
    let labels = || CATALOG.kinds().chain(FORMS.iter().copied());
    for writer in labels() {
        let stored = Bytes::copy_from(&policy(writer).build(&keys.input(None)));
        for reader in labels() {
            assert_eq!(policy(reader).open(stored.clone()).is_ok(), reader == writer, "{writer} by {reader}");
        }
    }
}

#[test]
fn impossible_parameters_are_refused_with_a_sentence() {
    let cases = [
        ("bits_per_key", "0.0"),
        ("bits_per_key", "-1"),
        ("bits_per_key", "64.1"),
        ("bits_per_key", "nan"),
        ("bits_per_key", "inf"),
        ("probes", "65"),
        ("double_probes", "33"),
        ("fingerprint_bits", "0"),
        ("fingerprint_bits", "33"),
        ("remainder_bits", "33"),
        ("target_fpr", "0.0"),
        ("growth", "1.0"),
        ("length", "0"),
        ("arity", "5"),
        ("memento_bits", "11"),
        ("range_bits", "41"),
        ("suffix_bits", "17"),
        ("remembered", "0.6"),
    ];
    for variant in CATALOG.variants() {
        for (parameter, value) in cases {
            if !variant.defaults().contains_key(parameter) {
                continue;
            }
            let label = Value::String(format!("{}({parameter}={value})", variant.kind));
            let error = CATALOG.choose(&label).unwrap_err().to_string();
            assert!(error.contains(&format!("{parameter} is ")) && error.contains("must be"), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(42),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_key_is_lost_whatever_the_hashes_and_bits(
        hashes in proptest::collection::vec(any::<u64>(), 0..300),
        bits_per_key in proptest::option::of(0.0f64..80.0),
    ) {
        let hashes: Vec<KeyHash> = hashes.into_iter().map(KeyHash).collect();
        let keys = Keys::of(&hashes);
        for kind in CATALOG.kinds().chain(FORMS.iter().copied()) {
            let policy = policy(kind);
            let stored = policy.build(&keys.input(bits_per_key));
            let filter = policy.open(Bytes::copy_from(&stored)).unwrap();
            prop_assert!(hashes.iter().all(|hash| filter.may_contain(*hash)), "{}", kind);
            prop_assert!(hashes.iter().all(|hash| may_contain(&*filter, *hash)), "{}", kind);
            prop_assert_eq!(&stored, &policy.build(&keys.input(bits_per_key)));
        }
    }
}

/// Labels of variants whose parameters are not the defaults. With these parameters, the construction or the stored
/// format differs.
const FORMS: &[&str] = &[
    "double-probe(form=blocks)",
    "ribbon(form=homogeneous)",
    "ribbon(form=standard)",
    "prefix(whole_keys=false)",
    "surf(suffix=hash)",
    "vector-quotient(fingerprint_bits=16)",
];

fn policy(label: &str) -> Box<dyn FilterPolicy> {
    CATALOG.build(&CATALOG.choose(&Value::String(label.to_owned())).unwrap()).unwrap()
}
