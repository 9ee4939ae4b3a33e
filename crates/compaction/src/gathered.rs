//! Levels that gather arrivals in a limited number of runs: the jobs of the policies that differ only in these
//! limits.
//!
//! Level i takes arrivals of one size: level 0 the flushes, each other level the runs of the level above. An arrival is
//! merged with the newest run of its level as long as both fit into the share of a run. A level compacts all its data
//! into one run of the next level once it has all its arrivals, or more runs than its limit.

use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::whole;

/// The limits of each level.
pub(crate) trait Limits: Send + Sync {
    /// Returns the number of arrivals at which a level is compacted into the next, at least 2.
    fn size_ratio(&self, level: usize) -> u64;

    /// Returns the run limit of a level, from 1 to one less than its ratio.
    fn most_runs(&self, shape: &Shape, level: usize) -> u64;
}

/// Returns the largest level. It compacts within itself if it has too many runs. The first level never does.
pub(crate) fn largest_level(shape: &Shape) -> usize {
    shape.last_level().max(1)
}

/// The policy with these limits.
pub(crate) struct Gathered<L>(pub(crate) L);

impl<L: Limits> Gathered<L> {
    /// Returns whether `bytes` bytes of data fit into one run of the level.
    fn fit_one_run(&self, shape: &Shape, level: usize, bytes: u64) -> bool {
        let arrivals = (self.0.size_ratio(level) - 1).div_ceil(self.0.most_runs(shape, level));
        bytes as f64 <= arrivals as f64 * self.bytes_of_arrival(shape, level)
    }

    /// Returns the bytes of an arrival, computed by multiplications only, so that every machine gets the same number.
    fn bytes_of_arrival(&self, shape: &Shape, level: usize) -> f64 {
        let ratios = (0..level).map(|above| self.0.size_ratio(above) as f64);
        ratios.fold(shape.buffer_bytes.max(1) as f64, |bytes, ratio| bytes * ratio)
    }

    /// Returns the job of a level, if it needs one.
    fn job(&self, shape: &Shape, level: usize) -> Option<Job> {
        let runs = shape.runs_of(level);
        let has_all_arrivals = shape.bytes_of(level) as f64 >= self.bytes_of_arrival(shape, level + 1);
        if has_all_arrivals {
            return Some(self.hand_down(shape, level));
        }
        if let [newest, next, ..] = runs
            && self.fit_one_run(shape, level, newest.bytes() + next.bytes())
        {
            return Some(whole::merge_runs(&[(level, newest), (level, next)]));
        }
        if runs.len() as u64 <= self.0.most_runs(shape, level) {
            return None;
        }
        Some(match level == largest_level(shape) {
            true => whole::merge_within(shape, level),
            false => self.hand_down(shape, level),
        })
    }

    /// Returns the job that compacts all runs of a level, and the newest run of the next level if that has room, into
    /// one run of the next level. A single run that joins none is moved.
    fn hand_down(&self, shape: &Shape, level: usize) -> Job {
        let mut runs: Vec<_> = shape.runs_of(level).iter().map(|run| (level, run)).collect();
        let bytes: u64 = runs.iter().map(|(_, run)| run.bytes()).sum();
        let joins = |run: &&Run<TableShape>| self.fit_one_run(shape, level + 1, bytes + run.bytes());
        runs.extend(shape.runs_of(level + 1).first().filter(joins).map(|run| (level + 1, run)));
        let action = if runs.len() == 1 { Action::Move } else { Action::Merge };
        Job { level: level + 1, action, ..whole::merge_runs(&runs) }
    }
}

impl<L: Limits> CompactionPolicy for Gathered<L> {
    /// Compacts the deepest level first, so that the levels above it find room.
    fn pick(&self, shape: &Shape) -> Option<Job> {
        (0..shape.levels.levels.len()).rev().find_map(|level| self.job(shape, level))
    }
}
