//! Horizontal growth limits the tree to K runs, which are ordered by age. For this limit, the policy writes as few
//! bytes as possible.
//!
//! Levels with a fixed size ratio also limit the number of runs, but cause more writes than this limit requires. This
//! policy has no levels. If there are too many runs after a flush, the policy merges the newest runs. The binomial
//! transform determines the number of merged runs. Sources: Bentley, Saxe, "Decomposable Searching Problems I" (1980),
//! section 3; Mathieu, Staelin, Young, Yousefi, "Bigtable Merge Compaction" (2014), for the proof of optimality; Mo,
//! Luo, Idreos, "How to Grow an LSM-tree?" (SIGMOD 2025, arXiv 2504.17178), which calls the scheme horizontal growth.
//!
//! Sizes are in buffers, where a buffer is one full memtable. C(n, k) is the binomial coefficient. The oldest run has
//! rank K, the next newer run has rank K − 1, and so on. The weight w of a run is the number of times that the oldest
//! entries of the run were written. A run of rank k and weight w has C(w−1+k, k) buffers. If the tree has more than K
//! runs after a flush, the policy compares the weights of adjacent runs. It searches for the newest run with a weight
//! below the weight of the next older run. The policy merges this run, all newer runs and the new flush. If there is no
//! such run, all data is merged into one run. The policy computes the weight of a run from the size of the run, so the
//! policy has no state. If keys are overwritten, runs become smaller, and the weights follow from the smaller sizes.
//!
//! # Write amplification
//! For each weight w, the policy is optimal after N = C(w+K, K) − 1 flushes. No schedule with at most K runs writes
//! fewer bytes. If the number of flushes is known in advance (`flushes`), the schedule is optimal for this number. At
//! most C(v+K−1, K−1) buffers can have the weight v. If each flush is written directly into its run, the lowest
//! possible cost of N buffers is
//!
//! > f(N) = Σ v·C(v+K−1, K−1) over v < w, plus w·r for the r remaining buffers
//!
//! buffers of writes. In lsmbench, each flush is first written as a separate run, which adds one buffer of writes per
//! merge. Among all optimal schedules, this policy has the fewest merges. The schedule makes C(w−2+K, K) − 1 merges,
//! plus one merge for each chain of buffers with the largest weight. Tests compare the cost and the number of merges
//! with a dynamic program.
//!
//! # Costs
//! Each merge reads complete runs. A merge of all runs needs as much temporary space as the size of the data.

use std::cmp::Ordering;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Horizontal>(
    "horizontal",
    "at most K runs and no levels; the fewest bytes written for this number of runs",
    "# Maximum number of runs in the tree (K), 1 to 64. More runs give fewer writes, but slower lookups.\n\
     runs = 4\n\
     # Number of flushes in the whole load; 0 if unknown. The schedule of compactions writes the fewest\n\
     # bytes for exactly this number of flushes. The schedule assumes that each key is written only once.\n\
     flushes = 0\n",
);

/// The policy `horizontal` with its parameters.
struct Horizontal {
    runs: usize,
    flushes: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    runs: u64,
    flushes: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { runs: 4, flushes: 0 }
    }
}

impl Build<dyn CompactionPolicy> for Horizontal {
    type Params = Params;

    fn build(Params { runs, flushes }: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        if !(1..=64).contains(&runs) {
            return Err(format!("runs is {runs}; it must be from 1 to 64 runs"));
        }
        if flushes > MOST_FLUSHES {
            return Err(format!("flushes is {flushes}; it must be at most {MOST_FLUSHES}, or 0 if unknown"));
        }
        Ok(Box::new(Self { runs: runs as usize, flushes }))
    }
}

/// The largest valid value of the parameter `flushes`. The computation per flush takes time proportional to the square
/// root of this number.
const MOST_FLUSHES: u64 = 1_000_000;

impl Horizontal {
    /// Returns the number of newest runs to merge now, if the number of flushes is known in advance. A result of 1
    /// means that no merge is due. Returns `None` if the tree has no data, or has more data than the parameter
    /// `flushes` states.
    fn scheduled(&self, sizes: &[f64]) -> Option<usize> {
        let flushed = sizes.iter().sum::<f64>().round() as u64;
        if flushed == 0 || flushed > self.flushes {
            return None;
        }
        // The newest run of the schedule has `newest` buffers. The job merges the newest runs of the tree that together
        // have this size, with a tolerance of half a buffer.
        let newest = newest_run(flushed, self.flushes, self.runs as u64) as f64 - 0.5;
        let mut covered = 0.0;
        let runs = sizes.iter().take_while(|size| {
            let is_part = covered < newest;
            covered += **size;
            is_part
        });
        Some(runs.count())
    }

    /// Returns how many of the newest runs to merge now, computed from the weights of the runs. The policy uses this
    /// method if it does not know the number of flushes in advance. Returns `None` if the tree has at most K runs.
    fn surplus(&self, sizes: &[f64]) -> Option<usize> {
        let extra = sizes.len().checked_sub(self.runs).filter(|extra| *extra > 0)?;
        // Among the K oldest runs, the newest run has rank 1.
        let weight = |at: usize| weight(sizes[at], (at - extra + 1) as u64);
        let oldest = sizes.len() - 1;
        let joined = (extra..oldest).find(|at| weight(*at) < weight(*at + 1)).unwrap_or(oldest);
        Some(joined + 1)
    }
}

impl CompactionPolicy for Horizontal {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let runs: Vec<(usize, &Run<TableShape>)> = shape.levels.runs().collect();
        let buffer = shape.buffer_bytes.max(1) as f64;
        let sizes: Vec<f64> = runs.iter().map(|(_, run)| run.bytes() as f64 / buffer).collect();
        let scheduled = self.scheduled(&sizes).filter(|count| *count > 1);
        let count = scheduled.or_else(|| self.surplus(&sizes))?;
        Some(whole::merge_runs(&runs[..count]))
    }
}

/// Returns the weight of a run, which is the number of times that its oldest entries were written. The weight follows
/// from the size of the run in buffers (full memtables) and from the rank of the run. The oldest run has rank K, the
/// next newer run has rank K − 1, and so on.
///
/// The result is the weight w for which C(w−1+rank, rank) is nearest to `size`.
fn weight(size: f64, rank: u64) -> u64 {
    if rank == 1 {
        return size.round().max(1.0) as u64;
    }
    let (mut weight, mut buffers) = (1, 1.0);
    loop {
        let next = buffers * (weight + rank) as f64 / weight as f64;
        if size <= f64::midpoint(buffers, next) {
            return weight;
        }
        (weight, buffers) = (weight + 1, next);
    }
}

/// Returns the size of the newest run after `flushed` of `total` flushes, in the optimal schedule with at most `runs`
/// runs. The size is a number of buffers (full memtables). `flushed` is from 1 to `total`.
fn newest_run(mut flushed: u64, mut total: u64, mut runs: u64) -> u64 {
    loop {
        if runs == 1 {
            return flushed;
        }
        let oldest = oldest_run(total, runs);
        match flushed.cmp(&oldest) {
            Ordering::Equal => return oldest,
            Ordering::Less => total = oldest - 1,
            Ordering::Greater => (flushed, total, runs) = (flushed - oldest, total - oldest, runs - 1),
        }
    }
}

/// Returns the size of the oldest run after `flushes` flushes, in the optimal schedule with at most `runs` runs. The
/// size is a number of buffers (full memtables). `flushes` is at least 1.
fn oldest_run(flushes: u64, runs: u64) -> u64 {
    // The schedule is a binary tree of buffers. The root is the buffer whose flush wrote the oldest run. The buffers
    // before the root form the left subtree. The buffers after the root form the right subtree, and have one run less.
    // Let w be the largest weight. All possible nodes with a weight below w exist. The possible nodes with weight w form
    // chains of one left step and several right steps. A chain is longer if fewer right steps lead to it, and the
    // longest chains are filled first.
    let last = (1..=flushes).find(|weight| binomial(weight + runs, runs) > flushes).unwrap_or(1);
    if last == 1 {
        return 1;
    }
    let mut left = binomial(last - 2 + runs, runs) - 1;
    let mut rest = flushes + 1 - binomial(last - 1 + runs, runs);
    for right_steps in 0..runs {
        let length = runs - right_steps;
        let all = binomial(last - 2 + right_steps, right_steps) * length;
        let in_left = match last {
            2 => u64::from(right_steps == 0),
            _ => binomial(last - 3 + right_steps, right_steps),
        };
        let taken = rest.min(all);
        left += taken.min(in_left * length);
        rest -= taken;
    }
    left + 1
}

/// Returns the binomial coefficient of `n` over `k`, limited to 2^60, so that a sum of a few results does not overflow.
fn binomial(n: u64, k: u64) -> u64 {
    const MOST: u128 = 1 << 60;
    let k = k.min(n - k);
    let mut result = 1u128;
    for step in 1..=k {
        result = result * u128::from(n - k + step) / u128::from(step);
        if result > MOST {
            return MOST as u64;
        }
    }
    result as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    fn pick(runs: usize, flushes: u64, sizes: &[u64]) -> Option<usize> {
        let job = Horizontal { runs, flushes }.pick(&shape(&[sizes]))?;
        assert_eq!((job.level, job.run), (0, None));
        assert_eq!(job.inputs, (1..=job.inputs.len() as u64).collect::<Vec<_>>());
        Some(job.inputs.len())
    }

    #[test]
    fn a_flush_joins_the_newest_run_that_may_grow() {
        assert_eq!(pick(2, 0, &[1, 1]), None);
        // If both weights are 1, all runs are merged. If the weights are 1 and 2, the newer run first grows to 2
        // buffers, and then all runs are merged.
        assert_eq!(pick(2, 0, &[1, 1, 1]), Some(3));
        assert_eq!(pick(2, 0, &[1, 1, 3]), Some(2));
        assert_eq!(pick(2, 0, &[1, 2, 3]), Some(3));
        assert_eq!(pick(3, 0, &[1, 1, 3, 10]), Some(2));
        assert_eq!(pick(3, 0, &[1, 2, 3, 10]), Some(3));
        assert_eq!(pick(3, 0, &[1, 1, 6, 10]), Some(2));
        assert_eq!(pick(3, 0, &[1, 3, 6, 10]), Some(4));
        assert_eq!(pick(1, 0, &[1, 9]), Some(2));
    }

    #[test]
    fn runs_that_another_policy_left_are_merged_down_to_the_limit() {
        assert_eq!(pick(2, 0, &[1, 1, 1, 1, 10]), Some(4));
        assert_eq!(pick(1, 0, &[4, 4, 4]), Some(3));
    }

    #[test]
    fn overwritten_keys_leave_the_nearest_weight() {
        // At rank 2, the weights 3, 4 and 5 have sizes of 6, 10 and 15 buffers. A size of 13 is nearest to weight 5,
        // and 8 is in the middle between weights 3 and 4.
        assert_eq!([13.0, 12.4, 8.1, 7.9].map(|size| weight(size, 2)), [5, 4, 4, 3]);
        assert_eq!(pick(2, 0, &[1, 4, 13]), Some(2));
        assert_eq!(pick(2, 0, &[1, 5, 13]), Some(3));
    }

    /// Returns the lowest cost of `flushes` flushes with at most k runs, for each k up to `runs`. The cost is a pair.
    /// The first number is the writes in buffers if each flush is written directly into its run. The second number is
    /// the number of merges.
    fn dynamic_programme(flushes: usize, runs: usize) -> Vec<Vec<(u64, u64)>> {
        let mut fewer = vec![(u64::MAX / 4, 0); flushes + 1];
        fewer[0] = (0, 0);
        let mut all = Vec::new();
        for _ in 0..runs {
            let mut least = vec![(0, 0); flushes + 1];
            for count in 1..=flushes {
                // `last` is the number of the last flush at which all runs are merged.
                let cost = |last: usize| {
                    let (before, after): ((u64, u64), (u64, u64)) = (least[last - 1], fewer[count - last]);
                    (before.0 + last as u64 + after.0, before.1 + u64::from(last > 1) + after.1)
                };
                least[count] = (1..=count).map(cost).min().unwrap();
            }
            all.push(least.clone());
            fewer = least;
        }
        all
    }

    #[test]
    fn the_schedule_is_the_optimum_of_the_dynamic_programme() {
        let optimum = dynamic_programme(512, 9);
        for (runs, optimum) in (1..).zip(&optimum) {
            for flushes in (1..=64).chain((80..=512).step_by(48)) {
                let newest = |flushed: u64| newest_run(flushed, flushes, runs);
                let bytes: u64 = (1..=flushes).map(newest).sum();
                let merges = (1..=flushes).filter(|flushed| newest(*flushed) > 1).count() as u64;
                assert_eq!((bytes, merges), optimum[flushes as usize], "{flushes} flushes, {runs} runs");
            }
        }
        // The published write amplification for 512 flushes, by the number of runs.
        let table = [256.5, 20.4, 9.47, 6.50, 5.21, 4.46];
        for (optimum, expected) in optimum.iter().zip(table) {
            assert!((optimum[512].0 as f64 / 512.0 - expected).abs() < 0.05, "{expected}");
        }
    }

    #[test]
    fn a_load_of_unknown_length_is_optimal_wherever_all_weights_are_full() {
        let optimum = dynamic_programme(300, 5);
        for (runs, optimum) in (1..).zip(&optimum) {
            let full = |weight: u64| binomial(weight + runs, runs) - 1;
            for weight in (1..).take_while(|weight| full(*weight) <= 300) {
                let mut sizes: Vec<f64> = Vec::new();
                let (mut bytes, mut merges) = (0, 0);
                for _ in 0..full(weight) {
                    sizes.insert(0, 1.0);
                    let policy = Horizontal { runs: runs as usize, flushes: 0 };
                    let count = policy.surplus(&sizes).unwrap_or(1);
                    let written: f64 = sizes.drain(..count).sum();
                    sizes.insert(0, written);
                    bytes += written as u64;
                    merges += u64::from(count > 1);
                }
                assert!(sizes.len() <= runs as usize);
                assert_eq!((bytes, merges), optimum[full(weight) as usize], "{runs} runs, weight {weight}");
            }
        }
    }

    #[test]
    fn a_known_load_is_merged_by_its_schedule() {
        // For three flushes and two runs, the second flush is merged with the first flush, so the third flush needs
        // no merge.
        assert_eq!((pick(2, 3, &[1, 1]), pick(2, 0, &[1, 1])), (Some(2), None));
        assert_eq!((pick(2, 3, &[1, 2]), pick(2, 0, &[1, 1, 1])), (None, Some(3)));
        // After the known number of flushes, the weights determine the merges.
        assert_eq!(pick(2, 3, &[1, 1, 2]), Some(3));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        for (runs, flushes) in [(0, 0), (65, 0), (2, MOST_FLUSHES + 1)] {
            assert!(Horizontal::build(Params { runs, flushes }).is_err());
        }
    }
}
