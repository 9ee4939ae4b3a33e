//! The policy `guards`, which is tiering within key ranges. Guard keys divide each level into key ranges. A merge into
//! a level does not rewrite the existing data of this level.
//!
//! The SSTables of a level may overlap and are called fragments. All fragments that overlap each other, directly or
//! through other fragments, form a group. If a group has fragments from T runs, the group is merged into the next
//! level. The output is divided at the guard keys. The output is added to the fragments of the next level without a
//! merge. Source: Raju, Kadekodi, Chidambaram, Abraham, "`PebblesDB`: Building Key-Value Stores using Fragmented
//! Log-Structured Merge Trees" (SOSP 2017), section 3.
//!
//! `PebblesDB` selects guards among the inserted keys by a hash. A policy of this crate receives only the key ranges of
//! SSTables, so the first keys of groups are the guards. The first key of each group is a guard of its level, so two
//! groups never become one group. A hash of the key selects one in T guards of a level. The selected keys are also
//! guards of the level above. Each level therefore has about T times as many guards as the level above. A guard of a
//! level is a guard of all deeper levels.
//!
//! Level 0 is merged as a whole when it has T runs. SSTables of level 0 are moved instead if they overlap neither each
//! other nor SSTables of level 1. Let i be the number of the last level. While levels i − 1 and i together have less
//! than T^(i+1) full memtables of data, groups of level i are merged within level i, and not into a new level. Such a
//! merge removes overwritten data.
//!
//! # Costs
//! An entry is written once per level, as with [`tiered`](crate::tiered). A lookup searches at most T − 1 SSTables per
//! level. A merge reads only the SSTables of one key range, as with [`leveled-partial`](crate::leveled_partial). Merges
//! are therefore short, and need little temporary space. Key ranges without writes are not merged. If each run is one
//! SSTable, each level has one group, and the policy equals `tiered`.

use std::sync::Arc;

use catalog::{Build, Variant};
use types::SplitMix64;

use crate::groups::{Group, groups, oldest_with_room, push_level_0};
use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::size_ratio;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Guards>(
    "guards",
    "tiered by key range (PebblesDB); few writes and short compactions, but several runs per level",
    "# Number of overlapping SSTables of a key range that triggers their merge into the next level, 2 to\n\
     # 1000000. This number is also the size ratio of levels. With more SSTables, the tree writes less, but\n\
     # lookups and scans read more runs.\n\
     size_ratio = 10\n",
);

/// The policy `guards` with its parameter T, the number of runs that triggers a merge.
struct Guards {
    size_ratio: usize,
}

impl Build<dyn CompactionPolicy> for Guards {
    type Params = size_ratio::RunRatioParams;

    fn build(params: Self::Params) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self { size_ratio: params.runs()? }))
    }
}

impl Guards {
    /// Returns the job that merges `group`, a group of overlapping SSTables from T or more runs. The output goes to the
    /// next level. As an exception, it stays in the last level while this level and the level above together are not
    /// full.
    fn merge(&self, shape: &Shape, level: usize, group: &Group<'_>) -> Job {
        let capacity = size_ratio::grown_bytes(shape.buffer_bytes, self.size_ratio as f64, level + 1);
        let inputs = group.inputs();
        // The level above may be partly merged into this level, because groups are merged one after another.
        let bytes = shape.bytes_of(level) + shape.bytes_of(level - 1);
        if level == shape.last_level() && (bytes as f64) < capacity {
            let oldest = group.runs.iter().max().map(|run| shape.runs_of(level)[*run].id);
            return Job { inputs, level, run: oldest, action: Action::Merge };
        }
        let run = oldest_with_room(shape, level + 1, group.smallest, group.largest);
        Job { inputs, level: level + 1, run, action: Action::Merge }
    }

    /// Returns whether the outputs of merges into `level` are divided at `key` (whether the key is a guard). `key` is
    /// the first key of a group of overlapping SSTables in a deeper level.
    fn is_guard(&self, shape: &Shape, level: usize, key: &[u8]) -> bool {
        let chosen = (level..shape.last_level()).fold(u64::MAX, |share, _| share / self.size_ratio as u64);
        key.iter().fold(0, |hash, byte| SplitMix64::new(hash ^ u64::from(*byte)).next_u64()) <= chosen
    }
}

impl CompactionPolicy for Guards {
    /// Picks the job of the deepest level first. Otherwise, merges of upper levels would add SSTables to groups that
    /// are already full.
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let due = (1..=shape.last_level()).rev().find_map(|level| {
            let groups = groups(shape, level);
            let group = groups.iter().find(|group| group.fragments().len() >= self.size_ratio)?;
            Some(self.merge(shape, level, group))
        });
        due.or_else(|| (shape.runs_of(0).len() >= self.size_ratio).then(|| push_level_0(shape)))
    }

    fn cuts(&self, shape: &Shape, job: &Job) -> Vec<Arc<[u8]>> {
        let levels = job.level..=shape.last_level();
        let is_within = shape
            .runs_of(job.level)
            .iter()
            .any(|run| run.tables.iter().any(|table| job.inputs.contains(&table.id)));
        // The output of a merge within a level is divided by size only.
        if job.action != Action::Merge || is_within {
            return Vec::new();
        }
        let mut guards: Vec<Arc<[u8]>> = levels
            .flat_map(|level| groups(shape, level).into_iter().map(move |group| (level, group)))
            .filter(|(level, group)| *level == job.level || self.is_guard(shape, job.level, group.smallest))
            .map(|(_, group)| Arc::clone(group.smallest))
            .collect();
        guards.sort();
        guards.dedup();
        guards
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{RunId, TableId};
    use crate::simulate::{SimulatedLoad, simulate};
    use crate::testing::{cut_shape, largest_merge};

    fn policy(size_ratio: usize) -> Guards {
        Guards { size_ratio }
    }

    fn pick(size_ratio: usize, shape: &Shape) -> Option<(Vec<TableId>, usize, Option<RunId>, Action)> {
        let job = policy(size_ratio).pick(shape)?;
        assert_eq!(job.validate(&shape.levels), Ok(()));
        Some((job.inputs, job.level, job.run, job.action))
    }

    #[test]
    fn a_key_range_with_enough_fragments_goes_down_alone() {
        let level1 = [(1, 1, &[(0, 9), (20, 29)][..]), (1, 0, &[(5, 9), (30, 39)])];
        assert_eq!(pick(3, &cut_shape(&level1)), None);
        // The group has two fragments with the keys 0 to 9. In the next level, the older run has space for these
        // keys, and the newer run does not.
        let full = [&level1[..], &[(2, 0, &[(20, 29)])]].concat();
        assert_eq!(pick(2, &cut_shape(&full)), Some((vec![1, 3], 2, Some(300), Action::Merge)));
        let blocked = [&level1[..], &[(2, 1, &[(9, 12)]), (2, 0, &[(20, 29)])]].concat();
        assert_eq!(pick(2, &cut_shape(&blocked)), Some((vec![1, 3], 2, None, Action::Merge)));
    }

    #[test]
    fn the_last_level_is_merged_within_itself_until_it_is_full() {
        let two = [(1, 1, &[(0, 9), (20, 29)][..]), (1, 0, &[(5, 9)])];
        assert_eq!(pick(2, &cut_shape(&two)), Some((vec![1, 3], 1, Some(200), Action::Merge)));
        // The four buffers of data are the capacity of level 1, T² buffers.
        let four = [(1, 1, &[(0, 9), (20, 29)][..]), (1, 0, &[(5, 9), (30, 39)])];
        assert_eq!(pick(2, &cut_shape(&four)), Some((vec![1, 3], 2, None, Action::Merge)));
    }

    #[test]
    fn runs_in_key_order_are_moved() {
        let level0 = [(0, 1, &[(50, 59)][..]), (0, 0, &[(40, 49)])];
        let below = |tables| [&level0[..], &[(1, 0, tables)]].concat();
        assert_eq!(pick(2, &cut_shape(&below(&[(0, 9)]))), Some((vec![1, 2], 1, Some(200), Action::Move)));
        assert_eq!(pick(2, &cut_shape(&below(&[(45, 46)]))), Some((vec![1, 2], 1, None, Action::Merge)));
    }

    #[test]
    fn outputs_are_cut_at_the_groups_of_their_level() {
        let level0 = [(0, 2, &[(0, 99)][..]), (0, 1, &[(0, 99)]), (0, 0, &[(0, 99)])];
        let shape = cut_shape(&[&level0[..], &[(1, 1, &[(5, 9)]), (1, 0, &[(0, 7), (50, 59)])]].concat());
        let job = policy(3).pick(&shape).unwrap();
        assert_eq!((job.level, job.action), (1, Action::Merge));
        let cuts: Vec<u8> = policy(3).cuts(&shape, &job).iter().map(|cut| cut[0]).collect();
        assert_eq!(cuts, [0, 50]);
        let within = Job { inputs: vec![4, 5], level: 1, run: Some(200), action: Action::Merge };
        assert_eq!(policy(3).cuts(&shape, &within).len(), 0);
    }

    /// Tests that guards of a level are also guards of all deeper levels. For one in T groups of a level, the first key
    /// is a guard of the level above.
    #[test]
    fn guards_of_a_level_are_guards_of_all_deeper_levels() {
        let tables: Vec<(u8, u8)> = (0..=120).map(|at| (2 * at, 2 * at)).collect();
        let shape = cut_shape(&[(1, 0, &tables[..1]), (3, 0, &tables)]);
        let guards = |level: usize| -> Vec<u8> {
            let is_guard = |key: &u8| policy(3).is_guard(&shape, level, &[*key]);
            tables.iter().map(|(key, _)| *key).filter(is_guard).collect()
        };
        let [upper, middle, lower] = [1, 2, 3].map(guards);
        assert!(upper.iter().all(|key| middle.contains(key)) && lower.len() == tables.len());
        assert!((6..22).contains(&upper.len()) && (28..54).contains(&middle.len()), "{upper:?} {middle:?}");
    }

    /// Tests the claim of the authors: the policy writes 2.4 to 3 times fewer bytes than `leveled-partial`. The
    /// longest merge is as short as with `leveled-partial`, and far shorter than with `tiered`.
    #[test]
    fn it_writes_as_tiered_in_short_merges() {
        let load = SimulatedLoad {
            writes_per_flush: 1000,
            entry_bytes: 100,
            entries_per_table: 1000,
            distinct_keys: None,
        };
        let (tiered, whole) = largest_merge("tiered(size_ratio=4)", load, 255);
        let (guards, group) = largest_merge("guards(size_ratio=4)", load, 255);
        let (partial, _) = largest_merge("leveled-partial", load, 255);
        assert!(guards <= tiered && partial > 2.4 * guards, "{guards} {tiered} {partial}");
        assert!(whole > 0.2 && group < 0.02, "{whole} {group} of the data in one merge");
    }

    /// Tests that merges remain short if keys are overwritten. Merges within the last level change the first keys of
    /// SSTables, and therefore the guards.
    #[test]
    fn merges_stay_short_where_keys_are_overwritten() {
        let load = SimulatedLoad {
            writes_per_flush: 1000,
            entry_bytes: 100,
            entries_per_table: 500,
            distinct_keys: Some(60_000),
        };
        let (_, whole) = largest_merge("tiered(size_ratio=4)", load, 500);
        let (guards, group) = largest_merge("guards(size_ratio=4)", load, 500);
        let (partial, _) = largest_merge("leveled-partial", load, 500);
        assert!(group < 0.1 * whole && guards < partial, "{guards} {partial} {whole} {group}");
    }

    #[test]
    fn one_table_per_run_makes_it_tiered() {
        let load = SimulatedLoad {
            writes_per_flush: 1000,
            entry_bytes: 100,
            entries_per_table: u64::MAX,
            distinct_keys: None,
        };
        let simulated = |label: &str| {
            let policy = crate::CATALOG.build(&crate::CATALOG.choose(&label.into()).unwrap()).unwrap();
            simulate(&*policy, load, 200).unwrap()
        };
        let (guards, tiered) = (simulated("guards(size_ratio=3)"), simulated("tiered(size_ratio=3)"));
        assert!((guards.write_amp() - tiered.write_amp()).abs() < 1e-12, "{guards:?} {tiered:?}");
    }
}
