//! Jobs that compact complete levels or complete runs. The module also finds the level with the highest fill ratio.

use crate::job::{Action, Job};
use crate::shape::{Run, Shape, TableShape};

/// Returns the level with the highest fill ratio, which the function `fullness` computes. Returns `None` if all fill
/// ratios are below 1. Among equally full levels, the result is the deepest level, so that later jobs find space in the
/// next level.
pub(crate) fn fullest(shape: &Shape, fullness: impl Fn(usize) -> f64) -> Option<usize> {
    (0..shape.levels.levels.len())
        .map(|level| (level, fullness(level)))
        .filter(|(_, fullness)| *fullness >= 1.0)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(level, _)| level)
}

/// Returns the job that merges all runs of `level` into a new run, which becomes the newest run of the next level.
pub(crate) fn merge_down(shape: &Shape, level: usize) -> Job {
    job(shape, &[level], level + 1, Action::Merge)
}

/// Returns the job that merges all runs of `level` and of the next level into one run of the next level. If the next
/// level is empty, a single run is moved without any writes.
pub(crate) fn merge_into_next(shape: &Shape, level: usize) -> Job {
    let alone = shape.runs_of(level).len() == 1 && shape.runs_of(level + 1).is_empty();
    job(shape, &[level, level + 1], level + 1, if alone { Action::Move } else { Action::Merge })
}

/// Returns the job that merges all runs of `level` into one run.
pub(crate) fn merge_within(shape: &Shape, level: usize) -> Job {
    job(shape, &[level], level, Action::Merge)
}

/// Returns the job that merges runs that are adjacent in age into one run. The output takes the position of the
/// oldest of them. `runs` contains the runs with their levels, from newest to oldest.
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
