//! Leveled compaction by single SSTables. When a level exceeds its capacity, a job compacts one SSTable of the level
//! into the next level.
//!
//! Sources: the levels of `LevelDB` and `RocksDB`; partial compaction in Sarkar, Staratzis, Zhu, Athanassoulis,
//! "Constructing and Analyzing the LSM Compaction Design Space" (VLDB 2021), sections 3.3 and 3.4. Level 0 collects
//! `level0_runs` runs, which are merged with all SSTables that they overlap in level 1. Level i ≥ 1 has one run and a
//! capacity of T^i full memtables. If the level exceeds its capacity, the [`Picker`] selects an SSTable. The picked
//! SSTable is merged with all SSTables of level i + 1 that it overlaps. If the SSTable overlaps no SSTables, it is
//! moved.
//!
//! # Costs
//! Reads and space cost as much as with [`leveled`](crate::leveled), because each level has one run. Stale data takes
//! about 1/T of the size of live data. The largest compaction has T + 1 input SSTables, and not a complete level of
//! T^i full memtables. The largest compaction also needs temporary space for T + 1 SSTables. A byte of a full level
//! overlaps about T bytes in the next level, or fewer bytes if the picker finds gaps. Each level therefore costs up
//! to T + 1 writes per byte, because the next level is always full. A compaction of complete levels costs only
//! (T+1)/2 writes per byte on average, because the next level is half full on average. If each run is one SSTable,
//! the policy writes exactly as much as `leveled`. For smaller SSTables, no closed formula is known, but the
//! simulator computes the writes (`closed_forms`, second output table).
//!
//! # Deletes
//! Two pickers also trigger compactions of SSTables in levels that are below their capacity. `most-tombstones` (TSD
//! in the study) triggers a compaction of an SSTable whose fraction of tombstones is at least `tombstone_share`.
//! `tombstone-ttl` (TSA in the study; FADE in Sarkar et al., "Lethe", SIGMOD 2020) triggers a compaction of an
//! SSTable whose tombstones are too old. The maximum age `tombstone_ttl` is divided among the levels in proportion to
//! T^i. The last level has no share of the maximum age, because a merge into the last level drops tombstones. A
//! policy has no clock, and uses SSTable numbers instead, so the age of tombstones is approximate (see [`Picker`]).
//! An exact age would require the write time of the oldest tombstone of each SSTable. In the last level, a job
//! rewrites an SSTable with old tombstones in place, and drops these tombstones.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::picker::{Picker, now, tombstones_since};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::tables::{push_down, push_level_0, rewrite};
use crate::{size_ratio, whole};

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<LeveledPartial>(
    "leveled-partial",
    "one run per level, compacted one SSTable at a time; shorter compactions than \"leveled\" at equal \
     read costs",
    "# Size ratio between a level and the level above, 1.1 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     size_ratio = 10\n\
     # Number of level-0 runs that triggers their compaction into level 1, at least 1. With more level-0\n\
     # runs, the tree writes less, but lookups read more runs.\n\
     level0_runs = 4\n\
     # Rule that selects which SSTable of a full level is compacted first. Valid values: round-robin,\n\
     # least-overlap, least-overlap-grandparent, oldest, coldest, largest, most-tombstones,\n\
     # tombstone-ttl.\n\
     picker = \"least-overlap\"\n\
     # Share of tombstones, above 0 to 1, from which an SSTable is compacted even if its level has room.\n\
     # Only the picker \"most-tombstones\" uses this share.\n\
     tombstone_share = 0.5\n\
     # Maximum age of a tombstone, as the number of SSTables that are created after it. Older tombstones\n\
     # trigger a compaction. Only the picker \"tombstone-ttl\" uses this age.\n\
     tombstone_ttl = 1000\n",
);

/// The policy `leveled-partial` with its parameters.
pub(crate) struct LeveledPartial {
    /// The size ratio T between a level and the level above.
    pub(crate) size_ratio: f64,
    /// The number of level-0 runs that triggers their compaction into level 1.
    pub(crate) level0_runs: usize,
    /// The exponent e for the capacity of level 1, which is T^e full memtables. The capacity of each deeper level is
    /// T times as large.
    pub(crate) level1_exponent: usize,
    /// The number of neighboring SSTables that one job compacts.
    pub(crate) tables_per_job: usize,
    /// The rule that selects the SSTables of a job.
    pub(crate) picker: Picker,
    /// The trigger that compacts SSTables because of their tombstones. With `None`, only full levels are compacted.
    pub(crate) deletes: Option<DeleteTrigger>,
}

/// The rule that decides when an SSTable is compacted because of its tombstones, although its level is not full.
pub(crate) enum DeleteTrigger {
    /// An SSTable is compacted if tombstones are at least this fraction of its entries.
    Share(f64),
    /// An SSTable is compacted if its oldest tombstone has been in its level for too long. Times are numbers of
    /// SSTables that the tree has created. This field is the maximum age of a tombstone, and each level has a part of
    /// it.
    Age(u64),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Params {
    size_ratio: f64,
    level0_runs: u64,
    picker: Picker,
    tombstone_share: f64,
    tombstone_ttl: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            size_ratio: 10.0,
            level0_runs: 4,
            picker: Picker::LeastOverlap,
            tombstone_share: 0.5,
            tombstone_ttl: 1000,
        }
    }
}

impl Build<dyn CompactionPolicy> for LeveledPartial {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let Params { size_ratio, level0_runs, picker, tombstone_share, tombstone_ttl } = params;
        if !(tombstone_share > 0.0 && tombstone_share <= 1.0) {
            return Err(format!("tombstone_share is {tombstone_share}; it must be above 0 and at most 1"));
        }
        let deletes = match picker {
            Picker::MostTombstones => Some(DeleteTrigger::Share(tombstone_share)),
            Picker::TombstoneTtl => Some(DeleteTrigger::Age(tombstone_ttl)),
            _ => None,
        };
        Ok(Box::new(Self {
            size_ratio: size_ratio::factor("size_ratio", size_ratio)?,
            level0_runs: size_ratio::level0_runs(level0_runs)?,
            level1_exponent: 1,
            tables_per_job: 1,
            picker,
            deletes,
        }))
    }
}

impl LeveledPartial {
    /// Returns how full the level `level` is, as a fraction of its limit. If the fraction is at least 1, the level
    /// needs a compaction.
    fn fullness(&self, shape: &Shape, level: usize) -> f64 {
        let runs = shape.runs_of(level).len();
        match level {
            0 => runs as f64 / self.level0_runs as f64,
            _ if runs > 1 => f64::INFINITY,
            _ => {
                let exponent = level - 1 + self.level1_exponent;
                shape.bytes_of(level) as f64
                    / size_ratio::grown_bytes(shape.buffer_bytes, self.size_ratio, exponent)
            }
        }
    }

    /// Returns the SSTables that the next job compacts, up to `tables_per_job`: the SSTable that the picker selects
    /// from `run`, and the SSTables after it in key order.
    fn picked<'a>(&self, shape: &Shape, level: usize, run: &'a Run<TableShape>) -> &'a [TableShape] {
        let first = self.picker.pick(shape, level, run);
        &run.tables[first..(first + self.tables_per_job).min(run.tables.len())]
    }

    /// Searches the levels from level 0 down for an SSTable that must be compacted because of its tombstones. Returns
    /// the job for the first such SSTable, or `None` if no SSTable must be compacted.
    fn delete_job(&self, shape: &Shape) -> Option<Job> {
        let trigger = self.deletes.as_ref()?;
        let (now, bottom) = (now(shape), shape.last_level());
        let is_due = |level: usize, table: &TableShape| match *trigger {
            DeleteTrigger::Share(floor) => {
                table.tombstones > 0 && table.tombstones as f64 >= floor * table.entries as f64
            }
            DeleteTrigger::Age(ttl) => tombstones_since(shape, level, table)
                .is_some_and(|since| (now - since) as f64 >= self.ttl_of_level(ttl, level, bottom)),
        };
        shape.levels.runs().find_map(|(level, run)| {
            let table = run.tables.iter().find(|table| is_due(level, table))?;
            Some(match level {
                0 => push_level_0(shape),
                _ if level == bottom => rewrite(level, run, table),
                _ => push_down(shape, level, std::slice::from_ref(table), true),
            })
        })
    }

    /// Returns the time that a tombstone may spend in `level` before it triggers a compaction. The time is a part of
    /// the maximum age `ttl` of a tombstone.
    ///
    /// The part of level i is proportional to T^i, and the parts of all levels above the last level have the sum `ttl`.
    /// For the last level (`bottom`), the result is `ttl`.
    fn ttl_of_level(&self, ttl: u64, level: usize, bottom: usize) -> f64 {
        if level == bottom {
            return ttl as f64;
        }
        let size = |level| size_ratio::grown_bytes(1, self.size_ratio, level);
        ttl as f64 * size(level) / (0..bottom).map(size).sum::<f64>()
    }
}

impl CompactionPolicy for LeveledPartial {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let Some(level) = whole::fullest(shape, |level| self.fullness(shape, level)) else {
            return self.delete_job(shape);
        };
        let runs = shape.runs_of(level);
        Some(match runs {
            _ if level == 0 => push_level_0(shape),
            [run] => push_down(shape, level, self.picked(shape, level, run), true),
            // Another policy left several runs in the level.
            _ => whole::merge_within(shape, level),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Action;
    use crate::testing::cut_shape;

    fn policy(picker: Picker, deletes: Option<DeleteTrigger>) -> LeveledPartial {
        LeveledPartial {
            size_ratio: 2.0,
            level0_runs: 2,
            level1_exponent: 1,
            tables_per_job: 1,
            picker,
            deletes,
        }
    }

    fn pick(shape: &Shape) -> Option<(Vec<u64>, usize, Option<u64>, Action)> {
        let job = policy(Picker::LeastOverlap, None).pick(shape)?;
        assert_eq!(job.validate(&shape.levels), Ok(()));
        Some((job.inputs, job.level, job.run, job.action))
    }

    #[test]
    fn level_0_leaves_alone_what_it_does_not_overlap() {
        assert_eq!(pick(&cut_shape(&[(0, 1, &[(0, 9)]), (1, 0, &[(5, 6)])])), None);
        let level0 = [(0, 2, &[(1, 2)][..]), (0, 1, &[(0, 9)]), (0, 0, &[(5, 20)])];
        let shape = cut_shape(&[&level0[..], &[(1, 0, &[(15, 18), (21, 30)])]].concat());
        assert_eq!(pick(&shape), Some((vec![1, 2, 3, 4], 1, Some(200), Action::Merge)));
    }

    #[test]
    fn a_full_level_hands_down_one_table() {
        let shape = cut_shape(&[(1, 0, &[(0, 9), (10, 19)]), (2, 0, &[(0, 1), (2, 3), (15, 16)])]);
        assert_eq!(pick(&shape), Some((vec![2, 5], 2, Some(300), Action::Merge)));
        let shape = cut_shape(&[(1, 0, &[(0, 9), (10, 19)]), (2, 0, &[(0, 1), (2, 3), (25, 26)])]);
        assert_eq!(pick(&shape), Some((vec![2], 2, Some(300), Action::Move)));
        let shape = cut_shape(&[(1, 0, &[(0, 9), (10, 19)])]);
        assert_eq!(pick(&shape), Some((vec![1], 2, None, Action::Move)));
    }

    #[test]
    fn neighbours_go_together_where_a_job_takes_several() {
        let shape = cut_shape(&[(1, 0, &[(0, 9), (10, 19), (20, 29)])]);
        let two = LeveledPartial { tables_per_job: 2, ..policy(Picker::Coldest, None) };
        assert_eq!(two.pick(&shape).unwrap().inputs, [1, 2]);
    }

    #[test]
    fn tables_of_tombstones_go_down_to_the_last_level_and_vanish() {
        let mut shape = cut_shape(&[(1, 0, &[(0, 9)]), (2, 0, &[(0, 9), (10, 19)]), (3, 0, &[(0, 19)])]);
        let dense = policy(Picker::MostTombstones, Some(DeleteTrigger::Share(0.5)));
        assert_eq!(dense.pick(&shape), None);
        shape.levels.levels[2].runs[0].tables[1].tombstones = 5;
        let job = dense.pick(&shape).unwrap();
        assert_eq!((job.inputs.as_slice(), job.level), (&[3, 4][..], 3));
        shape.levels.levels[2].runs[0].tables[1].tombstones = 4;
        assert_eq!(dense.pick(&shape), None);
        shape.levels.levels[3].runs[0].tables[0].tombstones = 10;
        let job = dense.pick(&shape).unwrap();
        assert_eq!((job.inputs.as_slice(), job.level, job.run), (&[4][..], 3, Some(400)));
        assert!(job.reaches_bottom(&shape.levels));
    }

    #[test]
    fn the_time_of_a_tombstone_is_shared_among_the_levels() {
        let policy = policy(Picker::TombstoneTtl, Some(DeleteTrigger::Age(70)));
        let times: Vec<u64> = (0..4).map(|level| policy.ttl_of_level(70, level, 3) as u64).collect();
        assert_eq!(times, [10, 20, 40, 70]);
    }

    #[test]
    fn old_tombstones_go_down() {
        let mut shape = cut_shape(&[(1, 0, &[(0, 9)]), (2, 0, &[(0, 9)]), (3, 0, &[(0, 9)])]);
        shape.levels.levels[1].runs[0].tables[0].tombstones = 1;
        shape.levels.levels[1].runs[0].tables[0].id = 50;
        let ttl = |ttl| policy(Picker::TombstoneTtl, Some(DeleteTrigger::Age(ttl))).pick(&shape);
        // After SSTable 2 of the next level, 48 SSTables were created. The part of level 1 is two sevenths of the
        // maximum age.
        assert_eq!(ttl(168).map(|job| job.inputs), Some(vec![50, 2]));
        assert_eq!(ttl(169), None);
    }
}
