//! Reading a log back after a crash.

use std::path::Path;

use storage::{Purpose, Storage};
use types::{Entry, SequenceNumber};

use super::log_path;
use super::record::{HEADER_BYTES, has_header, read};
use crate::batch::operations;
use crate::error::{Error, Result};

/// What a log turned out to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogContent {
    /// Commits replayed.
    pub(crate) records: u64,
    /// Operations replayed.
    pub(crate) operations: u64,
    /// The last sequence number replayed; 0 for none.
    pub(crate) last_sequence: SequenceNumber,
    /// Bytes behind the last intact record: a commit that a crash cut off, and what followed it.
    pub(crate) dropped_bytes: u64,
}

/// Hands every operation of log `number` with its sequence number to `apply`, in order.
///
/// Replay ends at the first record that is not intact: what follows was never acknowledged as durable, or
/// the order of writes would have a hole. Where every acknowledged record was synced (`is_synced`), an
/// intact record behind a damaged one cannot come from a crash: that is damage, and an error.
pub(crate) fn replay(
    storage: &dyn Storage,
    directory: &Path,
    number: u64,
    is_synced: bool,
    mut apply: impl FnMut(SequenceNumber, Entry<'_>),
) -> Result<LogContent> {
    let path = log_path(directory, number);
    let file = storage.open(&path, Purpose::Log)?;
    let bytes = file.read(0, file.len() as usize)?;
    let mut content = LogContent::default();
    if !has_header(&bytes, number) {
        return match is_synced && has_record_behind(&bytes, number, 0) {
            true => Err(Error::damaged(&path, 0, "the header of the log is damaged")),
            false => Ok(LogContent { dropped_bytes: bytes.len() as u64, ..content }),
        };
    }
    let mut at = HEADER_BYTES;
    while let Some(record) = read(&bytes, number, at) {
        for (sequence, entry) in (record.first_sequence..).zip(operations(record.operations)) {
            let entry = entry
                .ok_or_else(|| Error::damaged(&path, at as u64, "the record's operations cannot be read"))?;
            apply(sequence, entry);
            content.last_sequence = sequence;
            content.operations += 1;
        }
        content.records += 1;
        at = record.end;
    }
    content.dropped_bytes = (bytes.len() - at) as u64;
    if is_synced && has_record_behind(&bytes, number, at + 1) {
        return Err(Error::damaged(&path, at as u64, "a synced record is damaged, and intact ones follow"));
    }
    Ok(content)
}

/// Whether an intact record begins at or behind offset `at`.
fn has_record_behind(bytes: &[u8], number: u64, at: usize) -> bool {
    (at..bytes.len()).any(|at| read(bytes, number, at).is_some_and(|record| !record.operations.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::super::record::{frame, header};
    use super::*;
    use crate::batch::encode_operation;
    use storage::Memory;

    /// A log of three commits of one, two and one operations; returns it and where each commit ends.
    fn sample() -> (Vec<u8>, Vec<usize>) {
        let mut bytes = header(7);
        let mut ends = vec![bytes.len()];
        for (first, keys) in [(1, &["a"][..]), (2, &["b", "c"]), (4, &["d"])] {
            frame(&mut bytes, 7, 0, first, |out| {
                keys.iter()
                    .for_each(|key| encode_operation(out, &Entry { key: key.as_bytes(), value: Some(b"v") }));
            });
            ends.push(bytes.len());
        }
        (bytes, ends)
    }

    fn replayed(bytes: &[u8], is_synced: bool) -> Result<(Vec<String>, LogContent)> {
        let storage = Memory::default();
        let directory = Path::new("store");
        storage.create_directory(directory)?;
        storage.create(&log_path(directory, 7), Purpose::Log)?.append(bytes)?;
        let mut seen = Vec::new();
        let content = replay(&storage, directory, 7, is_synced, |sequence, entry| {
            seen.push(format!("{sequence}{}", String::from_utf8_lossy(entry.key)));
        })?;
        Ok((seen, content))
    }

    #[test]
    fn a_cut_log_replays_whole_commits_only() {
        let (bytes, ends) = sample();
        let all = ["1a", "2b", "3c", "4d"];
        for cut in 0..=bytes.len() {
            let whole = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
            let operations = [0, 1, 3, 4][whole];
            let (seen, content) = replayed(&bytes[..cut], true).unwrap();
            assert_eq!(seen, all[..operations], "cut at {cut}");
            assert_eq!(content.last_sequence, operations as u64);
            let intact = if cut < ends[0] { 0 } else { ends[whole] };
            assert_eq!(content.dropped_bytes, (cut - intact) as u64, "cut at {cut}");
        }
    }

    #[test]
    fn damage_in_the_middle_is_an_error_where_everything_was_synced() {
        let (mut bytes, ends) = sample();
        bytes[ends[1] + 10] ^= 1;
        assert!(replayed(&bytes, true).unwrap_err().is_damage());
        assert_eq!(replayed(&bytes, false).unwrap().0, ["1a"]);
        bytes[3] ^= 1;
        assert!(replayed(&bytes, true).unwrap_err().is_damage());
        assert!(replayed(&bytes, false).unwrap().0.is_empty());
    }

    #[test]
    fn a_record_of_another_log_or_place_does_not_replay() {
        let (bytes, ends) = sample();
        let mut repeated = bytes.clone();
        repeated.extend_from_slice(&bytes[ends[2]..]);
        assert_eq!(replayed(&repeated, false).unwrap().0.len(), 4);
        let mut other = header(7);
        frame(&mut other, 8, 0, 1, |out| encode_operation(out, &Entry { key: b"x", value: None }));
        assert_eq!(replayed(&other, false).unwrap().0.len(), 0);
    }
}
