//! Pickers: rules that select the table that a level above its capacity compacts first.
//!
//! Pickers are the data movement policies of Sarkar, Staratzis, Zhu, Athanassoulis, "Constructing and Analyzing the LSM
//! Compaction Design Space" (VLDB 2021), section 3.4, and the `CompactionPri`s of `RocksDB`. A picker reads only the
//! shape and keeps no state; the table numbers replace the state. A tree numbers its tables in the order of their
//! creation, and a moved table keeps its number. The number of a table therefore dates the last compaction of data into
//! the table. A level of one run gets new tables from the level above. Of the tables that a table overlaps in the next
//! level, the lowest number dates the last time that data of its range was compacted. The date is an approximation,
//! because a compaction of a neighbour also renews the table of the next level that overlaps both.

use serde::{Deserialize, Serialize};

use crate::shape::{Run, Shape, TableShape};
use crate::tables::overlapped_by;

/// Rule that selects a table. Among equally ranked tables, the table with the least overlap is selected, and then the
/// first by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Picker {
    /// The first table after the end of the last compaction into the next level, round-robin. This end is the largest
    /// key of the table with the highest number in the next level (`LevelDB`'s compaction pointer).
    RoundRobin,
    /// Fewest overlapping bytes of the next level per byte of the table (`kMinOverlappingRatio`).
    LeastOverlap,
    /// The table with the fewest overlapping bytes in the level after the next, per byte of the table. The overlapping
    /// bytes are the cost of the following compaction.
    LeastOverlapGrandparent,
    /// The longest time without a compaction into the next level (`kOldestSmallestSeqFirst`).
    Oldest,
    /// The table with the longest time without new data (`kOldestLargestSeqFirst`), so that frequently written data
    /// stay above. Tables with consecutive keys and consecutive numbers came from one compaction and count as equally
    /// cold. Otherwise the smallest keys would be selected every time.
    Coldest,
    /// Most bytes.
    Largest,
    /// Most tombstones.
    MostTombstones,
    /// The oldest tombstones; then tables without any.
    TombstoneTtl,
}

/// Ratio of bytes to bytes, compared without rounding.
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

/// Returns an integer as a ratio.
fn plain(bytes: u64) -> Ratio {
    Ratio { bytes, per_bytes: 1 }
}

impl Picker {
    /// Returns the index in `run`, the only run of `level`, of the table to compact.
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

/// Returns the number of the newest table. This number is used as the current time, because a shape has no other clock.
pub(crate) fn now(shape: &Shape) -> u64 {
    shape.levels.tables().map(|(_, table)| table.id).max().unwrap_or(0)
}

/// Returns the time at which the oldest tombstone of a table arrived at its level, approximated by table numbers. The
/// time is that of the last compaction of the table's range into the next level. If the table was created earlier or
/// overlaps no table there, it is the creation of the table. `None` for a table without tombstones.
pub(crate) fn tombstones_since(shape: &Shape, level: usize, table: &TableShape) -> Option<u64> {
    if table.tombstones == 0 {
        return None;
    }
    let merged_down = if level == 0 { None } else { last_merge_down(shape, level, table) };
    Some(merged_down.unwrap_or(table.id).min(table.id))
}

/// Returns the time of the last compaction of the table's complete range into the next level; `None` if the next level
/// has no data in the range.
fn last_merge_down(shape: &Shape, level: usize, table: &TableShape) -> Option<u64> {
    overlapped_by(shape, level + 1, table).iter().map(|table| table.id).min()
}

fn overlap(shape: &Shape, level: usize, table: &TableShape) -> Ratio {
    let bytes = overlapped_by(shape, level, table).iter().map(|table| table.bytes).sum();
    Ratio { bytes, per_bytes: table.bytes }
}

/// Returns the first table after the largest key of the newest table of the next level.
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

    /// Level 1: tables 2, 3, 1, 4 in key order. Level 2: 8, 5, 6, 7. Level 3: 9.
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
        // Table 8 is the newest and ends at 4, inside table 2; table 3 is the next.
        assert_eq!(pick(Picker::RoundRobin, &shape), 3);
        assert_eq!(pick(Picker::LeastOverlap, &shape), 4);
        // Only table 1 overlaps level 3; of the others, table 4 overlaps nothing of level 2.
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
        // Tables 2, 3 and 4 came from one compaction; table 3 overlaps as little as 4, and less than 2.
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
        // Table 2 overlaps 8 and 5, table 3 overlaps 6, table 1 overlaps 7.
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
        // Tables 2 and 3 have as many tombstones; table 3 overlaps less.
        assert_eq!(pick(Picker::MostTombstones, &shape), 3);
        // Tables 2 and 3 overlap newer tables, and table 1 overlaps table 7.
        assert_eq!(pick(Picker::TombstoneTtl, &shape), 1);
        let since = |index: usize| tombstones_since(&shape, 1, &shape.runs_of(1)[0].tables[index]);
        assert_eq!((0..4).map(since).collect::<Vec<_>>(), [Some(2), Some(3), Some(1), None]);
        assert_eq!(now(&shape), 9);
    }
}
