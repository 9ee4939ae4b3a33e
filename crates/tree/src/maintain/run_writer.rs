//! Writes a sorted run and splits it into SSTables.

use std::collections::VecDeque;
use std::sync::Arc;

use bloom::LevelLoad;
use types::Entry;

use super::separation::{Separation, SeparationPlan};
use crate::blob::References;
use crate::design::{FilterPlace, MAX_TABLE_BYTES};
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::range_tombstones::{KeyRange, end_below, successor};
use crate::table::{FilterBudget, SequenceRange, TableWriter};
use crate::version::TableRef;

/// Writes a sorted run, split into SSTables of the capacity `table.capacity`. Dropping the writer before
/// [`finish`](Self::finish) removes the files.
pub(super) struct RunWriter<'a> {
    inner: &'a Inner,
    level: usize,
    /// The size of the filters of the sorted run, which depends on the sizes of all levels. `None` if the filter
    /// variant has no parameter for the bits per key.
    filter_budget: Option<FilterBudget>,
    /// The file number and the writer of the SSTable that is being written.
    current: Option<(u64, TableWriter)>,
    tables: Vec<TableRef>,
    /// The range tombstones of the sorted run that no SSTable contains yet, in key order.
    deletes: VecDeque<KeyRange>,
    /// Writes large values to blob files. `None` if neither the run nor its inputs have values in blob files.
    separation: Option<Separation<'a>>,
    /// Whether stored values in the SSTables begin with a tag byte, which distinguishes values from pointers to blob
    /// files.
    marks_values: bool,
    /// The range of the sequence numbers of the sorted run. In a store without a manifest, the run is one SSTable, and
    /// its file name contains this range. `None` if the store has a manifest.
    sequences: Option<SequenceRange>,
}

impl<'a> RunWriter<'a> {
    /// Begins a sorted run for the level `level`. The range tombstones `deletes` must be disjoint and in key order.
    /// `loads` contains the number of entries that each level will have with the new run. `sequences` are the sequence
    /// numbers of the run, if the store has no manifest.
    pub(super) fn new(
        inner: &'a Inner,
        level: usize,
        loads: &[LevelLoad],
        deletes: Vec<KeyRange>,
        plan: &'a SeparationPlan,
        sequences: Option<SequenceRange>,
    ) -> Self {
        let context = &inner.context;
        let own = inner.filter_bits_per_key();
        let filter_budget = own.map(|own| match context.allocation.table_bits() {
            Some(bits) => FilterBudget::PerTable(bits),
            None => FilterBudget::PerKey(context.allocation.bits_per_key(own, loads, level)),
        });
        let separation = Separation::begin(inner, plan);
        let marks_values = separation.as_ref().is_some_and(Separation::writes_marks);
        Self {
            inner,
            level,
            filter_budget,
            current: None,
            tables: Vec::new(),
            deletes: deletes.into(),
            separation,
            marks_values,
            sequences,
        }
    }

    /// Returns whether the sorted run has neither an entry nor a range tombstone yet.
    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.current.is_none() && self.deletes.is_empty()
    }

    /// Appends an entry with its value. The key must be larger than the previous key. If `is_marked` is set, the
    /// SSTable marks the entry, which is a single delete or has replaced one.
    pub(super) fn add(&mut self, entry: Entry<'_>, is_marked: bool) -> Result<()> {
        self.add_stored(entry, None, is_marked).map(|_| ())
    }

    /// Appends an entry as an input SSTable stores it. The key must be larger than the previous key. `source` lists the
    /// blob files of the input SSTable, or is `None` if the entry contains the value itself. If `is_marked` is set, the
    /// output marks the entry, which is a single delete or has replaced one. Returns `false` if the value is corrupt.
    pub(super) fn add_stored(
        &mut self,
        entry: Entry<'_>,
        source: Option<&References>,
        is_marked: bool,
    ) -> Result<bool> {
        while let Some(range) = self.deletes.pop_front_if(|range| *range.high < *entry.key) {
            self.add_range_tombstone(range)?;
        }
        match (entry.value, self.separation.take()) {
            (Some(value), Some(mut separation)) => {
                let Some((stored, reference)) = separation.store(entry.key, value, source)? else {
                    return Ok(false);
                };
                let writer = self.writer()?;
                writer.add(Entry { key: entry.key, value: Some(stored) })?;
                if let Some((file, bytes)) = reference {
                    writer.refer(&file, bytes);
                }
                self.separation = Some(separation);
            }
            (_, separation) => {
                self.separation = separation;
                self.writer()?.add(entry)?;
            }
        }
        if is_marked {
            self.writer()?.mark_last();
        }
        if self.is_full()? {
            self.end_range_tombstone(&successor(entry.key), &successor(entry.key))?;
            self.close_table()?;
        }
        Ok(true)
    }

    /// Completes the current SSTable of the sorted run, if one was begun. The next SSTable begins at or above the key
    /// `cut`.
    pub(super) fn cut(&mut self, cut: &[u8]) -> Result<()> {
        while let Some(range) = self.deletes.pop_front_if(|range| *range.high < *cut) {
            self.add_range_tombstone(range)?;
        }
        if let Some(end) = end_below(cut) {
            self.end_range_tombstone(&end, cut)?;
        }
        self.close_table()
    }

    /// Completes the sorted run and makes its files durable, except for their directory entries. Returns the new
    /// SSTables.
    pub(super) fn finish(mut self) -> Result<NewTables> {
        while let Some(range) = self.deletes.pop_front() {
            self.add_range_tombstone(range)?;
        }
        self.close_table()?;
        self.separation.as_mut().map_or(Ok(()), Separation::finish)?;
        Ok(NewTables(std::mem::take(&mut self.tables)))
    }

    /// Returns the writer of the current SSTable. Begins an SSTable if none was begun.
    fn writer(&mut self) -> Result<&mut TableWriter> {
        if self.current.is_none() {
            let id = self.inner.new_file();
            let (context, budget) = (&self.inner.context, self.filter_budget);
            let mut writer = TableWriter::new(context, id, self.level, budget, self.sequences)?;
            if self.marks_values {
                writer.mark_values();
            }
            self.current = Some((id, writer));
        }
        let (_, writer) =
            self.current.as_mut().expect("the writer of a sorted run must have a current SSTable");
        Ok(writer)
    }

    /// Returns whether the current SSTable is full, because it has reached the capacity in the design. Without a
    /// manifest, a run is one SSTable of any size.
    ///
    /// # Errors
    /// If the run of a store without a manifest does not fit into one SSTable.
    fn is_full(&self) -> Result<bool> {
        let Some((_, writer)) = &self.current else { return Ok(false) };
        match self.sequences {
            None => Ok(writer.charged_bytes() >= self.inner.context.options.table.capacity.0),
            Some(_) if writer.charged_bytes() >= MAX_TABLE_BYTES => Err(Error::Misuse(
                "a sorted run of a store without a manifest is one SSTable, which holds less than 2 GiB of keys and \
                 values; copy the data to a store with table.manifest = \"file\""
                    .to_owned(),
            )),
            Some(_) => Ok(false),
        }
    }

    /// Adds a range tombstone to the current SSTable. The range must end before all later entries of the run.
    fn add_range_tombstone(&mut self, range: KeyRange) -> Result<()> {
        self.writer()?.add_range_tombstone(range);
        if self.is_full()? { self.close_table() } else { Ok(()) }
    }

    /// Splits the first remaining range tombstone at `end`, where the current SSTable ends. The part below `end` goes
    /// to this SSTable, and the part from `next` on remains for later SSTables. Does nothing if no remaining range
    /// tombstone begins before `end`.
    fn end_range_tombstone(&mut self, end: &Arc<[u8]>, next: &[u8]) -> Result<()> {
        let Some(range) = self.deletes.pop_front_if(|range| range.low < *end) else { return Ok(()) };
        let high = Arc::clone(if range.high < *end { &range.high } else { end });
        if *next < *range.high {
            self.deletes.push_front(KeyRange { low: next.into(), high: Arc::clone(&range.high) });
        }
        self.writer()?.add_range_tombstone(KeyRange { low: range.low, high });
        Ok(())
    }

    fn close_table(&mut self) -> Result<()> {
        let Some((id, writer)) = self.current.take() else { return Ok(()) };
        match writer.finish() {
            Ok(table) => {
                self.tables.push(TableRef(Arc::new(table)));
                Ok(())
            }
            Err(error) => {
                self.remove(id);
                Err(error)
            }
        }
    }

    /// Removes the file of an SSTable that was not completed.
    fn remove(&self, id: u64) {
        let context = &self.inner.context;
        context.remove_unfinished(id, context.options.table.filter == FilterPlace::Apart);
    }
}

/// New SSTables that are not part of the tree yet. If this value is dropped before [`keep`](Self::keep), the files of
/// the SSTables are removed.
pub(super) struct NewTables(Vec<TableRef>);

impl NewTables {
    /// Joins the new SSTables of several parts of a compaction into one sorted run. The parts must be in key order.
    pub(super) fn join(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(parts.into_iter().flat_map(|mut part| std::mem::take(&mut part.0)).collect())
    }

    /// Makes the directory entries of the files durable, and returns the SSTables. The caller must add the SSTables to
    /// the tree, because dropping them no longer removes their files.
    ///
    /// # Errors
    /// If the directory cannot be synced, or if the keys of two SSTables are out of order. Keys are out of order if the
    /// inputs are corrupt.
    pub(super) fn keep(mut self, inner: &Inner) -> Result<Vec<TableRef>> {
        if self.0.windows(2).any(|pair| pair[0].0.largest() >= pair[1].0.smallest()) {
            return Err(Error::OutOfOrder(inner.directory.clone()));
        }
        if !self.0.is_empty() {
            inner.storage.sync_directory(&inner.directory)?;
        }
        let references = self.0.iter().filter_map(|table| table.0.references()).flat_map(References::iter);
        references.for_each(|reference| reference.file.set_obsolete(false));
        Ok(std::mem::take(&mut self.0))
    }
}

impl Drop for NewTables {
    fn drop(&mut self) {
        self.0.iter().for_each(|table| table.0.set_obsolete());
    }
}

impl Drop for RunWriter<'_> {
    /// Removes the files of the SSTables, which did not become part of the tree.
    fn drop(&mut self) {
        self.tables.iter().for_each(|table| table.0.set_obsolete());
        if let Some((id, writer)) = self.current.take() {
            drop(writer);
            self.remove(id);
        }
    }
}
