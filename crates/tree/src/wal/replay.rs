//! Reading a log back after a crash.

use std::path::Path;

use storage::{Purpose, Storage};
use types::{Entry, SequenceNumber};

use super::log_path;
use super::record::{HEADER_BYTES, has_header, other_version, read, synced_before};
use crate::batch::operations;
use crate::error::{Error, Result};
use crate::manifest::State;

/// What a log turned out to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogContent {
    /// Commits replayed.
    pub(crate) records: u64,
    /// Operations replayed.
    pub(crate) operations: u64,
    /// The last sequence number replayed, or the one that was to be followed where there was none.
    pub(crate) last_sequence: SequenceNumber,
    /// Bytes that were not replayed: a commit that a crash cut off, and what followed it; or all, where
    /// there is a gap.
    pub(crate) dropped_bytes: u64,
    /// The write that the log begins with, where that is not the one that was to follow: writes before it
    /// are missing, and none of the log may come back, or the order of writes would have a hole.
    pub(crate) gap: Option<SequenceNumber>,
    /// The bytes of the log, without zeros that follow its last record.
    pub(crate) file_bytes: u64,
    /// Whether the file begins as this log does.
    pub(crate) has_header: bool,
}

impl LogContent {
    /// Refuses a log `number` that no crash can leave under a manifest that says `state`, where `after` is the
    /// last write before it:
    ///
    /// * one that does not follow that write, where logs are synced before the next is written to;
    /// * one without its header, where that was synced before the manifest came to name the log. Of the logs
    ///   behind that one the last may have been begun when the power failed;
    /// * one that is not whole, where the store was closed.
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
                format!("the log begins with write {first}, and what was synced before ends with {after}"),
            ));
        }
        if !self.has_header && state.log_is_synced && state.log == Some(number) {
            return Err(damaged(0, "the header is damaged, or the log is one of another store".to_owned()));
        }
        match state.closed_log {
            Some((closed, bytes))
                if closed == number && (bytes != self.file_bytes || self.dropped_bytes > 0) =>
            {
                Err(damaged(
                    self.file_bytes - self.dropped_bytes,
                    format!("the log had {bytes} bytes, all of them intact, when the store was closed"),
                ))
            }
            _ => Ok(()),
        }
    }
}

/// Hands every operation of log `number`, which is sealed with `seal`, with its sequence number to `apply`, in
/// order; the first one must follow write `after`.
///
/// Replay ends at the first record that is not intact: what follows was never acknowledged as durable, or
/// the order of writes would have a hole. Where a later record tells that the log was durable up to
/// behind it, that cannot come from a crash: it is damage, and an error.
pub(crate) fn replay(
    storage: &dyn Storage,
    directory: &Path,
    number: u64,
    seal: u64,
    after: SequenceNumber,
    mut apply: impl FnMut(SequenceNumber, Entry<'_>),
) -> Result<LogContent> {
    let path = log_path(directory, number);
    let file = storage.open(&path, Purpose::Log)?;
    let bytes = file.read(0, file.len() as usize)?;
    if let Some(version) = other_version(&bytes) {
        let what = format!("the log is of version {version}; this program reads another");
        return Err(Error::damaged(&path, 0, what));
    }
    let mut content = LogContent {
        last_sequence: after,
        has_header: has_header(&bytes, number, seal),
        ..LogContent::default()
    };
    // A log may end with zeros that are no part of it: space that was reserved and not used.
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut at = 0;
    if content.has_header {
        at = HEADER_BYTES;
        while let Some(record) = read(&bytes, seal, at) {
            if record.first_sequence != content.last_sequence + 1 {
                content.gap = Some(record.first_sequence);
                break;
            }
            for (sequence, entry) in (record.first_sequence..).zip(operations(record.operations)) {
                let entry = entry.ok_or_else(|| {
                    Error::damaged(&path, at as u64, "the record's operations cannot be read")
                })?;
                apply(sequence, entry);
                content.last_sequence = sequence;
                content.operations += 1;
            }
            content.records += 1;
            at = record.end;
        }
    }
    content.dropped_bytes = end.saturating_sub(at) as u64;
    content.file_bytes = at as u64 + content.dropped_bytes;
    if content.gap.is_none() && was_durable(&bytes[..end], seal, at) {
        return Err(Error::damaged(
            &path,
            at as u64,
            "what was synced is damaged, and intact records follow",
        ));
    }
    Ok(content)
}

/// Whether the head of a record behind offset `at` tells that the log was durable up to behind `at`.
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

    const SEAL: u64 = 0x5ea1;

    /// A log of three commits of one, two and one operations, each synced before the next or none at all;
    /// returns it and where each commit ends.
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

    fn replayed(bytes: &[u8]) -> Result<(Vec<String>, LogContent)> {
        let storage = Memory::default();
        let directory = Path::new("store");
        storage.create_directory(directory)?;
        storage.create(&log_path(directory, 7), Purpose::Log)?.append(bytes)?;
        let mut seen = Vec::new();
        let content = replay(&storage, directory, 7, SEAL, 0, |sequence, entry| {
            seen.push(format!("{sequence}{}", String::from_utf8_lossy(entry.key)));
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
            // Zeros at the end may be space that was reserved, and are nobody's loss.
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
        // Two more commits that share one sync, of which the power failure kept only the second.
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
        // A record whose value ends with zeros is whole all the same.
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
        let content =
            replay(&storage, directory, 7, SEAL, 3, |_, _| panic!("nothing follows write 3")).unwrap();
        assert_eq!((content.gap, content.operations, content.last_sequence), (Some(1), 0, 3));
        assert_eq!(content.dropped_bytes, (bytes.len() - ends[0]) as u64);
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
