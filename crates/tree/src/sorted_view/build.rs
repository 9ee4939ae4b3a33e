//! Builds the sorted view of a version from the sorted view of the previous version.
//!
//! The construction merges two sequences: the entries of the old view, and the entries of the new SSTables. For the old
//! view, the construction reads only keys near the keys of new SSTables, and the first keys of some segments. The new
//! view omits the entries of SSTables that left the tree.

use std::collections::HashMap;
use std::sync::Arc;

use types::Direction;

use super::entry_reader::EntryReader;
use super::view::{MOST_RUNS, SortedView, ViewRun};
use crate::error::Result;
use crate::merge::{Merge, Source};
use crate::stats::AllCounters;
use crate::table::{BlockReads, RankedRun, RunCursor, Table};

/// The SSTables of a sorted run, in key order.
type RunTables = Arc<[Arc<Table>]>;

/// Builds the sorted view of `runs`, which are in order from the newest to the oldest run. The construction reads
/// blocks of SSTables. These reads count as reads of compactions in `counters`.
///
/// Returns `None` if there are more than [`MOST_RUNS`] runs, if the runs have 2³² or more entries, or if a block cannot
/// be read. Scans then merge the runs, so the scan that reads the block returns the error.
pub(crate) fn build(
    previous: Option<&SortedView>,
    runs: &[RunTables],
    segment_entries: usize,
    counters: &AllCounters,
) -> Option<SortedView> {
    let entries: u64 = runs.iter().flat_map(|run| run.iter()).map(|table| table.properties().entries).sum();
    if runs.len() > MOST_RUNS || u32::try_from(entries).is_err() {
        return None;
    }
    let none = SortedView::default();
    let previous = previous.unwrap_or(&none);
    Construction::new(previous, runs, segment_entries, counters).run(runs).ok()
}

/// The construction of a new sorted view from the old view of the tree and the entries of new SSTables.
struct Construction<'v> {
    old: &'v SortedView,
    counters: &'v AllCounters,
    reader: EntryReader<'v>,
    /// For each SSTable of each run of the old sorted view, the number of the run that has the SSTable in the new view.
    /// `None` if the SSTable has left the tree.
    renumbered: Vec<Vec<Option<u8>>>,
    /// For each run of the old sorted view, the index of the SSTable that contains the next entry of the run.
    old_tables: Vec<usize>,
    /// The position of the current entry in the old sorted view.
    at: usize,
    /// The segment of the old sorted view that contains the current entry.
    segment: usize,
    /// For each run of the old sorted view, the number of its entries before the current entry.
    before: Vec<u32>,
    segment_entries: usize,
    /// The number of entries in the last segment of the new sorted view.
    in_segment: usize,
    /// For each run of the new sorted view, the number of its entries that the new view already contains.
    placed: Vec<u32>,
    new: SortedView,
    /// For each SSTable, by its file number, a list with the number of entries before each of its blocks.
    blocks: HashMap<u64, Arc<[u32]>>,
}

impl<'v> Construction<'v> {
    fn new(
        old: &'v SortedView,
        runs: &[RunTables],
        segment_entries: usize,
        counters: &'v AllCounters,
    ) -> Self {
        let tables =
            runs.iter().zip(0u8..).flat_map(|(run, number)| run.iter().map(move |table| (table, number)));
        let places: HashMap<u64, u8> = tables.map(|(table, number)| (table.id(), number)).collect();
        let of_table = |table: &Arc<Table>| places.get(&table.id()).copied();
        let blocks = old.runs.iter().flat_map(|run| run.tables.iter().zip(&run.blocks));
        Self {
            old,
            counters,
            reader: EntryReader::new(old, Direction::Forward, BlockReads::Single),
            renumbered: old.runs.iter().map(|run| run.tables.iter().map(of_table).collect()).collect(),
            old_tables: vec![0; old.runs.len()],
            at: 0,
            segment: 0,
            before: vec![0; old.runs.len()],
            segment_entries,
            in_segment: usize::MAX,
            placed: vec![0; runs.len()],
            new: SortedView::default(),
            blocks: blocks.map(|(table, blocks)| (table.id(), Arc::clone(blocks))).collect(),
        }
    }

    fn run(mut self, runs: &[RunTables]) -> Result<SortedView> {
        let is_new = |table: &&Arc<Table>| !self.blocks.contains_key(&table.id());
        let new_tables: Vec<Vec<Arc<Table>>> =
            runs.iter().map(|run| run.iter().filter(is_new).cloned().collect()).collect();
        let mut sources = Vec::new();
        for (rank, tables) in new_tables.iter().enumerate() {
            let cursor = RunCursor::stream(tables, None, None, self.counters)?;
            sources.extend(cursor.map(|cursor| RankedRun { cursor, rank }));
        }
        let mut sizes: HashMap<u64, Vec<u32>> = HashMap::new();
        let mut merge = Merge::new(sources, Direction::Forward);
        let mut versions = Vec::new();
        while let Some(newest) = merge.current() {
            self.pass_below(newest.key())?;
            versions.clear();
            if self.at < self.old.len() && self.old_key(self.at)? == newest.key() {
                self.take_versions(&mut versions);
            }
            for source in std::iter::once(newest).chain(merge.superseded()) {
                // A view has at most `MOST_RUNS` runs, so a rank fits into a byte.
                versions.push(source.rank as u8);
                let (table, block, _) = source.cursor.position().unwrap_or_default();
                let sizes = sizes.entry(table).or_default();
                sizes.resize(sizes.len().max(block as usize + 1), 0);
                sizes[block as usize] += 1;
            }
            if self.needs_segment(versions.len()) {
                self.new.begin_segment(newest.key(), &self.placed);
                self.in_segment = 0;
            }
            self.push_versions(&mut versions);
            merge.advance(self.counters)?;
        }
        self.pass_to(self.old.len())?;
        let sizes = sizes.into_iter().map(|(table, sizes)| (table, ends(&sizes)));
        self.blocks.extend(sizes);
        self.new.runs = runs.iter().map(|run| view_run(run, &self.blocks)).collect();
        Ok(self.new)
    }

    /// Moves all entries of the old sorted view with keys below `key` to the new view.
    fn pass_below(&mut self, key: &[u8]) -> Result<()> {
        while self.at < self.old.len() {
            let end = self.old.segment(self.segment).end;
            if self.segment + 1 < self.old.segments() && self.old.anchor(self.segment + 1) <= key {
                self.pass_to(end)?;
                continue;
            }
            let to = self.first_not_below(key, end)?;
            return self.pass_to(to);
        }
        Ok(())
    }

    /// Searches the entries of the old sorted view from the current entry to `end`, exclusive. Returns the position of
    /// the first entry whose key is at or above `key`, or `end` if there is no such entry. The search doubles its
    /// steps, so it is fast both if the entry is near and if it is far away.
    fn first_not_below(&mut self, key: &[u8], end: usize) -> Result<usize> {
        let (mut low, mut high, mut step) = (self.at, end, 1);
        while low + step <= end {
            let probe = low + step - 1;
            if self.old_key(probe)? >= key {
                high = probe;
                break;
            }
            low = probe + 1;
            step *= 2;
        }
        while low < high {
            let middle = low.midpoint(high);
            if self.old_key(middle)? < key { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    /// Returns the key of the entry at the position `at` of the old sorted view. The entry must be in the current
    /// segment, at or after the current entry.
    fn old_key(&mut self, at: usize) -> Result<&[u8]> {
        if at == self.old.segment(self.segment).start {
            return Ok(self.old.anchor(self.segment));
        }
        let run = self.old.run(at);
        let between = (self.at..at).filter(|at| self.old.run(*at) == run).count() as u32;
        Ok(self.reader.place(run, self.before[run] + between, self.counters)?.key())
    }

    /// Moves all entries of the old sorted view before the position `to` to the new view. `to` must be the position of
    /// the newest version of a key, or the end of the old view.
    fn pass_to(&mut self, to: usize) -> Result<()> {
        let mut versions = Vec::new();
        while self.at < to {
            let (start, segment) = (self.at, self.segment);
            let (run, ordinal) = (self.old.run(start), self.before[self.old.run(start)]);
            versions.clear();
            self.take_versions(&mut versions);
            if versions.is_empty() {
                continue;
            }
            let is_anchor = start == self.old.segment(segment).start;
            // The first key of an old segment is known without a read. The new view begins a segment at this key if the
            // current segment is at least half full. This condition limits the number of segments, and so the memory.
            let is_free = is_anchor && self.in_segment >= self.segment_entries.div_ceil(2);
            if is_free || self.needs_segment(versions.len()) {
                let anchor = match is_anchor {
                    true => self.old.anchor(segment),
                    false => self.reader.place(run, ordinal, self.counters)?.key(),
                };
                self.new.begin_segment(anchor, &self.placed);
                self.in_segment = 0;
            }
            self.push_versions(&mut versions);
        }
        Ok(())
    }

    /// Moves past all versions of the current key in the old sorted view. For each version that is still in the tree,
    /// appends the number of its run in the new view to `versions`.
    fn take_versions(&mut self, versions: &mut Vec<u8>) {
        loop {
            let run = self.old.run(self.at);
            let (firsts, table) = (&self.old.runs[run].firsts, &mut self.old_tables[run]);
            while firsts.get(*table + 1).is_some_and(|first| *first <= self.before[run]) {
                *table += 1;
            }
            versions.extend(self.renumbered[run][*table]);
            self.before[run] += 1;
            self.at += 1;
            if self.at == self.old.len() || !self.old.is_superseded(self.at) {
                break;
            }
        }
        if self.at < self.old.len() && self.at == self.old.segment(self.segment).end {
            self.segment += 1;
        }
    }

    /// Returns whether a key must begin a new segment of the new sorted view, because the last segment has no room for
    /// all `versions` versions of the key.
    fn needs_segment(&self, versions: usize) -> bool {
        self.in_segment.saturating_add(versions) > self.segment_entries
    }

    /// Appends the versions of a key to the new sorted view.
    fn push_versions(&mut self, versions: &mut [u8]) {
        versions.sort_unstable();
        versions.iter().for_each(|run| self.placed[usize::from(*run)] += 1);
        self.new.push_versions(versions);
        self.in_segment += versions.len();
    }
}

/// Returns the number of entries before each block of an SSTable, followed by the number of all its entries. `sizes`
/// contains the number of entries of each block.
fn ends(sizes: &[u32]) -> Arc<[u32]> {
    let mut before = 0;
    let ends = sizes.iter().map(|size| {
        before += size;
        before
    });
    std::iter::once(0).chain(ends).collect()
}

fn view_run(tables: &RunTables, blocks: &HashMap<u64, Arc<[u32]>>) -> ViewRun {
    let blocks: Vec<Arc<[u32]>> = tables.iter().map(|table| Arc::clone(&blocks[&table.id()])).collect();
    let mut before = 0;
    let firsts = blocks.iter().map(|blocks| {
        let first = before;
        before += blocks.last().copied().unwrap_or(0);
        first
    });
    let firsts = firsts.collect();
    ViewRun { tables: Arc::clone(tables), firsts, blocks }
}
