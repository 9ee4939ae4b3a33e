//! Time-window compaction merges the data of one time window into one run, and never merges runs of different
//! windows.
//!
//! Source: the time-window compaction strategy of Cassandra (Jirsa, CASSANDRA-9666, 2016), for data that is written and
//! read in the order of time. A policy has no clock, so this policy measures time in written bytes. A window has
//! `window` full memtables of data. Level 0 has the runs of the current window, called the open window. In the open
//! window, the policy merges `min_runs` neighboring runs of similar size into one run, and prefers small runs. When
//! level 0 has `window` full memtables, the policy closes the window: all runs are merged into one run of level 1.
//! After a time window ends, its run is not compacted again. If keys are overwritten within a window, more writes fit
//! into the window. Cassandra can drop windows that have expired. This policy drops no data, so lookup results do not
//! change. The policy `fifo` drops old data.
//!
//! # Costs
//! Let m be `min_runs` and W be `window`. After N flushes of distinct keys, q = ⌊N / W⌋ windows are closed, and the
//! open window has r = N − q·W full memtables. Write amplification is exactly
//!
//! > 1 + ( q·(W + S(W − 1)) + S(r) ) / N,  S(j) = Σ ⌊j / m^i⌋·m^i, i ≥ 1,
//!
//! where q·S(W − 1) replaces q·(W + S(W − 1)) if W = 1. Write amplification therefore does not grow with the data.
//! The number of runs grows, because the tree has q runs plus the runs of the open window. A lookup searches every
//! window whose key range contains the key. The policy never removes stale data from closed windows.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape};
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<TimeWindow>(
    "time-window",
    "one run per time window, never merged with other windows; write amplification does not grow with the \
     data",
    "# Length of a time window, as a number of flushed memtables, at least 1. Longer windows give fewer\n\
     # runs, but more writes.\n\
     window = 64\n\
     # Number of runs of similar size that triggers their merge inside the open window, at least 2.\n\
     min_runs = 4\n",
);

/// The factor up to which runs have similar sizes. The largest of these runs must be smaller than this number times the
/// smallest run.
const LIKE: u64 = 2;

/// The policy `time-window` with its parameters.
struct TimeWindow {
    window: u64,
    min_runs: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    window: u64,
    min_runs: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { window: 64, min_runs: 4 }
    }
}

impl Build<dyn CompactionPolicy> for TimeWindow {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let Params { window, min_runs } = params;
        if window == 0 {
            return Err("window is 0; it must be at least 1 memtable".to_owned());
        }
        if min_runs < 2 {
            return Err(format!(
                "min_runs is {min_runs}; it must be at least 2, because a compaction needs two runs"
            ));
        }
        Ok(Box::new(Self { window, min_runs: usize::try_from(min_runs).unwrap_or(usize::MAX) }))
    }
}

impl TimeWindow {
    /// Returns the job that closes the open time window. The job merges all runs of the window into a new run of level
    /// 1, or moves the only run.
    fn close(shape: &Shape) -> Job {
        let runs = shape.runs_of(0);
        let inputs = runs.iter().flat_map(|run| &run.tables).map(|table| table.id).collect();
        let action = if runs.len() == 1 { Action::Move } else { Action::Merge };
        Job { inputs, level: 1, run: None, action }
    }

    /// Returns the job that merges `min_runs` neighboring runs of similar size in the open time window. If several such
    /// groups of runs exist, the group with the fewest bytes is merged. Returns `None` if no such group exists.
    fn merge_inside(&self, shape: &Shape) -> Option<Job> {
        let runs: Vec<_> = shape.runs_of(0).iter().map(|run| (0, run)).collect();
        let bytes = |group: &[(usize, &Run<_>)]| group.iter().map(|(_, run)| run.bytes()).sum::<u64>();
        let alike = |group: &[(usize, &Run<_>)]| {
            let sizes = || group.iter().map(|(_, run)| run.bytes());
            sizes().max() < sizes().min().map(|smallest| smallest.saturating_mul(LIKE))
        };
        if runs.len() < self.min_runs {
            return None;
        }
        let groups = runs.windows(self.min_runs).filter(|group| alike(group));
        groups.min_by_key(|group| bytes(group)).map(whole::merge_runs)
    }
}

impl CompactionPolicy for TimeWindow {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        if shape.bytes_of(0) >= shape.buffer_bytes.saturating_mul(self.window).max(1) {
            return Some(Self::close(shape));
        }
        self.merge_inside(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    fn pick(levels: &[&[u64]]) -> Option<(Vec<u64>, usize, Action)> {
        let job = TimeWindow { window: 10, min_runs: 3 }.pick(&shape(levels))?;
        assert_eq!(job.run, None);
        Some((job.inputs, job.level, job.action))
    }

    #[test]
    fn runs_of_like_size_are_merged_inside_the_window() {
        assert_eq!(pick(&[&[1, 1]]), None);
        assert_eq!(pick(&[&[1, 1, 1]]), Some((vec![1, 2, 3], 0, Action::Merge)));
        assert_eq!(pick(&[&[1, 1, 3]]), None);
        assert_eq!(pick(&[&[1, 1, 2, 3]]), None);
        assert_eq!(pick(&[&[2, 3, 3]]), Some((vec![1, 2, 3], 0, Action::Merge)));
        assert_eq!(pick(&[&[2, 2, 2, 1, 1, 1]]), Some((vec![4, 5, 6], 0, Action::Merge)));
    }

    #[test]
    fn a_window_is_closed_and_stays() {
        assert_eq!(pick(&[&[1, 9], &[10, 10, 10, 10]]), Some((vec![1, 2], 1, Action::Merge)));
        assert_eq!(pick(&[&[10], &[10, 10, 10, 10]]), Some((vec![1], 1, Action::Move)));
        assert_eq!(pick(&[&[1, 1], &[10, 10, 10, 10]]), None);
    }
}
