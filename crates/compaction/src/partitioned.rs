//! The policy `partitioned`. Level 1 is divided into key ranges, called partitions. Each partition decides between
//! tiering and leveling by its own SSTables.
//!
//! Source: Zhong, Chen, Wu, Jiang, "REMIX: Efficient Range Query for LSM-trees" (FAST 2021), section 4.2, the
//! compactions of `RemixDB`. New data of a partition is added to the partition by one of three compactions:
//!
//! * **Minor.** The new data becomes new SSTables, and no existing SSTable is rewritten. A partition is tiered as long
//!   as only minor compactions occur.
//! * **Major.** If a partition has too many SSTables, the newest of its runs are merged into one run. The merge takes
//!   the number of runs that gives the highest ratio of input SSTables to output SSTables.
//! * **Split.** If no merge has a high ratio, the partition consists of large SSTables. A merge then rewrites the
//!   complete partition into one run, as leveling does. Each two neighboring SSTables of the output become a new
//!   partition.
//!
//! `RemixDB` splits a memtable into partitions. A flush of this tree writes level 0 first, so `level0_runs` flushes
//! together are the new data of a minor compaction. `RemixDB` also leaves the new data of a partition in the memtable
//! if a compaction would move too few bytes. Here, `level0_runs` has this purpose. `RemixDB` limits the SSTables of a
//! partition, because its index reads all of them. Here, `partition_runs` limits the runs, because a lookup searches
//! one SSTable of each run.
//!
//! A policy has no state, so the overlaps of SSTables define the partitions. SSTables of a partition overlap directly
//! or through other SSTables ([`groups`]). Minor compactions divide their output at the first keys of partitions. If
//! another policy leaves data below level 1, one merge brings the data to level 1.
//!
//! # Costs
//! A lookup searches fewer than `partition_runs` SSTables below level 0. An entry is written by its flush, by a minor
//! compaction, by some major compactions, and by splits. The number of major compactions rises with the number of
//! partitions, because the new data of a partition is then smaller. If writes concentrate on some key ranges, the new
//! data of their partitions is larger, and other partitions are not rewritten.

use std::sync::Arc;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::groups::{Group, groups, push_level_0};
use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::size_ratio;
use crate::tables::overlapping;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Partitioned>(
    "partitioned",
    "each key range is tiered or leveled, depending on its data (RemixDB); few writes if the workload \
     writes few key ranges",
    "# Number of runs of a partition that triggers a compaction of the partition, 2 to 1000000. With more\n\
     # runs, the tree writes less, but lookups and scans read more runs.\n\
     partition_runs = 10\n\
     # Number of level-0 runs that triggers their compaction into level 1, at least 1. With more level-0\n\
     # runs, the SSTables of partitions are larger and the tree writes less, but lookups read more runs.\n\
     level0_runs = 4\n",
);

/// The number of SSTables of a new partition (M in the paper about REMIX).
const TABLES_OF_NEW_PARTITION: usize = 2;

/// The policy `partitioned` with its parameters.
struct Partitioned {
    partition_runs: usize,
    level0_runs: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    partition_runs: u64,
    level0_runs: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self { partition_runs: 10, level0_runs: 4 }
    }
}

impl Build<dyn CompactionPolicy> for Partitioned {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self {
            partition_runs: size_ratio::runs("partition_runs", params.partition_runs)?,
            level0_runs: size_ratio::level0_runs(params.level0_runs)?,
        }))
    }
}

impl Partitioned {
    /// Returns the next job of a partition with too many runs: a merge of its newest runs (major compaction), or a
    /// merge of the complete partition into new partitions (split).
    fn compact(&self, shape: &Shape, partition: &Group<'_>) -> Job {
        let runs = partition.fragments();
        let ratio = |newest: usize| input_ratio(shape, partition, runs[newest - 1]);
        let best = (2..=runs.len()).max_by(|one, other| {
            // Among equal ratios, the merge of fewer runs writes fewer bytes.
            ratio(*one).total_cmp(&ratio(*other)).then(other.cmp(one))
        });
        let is_split = |newest: &usize| ratio(*newest) * 2.0 < self.partition_runs as f64;
        let taken = best.filter(|newest| !is_split(newest)).unwrap_or(runs.len());
        let oldest = runs[taken - 1];
        Job {
            inputs: newest_tables(partition, oldest).map(|table| table.id).collect(),
            level: 1,
            run: Some(shape.runs_of(1)[oldest].id),
            action: Action::Merge,
        }
    }
}

/// Returns the SSTables of a partition that are in the run with the index `oldest` or in a newer run.
fn newest_tables<'a>(partition: &Group<'a>, oldest: usize) -> impl Iterator<Item = &'a TableShape> {
    let with_runs = partition.tables.iter().zip(&partition.runs);
    with_runs.filter(move |(_, run)| **run <= oldest).map(|(table, _)| *table)
}

/// Returns the number of input SSTables per output SSTable of a merge in a partition, which shows whether the merge is
/// worth its cost. The inputs are the run with the index `oldest` and all newer runs. An output SSTable is assumed to
/// be as large as the largest SSTable of the tree.
fn input_ratio(shape: &Shape, partition: &Group<'_>, oldest: usize) -> f64 {
    let largest = shape.levels.tables().map(|(_, table)| table.bytes).max().unwrap_or(0).max(1);
    let (count, bytes) = newest_tables(partition, oldest)
        .fold((0, 0), |(count, bytes), table| (count + 1u64, bytes + table.bytes));
    count as f64 / bytes.div_ceil(largest).max(1) as f64
}

/// Returns a job that moves SSTables of level 1 into older runs of level 1, so that the level has fewer runs. An
/// SSTable must not move past an SSTable that it overlaps. Returns `None` if no SSTable can move.
fn sink(shape: &Shape) -> Option<Job> {
    let runs = shape.runs_of(1);
    let reached = |at: usize, table: &TableShape| {
        let has_room = |run: &&Run<TableShape>| overlapping(run, &table.smallest, &table.largest).is_empty();
        at + runs[at + 1..].iter().take_while(has_room).count()
    };
    (0..runs.len()).rev().find_map(|at| {
        let reached: Vec<usize> = runs[at].tables.iter().map(|table| reached(at, table)).collect();
        let target = *reached.iter().filter(|target| **target > at).max()?;
        let moved = runs[at].tables.iter().zip(&reached).filter(|(_, reached)| **reached == target);
        Some(Job {
            inputs: moved.map(|(table, _)| table.id).collect(),
            level: 1,
            run: Some(runs[target].id),
            action: Action::Move,
        })
    })
}

/// Returns the job that merges all data of level 1 and of all deeper levels into one run of level 1.
fn gather(shape: &Shape) -> Job {
    let tables = shape.levels.tables().filter(|(place, _)| place.level > 0);
    Job { inputs: tables.map(|(_, table)| table.id).collect(), level: 1, run: None, action: Action::Merge }
}

impl CompactionPolicy for Partitioned {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        if shape.last_level() > 1 {
            return Some(gather(shape));
        }
        let runs = shape.runs_of(1).len();
        if runs >= self.partition_runs {
            let partitions = groups(shape, 1);
            let full = partitions.iter().find(|group| group.fragments().len() >= self.partition_runs);
            if let Some(job) = full.map(|partition| self.compact(shape, partition)).or_else(|| sink(shape)) {
                return Some(job);
            }
        }
        (shape.runs_of(0).len() >= self.level0_runs).then(|| push_level_0(shape))
    }

    fn cuts(&self, shape: &Shape, job: &Job) -> Vec<Arc<[u8]>> {
        let is_minor =
            shape.runs_of(0).iter().any(|run| run.tables.iter().any(|table| job.inputs.contains(&table.id)));
        if job.action != Action::Merge || !is_minor {
            return Vec::new();
        }
        let (mut cuts, mut single_tables) = (Vec::new(), 0);
        for group in groups(shape, 1) {
            let is_single = group.tables.len() == 1;
            if is_single && (1..TABLES_OF_NEW_PARTITION).contains(&single_tables) {
                single_tables += 1;
                continue;
            }
            cuts.push(Arc::clone(group.smallest));
            single_tables = usize::from(is_single);
        }
        // The first partition begins at the smallest possible key.
        cuts.into_iter().skip(1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::SimulatedLoad;
    use crate::testing::{CutRun, cut_shape, largest_merge};

    fn policy(partition_runs: usize) -> Partitioned {
        Partitioned { partition_runs, level0_runs: 2 }
    }

    fn pick(partition_runs: usize, runs: &[CutRun<'_>]) -> Option<(Vec<u64>, Option<u64>, Action)> {
        let shape = cut_shape(runs);
        let job = policy(partition_runs).pick(&shape)?;
        assert_eq!((job.level, job.validate(&shape.levels)), (1, Ok(())));
        Some((job.inputs, job.run, job.action))
    }

    #[test]
    fn level_0_is_added_without_a_rewrite() {
        let level0 = [(0, 1, &[(0, 99)][..]), (0, 0, &[(0, 99)])];
        let shape = cut_shape(
            &[&level0[..], &[(1, 1, &[(12, 25)]), (1, 0, &[(1, 9), (10, 19), (20, 29), (30, 39), (40, 49)])]]
                .concat(),
        );
        let job = policy(3).pick(&shape).unwrap();
        assert_eq!((&*job.inputs, job.level, job.run, job.action), (&[1, 2][..], 1, None, Action::Merge));
        // The partition from 10 to 29 has two runs. The SSTables from 30 and from 40 become one partition, and the
        // partition of the smallest keys has no cut.
        let cuts: Vec<u8> = policy(3).cuts(&shape, &job).iter().map(|cut| cut[0]).collect();
        assert_eq!(cuts, [10, 30]);
        assert_eq!(policy(3).cuts(&shape, &Job { inputs: vec![3, 4], ..job }).len(), 0);
    }

    #[test]
    fn a_full_partition_merges_the_newest_runs_with_the_highest_ratio() {
        // The three newest runs have the size of one SSTable together.
        let runs = [(1, 3, &[(0, 9), (20, 29)][..]), (1, 2, &[(0, 9)]), (1, 1, &[(0, 9)]), (1, 0, &[(0, 9)])];
        let mut shape = cut_shape(&runs);
        for run in &mut shape.levels.levels[1].runs[..3] {
            run.tables[0].bytes = 33;
        }
        let job = policy(4).pick(&shape).unwrap();
        assert_eq!((&*job.inputs, job.run), (&[1, 3, 4][..], Some(201)));
        // Merges of large SSTables have the ratio 1, so the partition is rewritten and split. Its neighbor is not.
        assert_eq!(pick(4, &runs), Some((vec![1, 3, 4, 5], Some(200), Action::Merge)));
        assert_eq!(pick(5, &runs), None);
    }

    #[test]
    fn tables_sink_to_the_oldest_run_with_room() {
        let runs = [(1, 2, &[(0, 9), (40, 49)][..]), (1, 1, &[(0, 9), (20, 29)]), (1, 0, &[(20, 29)])];
        assert_eq!(pick(3, &runs), Some((vec![3], Some(200), Action::Move)));
        let sunk = [(1, 2, &[(0, 9), (40, 49)][..]), (1, 1, &[(20, 29)]), (1, 0, &[(0, 9), (20, 29)])];
        assert_eq!(pick(3, &sunk), Some((vec![2], Some(200), Action::Move)));
        assert_eq!(pick(4, &runs), None);
    }

    #[test]
    fn data_of_deeper_levels_comes_to_level_1() {
        let runs = [(0, 0, &[(0, 9)][..]), (1, 0, &[(0, 9)]), (3, 0, &[(0, 99)])];
        assert_eq!(pick(3, &runs), Some((vec![2, 3], None, Action::Merge)));
    }

    /// Tests that the policy writes far less than `leveled-partial`, in merges of one partition.
    #[test]
    fn it_writes_little_in_short_merges() {
        let load = SimulatedLoad {
            writes_per_flush: 1000,
            entry_bytes: 100,
            entries_per_table: 1000,
            distinct_keys: None,
        };
        let (partial, _) = largest_merge("leveled-partial", load, 255);
        let (partitioned, largest) = largest_merge("partitioned", load, 255);
        assert!(partial > 2.0 * partitioned && largest < 0.1, "{partial} {partitioned} {largest}");
    }

    /// Tests that overwrites do not make partitions grow, and that the tree remains below twice the size of its keys.
    #[test]
    fn overwritten_data_leaves_the_tree() {
        let load = SimulatedLoad {
            writes_per_flush: 1000,
            entry_bytes: 100,
            entries_per_table: 500,
            distinct_keys: Some(20_000),
        };
        let policy = crate::CATALOG.build(&crate::CATALOG.choose(&"partitioned".into()).unwrap()).unwrap();
        let report = crate::simulate::simulate(&*policy, load, 500).unwrap();
        let bytes: u64 = report.levels.iter().map(|level| level.bytes).sum();
        assert!((2_000_000..6_000_000).contains(&bytes), "{bytes}");
    }
}
