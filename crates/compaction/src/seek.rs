//! Read-triggered compaction: compares the past cost of scanning several sources with the cost of merging these sources
//! once.
//!
//! Filters let a get skip most runs, but a scan opens every run that overlaps it, and compares their entries one by
//! one. The number of future scans is unknown, so this is a ski-rental problem: rent until the paid rent equals the
//! price, then buy. As long as the runs do not change, the total cost is at most twice the optimum (Karlin, Manasse,
//! Rudolph, Sleator, "Competitive Snoopy Caching", Algorithmica 3, 1988). When the runs change, the count starts again.
//! `LevelDB` has a similar rule, `allowed_seeks`, in which a seek is worth 16 KiB of compaction, based on the disks of
//! its time.

use crate::job::{Action, Job};
use crate::shape::Shape;

/// Work of scans while the runs did not change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeWork {
    /// Sum over all scans of the memtables and runs beyond one that the scan had to open.
    pub extra_sources: u64,
    /// Sum over all scans of the returned entries, times the sources beyond one that the scan read.
    pub extra_entries: u64,
}

/// Cost of each additional source for each entry of a scan, in bytes that a compaction writes in equal time. An
/// additional source costs 13 ns per entry by `docs/dev/lab-notebook.md`, where a compaction takes 1 ns per byte.
const ENTRY_BYTES: u64 = 16;

impl RangeWork {
    /// Returns the work since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            extra_sources: self.extra_sources.saturating_sub(earlier.extra_sources),
            extra_entries: self.extra_entries.saturating_sub(earlier.extra_entries),
        }
    }

    /// Returns the additional cost of all scans with more than one source, in bytes of compaction. Opening a source
    /// costs `seek_price`.
    fn rent(&self, seek_price: u64) -> u64 {
        let entries = self.extra_entries.saturating_mul(ENTRY_BYTES);
        self.extra_sources.saturating_mul(seek_price).saturating_add(entries)
    }
}

/// Returns the largest number of newest sources whose scans have cost as much as merging these sources would. The
/// number is at least two, or 0 if there is none. `sources` are the bytes of the sources, newest first.
pub fn worth_merging(sources: &[u64], work: &RangeWork, seek_price: u64) -> usize {
    let rent = u128::from(work.rent(seek_price));
    let (mut price, mut worth) = (0, 0);
    for (before, bytes) in sources.iter().enumerate() {
        price += u128::from(*bytes);
        // Each source beyond the first has cost an equal part of the rent.
        if before > 0 && rent * before as u128 >= price * (sources.len() - 1) as u128 {
            worth = before + 1;
        }
    }
    worth
}

/// Returns the job that merges the newest runs, down to the run with table `oldest`, into the position of that run.
/// Returns `None` if the table does not exist or its run is the newest.
pub fn merge_down_to(shape: &Shape, oldest: u64) -> Option<Job> {
    let runs: Vec<_> = shape.levels.runs().collect();
    let last = runs.iter().position(|(_, run)| run.tables.iter().any(|table| table.id == oldest))?;
    let inputs = runs[..=last].iter().flat_map(|(_, run)| run.tables.iter().map(|table| table.id)).collect();
    (last > 0).then_some(Job { inputs, level: runs[last].0, run: None, action: Action::Merge })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    fn worth(sources: &[u64], ranges: u64, opened: u64, entries: u64) -> usize {
        let extra_sources = opened.saturating_sub(ranges);
        worth_merging(sources, &RangeWork { extra_sources, extra_entries: entries }, 10)
    }

    #[test]
    fn a_merge_waits_until_ranges_have_paid_its_price() {
        // Four sources of 100 bytes, opened by every scan: merging all costs 400, and each scan pays 30.
        assert_eq!(worth(&[100; 4], 13, 52, 0), 0);
        assert_eq!(worth(&[100; 4], 14, 56, 0), 4);
        // Entries cost too.
        assert_eq!(worth(&[100; 4], 1, 4, 23), 0);
        assert_eq!(worth(&[100; 4], 1, 4, 24), 4);
    }

    #[test]
    fn small_sources_are_merged_before_a_large_one() {
        assert_eq!(worth(&[10, 10, 1000], 2, 6, 0), 2);
        assert_eq!(worth(&[10, 10, 1000], 50, 150, 0), 2);
        assert_eq!(worth(&[10, 10, 1000], 51, 153, 0), 3);
    }

    #[test]
    fn ranges_that_open_one_source_each_pay_nothing() {
        assert_eq!(worth(&[100; 4], 1_000_000, 1_000_000, 0), 0);
        assert_eq!(worth(&[], 10, 0, 0), 0);
        assert_eq!(worth(&[1], 10, 100, 0), 0);
        assert_eq!(worth(&[u64::MAX; 3], u64::MAX / 3, u64::MAX, u64::MAX), 0);
    }

    #[test]
    fn the_merge_stands_in_the_place_of_its_oldest_run() {
        let shape = shape(&[&[1, 1], &[1], &[1]]);
        let tables: Vec<u64> =
            shape.levels.runs().flat_map(|(_, run)| run.tables.iter().map(|table| table.id)).collect();
        for (last, level) in [(1, 0), (2, 1), (3, 2)] {
            let job = merge_down_to(&shape, tables[last]).unwrap();
            assert_eq!((&*job.inputs, job.level, job.run), (&tables[..=last], level, None));
            job.validate(&shape.levels).unwrap();
        }
        assert_eq!(merge_down_to(&shape, tables[0]), None);
        assert_eq!(merge_down_to(&shape, 1000), None);
    }
}
