//! Versions and views of a tree. A version is an immutable set of sorted runs. A view is a version with the memtables.
//! Readers share both.

use std::collections::HashSet;
use std::ops::{Bound, Range};
use std::sync::Arc;

use bloom::LevelLoad;
use compaction::{Levels, Operations, Placed, RangeWork, Shape, TableShape};
use fence::culling::{Culling, FileRanges, LevelForm, RunIndex};
use types::KeyHash;

use crate::blob::{References, shapes};
use crate::error::Result;
use crate::file_index::{FileIndex, FilePlace};
use crate::level_locks::LevelLocks;
use crate::memory::Slot;
use crate::sorted_view::{self, SortedView};
use crate::stats::{AllCounters, BlobStats, LevelStats};
use crate::table::Table;
use crate::values::BlobFileShape;

/// A reference to an SSTable of the tree.
#[derive(Clone)]
pub(crate) struct TableRef(pub(crate) Arc<Table>);

impl Placed for TableRef {
    fn id(&self) -> u64 {
        self.0.id()
    }
    fn smallest(&self) -> &[u8] {
        self.0.smallest()
    }
    fn largest(&self) -> &[u8] {
        self.0.largest()
    }
}

/// A sorted run, which consists of SSTables in key order and an index over their key ranges.
pub(crate) struct SortedRun {
    /// The level that contains the sorted run.
    pub(crate) level: usize,
    /// The SSTables of the sorted run, in key order.
    pub(crate) tables: Arc<[Arc<Table>]>,
    /// The total file size of the SSTables in the sorted run, in bytes.
    pub(crate) bytes: u64,
    /// Whether any SSTable of the sorted run has range tombstones.
    has_range_tombstones: bool,
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
            has_range_tombstones: run.tables.iter().any(|table| table.0.range_tombstones().is_some()),
            index: culling.index(ranges, form),
        }
    }

    /// Returns the position, in the sorted run, of the only SSTable that can have the key. Returns `None` if no SSTable
    /// can have it.
    #[inline]
    pub(crate) fn table_for(&self, key: &[u8]) -> Option<usize> {
        self.index.file_for(key)
    }

    /// Returns whether a range tombstone of the sorted run deletes the key in older runs.
    #[inline]
    pub(crate) fn deletes(&self, key: &[u8]) -> bool {
        self.has_range_tombstones && self.table_for(key).is_some_and(|table| self.tables[table].deletes(key))
    }

    /// Returns the positions in the sorted run of the SSTables that can have keys between the bounds.
    pub(crate) fn overlapping(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Range<usize> {
        self.index.overlapping(low, high)
    }
}

/// A version: the immutable list of all SSTables of a tree.
pub(crate) struct Version {
    /// The SSTables of the version by level and run.
    pub(crate) levels: Levels<TableRef>,
    /// The sorted runs of the version in the order in which reads search them, from the newest to the oldest run.
    pub(crate) runs: Vec<SortedRun>,
    /// The additional work of all scans (see [`RangeWork`]) until the sorted runs last changed. Read-triggered
    /// compaction subtracts this work from the current counters, so it counts only scans of the current runs.
    pub(crate) ranges_before: RangeWork,
    /// Whether any SSTable of the version can contain pointers to blob files. A tag byte before each stored value then
    /// distinguishes pointers from values.
    has_blobs: bool,
    /// Whether any SSTable of the version has range tombstones.
    has_range_tombstones: bool,
    /// The sorted view of all runs. `None` if scans merge the runs.
    sorted_view: Option<SortedView>,
    /// The index from keys to SSTables. `None` if gets search one run after another.
    file_index: Option<FileIndex>,
    access: ReadAccess,
}

/// The structures that reads use in addition to the sorted runs: the culling method, the sorted view and the locks of
/// levels.
#[derive(Clone)]
pub(crate) struct ReadAccess {
    /// The culling method of the design, which finds the SSTables that can contain a key.
    pub(crate) culling: Arc<dyn Culling>,
    /// The largest number of entries in a segment of the sorted view. `None` if scans merge the runs.
    pub(crate) segment_entries: Option<usize>,
    /// The locks of the levels. `None` if reads take no locks.
    pub(crate) level_locks: Option<Arc<LevelLocks>>,
}

impl ReadAccess {
    /// Returns whether the design has an index of all sorted runs: a sorted view, or an index of keys.
    fn has_indexes(&self) -> bool {
        self.segment_entries.is_some() || self.culling.key_index(&[]).is_some()
    }
}

/// Builds the indexes of all sorted runs: the sorted view and the index of keys, as far as the design has them.
/// `previous` is the version whose indexes the construction reuses. `counters` counts the bytes that the construction
/// reads.
fn indexes(
    previous: Option<&Version>,
    runs: &[SortedRun],
    access: &ReadAccess,
    counters: &AllCounters,
) -> (Option<SortedView>, Option<FileIndex>) {
    let tables: Vec<Arc<[Arc<Table>]>> = runs.iter().map(|run| Arc::clone(&run.tables)).collect();
    // The construction has separate counters, because its reads belong neither to compactions nor to gets and scans.
    let reads = AllCounters::default();
    let sorted_view = access.segment_entries.and_then(|entries| {
        let previous = previous.and_then(|previous| previous.sorted_view.as_ref());
        sorted_view::build(previous, &tables, entries, &reads)
    });
    let previous = previous.and_then(|previous| previous.file_index.as_ref());
    let file_index = FileIndex::build(previous, &tables, &*access.culling, &reads);
    counters.local().index_bytes_read.add(reads.sum().compaction_bytes_read);
    (sorted_view, file_index)
}

impl Version {
    /// Creates the first version of an open tree, with the levels `levels`. `ranges_before` is the additional work of
    /// all scans so far. `counters` counts the bytes that the construction of indexes reads.
    pub(crate) fn new(
        levels: Levels<TableRef>,
        access: ReadAccess,
        ranges_before: RangeWork,
        counters: &AllCounters,
    ) -> Self {
        Self::after(None, levels, access, ranges_before, counters)
    }

    /// Creates the version after `previous`, with the levels `levels`. `previous` is `None` for the first version of a
    /// tree.
    fn after(
        previous: Option<&Self>,
        levels: Levels<TableRef>,
        access: ReadAccess,
        ranges_before: RangeWork,
        counters: &AllCounters,
    ) -> Self {
        let culling = &access.culling;
        let form = |level| match level > 0 && levels.runs_of(level).len() == 1 {
            true => LevelForm::Disjoint,
            false => LevelForm::Overlapping,
        };
        let run = |(level, run)| SortedRun::new(level, form(level), run, &**culling);
        let runs: Vec<SortedRun> = levels.runs().map(run).collect();
        let has_range_tombstones = runs.iter().any(|run| run.has_range_tombstones);
        let has_blobs = levels.tables().any(|(_, table)| table.0.references().is_some());
        let (sorted_view, file_index) = match access.has_indexes() {
            true => indexes(previous, &runs, &access, counters),
            false => (None, None),
        };
        Self { levels, runs, ranges_before, has_blobs, has_range_tombstones, sorted_view, file_index, access }
    }

    /// Returns the next version of the tree, with other levels. `counters` counts the bytes that the construction of a
    /// sorted view or an index of all runs reads.
    pub(crate) fn with(
        &self,
        levels: Levels<TableRef>,
        ranges_before: RangeWork,
        counters: &AllCounters,
    ) -> Self {
        Self::after(Some(self), levels, self.access.clone(), ranges_before, counters)
    }

    /// Returns whether the tree has an index of all sorted runs: a sorted view, or an index of keys.
    pub(crate) fn has_indexes(&self) -> bool {
        self.access.has_indexes()
    }

    /// Returns the sorted view of all runs. Returns `None` if scans merge the runs.
    #[inline]
    pub(crate) fn sorted_view(&self) -> Option<&SortedView> {
        self.sorted_view.as_ref()
    }

    /// Returns whether gets search one run after another, with the filter of each SSTable and without locks.
    #[inline]
    pub(crate) fn searches_plain_runs(&self) -> bool {
        self.file_index.is_none() && self.access.level_locks.is_none()
    }

    /// Returns the locks of the levels. Returns `None` if reads take no locks.
    #[inline]
    pub(crate) fn level_locks(&self) -> Option<&LevelLocks> {
        self.access.level_locks.as_deref()
    }

    /// Returns the SSTables that may have a key with this hash, from the newest to the oldest SSTable. Returns `None`
    /// if gets search one run after another.
    #[inline]
    pub(crate) fn files_of(&self, hash: KeyHash) -> Option<Vec<FilePlace>> {
        self.file_index.as_ref().map(|index| index.files_of(hash))
    }

    /// Returns all SSTables of the version, from the newest run to the oldest run.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.runs.iter().flat_map(|run| run.tables.iter())
    }

    /// Returns whether any SSTable of the version has range tombstones.
    #[inline]
    pub(crate) fn has_range_tombstones(&self) -> bool {
        self.has_range_tombstones
    }

    /// Returns whether any SSTable of the version can contain pointers to blob files, so that its stored values have
    /// tag bytes.
    #[inline]
    pub(crate) fn has_blobs(&self) -> bool {
        self.has_blobs
    }

    /// Returns the blob files to which the SSTables of the version refer, from the oldest to the newest file.
    pub(crate) fn blob_files(&self) -> Result<Vec<BlobFileShape>> {
        blob_files(&self.levels)
    }

    /// Returns the statistics of the blob files of the version.
    pub(crate) fn blob_stats(&self) -> BlobStats {
        // Installing the version has opened these files, so no file fails to open here.
        let files = if self.has_blobs { self.blob_files().unwrap_or_default() } else { Vec::new() };
        BlobStats {
            files: files.len() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
            live_bytes: files.iter().map(|file| file.live_bytes).sum(),
        }
    }

    /// Returns the levels, runs and SSTables of the tree with their sizes. From this shape, a compaction policy picks
    /// jobs. The counts of recent operations are 0 in the result, so the caller must set them. `buffer_bytes` is the
    /// capacity of a memtable.
    pub(crate) fn shape(&self, buffer_bytes: u64) -> Shape {
        let table_shape = |table: &TableRef| {
            let properties = table.0.properties();
            TableShape {
                id: table.0.id(),
                bytes: table.0.charged_bytes(),
                entries: properties.entries,
                tombstones: properties.tombstones,
                smallest: Arc::clone(table.0.smallest()),
                largest: Arc::clone(table.0.largest()),
            }
        };
        Shape { buffer_bytes, levels: self.levels.map(table_shape), operations: Operations::default() }
    }

    /// Returns the number of entries and runs that each level will have after a change. From these numbers, the tree
    /// divides the filter memory between the levels.
    ///
    /// The change moves the entries of the SSTables in `moved` to `level`, and adds `new` further entries to `level`.
    /// If `own_run` is set, these entries form an additional run. The result still counts entries that a compaction
    /// will drop.
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

    /// Returns the statistics of each level of the version.
    pub(crate) fn level_stats(&self) -> Vec<LevelStats> {
        let level_stats = |level: &compaction::Level<TableRef>| {
            let mut stats = LevelStats { runs: level.runs.len() as u64, ..LevelStats::default() };
            for table in level.runs.iter().flat_map(|run| &run.tables) {
                let properties = table.0.properties();
                stats.tables += 1;
                stats.entries += properties.entries;
                stats.tombstones += properties.tombstones;
                stats.range_tombstones +=
                    table.0.range_tombstones().map_or(0, |tombstones| tombstones.ranges().len() as u64);
                stats.file_bytes += table.0.file_bytes();
                stats.blocks += u64::from(table.0.block_count());
                stats.block_bytes += table.0.block_bytes();
                stats.user_bytes += properties.key_bytes + properties.value_bytes;
            }
            stats
        };
        self.levels.levels.iter().map(level_stats).collect()
    }

    /// Returns the memory of all filters, and the memory of all indexes, in bytes. The indexes are fence pointers,
    /// block directories, restart hints, in-memory indexes of blocks, run indexes and the sorted view. An index of the
    /// keys of all runs counts as a filter.
    pub(crate) fn filter_and_fence_bytes(&self) -> (u64, u64) {
        let indexes: u64 = self.runs.iter().map(|run| run.index.memory_bytes() as u64).sum();
        let sorted_view = self.sorted_view.as_ref().map_or(0, |view| view.memory_bytes() as u64);
        let file_index = self.file_index.as_ref().map_or(0, |index| index.memory_bytes() as u64);
        self.tables().fold((file_index, indexes + sorted_view), |(filters, fences), table| {
            (filters + table.filter().memory_bytes() as u64, fences + table.fence_bytes() as u64)
        })
    }

    /// Returns the expected false-positive rate of the filters, averaged over all runs. Returns `None` if there are no
    /// runs, or if gets use an index of all runs in place of the filters.
    pub(crate) fn expected_fpr(&self) -> Option<f64> {
        let rates = self.runs.iter().map(|run| {
            let entries: f64 = run.tables.iter().map(|table| table.properties().entries as f64).sum();
            run.tables
                .iter()
                .map(|table| table.filter().expected_fpr() * table.properties().entries as f64)
                .sum::<f64>()
                / entries
        });
        (!self.runs.is_empty() && self.file_index.is_none())
            .then(|| rates.sum::<f64>() / self.runs.len() as f64)
    }
}

/// Returns the blob files to which the SSTables of these levels refer, from the oldest to the newest file.
pub(crate) fn blob_files(levels: &Levels<TableRef>) -> Result<Vec<BlobFileShape>> {
    shapes(references(levels))
}

/// Returns the references to blob files of each SSTable in these levels. Omits SSTables that cannot contain pointers to
/// blob files.
pub(crate) fn references(levels: &Levels<TableRef>) -> impl Iterator<Item = &References> {
    levels.tables().filter_map(|(_, table)| table.0.references())
}

/// All memtables and SSTables that a reader needs, like the superversion of RocksDB. A view never changes, so a
/// reader with a view sees a consistent state of the tree.
pub(crate) struct View {
    /// The active memtable, which receives the writes.
    pub(crate) active: Arc<Slot>,
    /// The immutable memtables, which wait for their flush, newest first.
    pub(crate) frozen: Vec<Arc<Slot>>,
    /// The SSTables, as one immutable version of all levels.
    pub(crate) version: Arc<Version>,
}

impl View {
    /// Returns the active memtable and all immutable memtables, newest first.
    pub(crate) fn memtables(&self) -> impl Iterator<Item = &Arc<Slot>> {
        std::iter::once(&self.active).chain(&self.frozen)
    }

    /// Returns whether any memtable or SSTable of the view has range tombstones.
    pub(crate) fn has_range_deletes(&self) -> bool {
        self.version.has_range_tombstones || self.memtables().any(|slot| !slot.range_deletes.is_empty())
    }
}
