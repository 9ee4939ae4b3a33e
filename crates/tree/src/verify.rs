//! Checking a whole store without changing it.

use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use toml::Table as Toml;

use crate::design::Design;
use crate::error::{Error, Result};
use crate::manifest::State;
use crate::recovery::{Files, lock};
use crate::table::Table;
use crate::tree::table_context;
use crate::wal;

/// What checking a store found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// Tables that the manifest names.
    pub tables: u64,
    /// Entries in those tables that could be read.
    pub entries: u64,
    /// Logs that would be replayed.
    pub logs: u64,
    /// Operations in those logs.
    pub log_operations: u64,
    /// Damage, each piece as the error that a reader would meet.
    pub damage: Vec<Error>,
    /// What is no damage, but worth knowing: what a crash left behind and the next open will clear away.
    pub notes: Vec<String>,
}

/// Reads every file of the store in `directory` and reports all damage in one pass. Changes nothing but
/// the lock file, which keeps others out meanwhile.
///
/// # Errors
/// If the directory is in use, is no store, or cannot be read at all.
pub fn verify(storage: &Arc<dyn Storage>, directory: &Path) -> Result<Verification> {
    let files = Files::list(&**storage, directory)?;
    let found = files.read_manifest(&**storage, directory);
    let _lock = lock(&**storage, directory)?;
    let mut report = Verification::default();
    match found {
        Ok(found) => {
            if found.damaged_bytes > 0 {
                report
                    .notes
                    .push(format!("{} bytes of older manifest records are damaged", found.damaged_bytes));
            }
            if found.torn_bytes > 0 {
                report.notes.push(format!(
                    "a change of {} bytes at the end of the manifest was cut off",
                    found.torn_bytes
                ));
            }
            let orphans = files.orphans(&found.state).into_iter();
            report
                .notes
                .extend(orphans.map(|name| format!("{name} belongs to nobody; the next open removes it")));
            report.check_tables(storage, directory, &found.state)?;
            report.check_logs(&**storage, directory, &files, &found.state);
        }
        Err(error) if error.is_damage() => report.damage.push(error),
        Err(error) => return Err(error),
    }
    Ok(report)
}

impl Verification {
    fn check_tables(&mut self, storage: &Arc<dyn Storage>, directory: &Path, state: &State) -> Result<()> {
        let no_cache = Toml::from_iter([("cache".to_owned(), toml::Value::String("none".to_owned()))]);
        let design = Design::default().with(&no_cache)?;
        let context = Arc::new(table_context(&design, Arc::clone(storage), None, directory)?);
        for run in state.levels.iter().flatten() {
            let mut previous: Option<Table> = None;
            for id in &run.tables {
                self.tables += 1;
                match Table::open(&context, *id) {
                    Ok(table) => {
                        self.check_table(&table, previous.as_ref());
                        previous = Some(table);
                    }
                    Err(error) => self.damage.push(error),
                }
            }
        }
        Ok(())
    }

    fn check_table(&mut self, table: &Table, previous: Option<&Table>) {
        self.entries += table.properties().entries;
        table.check(&mut |error| self.damage.push(error));
        if let Some(previous) =
            previous.filter(|previous| previous.properties().largest >= table.properties().smallest)
        {
            self.damage.push(
                table.damage_in_block(0, format!("the table overlaps table {} of its run", previous.id())),
            );
        }
    }

    fn check_logs(&mut self, storage: &dyn Storage, directory: &Path, files: &Files, state: &State) {
        let logs = files.logs_from(state.log);
        match state.log {
            Some(first) if logs.first() != Some(&first) => {
                self.damage.push(Error::MissingLog(wal::log_path(directory, first)));
            }
            _ => {}
        }
        let mut after = state.flushed_sequence;
        for number in logs {
            self.logs += 1;
            let content = wal::replay(storage, directory, number, after, |_, _| {});
            let checked = content.and_then(|content| {
                content.check_order(directory, number, after, state.log_is_synced).map(|()| content)
            });
            match checked {
                Ok(content) => {
                    self.log_operations += content.operations;
                    after = content.last_sequence;
                    if content.dropped_bytes > 0 {
                        let bytes = content.dropped_bytes;
                        self.notes.push(format!("{number:08}.wal: {bytes} bytes at its end were cut off"));
                    }
                }
                Err(error) => self.damage.push(error),
            }
        }
    }
}
