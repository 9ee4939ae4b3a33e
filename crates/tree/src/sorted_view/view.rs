//! The data of a sorted view, and access to its segments and entries by position.

use std::ops::Range;
use std::sync::Arc;

use crate::table::{EntryPosition, Table};

/// The maximum number of sorted runs in a sorted view. Each entry of the view has one byte, which contains the number
/// of its run in 7 bits, and a flag in one bit.
pub(super) const MOST_RUNS: usize = 1 << 7;

/// The flag of an entry in a sorted view that has the same key as the previous entry, but an older version.
const SUPERSEDED: u8 = 1 << 7;

/// A sorted view: the key order of the entries in all sorted runs of a version. A view never changes.
#[derive(Default)]
pub(crate) struct SortedView {
    /// The sorted runs of the sorted view, newest first.
    pub(super) runs: Vec<ViewRun>,
    /// For each entry in key order, the number of its sorted run, and a flag if it is an older version of the previous
    /// key. The versions of one key come one after another, newest first.
    selectors: Vec<u8>,
    /// For each segment of the sorted view, the position of its first entry in `selectors`. All versions of a key are
    /// in one segment.
    starts: Vec<u32>,
    /// The first key of each segment of the sorted view, concatenated.
    anchors: Vec<u8>,
    /// For each segment of the sorted view, the offset in `anchors` at which its first key ends.
    anchor_ends: Vec<usize>,
    /// For each segment of the sorted view, the number of entries of each run before the segment.
    before: Vec<u32>,
}

/// A sorted run of a sorted view.
pub(super) struct ViewRun {
    pub(super) tables: Arc<[Arc<Table>]>,
    /// For each SSTable of the sorted run, the number of entries in the SSTables before it.
    pub(super) firsts: Vec<u32>,
    /// For each SSTable of the sorted run, a list with the number of entries before each block. The last item is the
    /// number of entries in the SSTable.
    pub(super) blocks: Vec<Arc<[u32]>>,
}

impl ViewRun {
    /// Returns the index of the SSTable that contains the entry at the position `ordinal` in the sorted run.
    pub(super) fn table_of(&self, ordinal: u32) -> usize {
        self.firsts.partition_point(|first| *first <= ordinal) - 1
    }

    /// Returns where the sorted run stores the entry at the position `ordinal`: the SSTable, the block, and the number
    /// of the entry in the block.
    pub(super) fn position(&self, ordinal: u32) -> EntryPosition {
        let table = self.table_of(ordinal);
        let (ordinal, blocks) = (ordinal - self.firsts[table], &self.blocks[table]);
        let block = blocks.partition_point(|first| *first <= ordinal) - 1;
        EntryPosition {
            table,
            block: block as u32,
            number: ordinal - blocks[block],
            block_entries: blocks[block + 1] - blocks[block],
        }
    }
}

impl SortedView {
    /// Returns the number of entries in the sorted view, including older versions of keys.
    pub(super) fn len(&self) -> usize {
        self.selectors.len()
    }

    /// Returns the number of the sorted run that contains the entry at the position `at` of the sorted view.
    #[inline]
    pub(super) fn run(&self, at: usize) -> usize {
        usize::from(self.selectors[at] & !SUPERSEDED)
    }

    /// Returns whether the entry at the position `at` of the sorted view is an older version of the key before it.
    #[inline]
    pub(super) fn is_superseded(&self, at: usize) -> bool {
        self.selectors[at] & SUPERSEDED != 0
    }

    /// Returns the number of segments of the sorted view.
    pub(super) fn segments(&self) -> usize {
        self.starts.len()
    }

    /// Returns the range of positions in the sorted view that belong to a segment.
    pub(super) fn segment(&self, segment: usize) -> Range<usize> {
        let end = self.starts.get(segment + 1).map_or(self.len(), |end| *end as usize);
        self.starts[segment] as usize..end
    }

    /// Returns the first key of a segment of the sorted view.
    pub(super) fn anchor(&self, segment: usize) -> &[u8] {
        let start = segment.checked_sub(1).map_or(0, |previous| self.anchor_ends[previous]);
        &self.anchors[start..self.anchor_ends[segment]]
    }

    /// Returns, for each sorted run, the number of its entries before the position `at` of the sorted view. The
    /// position must be in `segment`, or directly after the end of `segment`.
    pub(super) fn before(&self, segment: usize, at: usize) -> Vec<u32> {
        let runs = self.runs.len();
        let mut before = self.before[segment * runs..(segment + 1) * runs].to_vec();
        (self.segment(segment).start..at).for_each(|at| before[self.run(at)] += 1);
        before
    }

    /// Returns the memory of the sorted view, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let tables = self.runs.iter().flat_map(|run| &run.blocks);
        let blocks: usize = tables.map(|blocks| size_of::<u32>() * (blocks.len() + 1)).sum();
        self.selectors.len()
            + size_of::<u32>() * (self.starts.len() + self.before.len())
            + self.anchors.len()
            + size_of::<usize>() * self.anchor_ends.len()
            + blocks
    }

    /// Begins a segment of the sorted view with the entry that is appended next. `anchor` is the key of this entry.
    /// `before` contains, for each run, the number of its entries before this entry.
    pub(super) fn begin_segment(&mut self, anchor: &[u8], before: &[u32]) {
        self.starts.push(self.selectors.len() as u32);
        self.anchors.extend_from_slice(anchor);
        self.anchor_ends.push(self.anchors.len());
        self.before.extend_from_slice(before);
    }

    /// Appends the versions of one key to the sorted view. `runs` contains the numbers of the runs with these versions,
    /// in ascending order.
    pub(super) fn push_versions(&mut self, runs: &[u8]) {
        if let Some((newest, older)) = runs.split_first() {
            self.selectors.push(*newest);
            self.selectors.extend(older.iter().map(|run| run | SUPERSEDED));
        }
    }
}
