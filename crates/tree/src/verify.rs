//! Checks all files of a store without changing them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use toml::Table as Toml;
use types::SequenceNumber;

use crate::assemble::{table_context, tree_cache};
use crate::batch::Operation;
use crate::blob::{Reference, References};
use crate::checksum::Checksum;
use crate::design::Design;
use crate::error::{Error, Result};
use crate::families::{FamilyProgress, read_segment};
use crate::family_folder::{check_continues, check_family, check_not_family, check_progress};
use crate::manifest::{FamilyIdentity, Found, State};
use crate::merge_operands::unexpected_merge;
use crate::recovery::{Files, QUARANTINE, lock_existing};
use crate::table::{Table, TableContext};
use crate::wal::{self, LogContent, ReplayStart};

/// The report of a store verification.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verification {
    /// The number of SSTables that the manifest names.
    pub tables: u64,
    /// The number of readable entries in the SSTables that the manifest names.
    pub entries: u64,
    /// The number of data blocks in the SSTables that the manifest names.
    pub blocks: u64,
    /// The number of blocks without a checksum (`block.checksum = "none"`). Verification may miss corruption in these
    /// blocks.
    pub unchecked_blocks: u64,
    /// The number of blob files that the manifest names.
    pub blobs: u64,
    /// The number of WAL files that the next open would read.
    pub logs: u64,
    /// The number of operations in the WAL files.
    pub log_operations: u64,
    /// The corruption in the store. Each item is the error that a read of the corrupt bytes would return.
    pub damage: Vec<Error>,
    /// Findings that are not corruption, for example files in the quarantine, and files that remain after a crash and
    /// that the next open removes.
    pub notes: Vec<String>,
}

/// Reads every file of the store in `directory` and reports all corruption in one pass.
///
/// Verification changes and creates nothing, so it can also check a read-only directory. If the lock file exists,
/// verification locks the file to keep other processes out.
///
/// # Errors
/// If the directory is in use, is not a store, is one family of a store, or cannot be read at all.
pub fn verify(storage: &Arc<dyn Storage>, directory: &Path) -> Result<Verification> {
    check_not_family(&**storage, directory)?;
    verify_directory(storage, directory, None).map(|(report, _)| report)
}

/// Checks every file of the store or of the column family in `directory`. For a family, `family` contains its identity,
/// and its last sequence number in the removed segments of the shared WAL.
///
/// Returns the report, and the sequence number up to which the SSTables contain all writes. This number is `None` if
/// the manifest is corrupt or belongs to another tree.
fn verify_directory(
    storage: &Arc<dyn Storage>,
    directory: &Path,
    family: Option<(&FamilyIdentity, u64)>,
) -> Result<(Verification, Option<SequenceNumber>)> {
    let _lock = lock_existing(&**storage, directory)?;
    let files = Files::list(&**storage, directory)?;
    if !files.are_of_a_tree() {
        return Err(Error::NotAStore(directory.to_owned()));
    }
    let (mut report, mut flushed) = (Verification::default(), None);
    report.note_quarantine(&**storage, directory);
    match files.read_manifest(&**storage, directory) {
        Ok(found) => {
            report.note_leftovers(&files, &found);
            if let Some((identity, released)) = family
                && let Err(error) = check_family(&found.state, directory, identity)
                    .and_then(|()| check_progress(directory, released, found.state.flushed_sequence))
            {
                report.damage.push(error);
                // The manifest belongs to another family or is too old, so the files in this directory are not checked.
                return Ok((report, None));
            }
            flushed = Some(found.state.flushed_sequence);
            report.check_tables(storage, directory, &files, &found.state)?;
            if found.state.families.is_empty() {
                report.check_logs(&**storage, directory, &files, &found.state);
            } else {
                let progress = report.check_families(storage, directory, &found.state);
                report.check_shared_log(&**storage, directory, (&files, &found.state), progress);
            }
        }
        Err(error) if error.is_damage() => {
            report.damage.push(error);
            report
                .notes
                .push("the other files were not checked, because the check needs the manifest".to_owned());
        }
        Err(error) => return Err(error),
    }
    Ok((report, flushed))
}

impl Verification {
    fn note_quarantine(&mut self, storage: &dyn Storage, directory: &Path) {
        let set_aside = storage.list(&directory.join(QUARANTINE)).unwrap_or_default();
        if !set_aside.is_empty() {
            let names = set_aside.join(", ");
            self.notes.push(format!(
                "{QUARANTINE}/ contains corrupt files ({names}); the store no longer has their data"
            ));
        }
    }

    fn note_leftovers(&mut self, files: &Files, found: &Found) {
        if found.damaged_bytes > 0 {
            let bytes = found.damaged_bytes;
            self.notes.push(format!(
                "{bytes} bytes of older manifest records are corrupt; the store does not need these records"
            ));
        }
        if found.torn_bytes > 0 {
            let bytes = found.torn_bytes;
            self.notes.push(format!(
                "the last {bytes} bytes of the manifest are an incomplete record, which a crash left; the \
                 next open removes it"
            ));
        }
        let orphans = files.orphans(&found.state).into_iter();
        self.notes
            .extend(orphans.map(|name| format!("the store does not need {name}; the next open removes it")));
    }

    fn check_tables(
        &mut self,
        storage: &Arc<dyn Storage>,
        directory: &Path,
        files: &Files,
        state: &State,
    ) -> Result<()> {
        let no_cache = Toml::from_iter([("cache".to_owned(), toml::Value::String("none".to_owned()))]);
        let design = Design::default().with(&no_cache)?;
        let cache = tree_cache(&design, None)?;
        let context = table_context(&design, Arc::clone(storage), cache, directory, state.seals.clone())?;
        files.record_names(&context.names);
        let context = Arc::new(context);
        let mut live: BTreeMap<u64, u64> = BTreeMap::new();
        for run in state.levels.iter().flatten() {
            let mut previous: Option<Table> = None;
            for id in &run.tables {
                self.tables += 1;
                match Table::open(&context, *id) {
                    Ok(table) => {
                        self.check_table(&table, previous.as_ref(), state.merge_operator.is_some());
                        for Reference { file, bytes, .. } in
                            table.references().into_iter().flat_map(References::iter)
                        {
                            let sum = live.entry(file.number()).or_default();
                            *sum = sum.saturating_add(*bytes);
                        }
                        previous = Some(table);
                    }
                    Err(error) => self.damage.push(error),
                }
            }
        }
        self.check_blobs(&context, state, &live);
        Ok(())
    }

    /// Checks every blob file that the manifest names. `live` contains, for each blob file, the number of bytes to
    /// which SSTables refer.
    fn check_blobs(&mut self, context: &TableContext, state: &State, live: &BTreeMap<u64, u64>) {
        let are_tables_readable = self.damage.is_empty();
        for blob in &state.blobs {
            self.blobs += 1;
            let file = context.blobs.file(blob.id);
            let mut found = Vec::new();
            file.check(&mut |error| found.push(error));
            let referred = live.get(&blob.id).copied().unwrap_or(0);
            if found.is_empty() && are_tables_readable && referred != blob.live_bytes {
                let stated = blob.live_bytes;
                let what = format!(
                    "the manifest states {stated} live bytes for this blob file, but the SSTables refer to \
                     {referred} bytes of it"
                );
                found.push(file.damaged(0, what));
            }
            // The check of the SSTables has already reported the corrupt values to which SSTables refer.
            found.retain(|error| !self.damage.iter().any(|known| known.to_string() == error.to_string()));
            self.damage.append(&mut found);
        }
    }

    fn check_table(&mut self, table: &Table, previous: Option<&Table>, has_operator: bool) {
        self.entries += table.properties().entries;
        let blocks = u64::from(table.block_count());
        self.blocks += blocks;
        if table.properties().checksum == Checksum::None {
            self.unchecked_blocks += blocks;
        }
        table.check(has_operator, &mut |error| self.damage.push(error));
        if let Some(previous) = previous.filter(|previous| previous.largest() >= table.smallest()) {
            self.damage.push(table.damage_in_block(
                0,
                format!(
                    "the key range of the SSTable overlaps the key range of SSTable {} in the same sorted \
                     run",
                    previous.id()
                ),
            ));
        }
    }

    /// Checks the trees of all column families. Returns, for each family, the sequence number up to which its SSTables
    /// contain all writes.
    fn check_families(
        &mut self,
        storage: &Arc<dyn Storage>,
        directory: &Path,
        state: &State,
    ) -> FamilyProgress {
        let mut progress = Vec::new();
        let released = state.released.iter().copied().chain(std::iter::repeat(0));
        for (name, released) in state.families.iter().zip(released) {
            let identity = FamilyIdentity { name: name.clone(), store: state.seals.identity() };
            match verify_directory(storage, &directory.join(name), Some((&identity, released))) {
                Ok((tree, flushed)) => {
                    self.add(tree, name);
                    progress.push(flushed);
                }
                Err(error) => {
                    self.damage.push(error);
                    progress.push(None);
                }
            }
        }
        FamilyProgress::new(progress)
    }

    /// Adds the report of the tree in the subdirectory `name` to this report.
    fn add(&mut self, tree: Self, name: &str) {
        self.tables += tree.tables;
        self.entries += tree.entries;
        self.blocks += tree.blocks;
        self.unchecked_blocks += tree.unchecked_blocks;
        self.blobs += tree.blobs;
        self.logs += tree.logs;
        self.log_operations += tree.log_operations;
        self.damage.extend(tree.damage);
        self.notes.extend(tree.notes.into_iter().map(|note| format!("{name}: {note}")));
    }

    /// Checks the WAL that the column families of a store share.
    fn check_shared_log(
        &mut self,
        storage: &dyn Storage,
        directory: &Path,
        (files, state): (&Files, &State),
        mut progress: FamilyProgress,
    ) {
        self.damage.extend(files.check_logs(storage, directory, state).err());
        let mut after = state.flushed_sequence;
        let logs = files.logs_from(state.log);
        for (place, number) in logs.iter().enumerate() {
            self.logs += 1;
            let mut gaps = Vec::new();
            let content = read_segment(storage, directory, state, (&logs, place), after, &mut |part| {
                let name = state.families.get(part.family)?;
                if let Some((first, expected)) = progress.follow(&part) {
                    gaps.extend(check_continues(&directory.join(name), first, expected).err());
                }
                Some(())
            });
            self.damage.append(&mut gaps);
            match content {
                Ok(content) => after = self.add_log(*number, &content),
                Err(error) => self.damage.push(error),
            }
        }
    }

    /// Adds the counts of an intact WAL to the report. Returns the sequence number of the last operation in the WAL.
    fn add_log(&mut self, number: u64, content: &LogContent) -> SequenceNumber {
        self.log_operations += content.operations;
        if content.dropped_bytes > 0 {
            let bytes = content.dropped_bytes;
            self.notes.push(format!(
                "{number:08}.wal: the last {bytes} bytes are an incomplete write, which a crash left"
            ));
        }
        content.last_sequence
    }

    fn check_logs(&mut self, storage: &dyn Storage, directory: &Path, files: &Files, state: &State) {
        self.damage.extend(files.check_logs(storage, directory, state).err());
        let mut after = state.flushed_sequence;
        for number in files.logs_from(state.log) {
            self.logs += 1;
            let seal = state.seals.of(number);
            let mut has_merges = false;
            let start = ReplayStart { after, skips: state.is_scanned };
            let content = wal::replay(storage, directory, number, seal, start, |_, operation| {
                has_merges |= matches!(operation, Operation::Merge { .. });
            });
            if has_merges && state.merge_operator.is_none() {
                self.damage.push(unexpected_merge(&wal::log_path(directory, number)));
            }
            let checked =
                content.and_then(|content| content.check(directory, number, after, state).map(|()| content));
            match checked {
                Ok(content) => after = self.add_log(number, &content),
                Err(error) => self.damage.push(error),
            }
        }
    }
}
