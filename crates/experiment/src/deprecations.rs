//! The deprecated names that an experiment uses.

use toml::{Table, Value};
use tree::Deprecation;
use types::Outcome;

use super::design_file::extended_tables;
use super::file::SourceFile;
use super::overrides::Sets;
use super::paths;

/// The deprecated names in the `[design]` tables of an experiment and of the files that it extends, and in `--set`; each
/// once, as a sentence that says which name to use.
pub(super) fn deprecations(file: &SourceFile, sets: &Sets) -> Outcome<Vec<String>> {
    let mut tables = vec![file.table.clone()];
    tables.extend(extended_tables(&file.path)?);
    let mut designs: Vec<Table> =
        tables.iter().filter_map(|table| table.get("design").and_then(Value::as_table).cloned()).collect();
    designs.extend(sets.under("design").map(|(path, set)| paths::nested(&path, set.value.clone())));
    let mut sentences = Vec::new();
    for Deprecation { table, old, new } in designs.iter().flat_map(tree::deprecations) {
        let sentence = format!(
            "design.{table}.{old} is deprecated, the next version will not read it; write design.{table}.{new}"
        );
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    Ok(sentences)
}
