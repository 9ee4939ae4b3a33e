//! `lsmbench verify`: checks every file of a store.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use toml::Value;

use crate::output::print;
use types::{Outcome, Problem};

/// Prints what is wrong with a store, and changes nothing of it; whether nothing is wrong.
pub(crate) fn verify(directory: &Path) -> Outcome<bool> {
    if !directory.is_dir() {
        return Err(Problem::new(format!("there is no directory {}", directory.display())));
    }
    let choice = storage::CATALOG
        .choose(&Value::String("pread".to_owned()))
        .map_err(|error| Problem::new(error.message))?;
    let storage: Arc<dyn Storage> =
        Arc::from(storage::CATALOG.build(&choice).map_err(|error| Problem::new(error.message))?);
    let report = tree::verify(&storage, directory)?;
    let mut text = String::new();
    for damage in &report.damage {
        let _ = writeln!(text, "damage: {damage}");
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let verdict = match report.damage.len() {
        0 => "no damage".to_owned(),
        1 => "1 piece of damage".to_owned(),
        count => format!("{count} pieces of damage"),
    };
    let _ = writeln!(
        text,
        "{}: {verdict} in {} tables with {} entries and {} logs with {} operations",
        directory.display(),
        report.tables,
        report.entries,
        report.logs,
        report.log_operations
    );
    print(&text)?;
    Ok(report.damage.is_empty())
}
