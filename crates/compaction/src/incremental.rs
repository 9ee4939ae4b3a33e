//! Incremental compaction divides the compaction of a full level into several jobs, each with a few neighboring
//! SSTables. The sequence of these jobs is called a drain.
//!
//! If a job compacts a complete level ([`leveled`](crate::leveled)), the job takes more time and temporary space as
//! the data grows. If a job compacts one SSTable ([`leveled-partial`](crate::leveled_partial)), the job is short.
//! However, levels are then always full, so compactions write more bytes in total. This policy compacts a full level
//! completely, but with several jobs in key order. Flushes and compactions of level 0 run between these jobs.
//!
//! * **Begin and end.** The drain of a full level begins at the first key of the level, and ends after the last
//!   SSTable of the level. The drain does not end earlier, although the level is no longer full after the first job.
//! * **State.** A policy stores no state between calls, so the policy recognizes a drain in progress by the SSTable
//!   numbers. The newest SSTable of the next level is the last output of the previous job. If this SSTable is not the
//!   last one in key order, the drain continues after its largest key. [`spooky`](crate::spooky) has a similar rule,
//!   but only for the largest level.
//! * **Size.** The inputs of a job are neighboring SSTables and all SSTables that they overlap in the next level. The
//!   parameter limits the total size of the inputs, but a job has at least one SSTable of the level. Every compaction
//!   divides its output, so that no output SSTable overlaps many bytes of the next level. `LevelDB` has an equal limit
//!   for grandparents, `kMaxGrandParentOverlapBytes`. The output of a job is also divided at the first key of the next
//!   job, so that the next job rewrites less data.
//! * **Order.** A drain has priority over level 0, until level 0 has more than twice the number of runs that triggers
//!   its compaction. Without this priority, level 1 would be full at every compaction of level 0.
//!
//! # Costs
//! Reads cost as much as with `leveled`, because each level has one run. Compactions write about as many bytes as
//! with `leveled`. If an SSTable of the next level overlaps the inputs of two jobs, both jobs write a part of its
//! keys. The keys from the first key of the second job on are then written twice.

use std::sync::Arc;

use crate::descent::hides_something;
use crate::job::{Action, Job};
use crate::shape::{Run, Shape, TableShape};
use crate::tables::overlapping;

/// The fill ratio that a policy assumes for a level while several jobs compact this level (a drain). The policy
/// compacts the level with the highest fill ratio first. A drain therefore has priority over level 0, until level 0 has
/// more than twice the number of runs that triggers its compaction.
pub(crate) const DRAIN_FULLNESS: f64 = 2.0;

/// The size limit of a job, divided by this number, is the limit on overlap: the maximum number of bytes that an output
/// SSTable overlaps in the level after the output level. With this limit, a later compaction of the SSTable stays
/// small.
const OVERLAP_SHARE: u64 = 2;

/// Compacts a full level by several jobs of limited size, in key order. The sequence of these jobs is called a drain.
#[derive(Clone, Copy)]
pub(crate) struct Incremental {
    /// The maximum total size of the inputs of one job, in bytes.
    pub(crate) bytes: u64,
}

impl Incremental {
    /// Returns whether a drain of `level` is in progress. In this case, jobs have already compacted the start of the
    /// level. The level still has SSTables with keys after the last output of these jobs.
    pub(crate) fn is_draining(shape: &Shape, level: usize) -> bool {
        let Some((above, below)) = pair(shape, level) else { return false };
        last_output(below).is_some_and(|output| {
            let goes_on = below.tables.last().is_some_and(|last| last.id != output.id);
            goes_on && next_table(above, output) < above.tables.len()
        })
    }

    /// Returns the next job that compacts a part of `level` into the next level. Returns `None` if the level is level
    /// 0, or if the level or the next level does not have exactly one run.
    pub(crate) fn next(self, shape: &Shape, level: usize) -> Option<Job> {
        let (above, below) = pair(shape, level)?;
        let first = match last_output(below) {
            Some(output) if Self::is_draining(shape, level) => next_table(above, output),
            _ => 0,
        };
        let tables = self.tables_of_job(&above.tables[first..], below);
        let overlapped = overlapped_by(tables, below);
        let inputs = tables.iter().chain(overlapped).map(|table| table.id).collect();
        let keeps_tombstones =
            |table: &TableShape| table.tombstones == 0 || hides_something(shape, level + 2, table);
        let is_free = overlapped.is_empty() && tables.iter().all(keeps_tombstones);
        let action = if is_free { Action::Move } else { Action::Merge };
        Some(Job { inputs, level: level + 1, run: Some(below.id), action })
    }

    /// Returns the SSTables at the start of `tables` that the next job compacts into the run `below`. The first SSTable
    /// is always included. If it overlaps no SSTable of `below`, the following SSTables are included while the key
    /// range of all included SSTables overlaps no SSTable of `below`. Otherwise, SSTables are included while the inputs
    /// of the job stay within the size limit.
    fn tables_of_job<'a>(self, tables: &'a [TableShape], below: &Run<TableShape>) -> &'a [TableShape] {
        // Beyond the size limit, an SSTable is still included if the job already has all SSTables of `below` that it
        // overlaps.
        let bytes = |tables: &[TableShape]| tables.iter().map(|table| table.bytes).sum::<u64>();
        let is_free = overlapped_by(&tables[..1], below).is_empty();
        let mut taken = 1;
        while taken < tables.len() {
            let (now, more) = (overlapped_by(&tables[..taken], below), &tables[..=taken]);
            let with_next = overlapped_by(more, below);
            let fits = match is_free {
                true => with_next.is_empty(),
                false => with_next.len() == now.len() || bytes(more) + bytes(with_next) <= self.bytes,
            };
            if !fits {
                break;
            }
            taken += 1;
        }
        &tables[..taken]
    }

    /// Returns the keys at which the output of `job` is divided into SSTables, in ascending order. A new output SSTable
    /// begins at each key.
    pub(crate) fn cuts(self, shape: &Shape, job: &Job) -> Vec<Arc<[u8]>> {
        if job.level == 0 || job.action != Action::Merge {
            return Vec::new();
        }
        let mut cuts = Vec::new();
        if let Some(below) = shape.runs_of(job.level + 1).first() {
            let mut bytes = 0;
            for table in &below.tables {
                if bytes > 0 && bytes + table.bytes > self.bytes / OVERLAP_SHARE {
                    cuts.push(Arc::clone(&table.smallest));
                    bytes = 0;
                }
                bytes += table.bytes;
            }
        }
        if let [above] = shape.runs_of(job.level - 1)
            && job.level > 1
        {
            let after = above.tables.iter().rposition(|table| job.inputs.contains(&table.id));
            let next = after.and_then(|last| above.tables.get(last + 1));
            cuts.extend(next.map(|next| Arc::clone(&next.smallest)));
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}

/// Returns the only run of `level` and the only run of the next level. Returns `None` if the level is level 0, or if
/// one of the two levels does not have exactly one run.
fn pair(shape: &Shape, level: usize) -> Option<(&Run<TableShape>, &Run<TableShape>)> {
    match (shape.runs_of(level), shape.runs_of(level + 1)) {
        ([above], [below]) if level > 0 => Some((above, below)),
        _ => None,
    }
}

/// Returns the newest SSTable of a run. If several jobs compact a level into the run, this SSTable is the last output
/// of these jobs.
fn last_output(run: &Run<TableShape>) -> Option<&TableShape> {
    run.tables.iter().max_by_key(|table| table.id)
}

/// Returns the index of the first SSTable of `above` that has keys after the largest key of `output`. Returns the
/// number of SSTables if no SSTable has such keys.
fn next_table(above: &Run<TableShape>, output: &TableShape) -> usize {
    above.tables.partition_point(|table| table.largest <= output.largest)
}

/// Returns the SSTables of `below` that overlap the range from the smallest to the largest key of `tables`.
fn overlapped_by<'a>(tables: &[TableShape], below: &'a Run<TableShape>) -> &'a [TableShape] {
    match (tables.first(), tables.last()) {
        (Some(first), Some(last)) => overlapping(below, &first.smallest, &last.largest),
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{SimulatedLoad, SimulatedWrites, simulate};
    use crate::testing::cut_shape;
    use crate::{CATALOG, CompactionPolicy};

    fn inputs(bytes: u64, shape: &Shape) -> (Vec<u64>, Action) {
        let job = Incremental { bytes }.next(shape, 1).unwrap();
        assert_eq!((job.level, job.validate(&shape.levels)), (2, Ok(())));
        (job.inputs, job.action)
    }

    /// Returns a shape with three SSTables (1, 2, 3) in level 1 and four SSTables in level 2. `below` are the numbers
    /// of the SSTables in level 2.
    fn shape(below: [u64; 4]) -> Shape {
        let mut shape = cut_shape(&[
            (1, 0, &[(0, 9), (10, 29), (30, 39)]),
            (2, 0, &[(0, 4), (5, 12), (15, 24), (28, 49)]),
        ]);
        let tables = shape.levels.levels[2].runs[0].tables.iter_mut();
        tables.zip(below).for_each(|(table, id)| table.id = id);
        shape
    }

    #[test]
    fn a_job_takes_neighbours_up_to_its_bytes() {
        let shape = shape([4, 5, 6, 7]);
        let bytes = shape.runs_of(1)[0].tables[0].bytes;
        assert_eq!(inputs(1, &shape), (vec![1, 4, 5], Action::Merge));
        assert_eq!(inputs(5 * bytes, &shape), (vec![1, 4, 5], Action::Merge));
        // The third SSTable overlaps no further SSTable of level 2, so the job includes the third SSTable.
        assert_eq!(inputs(6 * bytes, &shape), (vec![1, 2, 3, 4, 5, 6, 7], Action::Merge));
    }

    #[test]
    fn a_drain_goes_on_after_its_last_output_until_the_last_table() {
        // The newest SSTable of level 2 ends at key 12, within SSTable 2 of level 1.
        let shape = shape([8, 9, 6, 7]);
        assert!(Incremental::is_draining(&shape, 1));
        assert_eq!(inputs(1, &shape), (vec![2, 3, 9, 6, 7], Action::Merge));
        // The newest SSTable is the last SSTable in key order. The drain is over, and the next drain begins at the
        // first key.
        let shape = self::shape([4, 5, 6, 9]);
        assert!(!Incremental::is_draining(&shape, 1));
        assert_eq!(inputs(1, &shape), (vec![1, 4, 5], Action::Merge));
    }

    #[test]
    fn tables_that_overlap_nothing_are_moved() {
        let mut shape = cut_shape(&[(1, 0, &[(0, 9), (10, 19), (20, 29)]), (2, 0, &[(25, 26), (90, 99)])]);
        assert_eq!(inputs(1, &shape), (vec![1, 2], Action::Move));
        // A merge would drop the tombstones of the SSTables.
        shape.levels.levels[1].runs[0].tables[0].tombstones = 1;
        assert_eq!(inputs(1, &shape), (vec![1, 2], Action::Merge));
    }

    #[test]
    fn output_is_cut_where_the_next_job_begins_and_by_what_it_overlaps() {
        let mut shape = shape([4, 5, 6, 7]);
        let small = Incremental { bytes: 1 };
        let job = small.next(&shape, 1).unwrap();
        let keys = |cuts: Vec<Arc<[u8]>>| cuts.iter().map(|key| key[0]).collect::<Vec<_>>();
        assert_eq!(keys(small.cuts(&shape, &job)), [10]);
        shape.levels.levels.push(cut_shape(&[(0, 0, &[(0, 3), (8, 9), (60, 69)])]).levels.levels[0].clone());
        assert_eq!(keys(small.cuts(&shape, &job)), [8, 10, 60]);
        assert_eq!(keys(Incremental { bytes: u64::MAX }.cuts(&shape, &job)), [10]);
        let flushed = Job { inputs: vec![1], level: 0, ..job };
        assert!(small.cuts(&shape, &flushed).is_empty());
    }

    fn simulated(more: &str, flushes: u64) -> SimulatedWrites {
        let label = format!("l0-tiered(size_ratio=6, level1_memtables=6, trivial_moves=true{more})");
        let policy: Box<dyn CompactionPolicy> =
            CATALOG.build(&CATALOG.choose(&toml::Value::from(label.as_str())).unwrap()).unwrap();
        let load = SimulatedLoad {
            writes_per_flush: 1000,
            entry_bytes: 100,
            entries_per_table: 1000,
            distinct_keys: Some(1_000_000),
        };
        simulate(&*policy, load, flushes).unwrap()
    }

    #[test]
    fn small_jobs_cost_few_writes_more() {
        let whole = simulated("", 400);
        let parts = simulated(", max_compaction=\"1MB\"", 400);
        let (a, b) = (whole.write_amp(), parts.write_amp());
        assert!(b < a * 1.15, "{b} and {a} writes");
        assert_eq!(parts.worst_runs, whole.worst_runs);
        // A merge takes all of level 0 and level 1. The two levels have 4 + 6 memtables of 100 kB, and the part of
        // level 1 above its capacity.
        assert!(parts.largest_merge_bytes <= 1_500_000, "{}", parts.largest_merge_bytes);
        assert!(whole.largest_merge_bytes > 10_000_000, "{}", whole.largest_merge_bytes);
    }
}
