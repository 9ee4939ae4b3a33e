//! Jobs that compact some SSTables of a level together with the overlapping SSTables of the next level.

use crate::job::{Action, Job};
use crate::shape::{Run, Shape, TableShape};

/// Returns the SSTables of `run` that overlap the key range from `smallest` to `largest`, both inclusive. The time is
/// logarithmic in the number of SSTables.
pub(crate) fn overlapping<'a>(run: &'a Run<TableShape>, smallest: &[u8], largest: &[u8]) -> &'a [TableShape] {
    let from = run.tables.partition_point(|table| *table.largest < *smallest);
    let to = run.tables.partition_point(|table| *table.smallest <= *largest);
    &run.tables[from..to.max(from)]
}

/// Returns the SSTables of `level` that overlap the SSTable `table`. The level has at most one run. The result is empty
/// if the level does not exist.
pub(crate) fn overlapped_by<'a>(shape: &'a Shape, level: usize, table: &TableShape) -> &'a [TableShape] {
    let run = shape.runs_of(level).first();
    run.map_or(&[], |run| overlapping(run, &table.smallest, &table.largest))
}

/// Returns the job that merges the SSTables `tables` of `level` with all SSTables of the next level in their key range.
/// The next level has at most one run, and its other SSTables remain unchanged.
///
/// If the SSTables are from one run (`from_one_run`) and overlap no SSTable of the next level, the job moves them
/// instead.
pub(crate) fn push_down(shape: &Shape, level: usize, tables: &[TableShape], from_one_run: bool) -> Job {
    let smallest = tables.iter().map(|table| &*table.smallest).min().unwrap_or_default();
    let largest = tables.iter().map(|table| &*table.largest).max().unwrap_or_default();
    let below = shape.runs_of(level + 1).first();
    let overlapped = below.map_or(&[][..], |run| overlapping(run, smallest, largest));
    let inputs = tables.iter().chain(overlapped).map(|table| table.id).collect();
    let action = if from_one_run && overlapped.is_empty() { Action::Move } else { Action::Merge };
    Job { inputs, level: level + 1, run: below.map(|run| run.id), action }
}

/// Returns the job that merges all runs of level 0 with the overlapping SSTables of the single run of level 1. A single
/// run that overlaps no such SSTable is moved.
pub(crate) fn push_level_0(shape: &Shape) -> Job {
    let runs = shape.runs_of(0);
    let tables: Vec<TableShape> = runs.iter().flat_map(|run| &run.tables).cloned().collect();
    push_down(shape, 0, &tables, runs.len() == 1)
}

/// Returns the job that rewrites an SSTable in its run. The job drops all tombstones if no older data overlaps the
/// SSTable.
pub(crate) fn rewrite(level: usize, run: &Run<TableShape>, table: &TableShape) -> Job {
    Job { inputs: vec![table.id], level, run: Some(run.id), action: Action::Merge }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cut_shape;

    #[test]
    fn what_lies_between_is_found() {
        let shape = cut_shape(&[(0, 0, &[(10, 19), (30, 39), (50, 59)])]);
        let run = &shape.runs_of(0)[0];
        let ids = |smallest: u8, largest: u8| -> Vec<u64> {
            overlapping(run, &[smallest], &[largest]).iter().map(|table| table.id).collect()
        };
        assert_eq!(ids(0, 9), [0; 0]);
        assert_eq!(ids(0, 10), [1]);
        assert_eq!(ids(19, 50), [1, 2, 3]);
        assert_eq!(ids(20, 29), [0; 0]);
        assert_eq!(ids(39, 45), [2]);
        assert_eq!(ids(60, 99), [0; 0]);
    }

    #[test]
    fn tables_go_down_with_what_lies_between_them() {
        let shape = cut_shape(&[
            (0, 0, &[(0, 9), (90, 99)]),
            (1, 0, &[(20, 29), (40, 49), (95, 96)]),
            (2, 0, &[(0, 99)]),
        ]);
        let below = shape.runs_of(1)[0].id;
        let job = push_level_0(&shape);
        assert_eq!((job.inputs.as_slice(), job.level, job.run), (&[1, 2, 3, 4, 5][..], 1, Some(below)));
        assert_eq!((job.action, job.validate(&shape.levels)), (Action::Merge, Ok(())));
        let table = &shape.runs_of(0)[0].tables[..1];
        let job = push_down(&shape, 0, table, true);
        assert_eq!((job.inputs.as_slice(), job.run, job.action), (&[1][..], Some(below), Action::Move));
        assert_eq!(push_down(&shape, 0, table, false).action, Action::Merge);
        let job = push_down(&shape, 2, &shape.runs_of(2)[0].tables, true);
        assert_eq!((job.level, job.run, job.action), (3, None, Action::Move));
    }
}
