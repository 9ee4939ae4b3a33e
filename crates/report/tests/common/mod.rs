//! Helpers that read the files in `experiments/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lsmbench_report::{Claims, FigureSource, Rule, Sheet};
use toml::{Table, Value};

/// The documented systems, each with its number of claims.
pub(crate) const DOCUMENTS: [(&str, usize); 5] =
    [("cs265", 518), ("csc443", 4), ("golsm", 33), ("fjall21", 11), ("byron", 145)];

/// Returns the folder of a document.
pub(crate) fn folder(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(document)
}

pub(crate) fn claims(document: &str) -> Claims {
    Claims::read(&folder(document).join("claims.csv")).unwrap()
}

/// Returns the report parts of all experiment files of a document, by their paths.
pub(crate) fn sheets(document: &str) -> BTreeMap<PathBuf, Sheet> {
    let files = fs::read_dir(folder(document)).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter(|path| !path.ends_with("contradictions.toml"))
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
    let sources = all("source").into_iter().map(|table| table.try_into::<FigureSource>().map_err(at));
    let rules = all("claim").into_iter().map(|table| table.try_into::<Rule>().map_err(at));
    Sheet { sources: sources.map(Result::unwrap).collect(), rules: rules.map(Result::unwrap).collect() }
}
