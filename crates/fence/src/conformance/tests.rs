//! Tests that the check detects a fence that breaks an invariant, and that fences give correct results for SSTables
//! with any keys.

mod canary;

use canary::{Canary, Fault};
use catalog::laws::check_invariants;
use proptest::prelude::{ProptestConfig, any, prop_assert, proptest};
use proptest::test_runner::RngSeed;
use toml::Value;

use super::invariants::{INVARIANTS, Subject, check_answers};
use super::table::{Cut, Table, numbered};
use super::with_small_pages;
use crate::{CATALOG, FencePolicy};

#[test]
fn every_canary_is_caught_by_its_invariant() {
    for (fault, name) in Fault::ALL {
        let canary = Subject { policy: Box::new(Canary::new(fault, policy("binary"))), oracle: false };
        let (_, check) =
            INVARIANTS.iter().find(|(other, _)| *other == name).expect("an invariant has this name");
        assert!(check(&canary).is_err(), "the invariant \"{name}\" did not detect the fault {fault:?}");
    }
}

#[test]
fn no_fence_opens_what_another_stored() {
    for writer in CATALOG.kinds() {
        for reader in CATALOG.kinds() {
            let mut table = Table::new(&numbered(100), 5, Cut::FirstKeys);
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
        for (label, policy) in policies() {
            let mut table = Table::new(&keys, keys_per_block, cut);
            let checked = check_answers(&*policy, &mut table, &probes);
            prop_assert!(checked.is_ok(), "{}: {:?}", label, checked);
        }
    }
}

#[test]
fn fences_with_other_parameters_keep_every_invariant() {
    for label in FORMS {
        check_invariants(label, &Subject { policy: form(label), oracle: false }, INVARIANTS).unwrap();
    }
}

/// Variants with other parameters than their defaults.
const FORMS: [&str; 2] =
    ["static-btree(separators=largest)", "static-btree(page_bytes=512, separators=largest)"];

fn form(label: &str) -> Box<dyn FencePolicy> {
    CATALOG.build(&CATALOG.choose(&Value::from(label)).unwrap()).unwrap()
}

/// Returns every variant of the catalog with its defaults, and some variants with other parameters. A variant with
/// pages is also returned with the smallest pages.
fn policies() -> impl Iterator<Item = (String, Box<dyn FencePolicy>)> {
    let choices = CATALOG
        .variants()
        .iter()
        .flat_map(|variant| [variant.default_choice()].into_iter().chain(with_small_pages(variant)));
    let forms = FORMS.map(|label| (label.to_owned(), form(label)));
    let defaults = choices.map(|choice| (choice.label(), CATALOG.build(&choice).unwrap()));
    defaults.chain(forms)
}

fn policy(kind: &str) -> Box<dyn FencePolicy> {
    CATALOG.build(&CATALOG.variant(kind).unwrap().default_choice()).unwrap()
}
