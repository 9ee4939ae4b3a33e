//! Predicts how many bytes compactions write if the policy `adaptive` changes its setting (the values of T, K and Z).
//! The module simulates the jobs of the policy on the sizes of the runs, without keys.

use std::borrow::Cow;

use crate::fluid::Fluid;
use crate::gathered::Gathered;
use crate::job::{Action, MAX_LEVEL};
use crate::outline::{Outline, RunJob};
use crate::size_ratio;

/// Predicts the number of bytes that compactions write after a change to the setting `fluid`, until the tree needs no
/// further job. The function assumes distinct keys.
///
/// The caller stops the prediction with `is_too_much`, which receives the bytes written so far. When it returns `true`,
/// the result is `None`.
pub(super) fn transition_bytes(
    outline: &Outline,
    fluid: Fluid,
    is_too_much: impl Fn(u64) -> bool,
) -> Option<u64> {
    let policy = Gathered(fluid);
    let (mut outline, mut written) = (Cow::Borrowed(outline), 0);
    while let Some(job) = policy.next_job(&outline) {
        written += outline.bytes_written(&job);
        if is_too_much(written) {
            return None;
        }
        outline.to_mut().apply(&job);
    }
    Some(written)
}

/// Returns the job that merges the newest `runs` runs of a tree into one run. If the tree has older runs, the output
/// goes to the level of the oldest merged run. Otherwise, the output goes to the first level whose capacity, at the
/// size ratio `size_ratio`, is larger than the output.
pub(super) fn merge_newest(outline: &Outline, runs: usize, size_ratio: u64) -> RunJob {
    let all = outline.runs();
    let oldest = all[runs - 1].level;
    let bytes = outline.bytes(0..runs);
    let has_room = |level: &usize| {
        size_ratio::grown_bytes(outline.buffer_bytes, size_ratio as f64, level + 1) > bytes as f64
    };
    let level = if runs < all.len() { oldest } else { (1..MAX_LEVEL).find(has_room).unwrap_or(oldest) };
    RunJob { runs: 0..runs, level, action: Action::Merge }
}

/// Applies the job that [`merge_newest`] returns to the runs of a tree (`outline`). Returns the new runs, and the
/// number of bytes that the job writes.
pub(super) fn after_merge(outline: &Outline, runs: usize, size_ratio: u64) -> (Outline, u64) {
    let job = merge_newest(outline, runs, size_ratio);
    let (mut after, bytes) = (outline.clone(), outline.bytes_written(&job));
    after.apply(&job);
    (after, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::RunSize;
    use crate::testing::shape;

    fn fluid(size_ratio: u64, upper_runs: u64, largest_runs: u64) -> Fluid {
        Fluid { size_ratio, upper_runs, largest_runs }
    }

    /// The bytes of a change without a limit.
    fn all_bytes(outline: &Outline, fluid: Fluid) -> u64 {
        transition_bytes(outline, fluid, |_| false).unwrap()
    }

    #[test]
    fn a_change_costs_the_bytes_of_its_merges() {
        let tiered = Outline::of(&shape(&[&[1, 1, 1], &[4, 4], &[16, 16, 16]]));
        assert_eq!(all_bytes(&tiered, fluid(4, 3, 3)), 0);
        // Only the largest level is merged.
        assert_eq!(all_bytes(&tiered, fluid(4, 3, 1)), 48);
        // One merge per level.
        assert_eq!(all_bytes(&tiered, fluid(4, 1, 1)), 3 + 8 + 48);
        // Two of the three runs of level 0 fit into one run, and both runs of level 1.
        assert_eq!(all_bytes(&tiered, fluid(4, 2, 3)), 2 + 8);
        // The first merge already exceeds the limit.
        assert_eq!(transition_bytes(&tiered, fluid(4, 1, 1), |bytes| bytes >= 3), None);
        assert_eq!(transition_bytes(&tiered, fluid(4, 1, 1), |bytes| bytes > 59), Some(59));
        // A larger size ratio merges the runs that fit into one arrival.
        assert_eq!(all_bytes(&tiered, fluid(8, 7, 7)), 8 + 48);
        let leveled = Outline::of(&shape(&[&[3], &[8], &[48]]));
        assert_eq!([fluid(4, 3, 3), fluid(8, 7, 7)].map(|fluid| all_bytes(&leveled, fluid)), [0, 0]);
    }

    #[test]
    fn the_newest_runs_are_merged_where_the_oldest_of_them_is() {
        let tree = shape(&[&[1, 1], &[4, 4], &[16]]);
        let outline = Outline::of(&tree);
        for (runs, level) in [(2, 0), (3, 1), (4, 1)] {
            let job = merge_newest(&outline, runs, 4).on(&tree);
            assert_eq!((job.inputs.len(), job.level, job.validate(&tree.levels)), (runs, level, Ok(())));
        }
        // A merge of all data writes to the first level with room for all data.
        for (size_ratio, level) in [(2, 4), (4, 2), (10, 1)] {
            let (after, bytes) = after_merge(&outline, 5, size_ratio);
            assert_eq!((bytes, after.runs()), (26, &[RunSize { level, bytes: 26 }][..]), "T = {size_ratio}");
            assert_eq!(merge_newest(&outline, 5, size_ratio).on(&tree).validate(&tree.levels), Ok(()));
        }
    }
}
