//! The content of the shared WAL at the time at which a store is opened.

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

/// The content of the shared WAL at the time at which a store is opened.
pub(super) struct RecoveredLog {
    /// The segments, from the oldest to the newest.
    pub(super) segments: Vec<RetiredSegment>,
    /// The parts of all commits in the WAL, in order.
    pub(super) parts: Vec<Part>,
    /// The number of the last operation in the WAL, counted over all families.
    pub(super) end: SequenceNumber,
}

impl RecoveredLog {
    /// Reads the segments in `logs`, which belong to a store with this state and with `families` families. Afterwards,
    /// all segments are durable.
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

/// The last operation of each family, while the parts of the WAL are read in order.
pub(crate) struct FamilyProgress(Vec<Option<SequenceNumber>>);

impl FamilyProgress {
    /// Begins with the sequence numbers up to which the families are flushed. Operations of a family without a number
    /// are not checked.
    pub(crate) fn new(flushed: Vec<Option<SequenceNumber>>) -> Self {
        Self(flushed)
    }

    /// Follows a part of the WAL. Returns the sequence numbers of its first operation and of the expected operation, if
    /// the family needs the part.
    pub(crate) fn follow(&mut self, part: &Part) -> Option<(SequenceNumber, SequenceNumber)> {
        let last = self.0.get_mut(part.family)?;
        let expected = last.filter(|flushed| part.last() > *flushed)? + 1;
        // The first gap of a family is enough.
        *last = (part.first == expected).then(|| part.last());
        Some((part.first, expected))
    }
}

/// Reads one segment and passes its parts to `visit`, which returns `None` if no store can have such a part. The first
/// operation of the segment must follow the operation `after`. The segment is at the index `place` of `logs`.
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
                "the WAL begins with write {first}, but {previous:08}.wal ends with write {after}; the end of that WAL or \
                 the start of this WAL is missing"
            ),
        );
    }
    // Every segment is written completely before the next segment begins.
    if place + 1 < logs.len() && content.has_header && content.dropped_bytes > 0 {
        let offset = content.file_bytes - content.dropped_bytes;
        return corrupt(
            offset,
            "the bytes after the last record are not a record, but a later WAL exists".to_owned(),
        );
    }
    content.check(directory, number, after, state)?;
    Ok(content)
}
