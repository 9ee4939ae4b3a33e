//! A compaction policy with a limited number of runs per level. Several policies share this code and differ only in
//! the limits.
//!
//! Each level receives runs of one size, called arrivals. The arrivals of level 0 are flushes, and the arrivals of
//! any other level come from the level above. An arrival is merged with the newest run of its level if the result
//! fits into one run. A level that has its full number of arrivals, or more runs than its limit, is compacted into
//! one run of the next level. If a tree was built with other limits, its levels may have too many runs or several
//! small runs. In such a tree, one job merges these runs within their level.

use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::whole;

/// The limits on arrivals and runs in each level of a tree.
pub(crate) trait Limits: Send + Sync {
    /// Returns the number of arrivals at which a level is compacted into the next level. The number is at least 2.
    fn size_ratio(&self, level: usize) -> u64;

    /// Returns the largest number of runs of a level, from 1 to the size ratio of the level minus 1.
    fn most_runs(&self, shape: &Shape, level: usize) -> u64;
}

/// Returns the index of the largest level. If the largest level has too many runs, these runs are merged within this
/// level. Level 0 never counts as the largest level.
pub(crate) fn largest_level(shape: &Shape) -> usize {
    shape.last_level().max(1)
}

/// A compaction policy that keeps each level within the limits `L`.
pub(crate) struct Gathered<L>(pub(crate) L);

impl<L: Limits> Gathered<L> {
    /// Returns whether `bytes` bytes of data fit into one run of the level.
    fn fit_one_run(&self, shape: &Shape, level: usize, bytes: u64) -> bool {
        let arrivals = (self.0.size_ratio(level) - 1).div_ceil(self.0.most_runs(shape, level));
        bytes as f64 <= arrivals as f64 * self.bytes_of_arrival(shape, level)
    }

    /// Returns the size of an arrival in bytes. The computation uses only multiplications, so that every machine gets
    /// an equal result.
    fn bytes_of_arrival(&self, shape: &Shape, level: usize) -> f64 {
        let ratios = (0..level).map(|above| self.0.size_ratio(above) as f64);
        ratios.fold(shape.buffer_bytes.max(1) as f64, |bytes, ratio| bytes * ratio)
    }

    /// Returns the job that a level needs. Returns `None` if the level needs no job.
    fn job(&self, shape: &Shape, level: usize) -> Option<Job> {
        let runs = shape.runs_of(level);
        let has_all_arrivals = shape.bytes_of(level) as f64 >= self.bytes_of_arrival(shape, level + 1);
        if has_all_arrivals {
            return Some(self.hand_down(shape, level));
        }
        let fitting = self.fitting_runs(shape, level);
        if fitting > 1 {
            return Some(merge_newest(level, &runs[..fitting]));
        }
        let most = self.0.most_runs(shape, level) as usize;
        if runs.len() <= most {
            return None;
        }
        Some(match runs.len() - most {
            _ if level == largest_level(shape) => whole::merge_within(shape, level),
            1 => self.hand_down(shape, level),
            excess => merge_newest(level, &runs[..=excess]),
        })
    }

    /// Returns how many of the newest runs of a level fit together into one run.
    fn fitting_runs(&self, shape: &Shape, level: usize) -> usize {
        let sums = shape.runs_of(level).iter().scan(0, |sum, run| {
            *sum += run.bytes();
            Some(*sum)
        });
        sums.take_while(|bytes| self.fit_one_run(shape, level, *bytes)).count()
    }

    /// Returns the job that compacts all runs of a level into one run of the next level. The job includes the newest
    /// run of the next level if this run has space. A single run that is merged with no other run is moved.
    fn hand_down(&self, shape: &Shape, level: usize) -> Job {
        let mut runs: Vec<_> = shape.runs_of(level).iter().map(|run| (level, run)).collect();
        let bytes: u64 = runs.iter().map(|(_, run)| run.bytes()).sum();
        let joins = |run: &&Run<TableShape>| self.fit_one_run(shape, level + 1, bytes + run.bytes());
        runs.extend(shape.runs_of(level + 1).first().filter(joins).map(|run| (level + 1, run)));
        let action = if runs.len() == 1 { Action::Move } else { Action::Merge };
        Job { level: level + 1, action, ..whole::merge_runs(&runs) }
    }
}

/// Returns the job that merges the newest runs of a level into one run of this level.
fn merge_newest(level: usize, runs: &[Run<TableShape>]) -> Job {
    let runs: Vec<_> = runs.iter().map(|run| (level, run)).collect();
    whole::merge_runs(&runs)
}

impl<L: Limits> CompactionPolicy for Gathered<L> {
    /// Picks the job of the deepest level first, so that a job of an upper level finds space in the next level.
    fn pick(&self, shape: &Shape) -> Option<Job> {
        (0..shape.levels.levels.len()).rev().find_map(|level| self.job(shape, level))
    }
}
