//! Reads the WAL that all column families share, when a store is opened.

use std::path::Path;

use storage::Storage;
use types::SequenceNumber;

use super::part::{self, Part};
use super::retired::RetiredSegment;
use crate::error::{Error, Result};
use crate::manifest::State;
use crate::recovered::Recovery;
use crate::recovery::{is_lost, set_aside, with_hint};
use crate::wal::{self, LogContent, ReplayStart};

/// The content of the WAL that all column families share, read when the store is opened.
pub(super) struct RecoveredLog {
    /// The segments (files) of the WAL, from the oldest to the newest.
    pub(super) segments: Vec<RetiredSegment>,
    /// The operations of all commits in the WAL, in order. Each element contains the operations of one commit in one
    /// column family.
    pub(super) parts: Vec<Part>,
    /// The number of the last operation in the WAL. These numbers count the operations of all column families together.
    pub(super) end: SequenceNumber,
}

impl RecoveredLog {
    /// Reads the segments of the shared WAL whose file numbers are `logs`, and makes the newest segment durable.
    /// `state` is the state in the manifest of the store, and `families` is the number of column families.
    ///
    /// With `quarantine`, the function moves corrupt segments into the quarantine and lists them in `recovery`.
    /// Otherwise, it returns an error if a segment is corrupt.
    pub(super) fn read(
        storage: &dyn Storage,
        directory: &Path,
        (state, logs, families): (&State, &[u64], usize),
        quarantine: bool,
        recovery: &mut Recovery,
    ) -> Result<Self> {
        let (mut segments, mut parts, mut end) = (Vec::new(), Vec::new(), state.flushed_sequence);
        let mut last = vec![0; families];
        for (place, number) in logs.iter().enumerate() {
            let read = read_segment(storage, directory, state, (logs, place), end, &mut |part: Part| {
                *last.get_mut(part.family)? = part.last();
                parts.push(part);
                Some(())
            });
            match read {
                Ok(content) => {
                    let whole = content.file_bytes - content.dropped_bytes;
                    let is_durable = state.closed_log.is_some_and(|(closed, _)| closed == *number);
                    // All segments but the last were synced before the next segment began.
                    if logs.last() == Some(number) && !is_durable && content.has_header {
                        wal::make_durable(storage, directory, *number, whole)?;
                    }
                    end = content.last_sequence;
                    recovery.dropped_log_bytes += content.dropped_bytes;
                    segments.push(RetiredSegment { number: *number, last: last.clone(), end, bytes: whole });
                }
                Err(error) if quarantine && error.is_damage() => {
                    let name = format!("{number:08}.wal");
                    set_aside(storage, directory, &name)?;
                    recovery.quarantined_files.push(format!("{name}: {error}"));
                }
                Err(error) if is_lost(&error) => return Err(with_hint(error)),
                Err(error) => return Err(error),
            }
        }
        Ok(Self { segments, parts, end })
    }
}

/// Detects missing operations in the WAL that all column families share. For each family, it records the last sequence
/// number so far, or `None` if the family is not checked.
pub(crate) struct FamilyProgress(Vec<Option<SequenceNumber>>);

impl FamilyProgress {
    /// Begins the check. `flushed` contains the sequence number up to which each column family is flushed. A family
    /// whose number is `None` is not checked.
    pub(crate) fn new(flushed: Vec<Option<SequenceNumber>>) -> Self {
        Self(flushed)
    }

    /// Checks `part`, the next operations of one commit in one column family. Returns the sequence number of the first
    /// of these operations, and its expected sequence number. The two numbers differ if an earlier operation is
    /// missing.
    ///
    /// Returns `None` if the column family has flushed the whole part, or if the family is not checked.
    pub(crate) fn follow(&mut self, part: &Part) -> Option<(SequenceNumber, SequenceNumber)> {
        let last = self.0.get_mut(part.family)?;
        let expected = last.filter(|flushed| part.last() > *flushed)? + 1;
        // After the first gap of a family, its operations are no longer checked.
        *last = (part.first == expected).then(|| part.last());
        Some((part.first, expected))
    }
}

/// Reads the segment `logs[place]` of the WAL that all column families share. Passes the operations of each commit in
/// each family to `visit`, which returns `None` if they are invalid.
///
/// `after` is the number of the last operation in the older segments. `state` is the state in the manifest of the
/// store.
///
/// # Errors
/// The segment is corrupt or contains invalid operations, or operations between two segments are missing.
pub(crate) fn read_segment(
    storage: &dyn Storage,
    directory: &Path,
    state: &State,
    (logs, place): (&[u64], usize),
    after: SequenceNumber,
    visit: &mut dyn FnMut(Part) -> Option<()>,
) -> Result<LogContent> {
    let number = logs[place];
    let seal = state.seals.of(number);
    let start = ReplayStart::after(after);
    let content = wal::replay_records(storage, directory, number, seal, start, |_, record| {
        let mut operations = 0;
        for part in part::decode(record)? {
            operations += part.batch.len() as u64;
            visit(part)?;
        }
        Some(operations)
    })?;
    let corrupt = |offset, what: String| Err(Error::damaged(&wal::log_path(directory, number), offset, what));
    if let (Some(first), Some(previous)) = (content.gap, place.checked_sub(1).map(|place| logs[place])) {
        return corrupt(
            0,
            format!(
                "the WAL begins with write {first}, but the previous WAL, {previous:08}.wal, ends with \
                 write {after}; the end of the previous WAL or the start of this WAL is missing"
            ),
        );
    }
    // Every segment is written completely before the next segment begins.
    if place + 1 < logs.len() && content.has_header && content.dropped_bytes > 0 {
        let offset = content.file_bytes - content.dropped_bytes;
        return corrupt(
            offset,
            "the WAL is corrupt after its last valid record; only the newest WAL may end with an incomplete \
             record, but a newer WAL exists"
                .to_owned(),
        );
    }
    content.check(directory, number, after, state)?;
    Ok(content)
}
