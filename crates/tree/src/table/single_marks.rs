//! The marks of single deletes in an SSTable. A section of the file stores the positions of the marked entries.
//!
//! A marked tombstone belongs to a single delete. A marked value replaced a single delete whose put may still be in an
//! older run (see [`single_deletes`](crate::single_deletes)). Only compactions use the marks. Block formats and lookups
//! therefore need no code for single deletes.
//!
//! ```text
//! section   varint number of mark runs, mark run*
//! mark run  varint block (minus the block of the previous mark run), varint first entry (minus the end of the previous
//!           mark run of the same block), varint number of entries minus 1
//! ```

use std::ops::Range;

use super::table_file::TableFile;
use crate::checksum::checksum;
use crate::codec::{Reader, put_varint};
use crate::error::Result;

/// The positions of the marked entries of an SSTable. A mark shows that an entry is a single delete, or has replaced
/// one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SingleMarks {
    /// The marked entries in key order. Neighboring marked entries of one data block form one mark run.
    runs: Vec<MarkRun>,
}

/// A mark run: neighboring marked entries of one data block.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MarkRun {
    block: u32,
    /// The numbers of the marked entries in the data block.
    entries: Range<u32>,
}

impl SingleMarks {
    /// Reads the marks of single deletes of an SSTable from its file. Returns the marks and the number of bytes read.
    pub(super) fn read(file: &TableFile) -> Result<(Self, u64)> {
        let Some(place) = file.footer.single_marks else { return Ok((Self::default(), 0)) };
        let bytes = file.file.read(place.offset, place.len as usize)?;
        let is_intact = checksum(file.seal, place.offset, &bytes) == place.checksum;
        let marks = if is_intact { Self::decode(&bytes) } else { None };
        let damaged = || file.damaged(place.offset, "the marks of single deletes are corrupt");
        Ok((marks.ok_or_else(damaged)?, place.len))
    }

    /// Marks the entry number `entry` of the data block number `block`. This entry must come after all entries that are
    /// already marked.
    pub(super) fn push(&mut self, block: u32, entry: u32) {
        match self.runs.last_mut() {
            Some(last) if last.block == block && last.entries.end == entry => last.entries.end += 1,
            _ => self.runs.push(MarkRun { block, entries: entry..entry + 1 }),
        }
    }

    /// Returns whether no entry of the SSTable is marked.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns whether the entry number `entry` of the data block number `block` is marked.
    pub(crate) fn contain(&self, block: u32, entry: u32) -> bool {
        let begun = self.runs.partition_point(|run| (run.block, run.entries.start) <= (block, entry));
        begun.checked_sub(1).is_some_and(|at| {
            let run = &self.runs[at];
            run.block == block && run.entries.contains(&entry)
        })
    }

    /// Returns the number of marked entries in the SSTable.
    pub(super) fn count(&self) -> u64 {
        self.runs.iter().map(|run| run.entries.len() as u64).sum()
    }

    /// Returns the marks as the bytes of a section of an SSTable.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.runs.len() as u64);
        let (mut block, mut end) = (0, 0);
        for run in &self.runs {
            if run.block > block {
                end = 0;
            }
            put_varint(&mut out, u64::from(run.block - block));
            put_varint(&mut out, u64::from(run.entries.start - end));
            put_varint(&mut out, run.entries.len() as u64 - 1);
            (block, end) = (run.block, run.entries.end);
        }
        out
    }

    /// Decodes the marks of single deletes of an SSTable. Returns `None` if the bytes are corrupt, or if no entry is
    /// marked.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let mut runs: Vec<MarkRun> = Vec::new();
        let (mut block, mut end) = (0u32, 0u32);
        for _ in 0..reader.varint()? {
            let blocks = u32::try_from(reader.varint()?).ok()?;
            if blocks > 0 {
                (block, end) = (block.checked_add(blocks)?, 0);
            }
            let start = end.checked_add(u32::try_from(reader.varint()?).ok()?)?;
            end = start.checked_add(u32::try_from(reader.varint()?).ok()?)?.checked_add(1)?;
            runs.push(MarkRun { block, entries: start..end });
        }
        (reader.is_at_end() && !runs.is_empty()).then_some(Self { runs })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Tests that marks contain exactly the pushed entries, also after encoding and decoding.
        #[test]
        fn marks_read_back(entries in prop::collection::btree_set((0u32..6, 0u32..12), 1..40)) {
            let mut marks = SingleMarks::default();
            entries.iter().for_each(|(block, entry)| marks.push(*block, *entry));
            let decoded = SingleMarks::decode(&marks.encode());
            prop_assert_eq!(decoded.as_ref(), Some(&marks));
            prop_assert_eq!(marks.count(), entries.len() as u64);
            let all = (0..7).flat_map(|block| (0..13).map(move |entry| (block, entry)));
            let marked: BTreeSet<_> = all.filter(|(block, entry)| marks.contain(*block, *entry)).collect();
            prop_assert_eq!(marked, entries);
        }
    }

    #[test]
    fn corrupt_marks_are_rejected() {
        let mut marks = SingleMarks::default();
        [(0, 3), (0, 4), (2, 0), (2, 700)].into_iter().for_each(|(block, entry)| marks.push(block, entry));
        let good = marks.encode();
        assert_eq!(SingleMarks::decode(&good), Some(marks));
        for cut in 0..good.len() {
            assert_eq!(SingleMarks::decode(&good[..cut]), None);
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0x0f];
        for bad in [
            vec![0],
            [&good[..], &[0]].concat(),
            [&[1], &most[..], &[0, 0]].concat().into_iter().chain([0]).collect(),
            [&[1, 0], &most[..], &[0]].concat(),
            vec![1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x1f],
        ] {
            assert_eq!(SingleMarks::decode(&bad), None, "{bad:?}");
        }
    }
}
