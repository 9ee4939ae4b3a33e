//! `lsmbench verify` checks every file of a store.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use toml::Value;

use crate::output::print;
use types::{Outcome, Problem};

/// Checks all files of a store without changing them, and prints all detected corruption. Returns whether no
/// corruption was found.
pub(crate) fn verify(directory: &Path) -> Outcome<bool> {
    if !directory.is_dir() {
        return Err(Problem::new(format!("no such directory: {}", directory.display())));
    }
    let choice = storage::CATALOG
        .choose(&Value::String("pread".to_owned()))
        .map_err(|error| Problem::new(error.message))?;
    let storage: Arc<dyn Storage> =
        Arc::from(storage::CATALOG.build(&choice).map_err(|error| Problem::new(error.message))?);
    let report = tree::verify(&storage, directory)?;
    let mut text = String::new();
    for error in &report.damage {
        let _ = writeln!(text, "corruption: {error}");
    }
    for note in &report.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let verdict = match report.damage.len() {
        0 => "no corruption".to_owned(),
        1 => "1 corrupt part".to_owned(),
        count => format!("{count} corrupt parts"),
    };
    let _ = writeln!(
        text,
        "{directory}: {verdict} in {tables} SSTables ({entries} entries) and {wals} WAL files \
         ({operations} operations)",
        directory = directory.display(),
        tables = report.tables,
        entries = report.entries,
        wals = report.logs,
        operations = report.log_operations
    );
    if report.unchecked_blocks > 0 {
        let _ = writeln!(
            text,
            "{unchecked} of {blocks} blocks have no checksum (block.checksum = \"none\"), so their \
             contents were not checked",
            unchecked = report.unchecked_blocks,
            blocks = report.blocks
        );
    }
    print(&text)?;
    Ok(report.damage.is_empty())
}
