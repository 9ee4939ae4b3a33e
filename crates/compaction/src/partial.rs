//! Partial tiered compaction. A job merges only some runs of a level into one run of the next level.
//!
//! Source: the document of the published system cs265, section 2.5.4, and its defaults. The document names the
//! parameter `max_runs_to_compact` and strategies for the selection of runs, but no exact rule. The strategies are
//! oldest, smallest and most overlap. Only the strategy oldest is always correct. With the other strategies, a newer
//! run could move below an older run with equal keys, and lookups would return old values. This policy therefore
//! selects a group of `max_runs` runs that are adjacent in age. A group is a candidate only if it overlaps no older run
//! of the level. The group of the oldest runs is always a candidate. If keys are evenly distributed, this group is the
//! only candidate. The selection strategy chooses among the candidates.
//!
//! # Costs
//! Let T be `run_threshold` and m be `max_runs`. Whenever a level has T runs, the oldest m runs are compacted. The runs
//! of a level are therefore m times as large as the runs of the level above. After a compaction, T − m runs remain in
//! the level, and the level has at most T − 1 runs at rest. Let a(i) be the number of runs that level i has received,
//! where a(0) is the number N of flushes with distinct keys. If a(i) ≥ T, level i + 1 has received a(i+1) = ⌊(a(i) −
//! T)/m⌋ + 1 runs of m^(i+1) full memtables. Write amplification is exactly 1 + Σ a(i)·m^i / N for i ≥ 1. An entry is
//! written once per level, as with [`tiered`](crate::tiered). The tree has about ln N / ln m levels. If m = T, the
//! policy equals `tiered`. A compaction merges m runs instead of T runs, so compactions are shorter, but lookups search
//! more runs.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use crate::job::{Action, Job};
use crate::policy::CompactionPolicy;
use crate::shape::{Run, Shape, TableShape};
use crate::tables::overlapping;
use crate::whole;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Partial>(
    "partial",
    "like \"tiered\", but a compaction takes only some runs of a level; shorter compactions, more levels",
    "# Number of runs in a level that triggers a compaction, at least 2. With more runs, lookups are\n\
     # slower.\n\
     run_threshold = 4\n\
     # Maximum number of runs per compaction, at least 2. With run_threshold or more, a compaction takes\n\
     # all runs of the level.\n\
     max_runs = 3\n\
     # Rule that selects the runs of a compaction. Valid values: oldest, smallest, most-overlap. The rule\n\
     # selects only runs that overlap no older run of their level.\n\
     selection = \"oldest\"\n",
);

/// The policy `partial` with its parameters.
struct Partial {
    run_threshold: usize,
    max_runs: usize,
    selection: Selection,
}

/// The rule that selects the runs of a compaction: a group of runs that are adjacent in age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Selection {
    /// Selects the oldest runs of the level.
    Oldest,
    /// Selects the group of adjacent runs with the fewest bytes.
    Smallest,
    /// Selects the group of runs that overlap each other most. The measure is the bytes of all SSTables that overlap
    /// another run of the group.
    MostOverlap,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    run_threshold: u64,
    max_runs: u64,
    selection: Selection,
}

impl Default for Params {
    fn default() -> Self {
        Self { run_threshold: 4, max_runs: 3, selection: Selection::Oldest }
    }
}

impl Build<dyn CompactionPolicy> for Partial {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn CompactionPolicy>, String> {
        let Params { run_threshold, max_runs, selection } = params;
        if !(2..=1_000_000).contains(&run_threshold) {
            return Err(format!("run_threshold is {run_threshold}; it must be from 2 to 1000000 runs"));
        }
        if max_runs < 2 {
            return Err(format!(
                "max_runs is {max_runs}; it must be at least 2, because a compaction needs two runs"
            ));
        }
        let max_runs = max_runs.min(run_threshold) as usize;
        Ok(Box::new(Self { run_threshold: run_threshold as usize, max_runs, selection }))
    }
}

impl Partial {
    /// Returns the group of adjacent runs that the selection rule prefers. Among equally good groups, the group with
    /// the oldest runs wins.
    fn select<'a>(&self, runs: &'a [Run<TableShape>]) -> &'a [Run<TableShape>] {
        let groups = runs.windows(self.max_runs).enumerate().rev();
        let mut groups = groups
            .filter(|(start, group)| !overlap(group, &runs[start + self.max_runs..]))
            .map(|(_, group)| group);
        let group = match self.selection {
            Selection::Oldest => groups.next(),
            Selection::Smallest => groups.min_by_key(|group| group.iter().map(Run::bytes).sum::<u64>()),
            Selection::MostOverlap => groups.min_by_key(|group| u64::MAX - shared_bytes(group)),
        };
        group.unwrap_or_default()
    }
}

/// Returns whether an SSTable of `runs` overlaps an SSTable of `others`.
fn overlap(runs: &[Run<TableShape>], others: &[Run<TableShape>]) -> bool {
    let mut tables = runs.iter().flat_map(|run| &run.tables);
    tables.any(|table| others.iter().any(|run| !overlapping(run, &table.smallest, &table.largest).is_empty()))
}

/// Returns how many bytes of a group of runs overlap: the total size of the SSTables that overlap an SSTable of another
/// run of the group. Merging runs that overlap more removes more old versions.
fn shared_bytes(group: &[Run<TableShape>]) -> u64 {
    let shares = |run: &Run<TableShape>, table: &TableShape| {
        group.iter().any(|other| {
            other.id != run.id && !overlapping(other, &table.smallest, &table.largest).is_empty()
        })
    };
    group.iter().map(|run| run.sum(|table| if shares(run, table) { table.bytes } else { 0 })).sum()
}

impl CompactionPolicy for Partial {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let fullness = |level| shape.runs_of(level).len() as f64 / self.run_threshold as f64;
        let level = whole::fullest(shape, fullness)?;
        let tables = self.select(shape.runs_of(level)).iter().flat_map(|run| &run.tables);
        let inputs = tables.map(|table| table.id).collect();
        Some(Job { inputs, level: level + 1, run: None, action: Action::Merge })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cut_shape, shape};

    fn policy(selection: Selection) -> Partial {
        Partial { run_threshold: 3, max_runs: 2, selection }
    }

    #[test]
    fn the_oldest_runs_go_down() {
        let pick = |levels: &[&[u64]]| {
            let job = policy(Selection::Oldest).pick(&shape(levels))?;
            assert_eq!((job.run, job.action), (None, Action::Merge));
            Some((job.inputs, job.level))
        };
        assert_eq!(pick(&[&[1, 1], &[2, 2]]), None);
        assert_eq!(pick(&[&[1, 1, 1], &[2, 2]]), Some((vec![2, 3], 1)));
        assert_eq!(pick(&[&[1], &[2, 2, 2]]), Some((vec![3, 4], 2)));
    }

    #[test]
    fn newer_runs_go_down_only_past_what_they_do_not_overlap() {
        // SSTables 1 and 2 overlap each other. SSTables 3 and 4 overlap no other SSTable.
        let apart = cut_shape(&[(0, 3, &[(0, 9)]), (0, 2, &[(5, 8)]), (0, 1, &[(20, 29), (40, 49)])]);
        let inputs = |selection, shape: &Shape| {
            let job = policy(selection).pick(shape).unwrap();
            assert_eq!(job.validate(&shape.levels), Ok(()));
            job.inputs
        };
        assert_eq!(inputs(Selection::Oldest, &apart), [2, 3, 4]);
        assert_eq!(inputs(Selection::Smallest, &apart), [1, 2]);
        assert_eq!(inputs(Selection::MostOverlap, &apart), [1, 2]);
        let below = cut_shape(&[(0, 3, &[(0, 9)]), (0, 2, &[(5, 8)]), (0, 1, &[(8, 29), (40, 49)])]);
        assert_eq!(inputs(Selection::Smallest, &below), [2, 3, 4]);
        assert_eq!(inputs(Selection::MostOverlap, &below), [2, 3, 4]);
    }
}
