//! All that stands in `experiments/`: every claim is answered once, by a rule that fits it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lsmbench_report::{Claims, Rule, Sheet, Source, Way};
use toml::{Table, Value};

/// The documents, and how many claims each makes.
const DOCUMENTS: [(&str, usize); 5] =
    [("cs265", 518), ("csc443", 4), ("golsm", 33), ("fjall21", 11), ("byron", 145)];

fn folder(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(document)
}

fn claims(document: &str) -> Claims {
    Claims::read(&folder(document).join("claims.csv")).unwrap()
}

/// The sheets of a document, by their files.
fn sheets(document: &str) -> BTreeMap<PathBuf, Sheet> {
    let files = fs::read_dir(folder(document)).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| (path.clone(), sheet(&path)))
        .collect()
}

fn sheet(path: &Path) -> Sheet {
    let table: Table = fs::read_to_string(path).unwrap().parse().unwrap();
    let all = |key: &str| match table.get(key) {
        None => Vec::new(),
        Some(Value::Array(tables)) => tables.clone(),
        Some(table) => vec![table.clone()],
    };
    let at = |error: toml::de::Error| -> String { format!("{}: {error}", path.display()) };
    let sources = all("source").into_iter().map(|table| table.try_into::<Source>().map_err(at));
    let rules = all("claim").into_iter().map(|table| table.try_into::<Rule>().map_err(at));
    Sheet { sources: sources.map(Result::unwrap).collect(), rules: rules.map(Result::unwrap).collect() }
}

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
        [461, 104, 146],
        "run, computed, untestable"
    );
    let sources: usize = all.iter().map(|sheet| sheet.sources.len()).sum();
    assert_eq!(sources, 65);
}
