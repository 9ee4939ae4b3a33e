//! Removal of obsolete files on a separate thread.
//!
//! The last owner of an obsolete SSTable unmaps and removes its file. On a file system that discards freed blocks, the
//! removal takes some milliseconds. A put holds a view, and with the view its SSTables. If the kernel preempts the
//! thread of the put for a long time, the put may become the last owner of all inputs of a compaction. The put would
//! then have to remove these files. The tree therefore keeps its own reference to each obsolete SSTable. A separate
//! thread drops the reference when no view and no scan uses the SSTable. This thread also closes and removes WALs, so
//! flushes and compactions do not wait for removals.

use std::sync::Arc;

use crate::inner::Inner;
use crate::obsolete_files::Removal;
use crate::table::Table;
use crate::wal::log_path;

impl Inner {
    /// Returns whether the tree has a thread that removes obsolete files. Otherwise, the last owner of a file removes
    /// the file.
    pub(super) fn has_remover(&self) -> bool {
        !self.compacts_inline()
    }

    /// Hands obsolete SSTables to the thread that removes files. This thread removes an SSTable when no view and no
    /// scan uses it. Does nothing in a tree without this thread.
    pub(super) fn remove_tables_later(&self, tables: &[&Arc<Table>]) {
        if self.has_remover() {
            self.obsolete.lock().tables.extend(tables.iter().copied().cloned());
        }
    }

    /// Removes the WAL `number`, whose memtable is flushed. If the tree has a thread that removes files, this thread
    /// removes the WAL later. Otherwise, the WAL is removed now.
    pub(super) fn remove_log(&self, number: u64) {
        if self.has_remover() {
            self.obsolete.lock().logs.push(number);
            self.signals.notify();
        } else {
            self.remove_log_file(number);
        }
    }

    /// Closes the WALs of immutable memtables, and removes the obsolete files that no view and no scan uses.
    pub(super) fn remove_obsolete(&self) {
        let retired = std::mem::take(&mut self.shelf.lock().retired);
        let (_removal, tables, logs) = Removal::begin(&self.obsolete);
        drop(retired);
        logs.into_iter().for_each(|number| self.remove_log_file(number));
        drop(tables);
    }

    fn remove_log_file(&self, number: u64) {
        // If this removal fails, the WAL is an orphan, and the next open removes it.
        let _ = self.storage.remove(&log_path(&self.directory, number));
    }
}
