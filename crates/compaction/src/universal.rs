//! Universal compaction keeps all runs in one list, ordered by age. Three rules select adjacent runs of this list for
//! a merge.
//!
//! Source: the universal compaction style of `RocksDB`, as described by its options and its wiki. With fewer than
//! `num_runs` runs, no runs are merged. With `num_runs` or more runs, the policy uses the first of these rules that
//! applies:
//! 1. *Space*: all runs are merged if the runs except the oldest run together have at least
//!    `max_size_amplification_percent` percent of the size of the oldest run.
//! 2. *Size ratio*: the policy searches for a group of at least `min_merge_width` adjacent runs, beginning at the
//!    newest run, and merges the first such group. In a group, each run is at most `size_ratio_percent` percent
//!    larger than all newer runs of the group together.
//! 3. *Number*: the policy merges as many of the newest runs as needed, so that `num_runs` runs remain.
//!
//! All runs stay in level 0. The output of a compaction takes the position of its oldest input.
//!
//! # Costs
//! There is no closed formula for the costs. A merged group has about twice the size of its largest run. For small
//! `num_runs`, the writes are therefore similar to those of [`binary-counter`](crate::binary_counter). With larger
//! `num_runs`, the policy writes fewer bytes. Lookups search up to `num_runs` runs. The space rule keeps stale data
//! below `max_size_amplification_percent` percent. A compaction of all data needs as much temporary space as the size
//! of the data.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Universal>(
    "universal",
    "RocksDB's universal compaction: one list of runs, merged by rules for space, size ratio and number of runs",
    "# Number of runs that triggers a compaction, at least 2. With more runs, the tree writes less, but\n\
     # lookups are slower.\n\
     num_runs = 4\n\
     # Percentage by which a run may be larger than all newer runs together and still be merged with\n\
     # them.\n\
     size_ratio_percent = 1\n\
     # Minimum number of runs in a compaction by the size-ratio rule, at least 2.\n\
     min_merge_width = 2\n\
     # Total size of all runs except the oldest, in percent of the oldest run's size, that triggers a\n\
     # merge of all runs, at least 1. A larger percentage gives fewer writes, but more stale data.\n\
     max_size_amplification_percent = 200\n",
);

/// The policy `universal` with its parameters.
struct Universal {
    num_runs: usize,
    size_ratio_percent: u64,
    min_merge_width: usize,
    max_size_amplification_percent: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    num_runs: u64,
    size_ratio_percent: u64,
    min_merge_width: u64,
    max_size_amplification_percent: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { num_runs: 4, size_ratio_percent: 1, min_merge_width: 2, max_size_amplification_percent: 200 }
    }
}

impl Build<dyn CompactionPolicy> for Universal {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let at_least = |name: &str, value: u64, least: u64, why: &str| match value >= least {
            true => Ok(usize::try_from(value).unwrap_or(usize::MAX)),
            false => Err(format!("{name} is {value}; it must be at least {least}, because {why}")),
        };
        let percent = params.max_size_amplification_percent;
        at_least("max_size_amplification_percent", percent, 1, "with 0, every flush would rewrite all data")?;
        Ok(Box::new(Self {
            num_runs: at_least("num_runs", params.num_runs, 2, "a single run needs no compaction")?,
            size_ratio_percent: params.size_ratio_percent,
            min_merge_width: at_least(
                "min_merge_width",
                params.min_merge_width,
                2,
                "a compaction needs two runs",
            )?,
            max_size_amplification_percent: percent,
        }))
    }
}

/// Returns `percent` percent of `bytes`, times 100, so that the result needs no rounding.
fn percent_of(bytes: u64, percent: u64) -> u128 {
    u128::from(bytes) * u128::from(percent)
}

impl Universal {
    /// Returns whether all runs must be merged, because stale data may take too much space. This is so if all runs
    /// except the oldest run together have at least `max_size_amplification_percent` percent of the size of the oldest
    /// run.
    fn is_amplified(&self, runs: &[(usize, &Run<TableShape>)]) -> bool {
        let Some(((_, oldest), newer)) = runs.split_last() else { return false };
        let newer: u64 = newer.iter().map(|(_, run)| run.bytes()).sum();
        percent_of(newer, 100) >= percent_of(oldest.bytes(), self.max_size_amplification_percent)
    }

    /// Returns the exclusive end of the group of runs that begins at the run `start`. The size-ratio rule merges this
    /// group.
    fn group_end(&self, runs: &[(usize, &Run<TableShape>)], start: usize) -> usize {
        let mut together = runs[start].1.bytes();
        for (index, (_, run)) in runs.iter().enumerate().skip(start + 1) {
            let bytes = run.bytes();
            if percent_of(bytes, 100) > percent_of(together, self.size_ratio_percent.saturating_add(100)) {
                return index;
            }
            together += bytes;
        }
        runs.len()
    }
}

impl CompactionPolicy for Universal {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let runs: Vec<_> = shape.levels.runs().collect();
        if runs.len() < self.num_runs {
            return None;
        }
        if self.is_amplified(&runs) {
            return Some(whole::merge_runs(&runs));
        }
        let groups = (0..runs.len()).map(|start| &runs[start..self.group_end(&runs, start)]);
        if let Some(group) = groups.into_iter().find(|group| group.len() >= self.min_merge_width) {
            return Some(whole::merge_runs(group));
        }
        (runs.len() > self.num_runs).then(|| whole::merge_runs(&runs[..=runs.len() - self.num_runs]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    const POLICY: Universal = Universal {
        num_runs: 3,
        size_ratio_percent: 10,
        min_merge_width: 2,
        max_size_amplification_percent: 100,
    };

    fn pick(policy: &Universal, runs: &[u64]) -> Option<Vec<u64>> {
        let job = policy.pick(&shape(&[runs]))?;
        assert_eq!((job.level, job.run), (0, None));
        Some(job.inputs)
    }

    #[test]
    fn few_runs_are_left_alone() {
        assert_eq!(pick(&POLICY, &[100, 1]), None);
        assert_eq!(pick(&POLICY, &[1, 10, 100]), None);
    }

    #[test]
    fn space_goes_before_all() {
        assert_eq!(pick(&POLICY, &[1, 99, 100]), Some(vec![1, 2, 3]));
        assert_eq!(pick(&POLICY, &[1, 50, 100]), None);
        let at = |percent| Universal { max_size_amplification_percent: percent, ..POLICY };
        assert_eq!(pick(&at(51), &[1, 50, 100]), Some(vec![1, 2, 3]));
        assert_eq!(pick(&at(52), &[1, 50, 100]), None);
    }

    #[test]
    fn runs_of_like_size_are_merged() {
        assert_eq!(pick(&POLICY, &[10, 11, 100]), Some(vec![1, 2]));
        assert_eq!(pick(&POLICY, &[10, 12, 100]), None);
        // The group has runs of 10 and 11 bytes, and a run that is at most 10 % larger than both together.
        assert_eq!(pick(&POLICY, &[10, 11, 23, 100]), Some(vec![1, 2, 3]));
        assert_eq!(pick(&POLICY, &[5, 10, 11, 100]), Some(vec![2, 3]));
        assert_eq!(pick(&Universal { min_merge_width: 3, ..POLICY }, &[10, 11, 100]), None);
    }

    #[test]
    fn too_many_runs_are_merged_from_the_newest_on() {
        assert_eq!(pick(&POLICY, &[1, 4, 16, 64]), Some(vec![1, 2]));
        assert_eq!(pick(&POLICY, &[1, 4, 16, 64, 256]), Some(vec![1, 2, 3]));
    }
}
