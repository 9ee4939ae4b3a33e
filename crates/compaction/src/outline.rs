//! The outline of a tree: the level and the size of each run, without the SSTables. An outline is sufficient for a
//! policy that compacts only complete runs. Simulating jobs on an outline costs far less than on the shape of the
//! tree.

use std::ops::Range;

use crate::job::{Action, Job};
use crate::shape::Shape;

/// A sorted run of a tree as its level and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunSize {
    pub(crate) level: usize,
    /// The size of the run in bytes: the sum of [`TableShape::bytes`](crate::TableShape::bytes) over its SSTables.
    pub(crate) bytes: u64,
}

/// The levels and sizes of all runs of a tree, without their SSTables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    /// The capacity of a memtable of the tree in bytes.
    pub(crate) buffer_bytes: u64,
    /// The runs of the tree from the newest to the oldest. Their levels are in ascending order.
    runs: Vec<RunSize>,
}

/// A job whose inputs are complete runs that are adjacent in age, and whose output is one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunJob {
    /// The positions of the job's input runs in the list of all runs.
    pub(crate) runs: Range<usize>,
    /// The level of the job's output, which is the level of the oldest input run or a deeper level. The tree has no run
    /// between the input runs and this level.
    pub(crate) level: usize,
    /// Whether the job merges the input runs, or moves a single run.
    pub(crate) action: Action,
}

impl Outline {
    pub(crate) fn of(shape: &Shape) -> Self {
        let runs = shape.levels.runs().map(|(level, run)| RunSize { level, bytes: run.bytes() });
        Self { buffer_bytes: shape.buffer_bytes, runs: runs.collect() }
    }

    /// Returns all runs of the tree, from the newest to the oldest.
    pub(crate) fn runs(&self) -> &[RunSize] {
        &self.runs
    }

    /// Returns the positions of the runs of a level in the list of all runs.
    pub(crate) fn positions(&self, level: usize) -> Range<usize> {
        let start = self.runs.partition_point(|run| run.level < level);
        start..start + self.runs[start..].partition_point(|run| run.level == level)
    }

    /// Returns the runs of the level `level`, the newest first.
    pub(crate) fn runs_of(&self, level: usize) -> &[RunSize] {
        &self.runs[self.positions(level)]
    }

    /// Returns the total size, in bytes, of the runs at these positions in the list of all runs.
    pub(crate) fn bytes(&self, runs: Range<usize>) -> u64 {
        self.runs[runs].iter().map(|run| run.bytes).sum()
    }

    /// Returns the index of the last level with data, or 0 for an empty tree.
    pub(crate) fn last_level(&self) -> usize {
        self.runs.last().map_or(0, |run| run.level)
    }

    /// Returns the number of bytes that the job `job` writes. The result is exact if the runs have no common keys. A
    /// move writes 0 bytes.
    pub(crate) fn bytes_written(&self, job: &RunJob) -> u64 {
        if job.action == Action::Merge { self.bytes(job.runs.clone()) } else { 0 }
    }

    /// Replaces the input runs of a job with its output. The size of the output is exact if the runs have no common
    /// keys.
    pub(crate) fn apply(&mut self, job: &RunJob) {
        let output = RunSize { level: job.level, bytes: self.bytes(job.runs.clone()) };
        self.runs.splice(job.runs.clone(), [output]);
    }
}

impl RunJob {
    /// Converts this job, which names only runs, to a job that names the SSTables of these runs in the tree `shape`.
    pub(crate) fn on(&self, shape: &Shape) -> Job {
        let runs = shape.levels.runs().skip(self.runs.start).take(self.runs.len());
        let inputs = runs.flat_map(|(_, run)| &run.tables).map(|table| table.id).collect();
        Job { inputs, level: self.level, run: None, action: self.action }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    #[test]
    fn a_job_changes_an_outline_like_the_tree() {
        let tree = shape(&[&[1, 2], &[], &[5, 6, 7], &[20]]);
        let outline = Outline::of(&tree);
        assert_eq!((outline.positions(0), outline.positions(1), outline.positions(2)), (0..2, 2..2, 2..5));
        assert_eq!((outline.bytes(0..3), outline.last_level(), outline.runs_of(4)), (8, 3, &[][..]));
        for (runs, level, action) in [
            (0..2, 0, Action::Merge),
            (0..2, 1, Action::Merge),
            (0..3, 2, Action::Merge),
            (3..5, 2, Action::Merge),
            (5..6, 4, Action::Move),
            (0..6, 3, Action::Merge),
        ] {
            let job = RunJob { runs, level, action };
            let of_tree = job.on(&tree);
            assert_eq!(of_tree.validate(&tree.levels), Ok(()), "{job:?}");
            let output = crate::TableShape {
                id: 99,
                bytes: outline.bytes(job.runs.clone()),
                ..tree.levels.tables().next().unwrap().1.clone()
            };
            let levels = tree.levels.edit(&of_tree.inputs, of_tree.place(99), &[output]).unwrap();
            let mut after = outline.clone();
            after.apply(&job);
            assert_eq!(after, Outline::of(&Shape { levels, ..tree.clone() }), "{job:?}");
            let written = if action == Action::Merge { after.runs_of(level)[0].bytes } else { 0 };
            assert!(outline.bytes_written(&job) == written || job.runs.start > 2, "{job:?}");
        }
    }
}
