//! The completed segments of the WAL that all column families share, and the manifest of the store, which names the
//! oldest segment that is still needed.

use std::collections::VecDeque;
use std::path::Path;

use storage::Storage;
use types::SequenceNumber;

use crate::error::Result;
use crate::manifest::{Manifest, State};
use crate::wal::log_path;

/// A completed segment of the WAL that all column families share. No thread appends to this segment.
#[derive(Clone, Debug)]
pub(super) struct RetiredSegment {
    /// The file number of the WAL segment.
    pub(super) number: u64,
    /// For each column family, the sequence number of its last operation in this segment and all older segments.
    pub(super) last: Vec<SequenceNumber>,
    /// The number of the last operation in this segment. These numbers count the operations of all column families
    /// together.
    pub(super) end: SequenceNumber,
    /// The length of the WAL segment, in bytes.
    pub(super) bytes: u64,
}

/// The completed segments of the shared WAL that are still needed, and the manifest of the store with column families.
pub(super) struct Retired {
    manifest: Manifest,
    /// The completed segments of the shared WAL, from the oldest to the newest.
    segments: VecDeque<RetiredSegment>,
    /// For each column family, the sequence number up to which it is flushed.
    flushed: Vec<SequenceNumber>,
    /// The file number of the WAL segment to which writers append. `None` if the store has no WAL.
    current: Option<u64>,
    /// The first file number that is not used in the directory of the store.
    next_file: u64,
}

impl Retired {
    pub(super) fn new(manifest: Manifest, current: Option<u64>, segments: Vec<RetiredSegment>) -> Self {
        let next_file = manifest.state.next_file;
        Self { manifest, segments: segments.into(), flushed: Vec::new(), current, next_file }
    }

    /// Returns a file number that is not used in the directory of the store.
    pub(super) fn new_file(&mut self) -> u64 {
        self.next_file += 1;
        self.next_file - 1
    }

    /// Adds a WAL segment that was completed. Writers now append to the segment with the file number `current`.
    pub(super) fn retire(&mut self, segment: RetiredSegment, current: u64) {
        self.segments.push_back(segment);
        self.current = Some(current);
    }

    /// Returns one sequence number for each column family. When each family is flushed up to its number, the oldest
    /// completed WAL segment can be removed. Returns `None` if all completed segments together have at most `limit`
    /// bytes.
    pub(super) fn oldest_above(&self, limit: u64) -> Option<&[SequenceNumber]> {
        let bytes: u64 = self.segments.iter().map(|segment| segment.bytes).sum();
        self.segments.front().filter(|_| bytes > limit).map(|segment| &*segment.last)
    }

    /// Records the column families of an opened store in the manifest, with the sequence number up to which each family
    /// is flushed. Removes the WAL segments that no family needs.
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

    /// Records that the column family number `family` is flushed up to `sequence`. Removes the WAL segments that no
    /// family needs any more.
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

    /// Records in the manifest that the store was closed. `bytes` is the length of the current WAL segment, which is
    /// durable.
    pub(super) fn close(&mut self, storage: &dyn Storage, bytes: u64) -> Result<()> {
        let closed_log = self.current.map(|number| (number, bytes));
        self.record(storage, State { closed_log, ..self.manifest.state.clone() })
    }

    /// Returns the file number and the length in bytes of the newest completed WAL segment. The manifest records them,
    /// so that recovery detects a segment that has lost its last records.
    ///
    /// Returns `None` if no completed segment has a header.
    fn closed_log(&self) -> Option<(u64, u64)> {
        // A gap before the first record of the current segment would also show such a loss, but this segment may be
        // empty.
        let newest = self.segments.back().map(|segment| (segment.number, segment.bytes));
        // A segment whose creation was interrupted has no header.
        newest.filter(|(_, bytes)| *bytes > 0)
    }

    /// Removes the WAL segments whose operations all column families have flushed. Before that, it records the new
    /// state in the manifest.
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
            // In `newest`, the number of a family without writes in the WAL is 0. The manifest keeps its earlier
            // number.
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
