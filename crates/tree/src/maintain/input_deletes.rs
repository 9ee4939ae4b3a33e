//! Collects the range tombstones in the inputs of a compaction.

use std::ops::Range;

use types::Entry;

use super::subcompaction::Input;
use crate::range_tombstones::RangeTombstones;

/// The range tombstones in the inputs of a compaction. The range tombstones of a run hide entries of older runs, and no
/// entries of the same run.
pub(super) struct InputDeletes {
    /// The range tombstones of each input run, from the newest to the oldest run. Empty if no input has range
    /// tombstones.
    of_runs: Vec<RangeTombstones>,
    /// The range tombstones of the output: the union of the range tombstones of all inputs. Empty if no older run
    /// outside the inputs can contain an entry that these tombstones hide.
    pub(super) kept: RangeTombstones,
}

impl InputDeletes {
    /// Collects the range tombstones of the input runs `inputs`, which are in order from the newest to the oldest run.
    /// If `drops` is set, the output has no range tombstones, because no older run has entries to hide.
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

    /// Returns whether a compaction omits an entry of the input run with the rank `rank`, where the newest run has the
    /// rank 0. A compaction omits an entry that a newer input run deletes. It also omits a tombstone if a range
    /// tombstone of the output deletes the same key.
    #[inline]
    pub(super) fn hide(&self, entry: &Entry<'_>, rank: usize) -> bool {
        !self.of_runs.is_empty() && self.search(entry, rank)
    }

    /// Returns whether a range tombstone deletes the key in older runs. Checks only the range tombstones of the input
    /// runs with a rank in `ranks`, where the newest run has the rank 0.
    pub(super) fn delete_below(&self, key: &[u8], ranks: Range<usize>) -> bool {
        self.of_runs.iter().take(ranks.end).skip(ranks.start).any(|run| run.cover(key))
    }

    #[inline(never)]
    fn search(&self, entry: &Entry<'_>, rank: usize) -> bool {
        self.of_runs[..rank].iter().any(|newer| newer.cover(entry.key))
            || entry.value.is_none() && self.kept.cover(entry.key)
    }
}
