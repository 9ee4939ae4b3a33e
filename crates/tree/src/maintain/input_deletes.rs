//! The range tombstones of a compaction's inputs.

use std::ops::Range;

use types::Entry;

use super::subcompaction::Input;
use crate::range_tombstones::RangeTombstones;

/// The range tombstones of a compaction's inputs: those of each run hide the entries of older runs.
pub(super) struct InputDeletes {
    /// The range tombstones of each input run, newest first; empty if no run has any.
    of_runs: Vec<RangeTombstones>,
    /// The range tombstones of the output: the union of all, or none if they hide nothing that stays.
    pub(super) kept: RangeTombstones,
}

impl InputDeletes {
    /// Collects the range tombstones of input runs, newest first. With `drops`, the output has none.
    pub(super) fn new(inputs: &[Input], drops: bool) -> Self {
        let ranges = |input: &Input| -> Vec<_> {
            let tombstones = input.iter().filter_map(|table| table.range_tombstones());
            tombstones.flat_map(|tombstones| tombstones.ranges().iter().cloned()).collect()
        };
        let mut of_runs: Vec<RangeTombstones> =
            inputs.iter().map(|input| RangeTombstones::union(ranges(input))).collect();
        if of_runs.iter().all(RangeTombstones::is_empty) {
            of_runs.clear();
        }
        let kept = match drops {
            true => RangeTombstones::default(),
            false => RangeTombstones::union(inputs.iter().flat_map(ranges).collect()),
        };
        Self { of_runs, kept }
    }

    /// Whether the output needs no such entry of the input run with number `rank`: a newer run deletes it, or it is a
    /// tombstone within a range tombstone of the output.
    #[inline]
    pub(super) fn hide(&self, entry: &Entry<'_>, rank: usize) -> bool {
        !self.of_runs.is_empty() && self.search(entry, rank)
    }

    /// Whether one of the input runs with numbers in `ranks` deletes the key in older runs.
    pub(super) fn delete_below(&self, key: &[u8], ranks: Range<usize>) -> bool {
        self.of_runs.iter().take(ranks.end).skip(ranks.start).any(|run| run.cover(key))
    }

    #[inline(never)]
    fn search(&self, entry: &Entry<'_>, rank: usize) -> bool {
        self.of_runs[..rank].iter().any(|newer| newer.cover(entry.key))
            || entry.value.is_none() && self.kept.cover(entry.key)
    }
}
