//! The files that a tree no longer needs, until they are removed.

use std::sync::Arc;

use crate::table::Table;

/// The obsolete files of a tree.
#[derive(Default)]
pub(crate) struct ObsoleteFiles {
    /// The SSTables that no version contains. A view or a scan may still use them.
    pub(crate) tables: Vec<Arc<Table>>,
    /// The numbers of the WALs whose memtables are flushed.
    pub(crate) logs: Vec<u64>,
    /// The number of threads that are removing files now.
    pub(crate) removers: usize,
}

impl ObsoleteFiles {
    /// Removes the files that no view and no scan uses from this list. Returns their SSTables and the numbers of their
    /// WALs.
    pub(crate) fn take_unused(&mut self) -> (Vec<Arc<Table>>, Vec<u64>) {
        // New views do not contain obsolete SSTables, so an SSTable with a single reference gets no further reference.
        let tables = self.tables.extract_if(.., |table| Arc::strong_count(table) == 1).collect();
        (tables, std::mem::take(&mut self.logs))
    }

    /// Returns whether the list has a file that no view and no scan uses, so that the file can be removed.
    pub(crate) fn has_unused(&self) -> bool {
        !self.logs.is_empty() || self.tables.iter().any(|table| Arc::strong_count(table) == 1)
    }

    /// Returns whether the list has a file that can be removed, or a thread is removing files.
    pub(crate) fn is_removal_pending(&self) -> bool {
        self.removers > 0 || self.has_unused()
    }
}
