//! Read-triggered compaction: the cost so far of reading several sources, against the cost of compacting them once.
//!
//! Filters spare a get most runs; a range opens every run that overlaps it, and compares what they give entry by
//! entry. Nobody knows how many ranges will come, so this is a ski rental: rent until the rent comes to the price,
//! then buy. As long as the runs stay the same that costs at most twice what the best moment would have (Karlin,
//! Manasse, Rudolph, Sleator, "Competitive Snoopy Caching", Algorithmica 3, 1988); when they change, it begins anew.
//! `LevelDB` does the like with its `allowed_seeks`, where a seek is worth 16 KiB of compaction, by the disks of its
//! time.

use crate::job::{Action, Job};
use crate::shape::Shape;

/// What ranges did while the runs stayed the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RangeWork {
    /// The memtables and runs beyond one that each had to open, in sum.
    pub extra_sources: u64,
    /// The entries that each gave out, times the sources beyond one that it took them from, in sum.
    pub extra_entries: u64,
}

/// What one more source costs each entry of a range, in bytes that a merge writes in the same time: 13 ns by
/// `docs/dev/lab-notebook.md`, where a merge takes one for a byte.
const ENTRY_BYTES: u64 = 16;

impl RangeWork {
    /// What was done since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            extra_sources: self.extra_sources.saturating_sub(earlier.extra_sources),
            extra_entries: self.extra_entries.saturating_sub(earlier.extra_entries),
        }
    }

    /// What the ranges paid for having more sources than one, in bytes merged, where to open one costs
    /// `seek_price`.
    fn rent(&self, seek_price: u64) -> u64 {
        let entries = self.extra_entries.saturating_mul(ENTRY_BYTES);
        self.extra_sources.saturating_mul(seek_price).saturating_add(entries)
    }
}

/// How many of the newest sources, at least two, have cost ranges as much as merging them would: the most of which
/// that is so, 0 where it is so of none. `sources` are their bytes, the newest first.
pub fn worth_merging(sources: &[u64], work: &RangeWork, seek_price: u64) -> usize {
    let rent = u128::from(work.rent(seek_price));
    let (mut price, mut worth) = (0, 0);
    for (before, bytes) in sources.iter().enumerate() {
        price += u128::from(*bytes);
        // Each source but one has cost the same share of the rent.
        if before > 0 && rent * before as u128 >= price * (sources.len() - 1) as u128 {
            worth = before + 1;
        }
    }
    worth
}

/// The job that merges the newest runs up to the one with table `oldest` into the place of that one; `None` where
/// there is no such table, or nothing newer than its run.
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
        // Four sources of 100 bytes, opened by every range: the merge of all costs 400, and each range pays 30.
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
