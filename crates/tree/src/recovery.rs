//! Recovery: reads the manifest, replays the WAL, and finds orphaned files.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use compaction::{Level, Levels, OutputRun, Run};
use memtable::MemtablePolicy;
use storage::{Held, Storage, StorageError};
use types::SequenceNumber;

use crate::batch::Operation;
use crate::blob::References;
use crate::error::{Error, QUARANTINE_HINT, Result};
use crate::inner::Inner;
use crate::manifest::{self, MANIFEST, MANIFEST_TEMPORARY, MOST_NUMBERS, RunState, State};
use crate::memory::Slot;
use crate::merge_operands::unexpected_merge;
use crate::recovered::Recovery;
use crate::scanned::{self, INCOMPLETE};
use crate::table::{
    Names, Table, TableContext, is_unfinished, table_number, table_of_companion, table_sequences,
};
use crate::version::{TableRef, references};
use crate::wal::{self, ReplayStart};

/// The name of the lock file that keeps other processes out of the directory.
pub(crate) const LOCK: &str = "lock";

/// The name of the directory for corrupt files, in the directory of a tree.
pub const QUARANTINE: &str = "quarantine";

/// Keeps other processes out of a tree's directory until the guard is dropped. If the directory has only files that
/// do not belong to a tree, the function creates nothing and returns an error.
pub(crate) fn lock(storage: &dyn Storage, directory: &Path) -> Result<Box<dyn Send + Sync>> {
    Files::list(storage, directory)?.check_ours(directory)?;
    storage.lock(&directory.join(LOCK)).map_err(|error| refused(directory, error))
}

/// Keeps writers out of a tree's directory until the guard is dropped, and creates nothing. Returns `None` if the
/// directory has no lock file. Such a directory is not in use by any process.
pub(crate) fn lock_existing(storage: &dyn Storage, directory: &Path) -> Result<Option<Box<dyn Send + Sync>>> {
    storage.lock_existing(&directory.join(LOCK)).map_err(|error| refused(directory, error))
}

fn refused(directory: &Path, error: StorageError) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => Error::InUse(directory.to_owned(), Held::of(&error.source)),
        _ => error.into(),
    }
}

/// A file that belongs to an SSTable: its metadata file, or its filter file.
struct Companion {
    /// The file number of the SSTable.
    number: u64,
    /// The name of the SSTable's main file.
    table: String,
    /// The name of the metadata file or filter file.
    name: String,
}

/// The files in a tree's directory, such as SSTables, blob files and WALs.
#[derive(Default)]
pub(crate) struct Files {
    tables: BTreeMap<u64, String>,
    /// The metadata files and filter files of SSTables.
    companions: Vec<Companion>,
    /// The names of files that only a crash leaves: temporary files of the manifest, of blocks and of WALs, and
    /// incomplete SSTables.
    leaves: Vec<String>,
    logs: BTreeMap<u64, String>,
    blobs: BTreeMap<u64, String>,
    has_manifest: bool,
    has_lock: bool,
    is_incomplete: bool,
    foreign: Vec<String>,
}

impl Files {
    /// Lists the files of an existing store directory.
    pub(crate) fn list(storage: &dyn Storage, directory: &Path) -> Result<Self> {
        let mut files = Self::default();
        for name in storage.list(directory)? {
            match (name.as_str(), name.split_once('.')) {
                (LOCK, _) => files.has_lock = true,
                (QUARANTINE, _) => {}
                (MANIFEST, _) => files.has_manifest = true,
                (INCOMPLETE, _) => files.is_incomplete = true,
                (MANIFEST_TEMPORARY | wal::LOG_TEMPORARY, _) => files.leaves.push(name),
                (unfinished, _) if is_unfinished(unfinished, file_number) => files.leaves.push(name),
                (_, Some((number, kind @ ("wal" | "blob")))) if let Some(number) = file_number(number) => {
                    let files = if kind == "wal" { &mut files.logs } else { &mut files.blobs };
                    files.insert(number, name);
                }
                (table, _) if let Some(number) = table_number(table, file_number) => {
                    files.tables.insert(number, name);
                }
                (companion, _) if let Some((number, table)) = table_of_companion(companion, file_number) => {
                    match companion.ends_with(".leaves") {
                        true => files.leaves.push(name),
                        false => files.companions.push(Companion { number, table, name }),
                    }
                }
                _ => files.foreign.push(name),
            }
        }
        Ok(files)
    }

    /// Records the file names of all SSTables in `names`. If the file of an SSTable is missing, its name follows from
    /// its metadata file or filter file. Error messages about the missing file can then contain the name.
    pub(crate) fn record_names(&self, names: &Names) {
        self.companions.iter().for_each(|companion| names.record(companion.number, &companion.table));
        self.tables.iter().for_each(|(number, name)| names.record(*number, name));
    }

    /// Lists the files of a store directory. The result is empty if the directory does not exist.
    pub(crate) fn of_existing(storage: &dyn Storage, directory: &Path) -> Result<Self> {
        match Self::list(storage, directory) {
            Err(Error::Storage(error)) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            listed => listed,
        }
    }

    /// Returns an error if the directory has files, but no file of a tree.
    pub(crate) fn check_ours(&self, directory: &Path) -> Result<()> {
        match self.has_state() || self.foreign.is_empty() {
            true => Ok(()),
            false => Err(Error::NotATree(directory.to_owned())),
        }
    }

    /// Reads the state in the manifest. Returns the state of an empty tree if the directory never had a manifest. For a
    /// store that was created without a manifest (`table.manifest = "none"`), derives the state from the names of the
    /// files.
    pub(crate) fn read_manifest(&self, storage: &dyn Storage, directory: &Path) -> Result<manifest::Found> {
        if self.is_incomplete {
            return Err(scanned::incomplete(directory));
        }
        if self.has_manifest {
            return manifest::read(storage, directory);
        }
        if self.has_data() && self.may_be_scanned(storage, directory)? {
            let state = self.scanned_state(directory)?;
            return Ok(manifest::Found { state, torn_bytes: 0, damaged_bytes: 0 });
        }
        if self.has_data() {
            return Err(Error::damaged(
                &directory.join(MANIFEST),
                0,
                "the manifest is missing, but there are SSTables, blob files or WALs",
            ));
        }
        self.check_ours(directory)?;
        let state = State { next_file: 1, next_run: 1, ..State::default() };
        Ok(manifest::Found { state, torn_bytes: 0, damaged_bytes: 0 })
    }

    /// Returns whether the directory may be a store without a manifest, because all its files can be files of such a
    /// store.
    fn may_be_scanned(&self, storage: &dyn Storage, directory: &Path) -> Result<bool> {
        let are_named = self.tables.values().all(|name| table_sequences(name).is_some());
        if !are_named || !self.blobs.is_empty() || !self.companions.is_empty() {
            return Ok(false);
        }
        let seals = scanned::seals();
        for number in self.logs.keys() {
            if wal::is_of_other_store(storage, directory, *number, seals.of(*number))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the state of a store without a manifest, derived from the names of its files.
    pub(crate) fn scanned_state(&self, directory: &Path) -> Result<State> {
        let tables = self.tables.iter();
        let tables = tables.filter_map(|(number, name)| Some((*number, table_sequences(name)?))).collect();
        let first_log = self.logs.keys().next().copied();
        scanned::state(tables, first_log, self.next_number()).map_err(|(number, other)| {
            let [path, other] = [number, other].map(|number| &self.tables[&number]);
            let what = format!(
                "the range of sequence numbers in the name of this SSTable overlaps the range in the name \
                 {other}"
            );
            Error::damaged(&directory.join(path), 0, what)
        })
    }

    /// Returns an error if acknowledged writes are lost, because a WAL or the end of the manifest is missing. A crash
    /// cannot cause these cases:
    ///
    /// - A WAL that the manifest names is missing: the first needed WAL, or the last WAL of a closed store.
    /// - The manifest names no WAL although a WAL has writes, because the end of the manifest is lost.
    pub(crate) fn check_logs(&self, storage: &dyn Storage, directory: &Path, state: &State) -> Result<()> {
        if let Some(first) = state.log {
            let closed = state.closed_log.map(|(number, _)| number);
            let missing =
                [Some(first), closed].into_iter().flatten().find(|log| !self.logs.contains_key(log));
            return missing.map_or(Ok(()), |log| Err(Error::MissingLog(wal::log_path(directory, log))));
        }
        // If the manifest was rewritten, the number before `next_file` belongs to the first WAL. The tree writes to
        // this WAL only after the manifest names it, so a WAL with writes shows that the end of the manifest is
        // missing.
        for number in self.logs_from(state.next_file.checked_sub(1)) {
            let (seal, after) = (state.seals.of(number), state.flushed_sequence);
            let start = ReplayStart::after(after);
            let content = wal::replay_records(storage, directory, number, seal, start, |_, _| Some(1))?;
            if content.records > 0 || content.gap.is_some() {
                let what = format!(
                    "the end of the manifest is missing, because the manifest does not name {number:08}.wal, \
                     which has writes"
                );
                return Err(Error::damaged(&directory.join(MANIFEST), 0, what));
            }
        }
        Ok(())
    }

    /// Returns whether the files in the directory belong to a tree. After a crash during the creation of a tree, the
    /// directory may have only some files of a tree, such as the lock file.
    pub(crate) fn are_of_a_tree(&self) -> bool {
        let has_other = self.has_lock || !self.leaves.is_empty() || self.is_incomplete;
        self.has_state() || (self.foreign.is_empty() && has_other)
    }

    /// Returns whether the directory has a manifest, an SSTable, a blob file or a WAL.
    pub(crate) fn has_state(&self) -> bool {
        self.has_manifest || self.has_data()
    }

    /// Returns the names of all files of the tree except for the lock file. The name of the manifest comes first.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let manifest = self.has_manifest.then_some(MANIFEST);
        let numbered = [&self.tables, &self.logs, &self.blobs].into_iter().flat_map(BTreeMap::values);
        let companions = self.companions.iter().map(|companion| &companion.name);
        let others = numbered.chain(companions).chain(&self.leaves).map(String::as_str);
        manifest.into_iter().chain(others)
    }

    /// Returns whether the directory has any numbered file: an SSTable, a blob file or a WAL.
    fn has_data(&self) -> bool {
        [&self.tables, &self.logs, &self.blobs].into_iter().any(|files| !files.is_empty())
    }

    /// Returns whether the directory has a manifest.
    pub(crate) fn has_manifest(&self) -> bool {
        self.has_manifest
    }

    /// Returns whether the directory contains only a part of a store without a manifest, because a copy or a removal of
    /// the store did not finish.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Returns an unused file number, which is larger than the numbers of all files.
    pub(crate) fn next_number(&self) -> u64 {
        let last = [&self.tables, &self.logs, &self.blobs].into_iter().filter_map(BTreeMap::last_key_value);
        let companions = self.companions.iter().map(|companion| &companion.number);
        last.map(|(number, _)| number).chain(companions).max().map_or(1, |number| number + 1)
    }

    /// Returns the numbers of the WALs from `first` on, in ascending order. The result is empty if `first` is `None`.
    pub(crate) fn logs_from(&self, first: Option<u64>) -> Vec<u64> {
        first.map_or_else(Vec::new, |first| self.logs.range(first..).map(|(number, _)| *number).collect())
    }

    /// Returns the names of the orphaned files: files that the tree does not need in the state `state`.
    pub(crate) fn orphans(&self, state: &State) -> Vec<String> {
        let needed: HashSet<u64> = state.tables().collect();
        let companions = self.companions.iter().map(|companion| (&companion.number, &companion.name));
        let tables = self.tables.iter().chain(companions).filter(|(number, _)| !needed.contains(number));
        let logs = self.logs.iter().filter(|(number, _)| state.log.is_none_or(|first| **number < first));
        let named: HashSet<u64> = state.blobs.iter().map(|blob| blob.id).collect();
        let blobs = self.blobs.iter().filter(|(number, _)| !named.contains(number));
        let leaves = self.leaves.iter().cloned();
        tables.chain(blobs).chain(logs).map(|(_, name)| name.clone()).chain(leaves).collect()
    }
}

/// Parses the number at the start of a file name. The function accepts a number only in the form that the tree writes,
/// with at least eight digits. Returns `None` for all other forms, and for numbers from [`MOST_NUMBERS`] on, which are
/// never in use.
fn file_number(digits: &str) -> Option<u64> {
    let number = digits.parse().ok().filter(|number| *number < MOST_NUMBERS)?;
    (format!("{number:08}") == digits).then_some(number)
}

/// Opens all SSTables in `state`, the state of the manifest. With `quarantine`, the function reads each SSTable
/// completely, moves corrupt SSTables to the quarantine and omits them.
pub(crate) fn open_tables(
    context: &Arc<TableContext>,
    state: &State,
    quarantine: bool,
    recovery: &mut Recovery,
) -> Result<Levels<TableRef>> {
    let corrupt_blobs = if quarantine { corrupt_blobs(context, state)? } else { BTreeMap::new() };
    let mut levels = Levels::default();
    for runs in &state.levels {
        let mut level = Level::default();
        for run in runs {
            let tables = open_run(context, run, quarantine.then_some(&corrupt_blobs), recovery)?;
            if !tables.is_empty() {
                level.runs.push(Run { id: run.id, tables });
            }
        }
        levels.levels.push(level);
    }
    while levels.levels.last().is_some_and(|level: &Level<TableRef>| level.runs.is_empty()) {
        levels.levels.pop();
    }
    if quarantine {
        set_blobs_aside(context, state, &levels, recovery)?;
    }
    Ok(levels)
}

fn open_run(
    context: &Arc<TableContext>,
    run: &RunState,
    quarantine: Option<&BTreeMap<u64, Error>>,
    recovery: &mut Recovery,
) -> Result<Vec<TableRef>> {
    let mut tables: Vec<TableRef> = Vec::new();
    let has_operator = context.options.merge_operator.is_some();
    for id in &run.tables {
        let opened = Table::open(context, *id).and_then(with_blobs);
        let opened = opened.and_then(|table| match quarantine {
            Some(corrupt_blobs) => whole(table, has_operator, corrupt_blobs),
            None => Ok(table),
        });
        match opened {
            Ok(table) => tables.push(TableRef(Arc::new(table))),
            Err(error) if quarantine.is_some() && is_lost(&error) => {
                let name = context.names.of(*id);
                for file in context.table_files(*id) {
                    set_aside(&*context.storage, &context.directory, &file)?;
                }
                recovery.quarantined_files.push(format!("{name}: {error}"));
            }
            Err(error) if is_lost(&error) => return Err(with_hint(error)),
            Err(error) => return Err(error),
        }
    }
    let out_of_order = tables.windows(2).find(|pair| pair[0].0.largest() >= pair[1].0.smallest());
    match out_of_order {
        Some(pair) => {
            let path = context.table_path(pair[1].0.id());
            Err(Error::damaged(
                &path,
                0,
                format!(
                    "the key range of the SSTable overlaps the key range of SSTable {} in the same sorted \
                     run",
                    pair[0].0.id()
                ),
            ))
        }
        None => Ok(tables),
    }
}

/// Opens the blob files to which an SSTable refers. A missing blob file is therefore detected when the tree is opened,
/// and not at the first read.
fn with_blobs(table: Table) -> Result<Table> {
    table
        .references()
        .into_iter()
        .flat_map(References::iter)
        .try_for_each(|reference| reference.file.open())?;
    Ok(table)
}

/// Moves each blob file to which no remaining SSTable refers into the quarantine. The SSTables that refer to these blob
/// files are already in the quarantine.
fn set_blobs_aside(
    context: &TableContext,
    state: &State,
    levels: &Levels<TableRef>,
    recovery: &mut Recovery,
) -> Result<()> {
    let used: HashSet<u64> =
        references(levels).flat_map(References::iter).map(|reference| reference.file.number()).collect();
    for blob in state.blobs.iter().filter(|blob| !used.contains(&blob.id)) {
        let name = format!("{:08}.blob", blob.id);
        set_aside(&*context.storage, &context.directory, &name)?;
        recovery
            .quarantined_files
            .push(format!("{name}: the SSTables that refer to this file are in the quarantine"));
    }
    Ok(())
}

/// Returns the corrupt and missing blob files, each with the first corruption in it.
fn corrupt_blobs(context: &TableContext, state: &State) -> Result<BTreeMap<u64, Error>> {
    let mut corrupt = BTreeMap::new();
    for blob in &state.blobs {
        let mut errors = Vec::new();
        context.blobs.file(blob.id).check(&mut |error| errors.push(error));
        for error in errors {
            if !is_lost(&error) {
                return Err(error);
            }
            corrupt.entry(blob.id).or_insert(error);
        }
    }
    Ok(corrupt)
}

/// Checks an SSTable and its blob files completely. Returns the SSTable, or an error with the first corruption and the
/// key range of the SSTable.
fn whole(table: Table, has_operator: bool, corrupt_blobs: &BTreeMap<u64, Error>) -> Result<Table> {
    let mut first = table.references().into_iter().flat_map(References::iter).find_map(|reference| {
        let error = corrupt_blobs.get(&reference.file.number())?;
        let what = format!("the SSTable refers to values in a corrupt blob file: {error}");
        Some(table.damage_in_block(0, what))
    });
    table.check(has_operator, &mut |error| first = first.take().or(Some(error)));
    match first {
        None => Ok(table),
        Some(Error::Damaged { file, offset, what }) => {
            let [low, high] = [table.smallest(), table.largest()].map(|key| key.escape_ascii().to_string());
            let what = format!("{what}; the SSTable had keys from \"{low}\" to \"{high}\"");
            Err(Error::Damaged { file, offset, what })
        }
        Some(error) => Err(error),
    }
}

/// Returns whether `error` shows that a file is corrupt or missing. A file that is temporarily unreadable is not lost.
pub(crate) fn is_lost(error: &Error) -> bool {
    match error {
        Error::Storage(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof)
        }
        other => other.is_damage(),
    }
}

pub(crate) fn with_hint(error: Error) -> Error {
    match error {
        Error::Damaged { file, offset, what } => {
            Error::Damaged { file, offset, what: format!("{what}; {QUARANTINE_HINT}") }
        }
        Error::Storage(StorageError { operation, path, source }) => {
            Error::damaged(&path, 0, format!("cannot {operation}: {source}; {QUARANTINE_HINT}"))
        }
        other => other,
    }
}

/// Moves the file `name` of a tree's directory into the quarantine. Does nothing if the file is missing.
pub(crate) fn set_aside(storage: &dyn Storage, directory: &Path, name: &str) -> Result<()> {
    let quarantine = directory.join(QUARANTINE);
    // The list contains no directories, so the name belongs to a file or a link. A link could lead out of the store.
    if storage.list(directory)?.iter().any(|name| name == QUARANTINE) {
        let error = io::Error::new(
            io::ErrorKind::NotADirectory,
            "the name quarantine must belong to a directory, but it is a file or a link; remove it",
        );
        return Err(StorageError::new("use the quarantine", quarantine, error).into());
    }
    storage.create_directory(&quarantine)?;
    match storage.rename(&directory.join(name), &quarantine.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// The WAL number of a memtable that contains replayed writes and has no WAL of its own. The flush of such a memtable
/// removes no WAL.
const NO_LOG: u64 = 0;

/// Replays the writes of WALs into memtables, and flushes these memtables.
pub(crate) struct Replay<'a> {
    inner: &'a Inner,
    policy: &'a dyn MemtablePolicy,
    /// The state that the manifest contained when the tree was opened.
    state: &'a State,
    memtable: Slot,
    charged_bytes: u64,
    /// The sequence number at which the current memtable is full, even if it has room for more bytes.
    full_from: SequenceNumber,
    /// The sequence number of the last replayed write.
    last_sequence: SequenceNumber,
}

impl<'a> Replay<'a> {
    /// Replays the writes of the WALs `logs` in order, and returns the last sequence number. Afterwards, all these
    /// writes are in SSTables.
    pub(crate) fn run(
        inner: &'a Inner,
        logs: &[u64],
        state: &'a State,
        quarantine: bool,
        recovery: &mut Recovery,
    ) -> Result<SequenceNumber> {
        let policy = &*inner.memtables;
        let memtable = Slot::new(policy.create(inner.design.memtable_capacity.0 as usize), NO_LOG);
        let last_sequence = state.flushed_sequence;
        let full_from = inner.design.full_from(last_sequence + 1);
        let mut replay = Self { inner, policy, state, memtable, charged_bytes: 0, full_from, last_sequence };
        for number in logs {
            match replay.take_log(*number) {
                Ok(content) => {
                    recovery.replayed_operations += content.operations;
                    recovery.dropped_log_bytes += content.dropped_bytes;
                }
                Err(error) if quarantine && error.is_damage() => {
                    let name = format!("{number:08}.wal");
                    set_aside(&*inner.storage, &inner.directory, &name)?;
                    recovery.quarantined_files.push(format!("{name}: {error}"));
                }
                Err(error) if is_lost(&error) => return Err(with_hint(error)),
                Err(error) => return Err(error),
            }
        }
        replay.flush()?;
        match state.is_scanned {
            // Without a manifest, the sequence numbers of flushed writes are only in the names of SSTables. A replayed
            // write without an effect is in no SSTable, so its number is not recorded.
            true => Ok(inner.last_in_tables(&inner.view.load().version)),
            false => Ok(replay.last_sequence),
        }
    }

    fn take_log(&mut self, number: u64) -> Result<wal::LogContent> {
        let (storage, directory) = (Arc::clone(&self.inner.storage), self.inner.directory.clone());
        let (mut outcome, after) = (Ok(()), self.last_sequence);
        let seal = self.inner.context.seals.of(number);
        let start = ReplayStart { after, skips: self.state.is_scanned };
        let content = wal::replay(&*storage, &directory, number, seal, start, |sequence, operation| {
            if outcome.is_err() {
                return;
            }
            if matches!(operation, Operation::Merge { .. }) && self.inner.merge_operator().is_none() {
                outcome = Err(unexpected_merge(&wal::log_path(&directory, number)));
                return;
            }
            let is_applied = match operation {
                Operation::PutIfAbsent(entry) => self.inner.is_absent_in_recovery(&self.memtable, entry.key),
                _ => Ok(true),
            };
            match is_applied {
                Ok(true) => self.inner.insert(&self.memtable, sequence, operation),
                Ok(false) => {}
                Err(error) => {
                    outcome = Err(error);
                    return;
                }
            }
            self.last_sequence = sequence;
            self.charged_bytes += operation.counts().charged_bytes();
            if self.charged_bytes >= self.inner.design.memtable_capacity.0 || sequence + 1 >= self.full_from {
                outcome = self.flush();
            }
        })?;
        outcome?;
        content.check(&directory, number, after, self.state)?;
        Ok(content)
    }

    fn flush(&mut self) -> Result<()> {
        if self.memtable.is_empty() {
            return Ok(());
        }
        let fresh = self.policy.create(self.inner.design.memtable_capacity.0 as usize);
        let full = std::mem::replace(&mut self.memtable, Slot::new(fresh, NO_LOG));
        self.charged_bytes = 0;
        self.full_from = self.inner.design.full_from(self.last_sequence + 1);
        full.memtable.freeze();
        full.close(self.last_sequence);
        let tables = self.inner.write_memtable(&full)?;
        self.inner.install_replayed(OutputRun { level: 0, run: self.inner.new_run() }, &tables)
    }
}
