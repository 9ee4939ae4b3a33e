//! Reads the records of a WAL, to replay or verify them.

use std::path::Path;

use storage::{Purpose, Storage};
use types::SequenceNumber;

use super::log_path;
use super::record::{HEADER_BYTES, has_header, has_other_seal, other_version, read, synced_before};
use crate::batch::{Operation, operations};
use crate::error::{Error, Result};
use crate::manifest::State;

/// The result of the replay of one WAL file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogContent {
    /// The number of commits in the WAL file that were replayed.
    pub(crate) records: u64,
    /// The number of operations in the WAL file that were replayed.
    pub(crate) operations: u64,
    /// The sequence number of the last replayed write. If no write was replayed, the sequence number of the last write
    /// before this WAL file.
    pub(crate) last_sequence: SequenceNumber,
    /// The number of bytes at the end of the WAL file that were not replayed. They begin with a record that a crash
    /// interrupted, or with the record after a gap (see `gap`).
    pub(crate) dropped_bytes: u64,
    /// The first sequence number after a gap, which is a place in the WAL file at which writes are missing. `None` if
    /// the WAL file has no gap. A WAL with a gap must not be replayed.
    pub(crate) gap: Option<SequenceNumber>,
    /// The length of the WAL file in bytes, without the zeros after its last record.
    pub(crate) file_bytes: u64,
    /// Whether the WAL file begins with an intact header of this file and this store.
    pub(crate) has_header: bool,
}

impl LogContent {
    /// Returns an error if the replayed WAL file `number` contradicts the manifest in a way that no crash can cause.
    /// `state` is the state in the manifest, and `after` is the sequence number of the last write before this WAL file.
    ///
    /// The function rejects:
    ///
    /// - a WAL that does not begin with the write after `after`, if each WAL is synced before the next WAL is written;
    /// - a WAL without an intact header, if it is the oldest needed WAL of the manifest, and if each WAL is synced
    ///   before the manifest names it. Newer WALs may lack a header, because a power failure may interrupt their
    ///   creation;
    /// - an incomplete WAL, if the store was closed.
    pub(crate) fn check(
        &self,
        directory: &Path,
        number: u64,
        after: SequenceNumber,
        state: &State,
    ) -> Result<()> {
        let damaged = |offset: u64, what: String| Error::damaged(&log_path(directory, number), offset, what);
        if let Some(first) = self.gap.filter(|_| state.log_is_synced) {
            return Err(damaged(
                HEADER_BYTES as u64,
                format!(
                    "the WAL begins with write {first}, but it must begin with write {}, which follows the \
                     last write before the WAL",
                    after + 1
                ),
            ));
        }
        if !self.has_header && state.log_is_synced && state.log == Some(number) {
            return Err(damaged(
                0,
                "the header of the WAL is corrupt, or the WAL belongs to another store".to_owned(),
            ));
        }
        match state.closed_log {
            Some((closed, bytes))
                if closed == number && (bytes != self.file_bytes || self.dropped_bytes > 0) =>
            {
                Err(damaged(
                    self.file_bytes - self.dropped_bytes,
                    format!(
                        "the manifest states that the WAL had {bytes} bytes when it was closed, but now it \
                         has {} intact bytes",
                        self.file_bytes - self.dropped_bytes
                    ),
                ))
            }
            _ => Ok(()),
        }
    }
}

/// The sequence number at which the replay of a WAL file begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplayStart {
    /// The sequence number of the last write before the replay. The replay begins with the next write.
    pub(crate) after: SequenceNumber,
    /// Whether the WAL file may begin with earlier writes, which the replay skips.
    pub(crate) skips: bool,
}

impl ReplayStart {
    /// Starts the replay at the first record of the WAL file, which must be the write after `after`.
    pub(crate) fn after(after: SequenceNumber) -> Self {
        Self { after, skips: false }
    }
}

/// Returns whether the WAL file `number` has an intact header, but belongs to another store. `seal` is the number that
/// would identify the file in this store.
pub(crate) fn is_of_other_store(
    storage: &dyn Storage,
    directory: &Path,
    number: u64,
    seal: u64,
) -> Result<bool> {
    let file = storage.open(&log_path(directory, number), Purpose::Log)?;
    let bytes = file.read(0, (file.len() as usize).min(HEADER_BYTES))?;
    Ok(has_other_seal(&bytes, number, seal))
}

/// Replays the WAL file `number`: calls `apply` with the sequence number of each operation and the operation, in order,
/// from `start` on. `seal` is the number that identifies the file and its store. See [`replay_records`] for gaps and
/// corruption.
pub(crate) fn replay(
    storage: &dyn Storage,
    directory: &Path,
    number: u64,
    seal: u64,
    start: ReplayStart,
    mut apply: impl FnMut(SequenceNumber, Operation<'_>),
) -> Result<LogContent> {
    replay_records(storage, directory, number, seal, start, |first, record| {
        let mut count = 0;
        for operation in operations(record) {
            let operation = operation?;
            if first + count > start.after {
                apply(first + count, operation);
            }
            count += 1;
        }
        Some(count)
    })
}

/// Replays the WAL file `number`: calls `apply` for every record, with its first sequence number and its operations.
/// `seal` is the number that identifies the file and its store.
///
/// `apply` returns the number of operations, or `None` if the operations are corrupt. The first record must begin with
/// the write after `start.after`, or with an earlier write if `start` skips earlier writes. If writes are missing
/// before a later record, replay ends there and the result contains the `gap`.
///
/// Replay also ends at the first record that is not intact, and drops all later records. This is an error if a later
/// record shows that the broken record was durable.
///
/// # Errors
/// If the WAL file cannot be read, or if no crash can be the cause of its corruption.
pub(crate) fn replay_records(
    storage: &dyn Storage,
    directory: &Path,
    number: u64,
    seal: u64,
    start: ReplayStart,
    mut apply: impl FnMut(SequenceNumber, &[u8]) -> Option<u64>,
) -> Result<LogContent> {
    let path = log_path(directory, number);
    let file = storage.open(&path, Purpose::Log)?;
    let bytes = file.read(0, file.len() as usize)?;
    if let Some(version) = other_version(&bytes) {
        let what = format!("the WAL has format version {version}, which this program cannot read");
        return Err(Error::damaged(&path, 0, what));
    }
    let mut content = LogContent {
        last_sequence: start.after,
        has_header: has_header(&bytes, number, seal),
        ..LogContent::default()
    };
    // A WAL may end with zeros, because the file reserves space in advance.
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut at = 0;
    if content.has_header {
        at = HEADER_BYTES;
        while let Some(record) = read(&bytes, seal, at) {
            if start.skips && content.records == 0 && record.first_sequence <= start.after {
                content.last_sequence = record.first_sequence.saturating_sub(1);
            }
            let before = content.last_sequence;
            if record.first_sequence != before + 1 {
                content.gap = Some(record.first_sequence);
                break;
            }
            let count = apply(record.first_sequence, record.operations).ok_or_else(|| {
                Error::damaged(&path, at as u64, "the operations of a WAL record are corrupt")
            })?;
            content.last_sequence += count;
            content.operations += content.last_sequence.saturating_sub(before.max(start.after));
            content.records += 1;
            at = record.end;
        }
        content.last_sequence = content.last_sequence.max(start.after);
    }
    content.dropped_bytes = end.saturating_sub(at) as u64;
    content.file_bytes = at as u64 + content.dropped_bytes;
    if content.gap.is_none() && was_durable(&bytes[..end], seal, at) {
        return Err(Error::damaged(
            &path,
            at as u64,
            "a synced record of the WAL is corrupt: a later record shows that the WAL was durable beyond this \
             offset",
        ));
    }
    Ok(content)
}

/// The file name of the durable copy of a WAL file, before [`make_durable`] replaces the WAL file with this copy.
pub(crate) const LOG_TEMPORARY: &str = "wal.tmp";

/// Replaces the WAL file `number` with a durable copy of its first `bytes` bytes. After a crash of a process, the WAL
/// file may be only in the page cache.
pub(crate) fn make_durable(storage: &dyn Storage, directory: &Path, number: u64, bytes: u64) -> Result<()> {
    let (path, temporary) = (log_path(directory, number), directory.join(LOG_TEMPORARY));
    let content = storage.open(&path, Purpose::Log)?.read(0, bytes as usize)?;
    let mut copy = storage.create(&temporary, Purpose::Log)?;
    copy.append(&content)?;
    copy.sync()?;
    drop(copy);
    storage.rename(&temporary, &path)?;
    Ok(storage.sync_directory(directory)?)
}

/// Returns whether a record after the offset `at` of a WAL file shows that the file was durable beyond `at`.
fn was_durable(bytes: &[u8], seal: u64, at: usize) -> bool {
    (at + 1..bytes.len()).any(|next| {
        let synced = synced_before(bytes, seal, next);
        synced.is_some_and(|synced| (at as u64 + 1..=next as u64).contains(&synced))
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::{LogPlace, frame, header};
    use super::*;
    use crate::batch::encode_operation;
    use storage::Memory;
    use types::Entry;

    const SEAL: u64 = 0x5ea1;

    /// Returns a WAL with three commits of one, two and one operations, and the end of each commit. With `is_synced`,
    /// each commit was synced before the next commit.
    fn sample(is_synced: bool) -> (Vec<u8>, Vec<usize>) {
        let mut bytes = header(7, SEAL);
        let mut ends = vec![bytes.len()];
        for (first, keys) in [(1, &["a"][..]), (2, &["b", "c"]), (4, &["d"])] {
            let synced = if is_synced { bytes.len() as u64 } else { 0 };
            frame(&mut bytes, LogPlace { seal: SEAL, base: 0, synced }, first, |out| {
                keys.iter()
                    .for_each(|key| encode_operation(out, &Entry { key: key.as_bytes(), value: Some(b"v") }));
            });
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    /// Tests that the sequence number of a record takes one byte per seven bits, as in the document byron (section 1.2
    /// A).
    #[test]
    fn records_contain_sequence_numbers_as_varints() {
        let len = |first: SequenceNumber| {
            let mut bytes = Vec::new();
            frame(&mut bytes, LogPlace { seal: SEAL, base: 0, synced: 0 }, first, |_| {});
            bytes.len()
        };
        let numbers = [1, 127, 128, (1 << 14) - 1, 1 << 14, (1 << 56) - 1];
        assert_eq!(numbers.map(|number| len(number) - len(0)), [0, 0, 1, 1, 2, 7]);
    }

    fn replayed(bytes: &[u8]) -> Result<(Vec<String>, LogContent)> {
        let storage = Memory::default();
        let directory = Path::new("store");
        storage.create_directory(directory)?;
        storage.create(&log_path(directory, 7), Purpose::Log)?.append(bytes)?;
        let mut seen = Vec::new();
        let content = replay(&storage, directory, 7, SEAL, ReplayStart::after(0), |sequence, operation| {
            seen.push(format!("{sequence}{}", String::from_utf8_lossy(operation.entry().unwrap().key)));
        })?;
        Ok((seen, content))
    }

    #[test]
    fn a_cut_log_replays_whole_commits_only() {
        let (bytes, ends) = sample(true);
        let all = ["1a", "2b", "3c", "4d"];
        for cut in 0..=bytes.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            let operations = [0, 1, 3, 4][whole];
            let (seen, content) = replayed(&bytes[..cut]).unwrap();
            assert_eq!(seen, all[..operations], "cut at {cut}");
            assert_eq!(content.last_sequence, operations as u64);
            let intact = if cut < ends[0] { 0 } else { ends[whole] };
            // Zeros at the end may be reserved space, so they do not count as dropped bytes.
            let written = bytes[..cut].iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            assert_eq!(content.dropped_bytes, written.saturating_sub(intact) as u64, "cut at {cut}");
        }
    }

    #[test]
    fn damage_in_the_middle_is_an_error_where_it_was_synced() {
        for (is_synced, kept) in [(true, None), (false, Some("1a"))] {
            let (mut bytes, ends) = sample(is_synced);
            bytes[ends[1] + 10] ^= 1;
            match kept {
                None => assert!(replayed(&bytes).unwrap_err().is_damage()),
                Some(kept) => assert_eq!(replayed(&bytes).unwrap().0, [kept]),
            }
            bytes[3] ^= 1;
            match kept {
                None => assert!(replayed(&bytes).unwrap_err().is_damage()),
                Some(_) => assert!(replayed(&bytes).unwrap().0.is_empty()),
            }
        }
    }

    #[test]
    fn a_torn_end_is_no_damage_whatever_of_it_was_kept() {
        let (mut bytes, ends) = sample(true);
        // Two more commits share a sync. The power failure left only the second of these commits.
        let synced = ends[3] as u64;
        for first in [5, 6] {
            frame(&mut bytes, LogPlace { seal: SEAL, base: 0, synced }, first, |out| {
                encode_operation(out, &Entry { key: b"e", value: Some(b"v") });
            });
        }
        bytes[ends[3]..ends[3] + 10].fill(0);
        let (seen, content) = replayed(&bytes).unwrap();
        assert_eq!((seen.len(), content.dropped_bytes), (4, (bytes.len() - ends[3]) as u64));
    }

    #[test]
    fn zeros_behind_the_end_are_no_part_of_the_log() {
        let (mut bytes, _) = sample(false);
        let len = bytes.len() as u64;
        // A record whose value ends with zeros is complete.
        frame(&mut bytes, LogPlace { seal: SEAL, base: 0, synced: 0 }, 5, |out| {
            encode_operation(out, &Entry { key: b"e", value: Some(&[0; 50]) });
        });
        let whole = bytes.len() as u64;
        bytes.resize(bytes.len() + 100_000, 0);
        let (seen, content) = replayed(&bytes).unwrap();
        assert_eq!((seen.len(), content.dropped_bytes, content.file_bytes), (5, 0, whole));
        bytes[len as usize + 20] ^= 1;
        let (seen, content) = replayed(&bytes).unwrap();
        assert_eq!(seen.len(), 4);
        assert!(content.dropped_bytes > 0 && content.file_bytes < whole);
    }

    #[test]
    fn random_bytes_behind_the_end_are_no_damage() {
        let (mut bytes, ends) = sample(true);
        let mut state = 1u64;
        for _ in 0..1 << 20 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend_from_slice(&state.to_le_bytes());
        }
        let (seen, content) = replayed(&bytes).unwrap();
        assert_eq!((seen.len(), content.dropped_bytes), (4, (bytes.len() - ends[3]) as u64));
    }

    #[test]
    fn a_log_that_does_not_follow_is_not_replayed() {
        let storage = Memory::default();
        let directory = Path::new("store");
        storage.create_directory(directory).unwrap();
        let (bytes, ends) = sample(true);
        storage.create(&log_path(directory, 7), Purpose::Log).unwrap().append(&bytes).unwrap();
        let content = replay(&storage, directory, 7, SEAL, ReplayStart::after(3), |_, _| {
            panic!("nothing follows write 3")
        })
        .unwrap();
        assert_eq!((content.gap, content.operations, content.last_sequence), (Some(1), 0, 3));
        assert_eq!(content.dropped_bytes, (bytes.len() - ends[0]) as u64);
    }

    /// Tests that a replay skips earlier writes of a WAL, also within a commit.
    #[test]
    fn earlier_writes_are_skipped() {
        let storage = Memory::default();
        let directory = Path::new("store");
        storage.create_directory(directory).unwrap();
        let (bytes, _) = sample(true);
        storage.create(&log_path(directory, 7), Purpose::Log).unwrap().append(&bytes).unwrap();
        for after in 0..7 {
            let mut seen = Vec::new();
            let start = ReplayStart { after, skips: true };
            let content =
                replay(&storage, directory, 7, SEAL, start, |sequence, _| seen.push(sequence)).unwrap();
            assert_eq!(seen, (after + 1..5).collect::<Vec<_>>());
            assert_eq!((content.operations, content.last_sequence), (seen.len() as u64, after.max(4)));
            assert_eq!((content.gap, content.dropped_bytes), (None, 0));
        }
        assert!(!is_of_other_store(&storage, directory, 7, SEAL).unwrap());
        assert!(is_of_other_store(&storage, directory, 7, SEAL + 1).unwrap());
    }

    #[test]
    fn a_record_of_another_log_or_place_does_not_replay() {
        let (bytes, ends) = sample(false);
        let mut repeated = bytes.clone();
        repeated.extend_from_slice(&bytes[ends[2]..]);
        assert_eq!(replayed(&repeated).unwrap().0.len(), 4);
        let mut other = header(7, SEAL);
        let place = LogPlace { seal: SEAL + 1, base: 0, synced: 0 };
        frame(&mut other, place, 1, |out| encode_operation(out, &Entry { key: b"x", value: None }));
        assert_eq!(replayed(&other).unwrap().0.len(), 0);
    }
}
