//! Jobs that take whole levels or whole runs, and the selection of the level that needs a job most.

use crate::job::{Action, Job};
use crate::shape::{Run, Shape, TableShape};

/// Returns the level with the highest `fullness`, if that is at least 1. Among equally full levels, the deepest is
/// returned, so that the levels above are then merged into a level with room.
pub(crate) fn fullest(shape: &Shape, fullness: impl Fn(usize) -> f64) -> Option<usize> {
    (0..shape.levels.levels.len())
        .map(|level| (level, fullness(level)))
        .filter(|(_, fullness)| *fullness >= 1.0)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(level, _)| level)
}

/// Merges all runs of `level` into a new run of the level below, which is placed before the runs of that level.
pub(crate) fn merge_down(shape: &Shape, level: usize) -> Job {
    job(shape, &[level], level + 1, Action::Merge)
}

/// Merges all runs of `level` and of the level below into one run of the level below. If the level below is empty, a
/// single run is moved, which costs no writes.
pub(crate) fn merge_into_next(shape: &Shape, level: usize) -> Job {
    let alone = shape.runs_of(level).len() == 1 && shape.runs_of(level + 1).is_empty();
    job(shape, &[level, level + 1], level + 1, if alone { Action::Move } else { Action::Merge })
}

/// Merges all runs of `level` into one.
pub(crate) fn merge_within(shape: &Shape, level: usize) -> Job {
    job(shape, &[level], level, Action::Merge)
}

/// Merges runs that are consecutive in age into one run at the position of the oldest. `runs` gives them with their
/// levels, from newest to oldest.
pub(crate) fn merge_runs(runs: &[(usize, &Run<TableShape>)]) -> Job {
    let level = runs.last().map_or(0, |(level, _)| *level);
    let inputs = runs.iter().flat_map(|(_, run)| &run.tables).map(|table| table.id).collect();
    Job { inputs, level, run: None, action: Action::Merge }
}

fn job(shape: &Shape, from: &[usize], level: usize, action: Action) -> Job {
    let runs = from.iter().flat_map(|level| shape.runs_of(*level));
    let inputs = runs.flat_map(|run| &run.tables).map(|table| table.id).collect();
    Job { inputs, level, run: None, action }
}
