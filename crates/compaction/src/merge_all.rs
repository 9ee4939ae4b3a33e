//! Merge-all: when there are n runs, all of them become one.
//!
//! Source: golsm, section Compaction; the simplest policy that keeps the number of runs below a bound. All
//! runs stay in level 0.
//!
//! # What it costs
//! The first n flushes make a run of n buffers, and every n − 1 more rewrite all there is. After N flushes of
//! keys that are all different there were m = ⌊(N−1)/(n−1)⌋ merges, and write amplification is exactly
//!
//! > 1 + Σ (n + (n−1)·k) / N, k = 0 … m − 1 = 1 + m·(n + (n−1)·(m−1)/2) / N,
//!
//! about N / (2·(n−1)): it grows with the data, where that of leveled grows with their logarithm. Lookups see
//! n − 1 runs at most. Stale data are what the n − 1 newest runs repeat; a merge needs the whole size again.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<MergeAll>(
    "merge-all",
    "at n runs everything becomes one run: few runs to read, at writes that grow with the data",
    "# Runs that are merged into one, at least 2.\n\
     runs = 4\n",
);

/// The policy.
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
                "runs is {}; it must be at least 2: a single run need not be merged",
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
        // Another policy left runs below.
        let job = pick(&[&[1, 1], &[], &[9]]).unwrap();
        assert_eq!((job.inputs.as_slice(), job.level), (&[1, 2, 3][..], 2));
    }
}
