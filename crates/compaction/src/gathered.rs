//! A compaction policy with a limited number of runs per level. Several policies share this code and differ only in
//! the limits.
//!
//! Each level receives runs of one size, called arrivals. The arrivals of level 0 are flushes, and the arrivals of
//! any other level come from the level above. An arrival is merged with the newest run of its level if the merged run
//! is not larger than the limit for runs of the level. A level that has its full number of arrivals, or more runs
//! than its limit, is compacted into one run of the next level. If a tree was built with other limits, its levels may
//! have too many runs or several small runs. In such a tree, one job merges these runs within their level.

use crate::job::{Action, Job};
use crate::outline::{Outline, RunJob};
use crate::policy::CompactionPolicy;
use crate::shape::Shape;

/// The limits for the runs of each level of a tree. Runs that are added to a level from above are called arrivals.
pub(crate) trait Limits: Send + Sync {
    /// Returns the number of runs that are added to a level before it is compacted into the next level. The number is
    /// at least 2.
    fn size_ratio(&self, level: usize) -> u64;

    /// Returns the largest number of runs that a level may have, from 1 to the size ratio of the level minus 1.
    fn most_runs(&self, outline: &Outline, level: usize) -> u64;
}

/// Returns the index of the largest level, which is the last level with data, but never level 0. If the largest level
/// has too many runs, they are merged within the level, not into the next level.
pub(crate) fn largest_level(outline: &Outline) -> usize {
    outline.last_level().max(1)
}

/// A compaction policy that keeps the number of runs of each level within the limits `L`.
pub(crate) struct Gathered<L>(pub(crate) L);

impl<L: Limits> Gathered<L> {
    /// Returns the next compaction job for a tree, or `None` if no level needs a job. The job of the deepest level
    /// comes first, so that a job of an upper level finds space in the next level.
    pub(crate) fn next_job(&self, outline: &Outline) -> Option<RunJob> {
        (0..=outline.last_level()).rev().find_map(|level| self.job(outline, level))
    }

    /// Returns the maximum size of a run of the level `level`, in bytes.
    fn bytes_of_run(&self, outline: &Outline, level: usize) -> f64 {
        let arrivals = (self.0.size_ratio(level) - 1).div_ceil(self.0.most_runs(outline, level));
        arrivals as f64 * self.bytes_of_arrival(outline, level)
    }

    /// Returns the size in bytes of a run that is added to the level `level`. The computation uses only
    /// multiplications, so that every machine gets an equal result.
    fn bytes_of_arrival(&self, outline: &Outline, level: usize) -> f64 {
        let ratios = (0..level).map(|above| self.0.size_ratio(above) as f64);
        ratios.fold(outline.buffer_bytes.max(1) as f64, |bytes, ratio| bytes * ratio)
    }

    /// Returns the compaction job that the level `level` needs, or `None` if the level needs no job.
    fn job(&self, outline: &Outline, level: usize) -> Option<RunJob> {
        let runs = outline.positions(level);
        if runs.is_empty() {
            return None;
        }
        let has_all_arrivals =
            outline.bytes(runs.clone()) as f64 >= self.bytes_of_arrival(outline, level + 1);
        if has_all_arrivals {
            return Some(self.hand_down(outline, level));
        }
        let fitting = self.fitting_runs(outline, level);
        let merge_newest =
            |count: usize| RunJob { runs: runs.start..runs.start + count, level, action: Action::Merge };
        if fitting > 1 {
            return Some(merge_newest(fitting));
        }
        let most = self.0.most_runs(outline, level) as usize;
        if runs.len() <= most {
            return None;
        }
        Some(match runs.len() - most {
            _ if level == largest_level(outline) => merge_newest(runs.len()),
            1 => self.hand_down(outline, level),
            excess => merge_newest(excess + 1),
        })
    }

    /// Returns how many of the newest runs of a level together fit into one run of this level.
    fn fitting_runs(&self, outline: &Outline, level: usize) -> usize {
        let most = self.bytes_of_run(outline, level);
        let sums = outline.runs_of(level).iter().scan(0, |sum, run| {
            *sum += run.bytes;
            Some(*sum)
        });
        sums.take_while(|bytes| *bytes as f64 <= most).count()
    }

    /// Returns the job that compacts all runs of a level into one run of the next level. The job also includes the
    /// newest run of the next level, if the output still fits into one run of that level. If the job has only one
    /// input run, the run is moved instead of merged.
    fn hand_down(&self, outline: &Outline, level: usize) -> RunJob {
        let mut runs = outline.positions(level);
        let bytes = outline.bytes(runs.clone());
        let next = outline.runs_of(level + 1).first();
        if next.is_some_and(|next| (bytes + next.bytes) as f64 <= self.bytes_of_run(outline, level + 1)) {
            runs.end += 1;
        }
        let action = if runs.len() == 1 { Action::Move } else { Action::Merge };
        RunJob { runs, level: level + 1, action }
    }
}

impl<L: Limits> CompactionPolicy for Gathered<L> {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        self.next_job(&Outline::of(shape)).map(|job| job.on(shape))
    }
}
