//! The manifest: a file that lists the SSTables of the tree.
//!
//! Each change appends the complete new state to the manifest, with a checksum. The last intact record is the current
//! state, so every change is atomic.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use storage::{Purpose, Storage, WriteFile};
use types::MergeOperator;

use crate::checksum::checksum;
use crate::codec::{Reader, put_bytes, put_varint};
use crate::error::{Error, Result};
use crate::seals::Seals;
use crate::values::BlobFileShape;

/// The name of the manifest in the tree's directory.
pub(crate) const MANIFEST: &str = "manifest";

/// The name of a new manifest before it replaces the old manifest.
pub(crate) const MANIFEST_TEMPORARY: &str = "manifest.tmp";

/// The first bytes of a manifest, which identify the kind of file and the version of its format.
const MAGIC: [u8; 12] = *b"lsmmanifest1";

/// The number of bytes before each record of a manifest, for the length and the checksum of the record.
const FRAME_BYTES: usize = 4 + 4;

/// The size, in bytes, above which a manifest is rewritten, so that it contains only the current state.
const REWRITE_BYTES: u64 = 4 << 20;

/// The exclusive limit of file numbers, run numbers and sequence numbers. No tree exists long enough to reach this
/// limit.
pub(crate) const MOST_NUMBERS: u64 = u64::MAX / 2;

/// The code before the merge operator in a manifest record. Each optional field of a record begins with its code.
const MERGE_OPERATOR: u8 = 1;

/// The code before the list of blob files in a manifest record. Each optional field of a record begins with its code.
const BLOB_FILES: u8 = 2;

/// The code before the names of the column families in a manifest record. Each optional field begins with its code.
const FAMILIES: u8 = 3;

/// The code before the identity of a column family, in a record of the manifest of this family. Each optional field of
/// a record begins with its code.
const FAMILY: u8 = 4;

/// The code before the list [`State::released`] in a manifest record: for each column family, its last sequence number
/// in the removed WAL segments. Each optional field of a record begins with its code.
const RELEASED: u8 = 5;

/// The limit of the search for an intact record after a corrupt record of a manifest. The search reads at most
/// `MOST_PASSES` times as many bytes as the manifest has.
const MOST_PASSES: usize = 64;

/// The durable state of a tree, as each record of the manifest contains it: the information with which the tree finds
/// its data when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// The file numbers of the SSTables: one list per level, with the runs from the newest to the oldest. The SSTables
    /// of a run are in key order.
    pub(crate) levels: Vec<Vec<RunState>>,
    /// The file number of the oldest WAL that is still needed. `None` if the tree has no WAL.
    pub(crate) log: Option<u64>,
    /// Whether each needed WAL was completely synced before the next WAL began. If so, a crash cannot explain missing
    /// writes between two WALs.
    pub(crate) log_is_synced: bool,
    /// The first unused file number.
    pub(crate) next_file: u64,
    /// The first unused number of a sorted run.
    pub(crate) next_run: u64,
    /// The sequence number up to which every write is in the SSTables.
    pub(crate) flushed_sequence: u64,
    /// The identity of the store. Each checksum in a file covers the identity of its store, so files of another store
    /// are detected.
    pub(crate) seals: Seals,
    /// The file number and the length, in bytes, of the last WAL of a closed store. A shorter WAL is corrupt. `None`
    /// while a tree is open, and after a crash. For an open store with column families, the newest completed segment of
    /// its WAL.
    pub(crate) closed_log: Option<(u64, u64)>,
    /// The merge operator of the store. With an operator, the last byte of each stored value distinguishes values
    /// from operands.
    pub(crate) merge_operator: Option<MergeOperator>,
    /// The blob files, in the order of their numbers, with their bytes and live bytes.
    pub(crate) blobs: Vec<BlobFileShape>,
    /// The names of the column families, in the order of their numbers. Empty for a store that is one tree.
    pub(crate) families: Vec<String>,
    /// For each column family, its last sequence number in the removed segments of the shared WAL. The tree of the
    /// family contains all writes up to this number. Families without a number have no write in these segments.
    pub(crate) released: Vec<u64>,
    /// The column family whose tree this is. `None` for a store, and for a family that only earlier versions of
    /// lsmbench have opened.
    pub(crate) family: Option<FamilyIdentity>,
    /// Whether the store has no manifest. The state then follows from the names of the files (see `scanned`), and is
    /// never encoded.
    pub(crate) is_scanned: bool,
}

/// The identity of a column family: its name and its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FamilyIdentity {
    /// The name of the column family.
    pub(crate) name: String,
    /// The identity of the store that contains the family and its WAL. See [`Seals::identity`].
    pub(crate) store: u64,
}

/// A sorted run: its number and the file numbers of its SSTables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunState {
    /// The number of the sorted run.
    pub(crate) id: u64,
    /// The file numbers of the SSTables in the sorted run, in key order.
    pub(crate) tables: Vec<u64>,
}

impl State {
    /// Returns the file numbers of all SSTables in this state.
    pub(crate) fn tables(&self) -> impl Iterator<Item = u64> {
        self.levels.iter().flatten().flat_map(|run| run.tables.iter().copied())
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.next_file);
        put_varint(&mut out, self.next_run);
        put_varint(&mut out, self.flushed_sequence);
        // WAL numbers begin at 1, so the number 0 represents `None`.
        put_varint(&mut out, self.log.unwrap_or(0));
        out.push(u8::from(self.log_is_synced));
        put_varint(&mut out, self.levels.len() as u64);
        for level in &self.levels {
            put_varint(&mut out, level.len() as u64);
            for run in level {
                put_varint(&mut out, run.id);
                put_varint(&mut out, run.tables.len() as u64);
                run.tables.iter().for_each(|table| put_varint(&mut out, *table));
            }
        }
        self.seals.encode(&mut out);
        let (log, bytes) = self.closed_log.unwrap_or_default();
        put_varint(&mut out, log);
        put_varint(&mut out, bytes);
        if let Some(operator) = self.merge_operator {
            out.push(MERGE_OPERATOR);
            put_bytes(&mut out, operator.name().as_bytes());
        }
        if !self.blobs.is_empty() {
            out.push(BLOB_FILES);
            put_varint(&mut out, self.blobs.len() as u64);
            for BlobFileShape { id, bytes, live_bytes, partition } in &self.blobs {
                let numbers = [*id, *bytes, *live_bytes, u64::from(*partition)];
                numbers.into_iter().for_each(|number| put_varint(&mut out, number));
            }
        }
        if !self.families.is_empty() {
            out.push(FAMILIES);
            put_varint(&mut out, self.families.len() as u64);
            self.families.iter().for_each(|name| put_bytes(&mut out, name.as_bytes()));
        }
        if !self.released.is_empty() {
            out.push(RELEASED);
            put_varint(&mut out, self.released.len() as u64);
            self.released.iter().for_each(|number| put_varint(&mut out, *number));
        }
        if let Some(FamilyIdentity { name, store }) = &self.family {
            out.push(FAMILY);
            put_bytes(&mut out, name.as_bytes());
            out.extend_from_slice(&store.to_le_bytes());
        }
        out
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut state = Self {
            next_file: reader.varint()?,
            next_run: reader.varint()?,
            flushed_sequence: reader.varint()?,
            log: Some(reader.varint()?).filter(|log| *log > 0),
            log_is_synced: reader.byte()? == 1,
            ..Self::default()
        };
        for _ in 0..reader.varint()? {
            let mut level = Vec::new();
            for _ in 0..reader.varint()? {
                let mut run = RunState { id: reader.varint()?, tables: Vec::new() };
                for _ in 0..reader.varint()? {
                    run.tables.push(reader.varint()?);
                }
                level.push(run);
            }
            state.levels.push(level);
        }
        // Records of older versions of lsmbench, which had no seals, end here.
        if !reader.is_at_end() {
            state.seals = Seals::decode(&mut reader)?;
            state.closed_log = Some((reader.varint()?, reader.varint()?)).filter(|(log, _)| *log > 0);
        }
        while !reader.is_at_end() {
            match reader.byte()? {
                MERGE_OPERATOR => state.merge_operator = Some(MergeOperator::from_name(reader.text()?)?),
                BLOB_FILES => state.blobs = decode_blobs(&mut reader)?,
                FAMILIES => state.families = decode_families(&mut reader)?,
                RELEASED => state.released = decode_released(&mut reader)?,
                FAMILY => {
                    let (name, store) = (reader.text()?.to_owned(), reader.u64()?);
                    state.family = Some(FamilyIdentity { name, store });
                }
                _ => return None,
            }
        }
        (reader.is_at_end() && state.is_sound()).then_some(state)
    }

    /// Returns whether a tree can have this state. Each SSTable and each run must have a distinct number below the
    /// first unused number. All numbers in the state must be below [`MOST_NUMBERS`].
    fn is_sound(&self) -> bool {
        let runs = || self.levels.iter().flatten();
        let (mut tables, mut run_ids) = (HashSet::new(), HashSet::new());
        let are_tables_apart = self.tables().all(|table| table < self.next_file && tables.insert(table));
        let are_runs_apart = runs().all(|run| run.id < self.next_run && run_ids.insert(run.id));
        let ends = [self.next_file, self.next_run, self.flushed_sequence];
        let has_room = ends.into_iter().all(|number| number < MOST_NUMBERS);
        let mut last = None;
        let are_blobs_apart = self.blobs.iter().all(|blob| {
            let is_above = last.replace(blob.id) < Some(blob.id);
            is_above
                && blob.id < self.next_file
                && blob.live_bytes <= blob.bytes
                && !tables.contains(&blob.id)
        });
        are_tables_apart
            && are_runs_apart
            && are_blobs_apart
            && has_room
            && self.log.is_none_or(|log| log < self.next_file)
            && self.released.len() <= self.families.len()
            && (self.family.is_none() || self.families.is_empty())
    }
}

/// Decodes the list of blob files in a manifest record. Returns `None` if the bytes are corrupt.
fn decode_blobs(reader: &mut Reader<'_>) -> Option<Vec<BlobFileShape>> {
    let mut blobs = Vec::new();
    for _ in 0..reader.varint()? {
        let (id, bytes, live_bytes) = (reader.varint()?, reader.varint()?, reader.varint()?);
        let partition = u32::try_from(reader.varint()?).ok()?;
        blobs.push(BlobFileShape { id, bytes, live_bytes, partition });
    }
    Some(blobs)
}

/// Decodes the names of the column families in a manifest record. Returns `None` if the bytes are corrupt.
fn decode_families(reader: &mut Reader<'_>) -> Option<Vec<String>> {
    let mut families = Vec::new();
    for _ in 0..reader.varint()? {
        families.push(reader.text()?.to_owned());
    }
    Some(families)
}

/// Decodes a list in a manifest record: for each column family, the last sequence number in the removed segments of the
/// shared WAL. Returns `None` if the bytes are corrupt.
fn decode_released(reader: &mut Reader<'_>) -> Option<Vec<u64>> {
    let mut released = Vec::new();
    for _ in 0..reader.varint()? {
        released.push(reader.varint()?);
    }
    Some(released)
}

/// The manifest of an open tree, to which the tree appends its new state after each change.
pub(crate) struct Manifest {
    directory: PathBuf,
    /// The manifest file, which contains the records. `None` if the store has no manifest, so the state is only in
    /// memory.
    file: Option<Box<dyn WriteFile>>,
    /// The current state of the tree, which the last record of the manifest contains.
    pub(crate) state: State,
    /// In a store without a manifest, the file numbers of the WALs of flushed memtables whose flush wrote no SSTable.
    /// These WALs are needed until a later flush writes an SSTable.
    logs_without_table: Vec<u64>,
}

impl Manifest {
    /// Creates a manifest with the state `state` atomically. An existing manifest remains until the new manifest is
    /// durable. If the store has no manifest, the state stays in memory.
    pub(crate) fn create(storage: &dyn Storage, directory: &Path, state: State) -> Result<Self> {
        let directory = directory.to_owned();
        if state.is_scanned {
            return Ok(Self { directory, file: None, state, logs_without_table: Vec::new() });
        }
        let temporary = directory.join(MANIFEST_TEMPORARY);
        let mut file = storage.create(&temporary, Purpose::Manifest)?;
        file.append(&MAGIC)?;
        append(&mut *file, &state)?;
        storage.rename(&temporary, &directory.join(MANIFEST))?;
        storage.sync_directory(&directory)?;
        Ok(Self { directory, file: Some(file), state, logs_without_table: Vec::new() })
    }

    /// Writes the new state `state` of the tree to the manifest, and makes it durable.
    pub(crate) fn record(&mut self, storage: &dyn Storage, state: State) -> Result<()> {
        match &mut self.file {
            Some(file) if file.len() > REWRITE_BYTES => {
                *self = Self::create(storage, &self.directory.clone(), state)?;
                return Ok(());
            }
            Some(file) => append(&mut **file, &state)?,
            None => {}
        }
        self.state = state;
        Ok(())
    }

    /// Returns the file numbers of the WALs that are no longer needed after a memtable has been flushed. `log` is the
    /// WAL of this memtable, and `has_table` is set if the flush wrote an SSTable.
    ///
    /// Without a manifest, only the name of an SSTable shows that the writes of a WAL are flushed. If the flush wrote
    /// no SSTable, the WAL is therefore needed until a later flush writes an SSTable.
    pub(crate) fn unneeded_logs(&mut self, log: u64, has_table: bool) -> Vec<u64> {
        self.logs_without_table.push(log);
        match self.file.is_some() || has_table {
            true => std::mem::take(&mut self.logs_without_table),
            false => Vec::new(),
        }
    }
}

/// Appends a record with the state `state` to the file of a manifest, and makes it durable.
fn append(file: &mut dyn WriteFile, state: &State) -> Result<()> {
    let record = state.encode();
    let sum = checksum(0, file.len(), &record);
    let mut frame = Vec::with_capacity(FRAME_BYTES + record.len());
    frame.extend_from_slice(&(record.len() as u32).to_le_bytes());
    frame.extend_from_slice(&sum.to_le_bytes());
    frame.extend_from_slice(&record);
    file.append(&frame)?;
    Ok(file.sync()?)
}

/// The result of reading a manifest: the current state of the tree, and the number of unreadable bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The state of the tree in the last intact record of the manifest.
    pub(crate) state: State,
    /// The number of bytes after the last intact record of the manifest. A crash during a change leaves such bytes.
    pub(crate) torn_bytes: u64,
    /// The number of corrupt bytes before the last intact record of the manifest.
    pub(crate) damaged_bytes: u64,
}

/// Reads the manifest of the tree in `directory`.
pub(crate) fn read(storage: &dyn Storage, directory: &Path) -> Result<Found> {
    let path = directory.join(MANIFEST);
    let file = storage.open(&path, Purpose::Manifest)?;
    let bytes = file.read(0, file.len() as usize)?;
    if !bytes.starts_with(&MAGIC) {
        return Err(Error::damaged(
            &path,
            0,
            "the file is not a manifest, or is a manifest of another format version",
        ));
    }
    last_state(&bytes)
        .ok_or_else(|| Error::damaged(&path, MAGIC.len() as u64, "the manifest has no intact record"))
}

/// Returns the state in the last intact record of a manifest. After a corrupt record, the function tries every further
/// offset until it finds an intact record. Returns `None` without an intact record, or if the search takes too long.
fn last_state(bytes: &[u8]) -> Option<Found> {
    let mut at = MAGIC.len();
    // A corrupt length is usually longer than the rest of the file, so checking it costs nothing. If many corrupt
    // lengths fit into the file, the search would take quadratic time without this limit.
    let mut left = bytes.len() * MOST_PASSES;
    let (mut last, mut good_bytes) = (None, 0);
    while at < bytes.len() {
        left = left.checked_sub(record_len(bytes, at).unwrap_or(0))?;
        match record_at(bytes, at) {
            Some((state, end)) => {
                good_bytes += end - at;
                last = Some((state, end));
                at = end;
            }
            None => at += 1,
        }
    }
    let (state, end) = last?;
    Some(Found {
        state,
        torn_bytes: (bytes.len() - end) as u64,
        damaged_bytes: (end - MAGIC.len() - good_bytes) as u64,
    })
}

/// Returns the length of the manifest record at the offset `at`. Returns `None` if the record would exceed the file.
fn record_len(bytes: &[u8], at: usize) -> Option<usize> {
    let mut reader = Reader::new(&bytes[at..]);
    let len = reader.u32()? as usize;
    reader.u32()?;
    reader.take(len).map(<[u8]>::len)
}

fn record_at(bytes: &[u8], at: usize) -> Option<(State, usize)> {
    let mut reader = Reader::new(&bytes[at..]);
    let len = reader.u32()? as usize;
    let sum = reader.u32()?;
    let record = reader.take(len)?;
    if checksum(0, at as u64, record) != sum {
        return None;
    }
    Some((State::decode(record)?, at + FRAME_BYTES + len))
}

/// Corrects the checksums of all records of a manifest. See [`crate::reseal`].
pub(crate) fn reseal(bytes: &mut [u8]) {
    let mut at = MAGIC.len();
    while let Some(end) = reseal_record(bytes, at) {
        at = end;
    }
}

fn reseal_record(bytes: &mut [u8], at: usize) -> Option<usize> {
    let mut reader = Reader::new(bytes.get(at..)?);
    let len = reader.u32()? as usize;
    reader.u32()?;
    let sum = checksum(0, at as u64, reader.take(len)?);
    bytes[at + 4..at + FRAME_BYTES].copy_from_slice(&sum.to_le_bytes());
    Some(at + FRAME_BYTES + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> Vec<State> {
        let run = |id, tables: &[u64]| RunState { id, tables: tables.to_vec() };
        vec![
            State { next_file: 2, next_run: 1, log: Some(1), ..State::default() },
            State {
                levels: vec![vec![run(2, &[9]), run(1, &[3])], vec![], vec![run(7, &[4, 5, 600])]],
                log: None,
                log_is_synced: false,
                next_file: 700,
                next_run: 8,
                flushed_sequence: 1 << 40,
                seals: Seals::default().of_copy(600, Path::new("copy")),
                closed_log: Some((300, 1 << 20)),
                blobs: vec![
                    BlobFileShape { id: 6, bytes: 0, live_bytes: 0, partition: 0 },
                    BlobFileShape { id: 601, bytes: 1 << 30, live_bytes: 1 << 29, partition: 300 },
                ],
                merge_operator: Some(MergeOperator::Max),
                families: vec!["index".to_owned(), "values".to_owned()],
                released: vec![300],
                family: None,
                is_scanned: false,
            },
            State {
                next_file: 701,
                next_run: 8,
                log: Some(9),
                log_is_synced: true,
                family: Some(FamilyIdentity { name: "index".to_owned(), store: 1 << 60 }),
                ..State::default()
            },
        ]
    }

    fn written(states: &[State]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for state in states {
            let record = state.encode();
            let sum = checksum(0, bytes.len() as u64, &record);
            bytes.extend_from_slice(&(record.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&sum.to_le_bytes());
            bytes.extend_from_slice(&record);
        }
        bytes
    }

    #[test]
    fn the_last_intact_state_is_the_truth() {
        let all = states();
        let ends: Vec<usize> = (0..=all.len()).map(|count| written(&all[..count]).len()).collect();
        let bytes = written(&all);
        for cut in 0..=bytes.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let found = if cut < MAGIC.len() { None } else { last_state(&bytes[..cut]) };
            assert_eq!(
                found.map(|found| found.state),
                whole.checked_sub(2).map(|last| all[last].clone()),
                "cut at {cut}"
            );
        }
    }

    #[test]
    fn states_that_no_tree_is_in_are_refused() {
        let good = states()[1].clone();
        let change = |change: fn(&mut State)| {
            let mut state = good.clone();
            change(&mut state);
            state
        };
        assert_eq!(State::decode(&good.encode()).as_ref(), Some(&good));
        for bad in [
            change(|state| state.levels[0][0].tables = vec![9, 9]),
            change(|state| state.levels[2][0].tables[0] = 3),
            change(|state| state.levels[0][0].id = 1),
            change(|state| state.next_file = 600),
            change(|state| state.next_run = 7),
            change(|state| state.log = Some(700)),
            change(|state| state.flushed_sequence = u64::MAX),
            change(|state| (state.next_file, state.log) = (u64::MAX, None)),
            change(|state| state.blobs[1].id = 700),
            change(|state| state.blobs[1].id = 6),
            change(|state| state.blobs[0].id = 9),
            change(|state| state.blobs[0].live_bytes = 1),
            change(|state| state.released = vec![1, 2, 3]),
            change(|state| state.family = Some(FamilyIdentity { name: "a".to_owned(), store: 1 })),
        ] {
            assert_eq!(State::decode(&bad.encode()), None, "{bad:?}");
        }
    }

    /// Tests that the search for an intact record ends soon if every length fits into the file. Without a limit, the
    /// search would read the rest of the file at each offset.
    #[test]
    fn the_search_behind_damage_ends_soon() {
        let all = states();
        let mut bytes = written(&all[..1]);
        let len = 3 << 20;
        bytes.extend([0, 0, 1, 0].into_iter().cycle().take(len));
        assert_eq!(last_state(&bytes), None);
        // If no length fits into the file, the search tries all offsets.
        let start = bytes.len() - len;
        bytes[start..].fill(0xff);
        let found = last_state(&bytes).unwrap();
        assert_eq!((found.state, found.torn_bytes), (all[0].clone(), len as u64));
    }

    #[test]
    fn a_flipped_bit_costs_one_record_and_is_seen() {
        let all = states();
        let bytes = written(&all);
        let last_start = written(&all[..all.len() - 1]).len();
        for at in MAGIC.len()..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            let found = last_state(&damaged).unwrap();
            if at < last_start {
                assert_eq!(found.state, all[2]);
                assert!(found.damaged_bytes > 0);
            } else {
                assert_eq!(found.state, all[1]);
                assert_eq!(found.torn_bytes, (bytes.len() - last_start) as u64);
            }
        }
    }
}
