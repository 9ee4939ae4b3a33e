//! Read-triggered compaction. A source of a scan is a memtable or a sorted run. When past scans over several sources
//! have cost as much as a merge of these sources, the sources are merged.
//!
//! A get skips most runs with the help of filters. A scan opens every run that overlaps its range, and compares the
//! entries of all these runs. The number of future scans is unknown, so the decision to merge is a ski-rental problem.
//! In this problem, a skier rents skis until the total rent equals the price, and then buys skis. The rent corresponds
//! to the cost of scans, and the price to the cost of a merge. As long as the runs do not change, the total cost is at
//! most twice the optimal cost (Karlin, Manasse, Rudolph, Sleator, "Competitive Snoopy Caching", Algorithmica 3, 1988).
//! When the runs change, the cost counters start at 0 again. `LevelDB` has a similar rule, `allowed_seeks`. LevelDB
//! assumes that a seek costs as much as the compaction of 16 KiB, based on the disks of its time.

use crate::job::{Action, Job};
use crate::shape::Shape;

/// The additional work that scans over several sources have caused since the runs of the tree last changed. A source is
/// a memtable or a sorted run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeWork {
    /// The number of sources after the first that scans opened, summed over all scans. A scan that opens s memtables
    /// and runs adds s − 1.
    pub extra_sources: u64,
    /// The returned entries of all scans, each counted once per source after the first. A scan of s memtables and runs
    /// that returns e entries adds e · (s − 1).
    pub extra_entries: u64,
}

/// The cost of an additional source per returned entry of a scan. The unit is a byte that a compaction writes.
/// According to the measurements in `docs/dev/lab-notebook.md`, an additional source costs 13 ns per entry, and a
/// compaction takes 1 ns per byte.
const ENTRY_BYTES: u64 = 16;

impl RangeWork {
    /// Returns the increase of the counters since `earlier`, an earlier state of them.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            extra_sources: self.extra_sources.saturating_sub(earlier.extra_sources),
            extra_entries: self.extra_entries.saturating_sub(earlier.extra_entries),
        }
    }

    /// Returns the cost of reading more than one source, in bytes that a compaction writes. Opening a source after the
    /// first costs `seek_price` bytes.
    fn rent(&self, seek_price: u64) -> u64 {
        let entries = self.extra_entries.saturating_mul(ENTRY_BYTES);
        self.extra_sources.saturating_mul(seek_price).saturating_add(entries)
    }
}

/// Returns the number of newest memtables and sorted runs that must be merged because of past scans, or 0 for no merge.
/// A merge is worth its cost if past scans of the merged sources have cost at least as much as the merge.
///
/// `sources` contains the size of each memtable or sorted run in bytes, newest first. `seek_price` is the cost of
/// opening a source after the first, in bytes that a compaction writes. If several numbers are possible, the result is
/// the largest, which is at least 2.
pub fn worth_merging(sources: &[u64], work: &RangeWork, seek_price: u64) -> usize {
    let rent = u128::from(work.rent(seek_price));
    let (mut price, mut worth) = (0, 0);
    for (before, bytes) in sources.iter().enumerate() {
        price += u128::from(*bytes);
        // The cost of past scans is divided equally among the additional sources.
        if before > 0 && rent * before as u128 >= price * (sources.len() - 1) as u128 {
            worth = before + 1;
        }
    }
    worth
}

/// Returns the job that merges all runs from the run of the SSTable `oldest` to the newest run. The output takes the
/// position of the oldest of these runs. Returns `None` if the SSTable does not exist, or if its run is the newest run.
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
        // Every scan opens four sources of 100 bytes. A merge of all sources costs 400 bytes, and each scan adds 30
        // bytes.
        assert_eq!(worth(&[100; 4], 13, 52, 0), 0);
        assert_eq!(worth(&[100; 4], 14, 56, 0), 4);
        // Returned entries also add to the cost of scans.
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
