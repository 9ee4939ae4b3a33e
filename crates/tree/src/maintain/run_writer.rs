//! Writes a sorted run, split into tables.

use std::sync::Arc;

use bloom::LevelLoad;
use types::Entry;

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::table::{FilterBudget, TableWriter, table_path};
use crate::version::TableRef;

/// Writes a sorted run, split into tables of the design's capacity. If the run is given up, its tables are removed.
pub(super) struct RunWriter<'a> {
    inner: &'a Inner,
    level: usize,
    /// The memory budget of the run's filters, if the design sets one (`design.allocation`).
    filter_budget: Option<FilterBudget>,
    /// The number and the writer of the current table.
    current: Option<(u64, TableWriter)>,
    tables: Vec<TableRef>,
}

impl<'a> RunWriter<'a> {
    /// Begins a run for `level`. `loads` are the entries of each level after the run is installed.
    pub(super) fn new(inner: &'a Inner, level: usize, loads: &[LevelLoad]) -> Self {
        let context = &inner.context;
        let own = context.bloom.component.bits_per_key();
        let filter_budget = own.map(|own| match context.allocation.table_bits() {
            Some(bits) => FilterBudget::PerTable(bits),
            None => FilterBudget::PerKey(context.allocation.bits_per_key(own, loads, level)),
        });
        Self { inner, level, filter_budget, current: None, tables: Vec::new() }
    }

    /// Appends an entry. The key must be above the previous key.
    pub(super) fn add(&mut self, entry: Entry<'_>) -> Result<()> {
        if self.current.is_none() {
            let id = self.inner.new_file();
            let writer = TableWriter::new(&self.inner.context, id, self.level, self.filter_budget)?;
            self.current = Some((id, writer));
        }
        let (_, writer) = self.current.as_mut().expect("a table was begun");
        writer.add(entry)?;
        if writer.charged_bytes() >= self.inner.context.options.table.capacity.0 {
            self.close_table()?;
        }
        Ok(())
    }

    /// Ends the current table, if there is one. The next entry begins another.
    pub(super) fn cut(&mut self) -> Result<()> {
        self.close_table()
    }

    /// Completes the run. All its bytes become durable, but not yet the directory entries of its files.
    pub(super) fn finish(mut self) -> Result<NewTables> {
        self.close_table()?;
        Ok(NewTables(std::mem::take(&mut self.tables)))
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

    /// Removes a table that was not completed.
    fn remove(&self, id: u64) {
        // A file that cannot be removed now is an orphan, and the next open removes it.
        let _ = self.inner.storage.remove(&table_path(&self.inner.directory, id));
    }
}

/// New tables that are not yet part of any version. Unless the tables are [kept](Self::keep), dropping this value
/// removes them.
pub(super) struct NewTables(Vec<TableRef>);

impl NewTables {
    /// Joins the parts of one run, which come in key order.
    pub(super) fn join(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(parts.into_iter().flat_map(|mut part| std::mem::take(&mut part.0)).collect())
    }

    /// Makes the directory entries of the files durable, and returns the tables.
    ///
    /// # Errors
    /// If the directory cannot be synced, or if the keys of two tables are out of order. In the second case the inputs
    /// are corrupt.
    pub(super) fn keep(mut self, inner: &Inner) -> Result<Vec<TableRef>> {
        if self.0.windows(2).any(|pair| pair[0].0.properties().largest >= pair[1].0.properties().smallest) {
            return Err(Error::OutOfOrder(inner.directory.clone()));
        }
        if !self.0.is_empty() {
            inner.storage.sync_directory(&inner.directory)?;
        }
        Ok(std::mem::take(&mut self.0))
    }
}

impl Drop for NewTables {
    fn drop(&mut self) {
        self.0.iter().for_each(|table| table.0.set_obsolete());
    }
}

impl Drop for RunWriter<'_> {
    /// The tables of a run that is given up belong to no version.
    fn drop(&mut self) {
        self.tables.iter().for_each(|table| table.0.set_obsolete());
        if let Some((id, writer)) = self.current.take() {
            drop(writer);
            self.remove(id);
        }
    }
}
