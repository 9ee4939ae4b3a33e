//! Tiered compaction collects T runs of similar size in a level, and then merges these runs into one run of the next
//! level.
//!
//! Sources: Jagadish et al., "Incremental Organization for Data Recording and Warehousing" (VLDB 1997); Dayan,
//! Athanassoulis, Idreos, "Monkey" (SIGMOD 2017), section 2, under the name tiering; size-tiered compaction in
//! Cassandra. Levels have no capacity in bytes, because a level is full when it has T runs.
//!
//! # Write amplification
//! After N flushes of distinct keys, level i has received ⌊N / T^i⌋ runs of T^i full memtables, and each run was
//! written once. Write amplification is therefore exactly 1 + Σ ⌊N / T^i⌋·T^i / N. The first term is the flush, and
//! each level i with T^i ≤ N adds at most 1. This formula agrees with the published range of L·(T−1)/T to L for L
//! levels.

use catalog::{Build, Variant};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::size_ratio::RunRatioParams;
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Tiered>(
    "tiered",
    "each level collects size_ratio runs before their compaction; one write per level, many runs to read",
    "# Number of runs in a level that are merged into one run of the next level, 2 to 1000000. With more\n\
     # runs per level, the tree writes less, but lookups read more runs.\n\
     size_ratio = 10\n",
);

/// The policy `tiered` with its size ratio T.
pub(crate) struct Tiered {
    /// The number of runs that are merged into one run of the next level.
    pub(crate) runs_per_level: usize,
}

impl Build<dyn CompactionPolicy> for Tiered {
    type Params = RunRatioParams;

    fn build(params: RunRatioParams) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self { runs_per_level: params.runs()? }))
    }
}

impl CompactionPolicy for Tiered {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let fullness = |level| shape.runs_of(level).len() as f64 / self.runs_per_level as f64;
        whole::fullest(shape, fullness).map(|level| whole::merge_down(shape, level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Action;
    use crate::testing::shape;

    #[test]
    fn a_level_is_merged_when_its_runs_are_there() {
        let pick = |levels: &[&[u64]]| {
            let job = Tiered { runs_per_level: 3 }.pick(&shape(levels))?;
            assert_eq!((job.run, job.action), (None, Action::Merge));
            Some((job.inputs, job.level))
        };
        assert_eq!(pick(&[&[1, 1], &[3, 3]]), None);
        assert_eq!(pick(&[&[1, 1, 1], &[3, 3]]), Some((vec![1, 2, 3], 1)));
        assert_eq!(pick(&[&[1], &[3, 3, 3]]), Some((vec![2, 3, 4], 2)));
        // The level with the highest fill ratio is compacted first. If two levels are equally full, the deeper level is
        // compacted first.
        assert_eq!(pick(&[&[1, 1, 1, 1], &[3, 3, 3]]), Some((vec![1, 2, 3, 4], 1)));
        assert_eq!(pick(&[&[1, 1, 1], &[3, 3, 3]]), Some((vec![4, 5, 6], 2)));
    }
}
