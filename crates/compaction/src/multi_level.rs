//! Multi-level compaction merges several levels in one job. If a merge would fill a level, the job also includes this
//! level, and writes its output to the next level.
//!
//! Leveled compaction first writes a full level, and then merges this level into the next level. This policy combines
//! both merges in one job. The inputs of the job are level 0 and every following level that would become full. The
//! output goes to the first level that does not become full. Sources: the multi-level (multi-way) merges that users
//! of leveled stores request (fjall-rs/lsm-tree, issue 116). The policy works like the carry of a counter with base
//! T, as in Bentley, Saxe, "Decomposable Searching Problems I" (1980). A level receives T − 1 arrivals, as in Huynh
//! et al., "Endure" (VLDB 2022).
//!
//! # Write amplification
//! As in [`leveled`](crate::leveled), data arrives at level i in units of a(i) full memtables, and n(i) = ⌈T^i /
//! a(i)⌉ arrivals would fill the level. The last of these arrivals is merged into a deeper level at once, and is not
//! written in this level. After q·n(i) + r arrivals with r < n(i), compactions into the level have written
//!
//! > W(i) = a(i) · ( q·S(n(i) − 1) + S(r) ),  S(j) = j·(j+1)/2
//!
//! full memtables. If level 1 is empty and the next arrival is one run, the run is moved without writes. An entry
//! costs (T − 1)/2 writes in level i before it leaves the level, as in the Dostoevsky paper. With `leveled`, the
//! entry is written once more.
//!
//! # Costs
//! Reads and space cost as much as with `leveled`. The duration and the temporary space of a merge are proportional
//! to the size of all levels that the merge includes.

use catalog::{Build, Variant};

use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::size_ratio::LeveledParams;
use crate::{size_ratio, whole};

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<MultiLevel>(
    "multi-level",
    "like \"leveled\", but one job merges all levels that become full, which saves one write per level",
    size_ratio::LEVELED_REFERENCE,
);

/// The policy `multi-level` with its parameters.
struct MultiLevel {
    size_ratio: f64,
    level0_runs: usize,
}

impl Build<dyn CompactionPolicy> for MultiLevel {
    type Params = LeveledParams;

    fn build(params: LeveledParams) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self {
            size_ratio: size_ratio::factor("size_ratio", params.size_ratio)?,
            level0_runs: size_ratio::level0_runs(params.level0_runs)?,
        }))
    }
}

impl MultiLevel {
    /// Returns whether `bytes` bytes of data would fill the level `level`.
    fn fill(&self, shape: &Shape, level: usize, bytes: u64) -> bool {
        bytes as f64 >= size_ratio::grown_bytes(shape.buffer_bytes, self.size_ratio, level)
    }

    /// Returns the job that merges the levels from `first` on. The output goes to the first level that the merged
    /// data does not fill.
    fn merge_from(&self, shape: &Shape, first: usize) -> Job {
        let (mut level, mut bytes) = (first, shape.bytes_of(first));
        let mut runs: Vec<_> = shape.runs_of(first).iter().map(|run| (first, run)).collect();
        loop {
            level += 1;
            bytes += shape.bytes_of(level);
            runs.extend(shape.runs_of(level).iter().map(|run| (level, run)));
            if !self.fill(shape, level, bytes) {
                break;
            }
        }
        let action = if runs.len() == 1 { Action::Move } else { Action::Merge };
        Job { level, action, ..whole::merge_runs(&runs) }
    }
}

impl CompactionPolicy for MultiLevel {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        // Another policy may have left several runs in a level, or a full level.
        let levels = 1..shape.levels.levels.len();
        if let Some(level) = levels.clone().find(|level| shape.runs_of(*level).len() > 1) {
            return Some(whole::merge_within(shape, level));
        }
        let mut levels = levels.rev();
        if let Some(level) = levels.find(|level| self.fill(shape, *level, shape.bytes_of(*level))) {
            return Some(self.merge_from(shape, level));
        }
        (shape.runs_of(0).len() >= self.level0_runs).then(|| self.merge_from(shape, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    fn pick(level0_runs: u64, levels: &[&[u64]]) -> Option<(Vec<u64>, usize, Action)> {
        let policy = MultiLevel::build(LeveledParams { size_ratio: 4.0, level0_runs }).ok().unwrap();
        let job = policy.pick(&shape(levels))?;
        assert_eq!(job.run, None);
        Some((job.inputs, job.level, job.action))
    }

    #[test]
    fn a_merge_stops_where_there_is_room() {
        assert_eq!(pick(1, &[&[1]]), Some((vec![1], 1, Action::Move)));
        assert_eq!(pick(1, &[&[1], &[2]]), Some((vec![1, 2], 1, Action::Merge)));
        assert_eq!(pick(2, &[&[1], &[2]]), None);
        // Level 1 would have 4 buffers and therefore be full.
        assert_eq!(pick(1, &[&[1], &[3]]), Some((vec![1, 2], 2, Action::Merge)));
        assert_eq!(pick(1, &[&[1], &[3], &[4]]), Some((vec![1, 2, 3], 2, Action::Merge)));
        assert_eq!(pick(1, &[&[1], &[3], &[12], &[16]]), Some((vec![1, 2, 3, 4], 3, Action::Merge)));
    }

    #[test]
    fn what_another_policy_left_is_brought_in_order() {
        assert_eq!(pick(1, &[&[], &[1, 1]]), Some((vec![1, 2], 1, Action::Merge)));
        assert_eq!(pick(1, &[&[], &[9], &[1]]), Some((vec![1, 2], 2, Action::Merge)));
        assert_eq!(pick(1, &[&[], &[9]]), Some((vec![1], 2, Action::Move)));
    }
}
