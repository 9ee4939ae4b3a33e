//! Fluid LSM-tree: at most K runs in every level but the largest, which has at most Z.
//!
//! Source: Dayan, Idreos, "Dostoevsky: Better Space-Time Trade-Offs for LSM-Tree Based Key-Value Stores via Adaptive
//! Removal of Superfluous Merging" (SIGMOD 2018), section 4.3. K = Z = 1 is leveling, K = Z = T − 1 is tiering, and K =
//! T − 1 with Z = 1 is lazy leveling. Every combination in between is also valid.
//!
//! Sizes are in buffers. Level i takes arrivals of T^i: the arrivals of level 0 are flushes, those of another level are
//! runs of the level above. An arrival is merged with the newest run of its level as long as the result fits into one
//! run: s = ⌈(T−1)/K⌉ arrivals, or ⌈(T−1)/Z⌉ in the largest level. Otherwise the arrival becomes a run. A level
//! compacts all its data into one run of the next level when it has T arrivals. A level with more than K runs is
//! compacted as well, if overwritten keys keep it below T arrivals. In the largest level, more than Z runs become one
//! run, and T arrivals begin a new largest level. The first level is never the largest level in this sense.
//!
//! # What it writes
//! Let N buffers be flushed, with distinct keys. The j-th arrival since a level was empty is the p(j)-th of its run,
//! p(j) = ((j−1) mod s) + 1, and writes p(j)·T^i. Level 0 writes nothing if p(j) = 1, because the flush wrote that run.
//! Level 0 also writes nothing if j = T, because the level is then compacted down at once. In a full level i ≥ 1 that
//! is compacted down, an entry costs Σ p(j) / T writes, j = 1 … T: (T−1)/2 + 1/T at K = 1, and 1 at K = T − 1. The
//! paper's terms are (T−1)/(K+1) for each level above the largest and (T−1)/(Z+1) for the largest.
//!
//! # What it costs to read
//! With L levels, the tree has at most K·(L−1) + Z runs, and stale data are up to Z − 1 + 1/T of the live data (ibid.,
//! table 2).

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::gathered::{Gathered, Limits, largest_level};
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::size_ratio;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Fluid>(
    "fluid",
    "K runs per level and Z in the largest level; includes leveled, tiered and lazy-leveled",
    "# Size ratio between a level and the level above, 2 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     size_ratio = 10\n\
     # Maximum number of runs in each level above the largest level (K), at least 1. More runs give fewer\n\
     # writes, but slower reads. size_ratio - 1 or more is tiering.\n\
     upper_runs = 3\n\
     # Maximum number of runs in the largest level (Z), at least 1. More runs give fewer writes, but\n\
     # slower reads. size_ratio - 1 or more is tiering.\n\
     largest_runs = 1\n",
);

/// The fluid policy with T, K and Z.
struct Fluid {
    size_ratio: u64,
    upper_runs: u64,
    largest_runs: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
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
        size_ratio::runs(size_ratio)?;
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

    /// K or Z, at most T − 1, because a level is compacted down at T arrivals.
    fn most_runs(&self, shape: &Shape, level: usize) -> u64 {
        let runs = if level == largest_level(shape) { self.largest_runs } else { self.upper_runs };
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
        // Joins the newest run of the next level as long as that has room: 4 arrivals of 5 at Z = 1.
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
        // Overwritten keys: two runs of the largest level are no whole arrivals, but exceed a share.
        assert_eq!(pick((2, 2), &[&[], &[4, 7, 8]]), Some((vec![1, 2, 3], 1, Action::Merge)));
        assert_eq!(pick((2, 1), &[&[], &[4, 7, 8], &[90]]), Some((vec![1, 2, 3], 2, Action::Merge)));
    }
}
