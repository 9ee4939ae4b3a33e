//! The completed segments of the shared WAL, and the manifest of the store, which names the oldest segment that is
//! still needed.

use std::collections::VecDeque;
use std::path::Path;

use storage::Storage;
use types::SequenceNumber;

use crate::error::Result;
use crate::manifest::{Manifest, State};
use crate::wal::log_path;

/// A completed segment of the shared WAL. No thread appends to this segment.
#[derive(Clone, Debug)]
pub(super) struct RetiredSegment {
    /// The file number of the segment.
    pub(super) number: u64,
    /// For each family, the sequence number of its last operation in this segment and all older segments.
    pub(super) last: Vec<SequenceNumber>,
    /// The number of the last operation in this segment, counted over all families.
    pub(super) end: SequenceNumber,
    /// The length of the segment, in bytes.
    pub(super) bytes: u64,
}

/// The completed segments of the shared WAL that are still needed, and the manifest of the store.
pub(super) struct Retired {
    manifest: Manifest,
    /// The completed segments, from the oldest to the newest.
    segments: VecDeque<RetiredSegment>,
    /// The sequence number up to which each family is flushed.
    flushed: Vec<SequenceNumber>,
    /// The number of the segment to which writers append. `None` if the store has no WAL.
    current: Option<u64>,
    /// The first unused file number.
    next_file: u64,
}

impl Retired {
    pub(super) fn new(manifest: Manifest, current: Option<u64>, segments: Vec<RetiredSegment>) -> Self {
        let next_file = manifest.state.next_file;
        Self { manifest, segments: segments.into(), flushed: Vec::new(), current, next_file }
    }

    /// Returns an unused file number.
    pub(super) fn new_file(&mut self) -> u64 {
        self.next_file += 1;
        self.next_file - 1
    }

    /// Adds a completed segment to the list. Writers now append to the segment `current`.
    pub(super) fn retire(&mut self, segment: RetiredSegment, current: u64) {
        self.segments.push_back(segment);
        self.current = Some(current);
    }

    /// Returns, for each family, the sequence number of its last operation in the oldest completed segment and all
    /// removed segments. Returns `None` if all completed segments together have at most `limit` bytes.
    pub(super) fn oldest_above(&self, limit: u64) -> Option<&[SequenceNumber]> {
        let bytes: u64 = self.segments.iter().map(|segment| segment.bytes).sum();
        self.segments.front().filter(|_| bytes > limit).map(|segment| &*segment.last)
    }

    /// Records the families of the store in the manifest, and the sequence number up to which each family is flushed.
    /// Removes the segments that no family needs.
    pub(super) fn begin(
        &mut self,
        storage: &dyn Storage,
        directory: &Path,
        families: Vec<String>,
        flushed: Vec<SequenceNumber>,
    ) -> Result<()> {
        self.flushed = flushed;
        let closed_log = self.closed_log();
        self.record(storage, State { closed_log, families, ..self.manifest.state.clone() })?;
        self.release(storage, directory)
    }

    /// Records that a family is flushed up to `sequence`. Removes the segments that no family needs any more.
    pub(super) fn note_flushed(
        &mut self,
        storage: &dyn Storage,
        directory: &Path,
        family: usize,
        sequence: SequenceNumber,
    ) -> Result<()> {
        // If the families are still being opened, `begin` records the flushed sequence numbers of all families later.
        let Some(flushed) = self.flushed.get_mut(family) else { return Ok(()) };
        *flushed = sequence;
        self.release(storage, directory)
    }

    /// Records that the store was closed. The segment `current` has `bytes` bytes, which are durable.
    pub(super) fn close(&mut self, storage: &dyn Storage, bytes: u64) -> Result<()> {
        let closed_log = self.current.map(|number| (number, bytes));
        self.record(storage, State { closed_log, ..self.manifest.state.clone() })
    }

    /// Returns the number and the length in bytes of the newest completed segment, which is durable. The manifest
    /// records the length, so that recovery detects a segment that has lost its last records. The current segment
    /// cannot show such a loss while it is empty. Returns `None` if no completed segment has a header.
    fn closed_log(&self) -> Option<(u64, u64)> {
        let newest = self.segments.back().map(|segment| (segment.number, segment.bytes));
        // A segment whose creation was interrupted has no header.
        newest.filter(|(_, bytes)| *bytes > 0)
    }

    /// Removes the segments whose operations all families have flushed. First records the new state of the WAL in the
    /// manifest, if the state has changed.
    fn release(&mut self, storage: &dyn Storage, directory: &Path) -> Result<()> {
        let mut released = Vec::new();
        while let Some(oldest) = self.segments.front() {
            if oldest.last.iter().zip(&self.flushed).any(|(last, flushed)| flushed < last) {
                break;
            }
            released.extend(self.segments.pop_front());
        }
        let mut state = State { closed_log: self.closed_log(), ..self.manifest.state.clone() };
        if let Some(newest) = released.last() {
            // In a segment, the number of a family without writes in the WAL is 0, so the earlier number is kept.
            let earlier = state.released.iter().copied().chain(std::iter::repeat(0));
            let last = newest.last.iter().zip(earlier);
            (state.flushed_sequence, state.released) =
                (newest.end, last.map(|(last, earlier)| earlier.max(*last)).collect());
        }
        if state == self.manifest.state {
            return Ok(());
        }
        self.record(storage, state)?;
        for segment in released {
            // If this removal fails, the segment is an orphan, and the next open removes it.
            let _ = storage.remove(&log_path(directory, segment.number));
        }
        Ok(())
    }

    fn record(&mut self, storage: &dyn Storage, state: State) -> Result<()> {
        let oldest = self.segments.front().map(|segment| segment.number);
        let state = State {
            log: oldest.or(self.current),
            log_is_synced: self.current.is_some(),
            next_file: self.next_file,
            ..state
        };
        self.manifest.record(storage, state)
    }
}
