//! Pickers for partial compaction. If a level exceeds its capacity, a picker selects the next SSTable to compact.
//!
//! Sources: the data movement policies of Sarkar, Staratzis, Zhu, Athanassoulis, "Constructing and Analyzing the LSM
//! Compaction Design Space" (VLDB 2021), section 3.4, and the `CompactionPri`s of `RocksDB`. A picker has no state and
//! no clock, so pickers use SSTable numbers as times. A tree numbers its SSTables in the order of their creation, and a
//! moved SSTable keeps its number. The number of an SSTable is therefore the time at which a compaction last wrote its
//! data. Pickers also need the time at which the key range of an SSTable was last compacted into the next level. This
//! time is the lowest number among the SSTables of the next level that overlap the SSTable. This time is approximate,
//! because a compaction of a neighboring SSTable can also replace SSTables of the next level that overlap both
//! neighbors.

use serde::{Deserialize, Serialize};

use crate::shape::{Run, Shape, TableShape};
use crate::tables::overlapped_by;

/// A rule that selects the SSTable to compact next in a full level. If several SSTables are equally good, the rule
/// selects the SSTable with the least overlap, and then the first SSTable in key order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Picker {
    /// Round-robin: selects the first SSTable after the end of the last compaction into the next level. The last
    /// compaction ended at the largest key of the newest SSTable in the next level (the compaction pointer of
    /// `LevelDB`).
    RoundRobin,
    /// Selects the SSTable with the fewest overlapping bytes in the next level, per byte of the SSTable
    /// (`kMinOverlappingRatio`).
    LeastOverlap,
    /// Selects the SSTable with the fewest overlapping bytes two levels deeper, per byte of the SSTable. The next
    /// compaction of the data will have to rewrite these overlapping bytes.
    LeastOverlapGrandparent,
    /// Selects the SSTable for which the most time has passed since its key range was compacted into the next level
    /// (`kOldestSmallestSeqFirst`).
    Oldest,
    /// Selects the SSTable for which the most time has passed since it received new data (`kOldestLargestSeqFirst`).
    /// Frequently written data therefore remains in upper levels. Neighboring SSTables that one compaction wrote count
    /// as equally cold.
    Coldest,
    /// Selects the SSTable with the most bytes.
    Largest,
    /// Selects the SSTable with the most tombstones.
    MostTombstones,
    /// Selects the SSTable with the oldest tombstones. SSTables without tombstones are picked last.
    TombstoneTtl,
}

/// A ratio of two numbers of bytes. Two ratios are compared as integers, without rounding.
#[derive(Clone, Copy)]
struct Ratio {
    bytes: u64,
    per_bytes: u64,
}

impl Ratio {
    fn is_below(self, other: Self) -> bool {
        u128::from(self.bytes) * u128::from(other.per_bytes.max(1))
            < u128::from(other.bytes) * u128::from(self.per_bytes.max(1))
    }
}

/// Returns the ratio of `bytes` to 1, which compares like `bytes` itself.
fn plain(bytes: u64) -> Ratio {
    Ratio { bytes, per_bytes: 1 }
}

impl Picker {
    /// Returns the index in `run` of the SSTable that is compacted next. `run` is the only run of `level`.
    pub(crate) fn pick(self, shape: &Shape, level: usize, run: &Run<TableShape>) -> usize {
        let next_in_turn = after_last_merge(shape, level, run);
        let mut made = 0;
        let mut best: Option<(usize, Ratio, Ratio)> = None;
        for (index, table) in run.tables.iter().enumerate() {
            if index == 0 || run.tables[index - 1].id + 1 != table.id {
                made = table.id;
            }
            let overlap = overlap(shape, level + 1, table);
            let rank = match self {
                Self::RoundRobin => plain(u64::from(index != next_in_turn)),
                Self::LeastOverlap => overlap,
                Self::LeastOverlapGrandparent => self::overlap(shape, level + 2, table),
                Self::Oldest => plain(last_merge_down(shape, level, table).unwrap_or(0)),
                Self::Coldest => plain(made),
                Self::Largest => plain(u64::MAX - table.bytes),
                Self::MostTombstones => plain(u64::MAX - table.tombstones),
                Self::TombstoneTtl => plain(tombstones_since(shape, level, table).unwrap_or(u64::MAX)),
            };
            let is_better = best.is_none_or(|(_, best_rank, best_overlap)| {
                rank.is_below(best_rank) || (!best_rank.is_below(rank) && overlap.is_below(best_overlap))
            });
            if is_better {
                best = Some((index, rank, overlap));
            }
        }
        best.map_or(0, |(index, _, _)| index)
    }
}

/// Returns the current time of a policy, which is the number of the newest SSTable of the tree. A shape has no other
/// clock.
pub(crate) fn now(shape: &Shape) -> u64 {
    shape.levels.tables().map(|(_, table)| table.id).max().unwrap_or(0)
}

/// Returns the approximate time at which the oldest tombstone of an SSTable entered `level`. Times are SSTable numbers.
/// Returns `None` for an SSTable without tombstones.
///
/// The result is the earlier of two times: the creation of the SSTable, and the last compaction of its key range into
/// the next level.
pub(crate) fn tombstones_since(shape: &Shape, level: usize, table: &TableShape) -> Option<u64> {
    if table.tombstones == 0 {
        return None;
    }
    let merged_down = if level == 0 { None } else { last_merge_down(shape, level, table) };
    Some(merged_down.unwrap_or(table.id).min(table.id))
}

/// Returns the time at which all data in the key range of `table` was last compacted into the next level. The time is
/// an SSTable number: the lowest number of the overlapping SSTables in the next level. Returns `None` if the next level
/// has no data in this key range.
fn last_merge_down(shape: &Shape, level: usize, table: &TableShape) -> Option<u64> {
    overlapped_by(shape, level + 1, table).iter().map(|table| table.id).min()
}

fn overlap(shape: &Shape, level: usize, table: &TableShape) -> Ratio {
    let bytes = overlapped_by(shape, level, table).iter().map(|table| table.bytes).sum();
    Ratio { bytes, per_bytes: table.bytes }
}

/// Finds the largest key of the newest SSTable in the next level. Returns the index of the first SSTable of `run` that
/// begins after this key. Returns 0 if there is no such SSTable, or if the next level is empty.
fn after_last_merge(shape: &Shape, level: usize, run: &Run<TableShape>) -> usize {
    let below = shape.runs_of(level + 1).iter().flat_map(|run| &run.tables);
    let Some(last_made) = below.max_by_key(|table| table.id) else { return 0 };
    let next = run.tables.partition_point(|table| table.smallest <= last_made.largest);
    if next == run.tables.len() { 0 } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::cut_shape;

    fn pick(picker: Picker, shape: &Shape) -> u64 {
        let run = &shape.runs_of(1)[0];
        run.tables[picker.pick(shape, 1, run)].id
    }

    /// Returns a shape for the tests. In key order, level 1 has SSTables 2, 3, 1 and 4, and level 2 has SSTables 8,
    /// 5, 6 and 7. Level 3 has SSTable 9.
    fn shape() -> Shape {
        let mut shape = cut_shape(&[
            (1, 0, &[(0, 9), (10, 19), (20, 29), (30, 39)]),
            (2, 0, &[(0, 4), (5, 9), (11, 12), (20, 29)]),
            (3, 0, &[(22, 23)]),
        ]);
        let numbers = [vec![2, 3, 1, 4], vec![8, 5, 6, 7], vec![9]];
        for (level, numbers) in shape.levels.levels[1..].iter_mut().zip(numbers) {
            for (table, number) in level.runs[0].tables.iter_mut().zip(numbers) {
                table.id = number;
            }
        }
        shape
    }

    #[test]
    fn each_picker_goes_by_its_rule() {
        let shape = shape();
        // SSTable 8 is the newest and ends at key 4, within SSTable 2. The next SSTable is 3.
        assert_eq!(pick(Picker::RoundRobin, &shape), 3);
        assert_eq!(pick(Picker::LeastOverlap, &shape), 4);
        // Only SSTable 1 overlaps level 3. Among the other SSTables, only SSTable 4 overlaps no SSTable of level 2.
        assert_eq!(pick(Picker::LeastOverlapGrandparent, &shape), 4);
        assert_eq!(pick(Picker::Oldest, &shape), 4);
        assert_eq!(pick(Picker::Coldest, &shape), 1);
    }

    #[test]
    fn tables_of_one_merge_are_equally_cold() {
        let mut shape = shape();
        for (table, number) in shape.levels.levels[1].runs[0].tables.iter_mut().zip([2, 3, 4, 9]) {
            table.id = number;
        }
        // SSTables 2, 3 and 4 came from one compaction. SSTable 3 overlaps as little as SSTable 4, and less than
        // SSTable 2.
        assert_eq!(pick(Picker::Coldest, &shape), 3);
    }

    #[test]
    fn round_robin_begins_anew_behind_the_last_table() {
        let mut shape = shape();
        shape.levels.levels[2].runs[0].tables[3].id = 99;
        assert_eq!(pick(Picker::RoundRobin, &shape), 4);
        shape.levels.levels[2].runs[0].tables[3].largest = [35].into();
        assert_eq!(pick(Picker::RoundRobin, &shape), 2);
        shape.levels.levels.truncate(2);
        assert_eq!(pick(Picker::RoundRobin, &shape), 2);
    }

    #[test]
    fn the_oldest_has_gone_longest_without_a_merge_down() {
        let mut shape = shape();
        shape.levels.levels[1].runs[0].tables.pop();
        // SSTable 2 overlaps SSTables 8 and 5. SSTable 3 overlaps SSTable 6, and SSTable 1 overlaps SSTable 7.
        assert_eq!(pick(Picker::Oldest, &shape), 2);
        shape.levels.levels[2].runs[0].tables[1].id = 77;
        assert_eq!(pick(Picker::Oldest, &shape), 3);
    }

    #[test]
    fn the_largest_and_the_deadest_go_first() {
        let mut shape = shape();
        let tables = &mut shape.levels.levels[1].runs[0].tables;
        tables[2].bytes = 500;
        (tables[0].tombstones, tables[1].tombstones, tables[2].tombstones) = (3, 3, 1);
        assert_eq!(pick(Picker::Largest, &shape), 1);
        // SSTables 2 and 3 have equally many tombstones, and SSTable 3 overlaps less.
        assert_eq!(pick(Picker::MostTombstones, &shape), 3);
        // SSTables 2 and 3 overlap newer SSTables of the next level, and SSTable 1 overlaps SSTable 7.
        assert_eq!(pick(Picker::TombstoneTtl, &shape), 1);
        let since = |index: usize| tombstones_since(&shape, 1, &shape.runs_of(1)[0].tables[index]);
        assert_eq!((0..4).map(since).collect::<Vec<_>>(), [Some(2), Some(3), Some(1), None]);
        assert_eq!(now(&shape), 9);
    }
}
