//! The compaction policy of the Fluid LSM-tree. The largest level has at most Z runs, and every other level has at
//! most K runs.
//!
//! Source: Dayan, Idreos, "Dostoevsky: Better Space-Time Trade-Offs for LSM-Tree Based Key-Value Stores via Adaptive
//! Removal of Superfluous Merging" (SIGMOD 2018), section 4.3. K = Z = 1 is leveling, K = Z = T − 1 is tiering, and K
//! = T − 1 with Z = 1 is lazy leveling. All other combinations of K and Z are also valid.
//!
//! Sizes are in buffers, where a buffer is one full memtable. Level i receives runs of T^i buffers, called arrivals.
//! The arrivals of level 0 are flushes, and the arrivals of any other level come from the level above. A run has up
//! to s arrivals, where s = ⌈(T−1)/Z⌉ in the largest level and s = ⌈(T−1)/K⌉ in every other level. If the newest run
//! of a level has fewer than s arrivals, the next arrival is merged with this run. If the newest run already has s
//! arrivals, the next arrival becomes a new run. A level with T arrivals is compacted into one run of the next level.
//! A level with more than K runs is also compacted into the next level. In the largest level, more than Z runs are
//! merged into one run of this level. T arrivals in the largest level are compacted into a new largest level. Level 0
//! never counts as the largest level.
//!
//! # Write amplification
//! Assume that all flushed keys are distinct. The j-th arrival since a level was empty is the p(j)-th arrival of its
//! run, where p(j) = ((j−1) mod s) + 1. The merge of this arrival writes p(j)·T^i buffers. Level 0 writes nothing if
//! p(j) = 1, because the flush wrote the run. Level 0 also writes nothing if j = T, because level 0 is then compacted
//! into the next level at once. In a full level i ≥ 1, an entry costs Σ p(j) / T writes for j = 1 … T. At K = 1, this
//! sum is (T−1)/2 plus 1/T. At K = T − 1, this sum is 1. In the paper, the cost is (T−1)/(K+1) writes for each level
//! above the largest level, and (T−1)/(Z+1) writes for the largest level.
//!
//! # Read costs
//! With L levels, the tree has at most K·(L−1) + Z runs. Stale data takes up to Z − 1 + 1/T times the size of the
//! live data (table 2 of the paper).

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::gathered::{Gathered, Limits, largest_level};
use crate::outline::Outline;
use crate::policy::CompactionPolicy;
use crate::size_ratio;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Fluid>(
    "fluid",
    "at most Z runs in the largest level and K runs in each other level; generalizes leveled, tiered and \
     lazy-leveled",
    "# Size ratio between a level and the level above, 2 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     size_ratio = 10\n\
     # Maximum number of runs in each level above the largest level (K), at least 1. More runs give fewer\n\
     # writes, but slower reads. With size_ratio - 1 or more, these levels are tiered.\n\
     upper_runs = 3\n\
     # Maximum number of runs in the largest level (Z), at least 1. More runs give fewer writes, but\n\
     # slower reads. With size_ratio - 1 or more, the largest level is tiered.\n\
     largest_runs = 1\n",
);

/// The policy `fluid` with its three parameters: the size ratio T, the maximum number K of runs in an upper level, and
/// the maximum number Z of runs in the largest level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fluid {
    pub(crate) size_ratio: u64,
    pub(crate) upper_runs: u64,
    pub(crate) largest_runs: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Params {
    size_ratio: u64,
    upper_runs: u64,
    largest_runs: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { size_ratio: 10, upper_runs: 3, largest_runs: 1 }
    }
}

impl Build<dyn CompactionPolicy> for Fluid {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let Params { size_ratio, upper_runs, largest_runs } = params;
        size_ratio::runs("size_ratio", size_ratio)?;
        for (name, runs) in [("upper_runs", upper_runs), ("largest_runs", largest_runs)] {
            if runs == 0 {
                return Err(format!(
                    "{name} is 0; it must be at least 1, because a level stores its data in runs"
                ));
            }
        }
        Ok(Box::new(Gathered(Self { size_ratio, upper_runs, largest_runs })))
    }
}

impl Limits for Fluid {
    fn size_ratio(&self, _: usize) -> u64 {
        self.size_ratio
    }

    /// Returns the largest number of runs that a level may have: Z for the largest level, and K for all others. The
    /// result is at most T − 1, because a level to which T runs were added is compacted into the next level.
    fn most_runs(&self, outline: &Outline, level: usize) -> u64 {
        let runs = if level == largest_level(outline) { self.largest_runs } else { self.upper_runs };
        runs.min(self.size_ratio - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Action;
    use crate::testing::shape;

    fn pick(runs: (u64, u64), levels: &[&[u64]]) -> Option<(Vec<u64>, usize, Action)> {
        let policy = Gathered(Fluid { size_ratio: 5, upper_runs: runs.0, largest_runs: runs.1 });
        let job = policy.pick(&shape(levels))?;
        assert_eq!(job.run, None);
        Some((job.inputs, job.level, job.action))
    }

    #[test]
    fn arrivals_are_merged_up_to_the_share_of_a_run() {
        assert_eq!(pick((2, 1), &[&[1]]), None);
        assert_eq!(pick((2, 1), &[&[1, 1]]), Some((vec![1, 2], 0, Action::Merge)));
        assert_eq!(pick((2, 1), &[&[1, 2]]), None);
        assert_eq!(pick((2, 1), &[&[1, 1, 2]]), Some((vec![1, 2], 0, Action::Merge)));
        assert_eq!(pick((4, 1), &[&[1, 1, 1, 1]]), None);
        assert_eq!(pick((9, 1), &[&[1, 1, 1, 1]]), None);
    }

    #[test]
    fn a_level_of_all_its_arrivals_is_handed_down() {
        assert_eq!(pick((2, 1), &[&[1, 2, 2]]), Some((vec![1, 2, 3], 1, Action::Merge)));
        // At Z = 1, a run has space for T − 1 = 4 arrivals. The data therefore joins the newest run of the next
        // level.
        assert_eq!(pick((2, 1), &[&[1, 2, 2], &[15]]), Some((vec![1, 2, 3, 4], 1, Action::Merge)));
        assert_eq!(pick((2, 1), &[&[1, 2, 2], &[20]]), Some((vec![1, 2, 3], 1, Action::Merge)));
        assert_eq!(pick((2, 1), &[&[1, 2, 2], &[5], &[25]]), Some((vec![1, 2, 3, 4], 1, Action::Merge)));
        assert_eq!(pick((2, 1), &[&[1, 2, 2], &[10], &[25]]), Some((vec![1, 2, 3], 1, Action::Merge)));
    }

    #[test]
    fn the_largest_level_begins_a_larger_one() {
        assert_eq!(pick((2, 1), &[&[], &[5, 20]]), Some((vec![1, 2], 2, Action::Merge)));
        assert_eq!(pick((2, 1), &[&[], &[25]]), Some((vec![1], 2, Action::Move)));
    }

    #[test]
    fn there_are_never_more_runs_than_allowed() {
        // Keys were overwritten. Two runs of the largest level are smaller than full arrivals, but too large for one
        // run.
        assert_eq!(pick((2, 2), &[&[], &[4, 7, 8]]), Some((vec![1, 2, 3], 1, Action::Merge)));
        assert_eq!(pick((2, 1), &[&[], &[4, 7, 8], &[90]]), Some((vec![1, 2, 3], 2, Action::Merge)));
    }
}
