//! Leveled compaction table by table: a level above its capacity compacts one table at a time into the next level.
//!
//! Sources: the levels of `LevelDB` and `RocksDB`; partial compaction in Sarkar, Staratzis, Zhu, Athanassoulis,
//! "Constructing and Analyzing the LSM Compaction Design Space" (VLDB 2021), sections 3.3 and 3.4. Level 0 collects
//! `level0_runs` runs, which are merged together with the tables that they overlap in level 1. Level i ≥ 1 is one run
//! of at most T^i buffers. Above that size, the [`Picker`] selects a table, which is merged with the tables that it
//! overlaps in level i + 1. If the table overlaps no tables, it is moved.
//!
//! # What it costs
//! Reads and space are those of [`leveled`](crate::leveled): one run per level, and stale data of about 1/T of the live
//! data. The longest compaction is T + 1 tables instead of a complete level of T^i buffers, and needs only that much
//! transient space. A byte compacted from a full level overlaps about T bytes below, or fewer if the picker finds gaps.
//! A level therefore costs up to T + 1 writes. A whole-level compaction pays only (T+1)/2 on average, because the level
//! below may be anywhere from empty to full. With this policy, levels are always full. With tables as large as runs,
//! the policy writes exactly as much as `leveled`. For smaller tables there is no closed form, but the simulator has
//! the numbers (`closed_forms`, second table).
//!
//! # Deletes
//! Two pickers have their own triggers, so that a table may be compacted although its level has room. `most-tombstones`
//! (TSD in the study) takes tables whose fraction of tombstones is at least `tombstone_share`. `tombstone-ttl` (TSA;
//! FADE in Sarkar et al., "Lethe", SIGMOD 2020) takes tables whose tombstones are too old. Each level may spend a part
//! of the time `tombstone_ttl`, in proportion to T^i. The last level has no such part, because tombstones are dropped
//! when they arrive there. The only clock of a shape is its table numbers, so the age of tombstones is an
//! approximation: see [`Picker`]. A strict time limit would need tables that record when their oldest tombstone was
//! written. In the last level, such a table is rewritten in place, and its tombstones are dropped.

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
    "one run per level, compacted table by table; short compactions, and the same reads as leveled",
    "# Size ratio between a level and the level above, 1.1 to 1000000. A larger ratio gives fewer levels,\n\
     # but more writes per level.\n\
     size_ratio = 10\n\
     # Number of level-0 runs that triggers their compaction into level 1, at least 1. A larger number\n\
     # gives fewer writes, but more runs to read.\n\
     level0_runs = 4\n\
     # Rule that selects the SSTable of a full level that is compacted first. Valid: round-robin,\n\
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

/// The leveled-partial policy with its parameters.
pub(crate) struct LeveledPartial {
    /// Size ratio T.
    pub(crate) size_ratio: f64,
    /// Number of runs that level 0 gathers.
    pub(crate) level0_runs: usize,
    /// Capacity of level 1 in buffers, as an exponent of T. Each deeper level takes T times as many buffers.
    pub(crate) level1_exponent: usize,
    /// Number of neighbouring tables that one job compacts.
    pub(crate) tables_per_job: usize,
    /// Rule that selects the tables.
    pub(crate) picker: Picker,
    /// Trigger for tables that are compacted although their level has room, if any.
    pub(crate) deletes: Option<DeleteTrigger>,
}

/// Trigger that compacts tables because of their tombstones.
pub(crate) enum DeleteTrigger {
    /// Tables with at least this fraction of tombstones.
    Share(f64),
    /// Tables whose tombstones are too old. The age limit is a number of created tables, divided among the levels.
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
            return Err(format!(
                "tombstone_share is {tombstone_share}; it must be above 0 and at most 1: a share of entries"
            ));
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
    /// Returns the fill ratio of a level; at 1 the level needs a job.
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

    /// Returns the table that the picker selects, and the next tables in key order up to the limit of a job.
    fn picked<'a>(&self, shape: &Shape, level: usize, run: &'a Run<TableShape>) -> &'a [TableShape] {
        let first = self.picker.pick(shape, level, run);
        &run.tables[first..(first + self.tables_per_job).min(run.tables.len())]
    }

    /// Returns the job of the first table, from level 0 on, that must be compacted because of its tombstones.
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

    /// Returns the part of `ttl` that a tombstone may spend in `level`. The parts are in proportion to the sizes of
    /// the levels and add up to `ttl` above the last level. A tombstone in the last level arrived by a move and has no
    /// time left there beyond the whole `ttl`.
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
            // Several runs left by another policy.
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
        // Table 2 below was made 48 tables ago; level 1 has two sevenths of the time.
        assert_eq!(ttl(168).map(|job| job.inputs), Some(vec![50, 2]));
        assert_eq!(ttl(169), None);
    }
}
