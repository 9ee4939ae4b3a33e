//! Computes the cost of a change of the setting. To do so, simulates the merges of the change with only the sizes of
//! the runs.

use std::borrow::Cow;

use crate::fluid::Fluid;
use crate::gathered::Gathered;
use crate::job::{Action, Job, MAX_LEVEL};
use crate::policy::CompactionPolicy;
use crate::shape::{Level, Levels, Run, Shape, TableId, TableShape};
use crate::{size_ratio, whole};

/// Returns the bytes that merges write after a change to the setting `fluid`, until the tree needs no further job.
/// `shape` is an outline (see [`outline`]). The function assumes distinct keys. Returns `None` as soon as
/// `is_too_much` is true for the bytes so far, because the cost of the remaining merges is then of no interest.
pub(super) fn transition_bytes(
    shape: &Shape,
    fluid: Fluid,
    is_too_much: impl Fn(u64) -> bool,
) -> Option<u64> {
    let policy = Gathered(fluid);
    let (mut shape, mut written) = (Cow::Borrowed(shape), 0);
    while let Some(job) = policy.pick(&shape) {
        let (after, bytes) = played(&shape, &job);
        shape = Cow::Owned(after);
        written += bytes;
        if is_too_much(written) {
            return None;
        }
    }
    Some(written)
}

/// Returns the job that merges the newest `runs` runs into one run. If the tree has only these runs, the output goes
/// to the first level that is large enough for it at `size_ratio`. If the tree has other runs, the output goes to the
/// level of the oldest merged run.
pub(super) fn merge_newest(shape: &Shape, runs: usize, size_ratio: u64) -> Job {
    let all: Vec<_> = shape.levels.runs().collect();
    let job = whole::merge_runs(&all[..runs]);
    if runs < all.len() {
        return job;
    }
    let bytes: u64 = all.iter().map(|(_, run)| run.bytes()).sum();
    let has_room = |level: &usize| {
        size_ratio::grown_bytes(shape.buffer_bytes, size_ratio as f64, level + 1) > bytes as f64
    };
    Job { level: (1..MAX_LEVEL).find(has_room).unwrap_or(job.level), ..job }
}

/// Applies the job [`merge_newest`] to an outline. Returns the new outline, and the bytes that the job writes.
pub(super) fn after_merge(shape: &Shape, runs: usize, size_ratio: u64) -> (Shape, u64) {
    played(shape, &merge_newest(shape, runs, size_ratio))
}

/// Applies a job to an outline. Returns the new outline, and the bytes that the job writes.
fn played(shape: &Shape, job: &Job) -> (Shape, u64) {
    let next = 1 + shape.levels.runs().map(|(_, run)| run.id).max().unwrap_or(0);
    let tables = shape.levels.tables().map(|(_, table)| table);
    let output = joined(tables.filter(|table| job.inputs.contains(&table.id)), next);
    let bytes = if job.action == Action::Merge { output.bytes } else { 0 };
    let levels = shape.levels.edit(&job.inputs, job.place(next), &[output]).expect("a new run fits");
    (Shape { buffer_bytes: shape.buffer_bytes, levels, operations: shape.operations }, bytes)
}

/// Returns the outline of a tree. An outline is a simplified shape, in which each run is one SSTable. The number of
/// the SSTable is the number of the run.
pub(super) fn outline(shape: &Shape) -> Shape {
    let run = |run: &Run<TableShape>| Run { id: run.id, tables: vec![joined(run.tables.iter(), run.id)] };
    let level = |level: &Level<TableShape>| Level { runs: level.runs.iter().map(run).collect() };
    let levels = Levels { levels: shape.levels.levels.iter().map(level).collect() };
    Shape { buffer_bytes: shape.buffer_bytes, levels, operations: shape.operations }
}

/// Returns one SSTable that has the entries of all `tables`. There must be at least one SSTable.
fn joined<'a>(tables: impl Iterator<Item = &'a TableShape>, id: TableId) -> TableShape {
    let both = |one: TableShape, other: TableShape| TableShape {
        id,
        bytes: one.bytes + other.bytes,
        entries: one.entries + other.entries,
        tombstones: one.tombstones + other.tombstones,
        smallest: one.smallest.min(other.smallest),
        largest: one.largest.max(other.largest),
    };
    let joined = tables.cloned().reduce(both).expect("each run and each job has an SSTable");
    TableShape { id, ..joined }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    fn fluid(size_ratio: u64, upper_runs: u64, largest_runs: u64) -> Fluid {
        Fluid { size_ratio, upper_runs, largest_runs }
    }

    /// Returns the bytes that the merges of a change to the setting `fluid` write, without a limit.
    fn all_bytes(shape: &Shape, fluid: Fluid) -> u64 {
        transition_bytes(shape, fluid, |_| false).unwrap()
    }

    #[test]
    fn a_change_costs_the_bytes_of_its_merges() {
        let tiered = shape(&[&[1, 1, 1], &[4, 4], &[16, 16, 16]]);
        assert_eq!(all_bytes(&tiered, fluid(4, 3, 3)), 0);
        // Only the largest level is merged.
        assert_eq!(all_bytes(&tiered, fluid(4, 3, 1)), 48);
        // One merge per level.
        assert_eq!(all_bytes(&tiered, fluid(4, 1, 1)), 3 + 8 + 48);
        // Two of the three runs of level 0 fit into one run, and both runs of level 1.
        assert_eq!(all_bytes(&tiered, fluid(4, 2, 3)), 2 + 8);
        // The first merge already exceeds the limit.
        assert_eq!(transition_bytes(&tiered, fluid(4, 1, 1), |bytes| bytes >= 3), None);
        assert_eq!(transition_bytes(&tiered, fluid(4, 1, 1), |bytes| bytes > 59), Some(59));
        // A larger size ratio merges the runs that fit into one arrival.
        assert_eq!(all_bytes(&tiered, fluid(8, 7, 7)), 8 + 48);
        let leveled = shape(&[&[3], &[8], &[48]]);
        assert_eq!([fluid(4, 3, 3), fluid(8, 7, 7)].map(|fluid| all_bytes(&leveled, fluid)), [0, 0]);
    }

    #[test]
    fn the_newest_runs_are_merged_where_the_oldest_of_them_is() {
        let tree = shape(&[&[1, 1], &[4, 4], &[16]]);
        for (runs, level) in [(2, 0), (3, 1), (4, 1)] {
            let job = merge_newest(&tree, runs, 4);
            assert_eq!((job.inputs.len(), job.level, job.validate(&tree.levels)), (runs, level, Ok(())));
        }
        // A merge of all data writes to the first level with room for all data.
        for (size_ratio, level) in [(2, 4), (4, 2), (10, 1)] {
            let (after, bytes) = after_merge(&tree, 5, size_ratio);
            assert_eq!(
                (bytes, after.bytes_of(level), after.last_level()),
                (26, 26, level),
                "T = {size_ratio}"
            );
            assert_eq!(merge_newest(&tree, 5, size_ratio).validate(&tree.levels), Ok(()));
        }
    }
}
