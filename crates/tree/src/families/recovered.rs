//! The content of the shared WAL at the time at which a store is opened.

use std::path::Path;

use storage::Storage;
use types::SequenceNumber;

use super::part::{self, Part};
use super::retired::RetiredSegment;
use crate::error::Result;
use crate::manifest::State;
use crate::recovered::Recovery;
use crate::recovery::{is_lost, set_aside, with_hint};
use crate::wal::{self, LogContent};

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
        for number in logs {
            let read = read_segment(storage, directory, (state, *number), end, &mut |part: Part| {
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

/// Reads one segment and passes its parts to `visit`, which returns `None` if a part is invalid. The first operation of
/// the segment must be the operation directly after the operation `after`.
pub(crate) fn read_segment(
    storage: &dyn Storage,
    directory: &Path,
    (state, number): (&State, u64),
    after: SequenceNumber,
    visit: &mut dyn FnMut(Part) -> Option<()>,
) -> Result<LogContent> {
    let seal = state.seals.of(number);
    let content = wal::replay_records(storage, directory, number, seal, after, |_, record| {
        let mut operations = 0;
        for part in part::decode(record)? {
            operations += part.batch.len() as u64;
            visit(part)?;
        }
        Some(operations)
    })?;
    content.check(directory, number, after, state)?;
    Ok(content)
}
