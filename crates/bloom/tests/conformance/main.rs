//! Every filter of the catalog keeps the laws of the axis, and a filter that breaks one is caught.

mod c;
mod canary;
mod laws;

use canary::{Canary, Fault};
use laws::{Keys, LAWS, Subject, may_contain};
use lsmbench_bloom::{CATALOG, FilterPolicy};
use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use toml::Value;
use types::{Bytes, KeyHash};

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
    assert_eq!(CATALOG.variants()[0].kind, "none");
    assert!(CATALOG.variants().last().unwrap().oracle);
}

#[test]
fn every_filter_keeps_every_law() {
    let mut broken = Vec::new();
    for subject in subjects() {
        for (name, law) in LAWS {
            if let Err(error) = law(&subject) {
                broken.push(format!("{}: {name}: {error}", subject.kind));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_canary_is_caught_by_its_law() {
    for (fault, law_name) in Fault::ALL {
        let kind = format!("{fault:?}");
        let sound = Subject { kind: "sound", policy: policy("standard"), spends_bits: true, oracle: false };
        let canary =
            Subject { kind: &kind, policy: Box::new(Canary::new(fault, policy("standard"))), ..sound };
        let (_, law) = LAWS.iter().find(|(name, _)| *name == law_name).expect("there is such a law");
        assert!(law(&canary).is_err(), "{kind}: \"{law_name}\" did not see it");
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

/// Forms of a variant that build or store in a way of their own, besides its default.
const FORMS: &[&str] = &[
    "double-probe(form=blocks)",
    "ribbon(form=homogeneous)",
    "ribbon(form=standard)",
    "prefix(whole_keys=false)",
];

/// Every variant of the catalog with its defaults, and the further forms.
fn subjects() -> impl Iterator<Item = Subject<'static>> {
    CATALOG.kinds().chain(FORMS.iter().copied()).map(|label| {
        let choice = CATALOG.choose(&Value::String(label.to_owned())).unwrap();
        let variant = CATALOG.variant(choice.kind()).unwrap();
        Subject {
            kind: label,
            policy: policy(label),
            spends_bits: variant.defaults().contains_key("bits_per_key"),
            oracle: variant.oracle,
        }
    })
}

fn policy(label: &str) -> Box<dyn FilterPolicy> {
    CATALOG.build(&CATALOG.choose(&Value::String(label.to_owned())).unwrap()).unwrap()
}
