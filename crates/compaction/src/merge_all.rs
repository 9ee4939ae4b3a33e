//! Merge-all compaction: when the tree has n runs, the policy merges all runs into one run.
//!
//! Source: the document of the published system golsm, section Compaction. Merge-all is the simplest policy that limits
//! the number of runs. All runs stay in level 0.
//!
//! # Costs
//! Sizes are in buffers, where a buffer is one full memtable. After the first n flushes, all data is merged into a run
//! of n buffers. After every n − 1 further flushes, all data is rewritten. N flushes with distinct keys cause m =
//! ⌊(N−1)/(n−1)⌋ compactions, and write amplification is exactly
//!
//! > 1 + Σ (n + (n−1)·k) / N, k = 0 … m − 1 = 1 + m·(n + (n−1)·(m−1)/2) / N,
//!
//! which is about N / (2·(n−1)). Write amplification grows linearly with the size of the data. With `leveled`, write
//! amplification grows only with the logarithm of this size. Lookups search at most n − 1 runs. Only keys in the n − 1
//! newest runs can have stale versions in older runs. A compaction needs as much temporary space as the size of the
//! data.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<MergeAll>(
    "merge-all",
    "all runs are merged once their number reaches a limit; few runs to read, but writes grow with the data",
    "# Number of runs that triggers the merge of all runs into one, at least 2. With more runs, the tree\n\
     # writes less, but lookups are slower.\n\
     runs = 4\n",
);

/// The policy `merge-all` with its parameter n, the number of runs that triggers a merge.
struct MergeAll {
    runs: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    runs: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { runs: 4 }
    }
}

impl Build<dyn CompactionPolicy> for MergeAll {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        if params.runs < 2 {
            return Err(format!(
                "runs is {}; it must be at least 2, because a single run needs no compaction",
                params.runs
            ));
        }
        Ok(Box::new(Self { runs: usize::try_from(params.runs).unwrap_or(usize::MAX) }))
    }
}

impl CompactionPolicy for MergeAll {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let runs: Vec<_> = shape.levels.runs().collect();
        (runs.len() >= self.runs).then(|| whole::merge_runs(&runs))
    }

    fn merges_all_runs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    #[test]
    fn everything_is_merged_where_there_are_enough_runs() {
        let pick = |levels: &[&[u64]]| MergeAll { runs: 3 }.pick(&shape(levels));
        assert_eq!(pick(&[&[1, 9]]), None);
        let job = pick(&[&[1, 1, 9]]).unwrap();
        assert_eq!((job.inputs.as_slice(), job.level, job.run), (&[1, 2, 3][..], 0, None));
        // Another policy left runs in levels below level 0.
        let job = pick(&[&[1, 1], &[], &[9]]).unwrap();
        assert_eq!((job.inputs.as_slice(), job.level), (&[1, 2, 3][..], 2));
    }
}
