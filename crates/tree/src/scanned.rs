//! Stores without a manifest (`table.manifest = "none"`): opening such a store derives its state from the names of its
//! files. Source: the document golsm, "Crash recovery".
//!
//! Three rules replace the records of a manifest:
//!
//! 1. A sorted run is one SSTable. The name of its file contains the first and the last sequence number of its writes.
//!    A flush gets the numbers after all existing SSTables, up to the last write of the memtable. A compaction merges
//!    all sorted runs of a version, and its output gets the smallest range that contains the ranges of its inputs.
//! 2. A file gets its name only after its bytes are durable. The directory is synced before an input of a compaction or
//!    the WAL of a flushed memtable is removed. Every file with the name of an SSTable is therefore complete.
//! 3. If the range of an SSTable contains the range of another SSTable, it replaces this SSTable. If the ranges are
//!    equal, the SSTable with the larger file number replaces the other SSTable.
//!
//! **Correctness.** A power failure or the end of the process leaves an arbitrary subset of the unsynced changes of
//! names. Let O be the output of a compaction.
//!
//! - If O is missing, rule 2 states that no input is removed. The inputs are the state before the compaction.
//! - If O is present, it is complete. O has the newest version of each key of all inputs, and no version of a key whose
//!   newest version is a tombstone. No run is older than the inputs, because a compaction merges all runs. Reads of O
//!   alone therefore return the same answers as reads of all its inputs. Rule 3 ignores each input that still exists,
//!   in any order of the removals, so a deleted key cannot return. If another compaction replaces O, its output also
//!   replaces the inputs of O, because its range contains the range of O.
//! - A flush gives a range that no existing range contains. Until its SSTable is durable, its WAL exists.
//!
//! The ranges of the remaining SSTables are disjoint. The SSTable with the last sequence number is the newest run.
//!
//! **WALs.** Replay skips the writes up to the last sequence number in the names of the SSTables, so a WAL whose
//! removal was not durable changes nothing. This number must not decrease. A compaction without entries in its output
//! therefore writes one tombstone. A WAL whose flush wrote no SSTable becomes durable and stays until the next SSTable.
//! After recovery, the next write gets the number after the last number in a name. The old WALs are durably removed
//! before this write. Otherwise, a later recovery might append the unreplayed end of an old WAL to the new writes.
//!
//! **Limits.** Without a manifest, a missing SSTable or WAL cannot be detected. All stores without a manifest have the
//! same seals, so a file of another such store cannot be detected either. No record contains the length of the last
//! WAL, so corruption of a WAL looks like the end of a WAL after a crash. Recovery drops the writes from this point on,
//! and removes the WALs. The proof assumes that no SSTable is missing. If a quarantine was interrupted, no file name
//! may contain the last sequence number. Recovery then finds a gap before the intact WALs, as if an older WAL were
//! lost, and drops these WALs.

use std::path::Path;

use storage::{Purpose, Storage};
use types::SequenceNumber;

use crate::design::ManifestPlace;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::manifest::{RunState, State};
use crate::seals::Seals;
use crate::table::SequenceRange;
use crate::version::Version;

/// The identity that all stores without a manifest share, and that the seals of their files contain. A store with a
/// manifest has a random identity.
const IDENTITY: u64 = u64::from_le_bytes(*b"scanned\0");

/// The name of a marker file. The file exists while a directory contains only a part of the files of a store without a
/// manifest, for example during a checkpoint.
pub(crate) const INCOMPLETE: &str = "incomplete.tmp";

impl Inner {
    /// Returns whether the tree has no manifest, so that opening it lists its directory instead.
    pub(crate) fn is_scanned(&self) -> bool {
        self.context.options.table.manifest == ManifestPlace::None
    }

    /// Returns the last sequence number in the file names of the SSTables of `version`. Returns 0 if no name contains a
    /// sequence number.
    pub(crate) fn last_in_tables(&self, version: &Version) -> SequenceNumber {
        let sequences = version.tables().filter_map(|table| self.context.names.sequences(table.id()));
        sequences.map(|sequences| sequences.last).max().unwrap_or(0)
    }
}

/// Returns the seals of a store without a manifest. A seal identifies a file and its store.
pub(crate) fn seals() -> Seals {
    let mut seals = Seals::default();
    seals.begin(0, IDENTITY);
    seals
}

/// Returns the state of a store without a manifest, derived from the names of its files. `tables` are the numbers and
/// sequence numbers of its SSTables, `first_log` is the number of its oldest WAL, and `next_number` is an unused number
/// above the numbers of all files.
///
/// # Errors
/// If the sequence numbers of two SSTables overlap, and none replaces the other. The error contains the numbers of both
/// SSTables.
pub(crate) fn state(
    mut tables: Vec<(u64, SequenceRange)>,
    first_log: Option<u64>,
    next_number: u64,
) -> Result<State, (u64, u64)> {
    // Each SSTable comes after the SSTables that replace it.
    tables.sort_unstable_by_key(|(number, range)| (range.first, !range.last, !number));
    let mut live: Vec<(u64, SequenceRange)> = Vec::new();
    for (number, range) in tables {
        match live.last() {
            Some((_, newest)) if range.last <= newest.last => {}
            Some((other, newest)) if range.first <= newest.last => return Err((number, *other)),
            _ => live.push((number, range)),
        }
    }
    let newest_first = live.iter().rev().map(|(number, _)| RunState { id: *number, tables: vec![*number] });
    let runs: Vec<RunState> = newest_first.collect();
    Ok(State {
        levels: if runs.is_empty() { Vec::new() } else { vec![runs] },
        log: first_log,
        next_file: next_number,
        next_run: next_number,
        flushed_sequence: live.last().map_or(0, |(_, range)| range.last),
        seals: seals(),
        is_scanned: true,
        ..State::default()
    })
}

/// Marks a directory as incomplete while it contains only a part of the files of a store. Until [`mark_complete`] is
/// called, the directory cannot be opened as a store.
pub(crate) fn mark_incomplete(storage: &dyn Storage, directory: &Path) -> Result<()> {
    storage.create(&directory.join(INCOMPLETE), Purpose::Manifest)?;
    Ok(storage.sync_directory(directory)?)
}

/// Removes the mark of [`mark_incomplete`], so that the directory can be opened as a store. All changes of names in the
/// directory become durable before the removal.
pub(crate) fn mark_complete(storage: &dyn Storage, directory: &Path) -> Result<()> {
    storage.sync_directory(directory)?;
    storage.remove(&directory.join(INCOMPLETE))?;
    Ok(storage.sync_directory(directory)?)
}

/// Returns the error that a directory contains only a part of a store.
pub(crate) fn incomplete(directory: &Path) -> Error {
    let what = "the directory has only a part of a store, because a checkpoint or the removal of a store did not \
                finish; remove the directory";
    Error::damaged(&directory.join(INCOMPLETE), 0, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the live tables from the newest to the oldest, and the last flushed write.
    fn live(tables: &[(u64, u64, u64)]) -> Result<(Vec<u64>, u64), (u64, u64)> {
        let range =
            |(number, first, last): &(u64, u64, u64)| (*number, SequenceRange { first: *first, last: *last });
        let state = state(tables.iter().map(range).collect(), None, 100)?;
        Ok((state.tables().collect(), state.flushed_sequence))
    }

    #[test]
    fn the_newest_writes_are_the_newest_run() {
        assert_eq!(live(&[]), Ok((vec![], 0)));
        // A flush during a compaction may get a smaller file number than the output of the compaction.
        assert_eq!(live(&[(9, 1, 60), (8, 61, 80), (12, 81, 81)]), Ok((vec![12, 8, 9], 81)));
        // A recovery may leave a gap of writes without entries.
        assert_eq!(live(&[(3, 1, 5), (4, 9, 12)]), Ok((vec![4, 3], 12)));
    }

    #[test]
    fn an_output_replaces_its_inputs_whatever_of_them_is_left() {
        let inputs = [(1, 1, 20), (2, 21, 40), (4, 41, 60)];
        for left in 0..1 << inputs.len() {
            let mut tables = vec![(7, 61, 80), (5, 1, 60)];
            tables.extend((0..inputs.len()).filter(|input| left >> input & 1 > 0).map(|input| inputs[input]));
            assert_eq!(live(&tables), Ok((vec![7, 5], 80)), "{left:b}");
        }
        // The output of the next compaction replaces the output and its inputs.
        assert_eq!(live(&[(4, 41, 60), (5, 1, 60), (7, 61, 80), (8, 1, 80)]), Ok((vec![8], 80)));
        // A compaction of one run rewrites its range.
        assert_eq!(live(&[(9, 1, 80), (8, 1, 80)]), Ok((vec![9], 80)));
    }

    #[test]
    fn ranges_that_no_history_explains_are_an_error() {
        assert_eq!(live(&[(1, 1, 20), (2, 20, 40)]), Err((2, 1)));
        assert_eq!(live(&[(3, 5, 30), (1, 1, 20), (2, 31, 40)]), Err((3, 1)));
    }
}
