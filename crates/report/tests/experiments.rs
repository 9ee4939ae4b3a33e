//! All that stands in `experiments/`: every claim is answered once, by a rule that fits it.

mod common;
mod settled;

use std::collections::BTreeMap;

use common::{DOCUMENTS, claims, sheets};
use lsmbench_report::{Ruling, Settled, Sheet, Way};
use settled::contradictions;

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
        [559, 101, 51],
        "run, computed, untestable"
    );
    let sources: usize = all.iter().map(|sheet| sheet.sources.len()).sum();
    assert_eq!(sources, 67);
}

#[test]
fn most_contradictions_are_settled_by_computation() {
    let all: Vec<Settled> = DOCUMENTS.iter().flat_map(|(document, _)| contradictions(document)).collect();
    let counts = Ruling::ALL.map(|ruling| all.iter().filter(|one| one.ruling == ruling).count());
    assert_eq!(counts, [54, 28, 1, 31], "refuted, one side holds, holds, open");
    for (at, one) in all.iter().enumerate() {
        let id = &one.contradiction.id;
        assert!(all[..at].iter().all(|other| other.contradiction.id != *id), "{id} stands twice");
        assert!(one.ruling == Ruling::Open || !one.contradiction.why.is_empty(), "{id} is derived");
    }
}
