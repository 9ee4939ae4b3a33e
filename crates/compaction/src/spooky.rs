//! The compaction policy Spooky. A job merges complete levels. Merges into the largest level are divided into groups
//! of SSTables with aligned boundaries.
//!
//! Source: Dayan, Weiss, Dashevsky, Pan, Bortnikov, Twitto, "Spooky: Granulating LSM-Tree Compactions Correctly" (VLDB
//! 2022). A merge of the complete largest level, as in [`leveled`](crate::leveled), needs as much temporary space as
//! the size of the data. Merges of single SSTables, as in [`leveled-partial`](crate::leveled_partial), need little
//! space, but write more, because the boundaries of SSTables are not aligned. This policy divides the level above the
//! largest level at the SSTable boundaries of the largest level ([`CompactionPolicy::cuts`]). When the level above
//! the largest level is full, its SSTables are merged into the largest level in key order. A job merges one SSTable
//! of the largest level with all SSTables of the upper level within its boundaries. If such a group is smaller than
//! one SSTable, the job also includes the next group, so that output SSTables are not too small.
//!
//! The other levels are merged completely, and these merges need little temporary space. Level 0 and the capacities
//! of levels are as with `leveled`.
//!
//! The sequence of jobs that merges a level into the largest level is called a drain. A policy has no state, so the
//! policy recognizes a drain in progress by the SSTable numbers. During a drain, the largest level has an SSTable
//! that is newer than all SSTables of the level above. A run that arrives in the level above the largest level is
//! always merged, because a move cannot divide the run.
//!
//! # Costs
//! Reads and writes cost as much as with `leveled`. In addition, the first run that arrives in the level above the
//! largest level is written once, because it is not moved. A merge into the largest level needs about as much
//! temporary space as one SSTable of this level and the matching part of the level above. The level above the largest
//! level has as many SSTables as the largest level.

use std::sync::Arc;

use catalog::{Build, Variant};

use crate::job::{Action, Job};
use crate::leveled::Leveled;
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::size_ratio::{self, LeveledParams};
use crate::tables::{overlapping, push_down};
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Spooky>(
    "spooky",
    "like \"leveled\", but merges into the largest level are split by key range; needs little temporary space",
    size_ratio::LEVELED_REFERENCE,
);

/// The policy `spooky`, with the level capacities of the policy `leveled`.
struct Spooky(Leveled);

impl Build<dyn CompactionPolicy> for Spooky {
    type Params = LeveledParams;

    fn build(params: LeveledParams) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self(Leveled::new(params.size_ratio, params.level0_runs)?)))
    }
}

impl CompactionPolicy for Spooky {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        if let Some(level) = level_being_drained(shape) {
            return Some(first_group(shape, level));
        }
        let level = self.0.due_level(shape)?;
        if level > 0 && shape.runs_of(level).len() > 1 {
            return Some(whole::merge_within(shape, level));
        }
        let largest = shape.last_level();
        if level > 0 && level + 1 == largest && shape.runs_of(largest).len() == 1 {
            return Some(first_group(shape, level));
        }
        let job = whole::merge_into_next(shape, level);
        // The run of the level above the largest level must be divided, so the job is a merge and not a move.
        let action = if level + 2 == largest { Action::Merge } else { job.action };
        Some(Job { action, ..job })
    }

    fn cuts(&self, shape: &Shape, job: &Job) -> Vec<Arc<[u8]>> {
        let [largest] = shape.runs_of(shape.last_level()) else { return Vec::new() };
        if job.level == 0 || job.level + 1 != shape.last_level() {
            return Vec::new();
        }
        largest.tables.iter().skip(1).map(|table| Arc::clone(&table.smallest)).collect()
    }
}

/// Returns the index of the level above the largest level, if a drain of this level is in progress. A drain is the
/// sequence of jobs that merges this level into the largest level.
fn level_being_drained(shape: &Shape) -> Option<usize> {
    let level = shape.last_level().checked_sub(1).filter(|level| *level > 0)?;
    let ([above], [largest]) = (shape.runs_of(level), shape.runs_of(level + 1)) else { return None };
    (newest(above) < newest(largest)).then_some(level)
}

/// Returns the highest SSTable number of a run.
fn newest(run: &Run<TableShape>) -> u64 {
    run.tables.iter().map(|table| table.id).max().unwrap_or(0)
}

/// Returns the job that merges the first SSTables of `level` with all overlapping SSTables of the next level. All other
/// SSTables of `level` that overlap these SSTables of the next level are also merged. Both levels have one run.
fn first_group(shape: &Shape, level: usize) -> Job {
    let (above, below) = (&shape.runs_of(level)[0].tables, &shape.runs_of(level + 1)[0]);
    let whole = below.tables.iter().map(|table| table.bytes).max().unwrap_or(0);
    let (mut taken, mut end) = (1, &above[0].largest);
    while taken < above.len() {
        let met = overlapping(below, &above[0].smallest, end);
        end = met.last().map_or(end, |table| end.max(&table.largest));
        let overlapped = above[taken..].partition_point(|table| table.smallest <= *end);
        let bytes: u64 = met.iter().map(|table| table.bytes).sum();
        if overlapped == 0 && bytes >= whole {
            break;
        }
        // If the group is smaller than an SSTable, the job includes the next group.
        taken += overlapped.max(1);
        end = end.max(&above[taken - 1].largest);
    }
    push_down(shape, level, &above[..taken], true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::SimulatedLoad;
    use crate::testing::{cut_shape, largest_merge};

    fn policy() -> Box<dyn CompactionPolicy> {
        Spooky::build(LeveledParams { size_ratio: 4.0, level0_runs: 1 }).ok().unwrap()
    }

    #[test]
    fn the_largest_level_is_merged_group_by_group() {
        let above = [(0, 4), (5, 9), (10, 19), (20, 29)];
        let shape = cut_shape(&[(1, 0, &above), (2, 0, &[(0, 9), (10, 19), (20, 29)])]);
        let job = policy().pick(&shape).unwrap();
        assert_eq!((job.inputs.as_slice(), job.level, job.run), (&[1, 2, 5][..], 2, Some(300)));
        // The drain continues although the level is no longer full, because the largest level has a newer SSTable.
        let mut shape = cut_shape(&[(1, 0, &above[2..]), (2, 0, &[(0, 9), (10, 19), (20, 29)])]);
        assert_eq!(policy().pick(&shape).unwrap().inputs, [1, 4]);
        shape.levels.levels[1].runs[0].tables[0].id = 99;
        assert_eq!(policy().pick(&shape), None);
    }

    #[test]
    fn small_tables_are_merged_together() {
        let mut shape = cut_shape(&[
            (1, 0, &[(0, 9), (10, 19), (20, 29), (30, 39)]),
            (2, 0, &[(0, 9), (10, 19), (20, 39)]),
        ]);
        shape.levels.levels[2].runs[0].tables[0].bytes = 10;
        assert_eq!(policy().pick(&shape).unwrap().inputs, [1, 2, 5, 6]);
    }

    #[test]
    fn what_enters_the_level_above_the_largest_is_cut_at_its_tables() {
        let shape = cut_shape(&[(0, 0, &[(0, 99)]), (2, 0, &[(0, 9), (10, 19), (20, 29)])]);
        let job = policy().pick(&shape).unwrap();
        assert_eq!((job.level, job.action), (1, Action::Merge));
        let cuts: Vec<u8> = policy().cuts(&shape, &job).iter().map(|cut| cut[0]).collect();
        assert_eq!(cuts, [10, 20]);
        assert!(policy().cuts(&shape, &Job { level: 2, ..job }).is_empty());
    }

    /// Tests the claim of the authors: the policy writes as many bytes as `leveled`, and needs as little temporary
    /// space as partial merges.
    #[test]
    fn it_writes_as_leveled_and_needs_little_space() {
        let load = SimulatedLoad {
            writes_per_flush: 1000,
            entry_bytes: 100,
            entries_per_table: 1000,
            distinct_keys: None,
        };
        let (leveled, whole) = largest_merge("leveled(size_ratio=4)", load, 250);
        let (partial, _) = largest_merge("leveled-partial(size_ratio=4, level0_runs=1)", load, 250);
        let (spooky, group) = largest_merge("spooky(size_ratio=4)", load, 250);
        assert!(whole > 0.7 && group < 0.3, "{whole} {group} of the data in one merge");
        assert!(spooky < leveled + 1.0 && spooky < partial, "{spooky} {leveled} {partial}");
    }
}
