//! Lazy leveling keeps one run in the largest level, and collects T runs in every other level.
//!
//! Source: Dayan, Idreos, "Dostoevsky: Better Space-Time Trade-Offs for LSM-Tree Based Key-Value Stores via Adaptive
//! Removal of Superfluous Merging" (SIGMOD 2018), section 4.1. Most data is in the largest level, so a single run in
//! this level improves point lookups and space most. A single run in each upper level would cost many more writes and
//! improve little. (In the document of the published system cs265, the name lazy-leveled means another policy, which
//! lsmbench calls `l0-tiered`.)
//!
//! Flushes go to level 0, which never counts as the largest level. The first T runs are merged into the run of level 1.
//! When the level above the largest level L has T runs, these runs are merged with the run of level L. A buffer is one
//! full memtable. When the run of level L has T^(L+1) buffers of data, the run is moved to level L + 1. Level L + 1 is
//! then the largest level. Level L then collects runs.
//!
//! # Write amplification
//! Sizes are in buffers, where a buffer is one full memtable. Let N buffers with distinct keys be flushed. Level i
//! receives a = ⌊N / T^i⌋ runs of T^i buffers, called arrivals. Level i is the largest level until its T-th arrival.
//! During this time, the merge of the j-th arrival writes j·T^i buffers. Each later arrival writes T^i buffers. For i >
//! 1, the first arrival is moved, so it causes no writes. The compactions into level i therefore write
//!
//! > W(i) = T^i · ( m·(m+1)/2 + (a − m) − (1 if i > 1 and a > 0) ),  m = min(a, T)
//!
//! buffers, and write amplification is exactly 1 + Σ W(i) / N, where the 1 is the flush. In the textbook model and in
//! this policy, an entry is written once per level above the largest level. For the largest level, the textbook cost is
//! (T−1)/2 to T/2 writes. In this policy, a full largest level costs (T+1)/2 − 1/T writes. The module
//! [`leveled`](crate::leveled) explains the difference between both formulas.

use catalog::{Build, Variant};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::size_ratio::{self, RunRatioParams};
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<LazyLeveled>(
    "lazy-leveled",
    "one run in the largest level, several in all others; fewer writes than \"leveled\", with similar reads and space",
    "# Number of runs in each level above the largest level, and size ratio between levels, 2 to 1000000.\n\
     # With more runs per level, the tree has fewer levels, but lookups read more runs.\n\
     size_ratio = 10\n",
);

/// The policy `lazy-leveled` with its size ratio T between levels.
struct LazyLeveled {
    size_ratio: usize,
}

impl Build<dyn CompactionPolicy> for LazyLeveled {
    type Params = RunRatioParams;

    fn build(params: RunRatioParams) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self { size_ratio: params.runs()? }))
    }
}

impl LazyLeveled {
    /// Returns the index of the largest level, which has one run. The index is at least 1.
    fn largest_level(shape: &Shape) -> usize {
        shape.last_level().max(1)
    }

    /// Returns how full the level `level` is, as a fraction of its limit. If the fraction is at least 1, the level
    /// needs a compaction.
    fn fullness(&self, shape: &Shape, level: usize) -> f64 {
        let runs = shape.runs_of(level).len();
        if level < Self::largest_level(shape) {
            return runs as f64 / self.size_ratio as f64;
        }
        if runs > 1 {
            return f64::INFINITY;
        }
        let ratio = self.size_ratio as f64;
        shape.bytes_of(level) as f64 / size_ratio::grown_bytes(shape.buffer_bytes, ratio, level + 1)
    }
}

impl CompactionPolicy for LazyLeveled {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let level = whole::fullest(shape, |level| self.fullness(shape, level))?;
        let largest = Self::largest_level(shape);
        Some(if level == largest && shape.runs_of(level).len() > 1 {
            // Another policy left several runs in the level.
            whole::merge_within(shape, level)
        } else if level + 1 >= largest {
            whole::merge_into_next(shape, level)
        } else {
            whole::merge_down(shape, level)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Action;
    use crate::testing::shape;

    fn pick(levels: &[&[u64]]) -> Option<(Vec<u64>, usize, Action)> {
        let job = LazyLeveled { size_ratio: 3 }.pick(&shape(levels))?;
        assert_eq!(job.run, None);
        Some((job.inputs, job.level, job.action))
    }

    #[test]
    fn levels_above_the_largest_gather_runs() {
        assert_eq!(pick(&[&[1, 1]]), None);
        assert_eq!(pick(&[&[1, 1, 1]]), Some((vec![1, 2, 3], 1, Action::Merge)));
        assert_eq!(pick(&[&[1, 1], &[3, 3], &[9]]), None);
        // A compaction into a level that collects runs does not include the existing run of this level.
        assert_eq!(pick(&[&[1, 1, 1], &[3, 3], &[9]]), Some((vec![1, 2, 3], 1, Action::Merge)));
        // A compaction into the largest level includes the run of this level.
        assert_eq!(pick(&[&[1], &[3, 3, 3], &[9]]), Some((vec![2, 3, 4, 5], 2, Action::Merge)));
    }

    #[test]
    fn a_largest_level_that_is_full_begins_the_next() {
        assert_eq!(pick(&[&[], &[8]]), None);
        assert_eq!(pick(&[&[], &[9]]), Some((vec![1], 2, Action::Move)));
        assert_eq!(pick(&[&[1, 1], &[3, 3], &[27]]), Some((vec![5], 3, Action::Move)));
    }

    #[test]
    fn runs_that_another_policy_left_in_the_largest_become_one() {
        assert_eq!(pick(&[&[1], &[3], &[1, 1]]), Some((vec![3, 4], 2, Action::Merge)));
    }
}
