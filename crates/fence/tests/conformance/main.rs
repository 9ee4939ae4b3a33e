//! Every fence of the catalog keeps the laws of the axis over tables of many shapes, and a fence that
//! breaks one is caught.

mod canary;
mod laws;
mod table;

use canary::{Canary, Fault};
use laws::{LAWS, Subject};
use lsmbench_fence::{CATALOG, FencePolicy};
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use proptest::test_runner::RngSeed;
use table::{Cut, Table};
use toml::Value;

#[test]
fn the_catalog_keeps_its_laws() {
    catalog::laws::check(&CATALOG).unwrap();
    assert!(CATALOG.variants().last().unwrap().oracle);
}

#[test]
fn every_fence_keeps_every_law() {
    let mut broken = Vec::new();
    for subject in subjects() {
        for (name, law) in LAWS {
            if let Err(error) = law(&subject) {
                broken.push(format!("{}: {name}: {error}", subject.label));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_canary_is_caught_by_its_law() {
    for (fault, law_name) in Fault::ALL {
        let label = format!("{fault:?}");
        let canary = Box::new(Canary::new(fault, policy("binary")));
        let canary = Subject { label: label.clone(), policy: canary, oracle: false };
        let (_, law) = LAWS.iter().find(|(name, _)| *name == law_name).expect("there is such a law");
        assert!(law(&canary).is_err(), "{label}: \"{law_name}\" did not see it");
    }
}

#[test]
fn no_fence_opens_what_another_stored() {
    for writer in CATALOG.kinds() {
        for reader in CATALOG.kinds() {
            let mut table = Table::new(&table::numbered(100), 5, Cut::FirstKeys);
            table.store(&*policy(writer));
            assert_eq!(policy(reader).open(&table).is_ok(), reader == writer, "{writer} by {reader}");
        }
    }
}

#[test]
fn impossible_page_lengths_are_refused_with_a_sentence() {
    for variant in CATALOG.variants().iter().filter(|variant| variant.defaults().contains_key("page_bytes")) {
        for bytes in ["0", "100", "6KiB", "128KiB", "1TiB"] {
            let label = Value::String(format!("{}(page_bytes={bytes})", variant.kind));
            let error = CATALOG.choose(&label).unwrap_err().to_string();
            assert!(error.contains("page_bytes is ") && error.contains("must be"), "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        rng_seed: RngSeed::Fixed(42),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn keys_are_found_and_probes_placed_whatever_they_are(
        keys in proptest::collection::btree_set(proptest::collection::vec(0u8..4, 0..14), 1..200),
        probes in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..14), 0..50),
        keys_per_block in 1usize..6,
        cut in any::<bool>(),
    ) {
        let keys: Vec<Vec<u8>> = keys.into_iter().collect();
        let cut = if cut { Cut::Shortest } else { Cut::FirstKeys };
        for subject in subjects() {
            let mut table = Table::new(&keys, keys_per_block, cut);
            let checked = laws::check_answers(&*subject.policy, &mut table, &probes);
            prop_assert!(checked.is_ok(), "{}: {:?}", subject.label, checked);
        }
    }
}

/// Every variant of the catalog with its defaults, and with the smallest pages where it has pages.
fn subjects() -> impl Iterator<Item = Subject> {
    CATALOG.variants().iter().flat_map(|variant| {
        let mut choices = vec![variant.default_choice()];
        if variant.defaults().contains_key("page_bytes") {
            let label = Value::String(format!("{}(page_bytes=512)", variant.kind));
            choices.push(CATALOG.choose(&label).unwrap());
        }
        choices.into_iter().map(|choice| Subject {
            label: choice.label(),
            policy: CATALOG.build(&choice).unwrap(),
            oracle: variant.oracle,
        })
    })
}

fn policy(kind: &str) -> Box<dyn FencePolicy> {
    CATALOG.build(&CATALOG.variant(kind).unwrap().default_choice()).unwrap()
}
