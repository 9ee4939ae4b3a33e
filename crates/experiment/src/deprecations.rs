//! Finds the deprecated names in an experiment.

use std::borrow::Cow;
use std::path::Path;

use results::{ConfigPath, Root};
use toml::{Table, Value};
use tree::{DEPRECATIONS, Deprecation};
use types::Outcome;

use super::design_file::extended_tables;
use super::file::SourceFile;
use super::overrides::Sets;
use super::paths;

/// Returns one sentence per deprecated name in an experiment, with the current name. `replacing` is the design file
/// that the command line gives instead of the design file of the experiment, if any.
pub(super) fn deprecations(file: &SourceFile, replacing: Option<&Path>, sets: &Sets) -> Outcome<Vec<String>> {
    let mut tables = vec![file.table.clone()];
    match replacing {
        Some(design) => {
            tables.push(SourceFile::read(design)?.table);
            tables.extend(extended_tables(design)?);
        }
        None => tables.extend(extended_tables(&file.path)?),
    }
    let mut designs: Vec<Table> =
        tables.iter().filter_map(|table| table.get("design").and_then(Value::as_table).cloned()).collect();
    designs.extend(sets.under("design").map(|(path, set)| paths::nested(&path, set.value.clone())));
    let swept = file.table.get("sweep").and_then(Value::as_table).into_iter().flatten();
    designs.extend(swept.filter_map(|(path, value)| swept_design(path, value)));
    let set = sets.under("sweep").map(|(path, set)| (path.join("."), &set.value));
    designs.extend(set.filter_map(|(path, value)| swept_design(&path, value)));
    let mut sentences = Vec::new();
    for Deprecation { table, old, new } in designs.iter().flat_map(tree::deprecations) {
        let sentence = format!(
            "design.{table}.{old} is deprecated, and the next version will reject it; use design.{table}.{new}"
        );
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    Ok(sentences)
}

/// Converts a swept path below `design` and its value to the `[design]` table that sets this value. Returns `None` if
/// the path is not below `design`.
fn swept_design(path: &str, value: &Value) -> Option<Table> {
    let path = ConfigPath::new(path);
    path.axis().map(|_| paths::nested(path.below(), value.clone()))
}

/// Replaces the last key of a path by its current name, if the key is deprecated. Returns any other path unchanged.
pub(super) fn new_name(path: &str) -> Cow<'_, str> {
    let parsed = ConfigPath::new(path);
    let (Root::Design, &[table, key]) = (parsed.root(), parsed.below()) else { return path.into() };
    let renamed = DEPRECATIONS.iter().find(|name| name.table == table && name.old == key);
    renamed.map_or(path.into(), |name| format!("{}.{}", ConfigPath::of_axis(table), name.new).into())
}
