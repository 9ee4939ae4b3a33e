//! The files that a tree no longer needs, until they are removed.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::table::Table;

/// The files that a tree no longer needs, until they are removed.
#[derive(Default)]
pub(crate) struct ObsoleteFiles {
    /// The SSTables that no version contains. A view or a scan may still use them.
    pub(crate) tables: Vec<Arc<Table>>,
    /// The numbers of the WALs whose memtables are flushed.
    pub(crate) logs: Vec<u64>,
    /// The number of threads that are removing obsolete files.
    removals: usize,
}

/// A removal of obsolete files that is in progress. The removal ends when this value is dropped, even by a panic.
pub(crate) struct Removal<'a>(&'a Mutex<ObsoleteFiles>);

impl<'a> Removal<'a> {
    /// Begins a removal. Takes from the lists of obsolete files every file that no view and no scan uses. Returns these
    /// SSTables, and the numbers of these WALs.
    pub(crate) fn begin(obsolete: &'a Mutex<ObsoleteFiles>) -> (Self, Vec<Arc<Table>>, Vec<u64>) {
        let mut files = obsolete.lock();
        files.removals += 1;
        // New views do not contain obsolete SSTables, so an SSTable with a single reference gets no further reference.
        let tables = files.tables.extract_if(.., |table| Arc::strong_count(table) == 1).collect();
        (Self(obsolete), tables, std::mem::take(&mut files.logs))
    }
}

impl Drop for Removal<'_> {
    fn drop(&mut self) {
        self.0.lock().removals -= 1;
    }
}

impl ObsoleteFiles {
    /// Returns whether at least one obsolete file is no longer in use, so that it can be removed.
    pub(crate) fn has_unused(&self) -> bool {
        !self.logs.is_empty() || self.tables.iter().any(|table| Arc::strong_count(table) == 1)
    }

    /// Returns whether an obsolete file can be removed, or a thread is removing files.
    pub(crate) fn is_removal_pending(&self) -> bool {
        self.removals > 0 || self.has_unused()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_panic_ends_a_removal() {
        let obsolete = Mutex::new(ObsoleteFiles { logs: vec![7], ..ObsoleteFiles::default() });
        let remove = || {
            let (_removal, _, logs) = Removal::begin(&obsolete);
            assert!(obsolete.lock().is_removal_pending());
            panic!("planned: {logs:?}");
        };
        catch_unwind(AssertUnwindSafe(remove)).unwrap_err();
        assert!(!obsolete.lock().is_removal_pending());
    }
}
