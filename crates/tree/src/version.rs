//! What a tree consists of at one moment: memtables and runs, immutable and shared by all who read.

use std::collections::HashSet;
use std::ops::{Bound, Range};
use std::sync::Arc;

use bloom::LevelLoad;
use compaction::{Levels, Placed, RangeWork, Shape, TableShape};
use fence::culling::{Culling, FileRanges, LevelForm, RunIndex};

use crate::memory::Slot;
use crate::stats::LevelStats;
use crate::table::Table;

/// A table as levels hold it.
#[derive(Clone)]
pub(crate) struct TableRef(pub(crate) Arc<Table>);

impl Placed for TableRef {
    fn id(&self) -> u64 {
        self.0.id()
    }
    fn smallest(&self) -> &[u8] {
        &self.0.properties().smallest
    }
    fn largest(&self) -> &[u8] {
        &self.0.properties().largest
    }
}

/// A sorted run as it is read: its tables in key order, and how those that matter are found.
pub(crate) struct SortedRun {
    /// The level that it lies in.
    pub(crate) level: usize,
    /// The tables.
    pub(crate) tables: Arc<[Arc<Table>]>,
    /// The bytes of their files.
    pub(crate) bytes: u64,
    index: Box<dyn RunIndex>,
}

impl SortedRun {
    fn new(level: usize, form: LevelForm, run: &compaction::Run<TableRef>, culling: &dyn Culling) -> Self {
        let mut ranges = FileRanges::default();
        run.tables.iter().for_each(|table| ranges.push(table.smallest(), table.largest()));
        Self {
            level,
            tables: run.tables.iter().map(|table| Arc::clone(&table.0)).collect(),
            bytes: run.tables.iter().map(|table| table.0.file_bytes()).sum(),
            index: culling.index(ranges, form),
        }
    }

    /// The number of the only table that can hold the key.
    #[inline]
    pub(crate) fn table_for(&self, key: &[u8]) -> Option<usize> {
        self.index.file_for(key)
    }

    /// The numbers of the tables that can hold keys between the bounds.
    pub(crate) fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize> {
        self.index.overlapping(low, high)
    }
}

/// The tables of a tree at one moment.
pub(crate) struct Version {
    /// The tables in their levels and runs.
    pub(crate) levels: Levels<TableRef>,
    /// The same runs in the order in which they are read: the newest first.
    pub(crate) runs: Vec<SortedRun>,
    /// What ranges had done when it came to be.
    pub(crate) ranges_before: RangeWork,
    culling: Arc<dyn Culling>,
}

impl Version {
    /// The version with these levels, after what ranges have done so far.
    pub(crate) fn new(levels: Levels<TableRef>, culling: Arc<dyn Culling>, ranges_before: RangeWork) -> Self {
        let form = |level| match level > 0 && levels.runs_of(level).len() == 1 {
            true => LevelForm::Disjoint,
            false => LevelForm::Overlapping,
        };
        let run = |(level, run)| SortedRun::new(level, form(level), run, &*culling);
        let runs = levels.runs().map(run).collect();
        Self { levels, runs, ranges_before, culling }
    }

    /// The version with other levels of the same tree.
    pub(crate) fn with(&self, levels: Levels<TableRef>, ranges_before: RangeWork) -> Self {
        Self::new(levels, Arc::clone(&self.culling), ranges_before)
    }

    /// All tables, from the newest run to the oldest.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.runs.iter().flat_map(|run| run.tables.iter())
    }

    /// The picture that a compaction policy decides from.
    pub(crate) fn shape(&self, buffer_bytes: u64) -> Shape {
        let table_shape = |table: &TableRef| {
            let properties = table.0.properties();
            TableShape {
                id: table.0.id(),
                bytes: properties.charged_bytes(),
                entries: properties.entries,
                tombstones: properties.tombstones,
                smallest: Arc::clone(&properties.smallest),
                largest: Arc::clone(&properties.largest),
            }
        };
        Shape { buffer_bytes, levels: self.levels.map(table_shape) }
    }

    /// What each level will hold, for the allocation of filters, once the tables `moved` and `new` entries
    /// beside them are in `level`: in a run of their own, or in one that is there. Entries that a merge will
    /// drop are still counted.
    pub(crate) fn loads_with(
        &self,
        moved: &HashSet<u64>,
        level: usize,
        own_run: bool,
        new: u64,
    ) -> Vec<LevelLoad> {
        let mut loads = vec![LevelLoad::default(); self.levels.levels.len().max(level + 1)];
        loads[level] = LevelLoad { entries: new as f64, runs: f64::from(u8::from(own_run)) };
        for (at, run) in self.levels.runs() {
            let (moving, staying): (Vec<_>, Vec<_>) =
                run.tables.iter().partition(|table| moved.contains(&table.0.id()));
            let entries = |tables: &[&TableRef]| -> f64 {
                tables.iter().map(|table| table.0.properties().entries as f64).sum()
            };
            loads[level].entries += entries(&moving);
            loads[at].entries += entries(&staying);
            loads[at].runs += f64::from(u8::from(!staying.is_empty()));
        }
        loads
    }

    /// What each level holds.
    pub(crate) fn level_stats(&self) -> Vec<LevelStats> {
        let level_stats = |level: &compaction::Level<TableRef>| {
            let mut stats = LevelStats { runs: level.runs.len() as u64, ..LevelStats::default() };
            for table in level.runs.iter().flat_map(|run| &run.tables) {
                let properties = table.0.properties();
                stats.tables += 1;
                stats.entries += properties.entries;
                stats.tombstones += properties.tombstones;
                stats.file_bytes += table.0.file_bytes();
                stats.blocks += u64::from(table.0.block_count());
                stats.block_bytes += table.0.block_bytes();
                stats.user_bytes += properties.key_bytes + properties.value_bytes;
            }
            stats
        };
        self.levels.levels.iter().map(level_stats).collect()
    }

    /// Bytes of memory of all filters, and of all fences with the block directories and the indexes of runs.
    pub(crate) fn filter_and_fence_bytes(&self) -> (u64, u64) {
        let indexes = self.runs.iter().map(|run| run.index.memory_bytes() as u64).sum();
        self.tables().fold((0, indexes), |(filters, fences), table| {
            (filters + table.filter().memory_bytes() as u64, fences + table.fence_bytes() as u64)
        })
    }

    /// The mean over runs of the false-positive rate that theory gives for the filters as built.
    pub(crate) fn expected_fpr(&self) -> Option<f64> {
        let rates = self.runs.iter().map(|run| {
            let entries: f64 = run.tables.iter().map(|table| table.properties().entries as f64).sum();
            run.tables
                .iter()
                .map(|table| table.filter().expected_fpr() * table.properties().entries as f64)
                .sum::<f64>()
                / entries
        });
        (!self.runs.is_empty()).then(|| rates.sum::<f64>() / self.runs.len() as f64)
    }
}

/// All that a reader needs: one pointer leads to it, and whoever holds it sees the tree as it was.
pub(crate) struct View {
    /// The memtable that takes the writes.
    pub(crate) active: Arc<Slot>,
    /// Memtables that wait for their flush, the newest first.
    pub(crate) frozen: Vec<Arc<Slot>>,
    /// The tables.
    pub(crate) version: Arc<Version>,
}

impl View {
    /// All memtables, the newest first.
    pub(crate) fn memtables(&self) -> impl Iterator<Item = &Arc<Slot>> {
        std::iter::once(&self.active).chain(&self.frozen)
    }
}
