//! Tests of all files in `experiments/`: exactly one rule tests each claim, and the rule fits the claim.

mod common;
mod settled;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use common::{DOCUMENTS, claims, sheets};
use lsmbench_report::{Highlight, Rule, Ruling, Settled, Sheet, Way};
use settled::contradictions;
use toml::Table;

#[test]
fn every_claim_is_answered_once_by_a_rule_that_fits_it() {
    for (document, count) in DOCUMENTS {
        let claims = claims(document);
        assert_eq!(claims.all().len(), count, "{document}");
        let mut answered: BTreeMap<String, usize> = BTreeMap::new();
        for (path, sheet) in sheets(document) {
            assert_eq!(sheet.check(), Ok(()), "{}", path.display());
            assert_eq!(sheet.check_against(&claims), Ok(()), "{}", path.display());
            assert!(sheet.sources.iter().all(|source| source.document == document), "{}", path.display());
            for id in sheet.rules.iter().flat_map(|rule| rule.ids.all()) {
                *answered.entry(id.clone()).or_default() += 1;
            }
        }
        for claim in claims.all() {
            assert_eq!(answered.get(&claim.id), Some(&1), "{}", claim.id);
        }
        assert_eq!(answered.len(), count, "{document}");
    }
}

#[test]
fn most_claims_are_run() {
    let all: Vec<Sheet> = DOCUMENTS.iter().flat_map(|(document, _)| sheets(document).into_values()).collect();
    let count = |way| all.iter().map(|sheet| sheet.count(way)).sum::<usize>();
    assert_eq!(
        [Way::Run, Way::Computed, Way::Untestable].map(count),
        [559, 104, 48],
        "run, computed, untestable"
    );
    let sources: usize = all.iter().map(|sheet| sheet.sources.len()).sum();
    assert_eq!(sources, 67);
}

#[test]
fn most_contradictions_are_settled_by_computation() {
    let all: Vec<Settled> = DOCUMENTS.iter().flat_map(|(document, _)| contradictions(document)).collect();
    let counts = Ruling::ALL.map(|ruling| all.iter().filter(|one| one.ruling == ruling).count());
    assert_eq!(counts, [61, 36, 3, 15], "refuted, one side holds, holds, open");
    for (at, one) in all.iter().enumerate() {
        let id = &one.contradiction.id;
        assert!(all[..at].iter().all(|other| other.contradiction.id != *id), "{id} stands twice");
        assert!(one.ruling == Ruling::Open || !one.contradiction.why.is_empty(), "{id} is derived");
    }
}

/// Tests the rulings on contradictions against first principles and the numbers of the document itself.
#[test]
fn contradictions_are_settled_as_first_principles_say() {
    let all: Vec<Settled> = DOCUMENTS.iter().flat_map(|(document, _)| contradictions(document)).collect();
    for (ruling, ids) in [
        (Ruling::Refuted, &["B9", "S18", "S29", "S39", "S51", "S60", "T9", "T10", "G5"][..]),
        (Ruling::Decided, &["B10", "B21", "S32", "S34", "S47", "S52", "S53", "T3", "G7"]),
        (Ruling::Stands, &["B25", "S56", "J5"]),
    ] {
        for id in ids {
            let one = all.iter().find(|one| one.contradiction.id == *id).unwrap();
            assert_eq!(one.ruling, ruling, "{id}: {:?}", one.checked);
        }
    }
}

#[test]
fn every_highlighted_claim_shows_theory_or_says_that_there_is_none() {
    let rules: Vec<Rule> = DOCUMENTS
        .iter()
        .flat_map(|(document, _)| sheets(document).into_values())
        .flat_map(|sheet| sheet.rules)
        .collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/highlights.toml");
    let text = fs::read_to_string(path).unwrap();
    let mut table: Table = text.parse().unwrap();
    let highlights: Vec<Highlight> = table.remove("highlight").unwrap().try_into().unwrap();
    for id in highlights.iter().flat_map(|highlight| highlight.ids.all()) {
        let rule = rules.iter().find(|rule| rule.ids.all().contains(id)).unwrap();
        assert!(rule.computed.is_some() || rule.theory.is_some(), "{id}: what does theory say?");
    }
    assert_eq!(highlights.len(), 12);
}
