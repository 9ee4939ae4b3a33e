//! The WAL files to which no thread appends: the WALs of immutable memtables, and the WALs that were created in advance
//! for the next memtables.

use std::collections::VecDeque;

use crate::wal::LogFile;

/// The number of WALs that the tree creates in advance. With two WALs, one WAL is usually ready for the next memtable
/// while the flush thread creates another WAL. A writer that replaces the memtable then does not wait for the flush
/// thread.
pub(crate) const NEXT_LOGS: usize = 2;

/// The WAL files to which no thread appends: the WALs of immutable memtables, and the WALs that were created in advance
/// for the next memtables.
#[derive(Default)]
pub(crate) struct LogShelf {
    /// WALs that were created in advance for the memtables after the active memtable, in the order of their file
    /// numbers. These file numbers are larger than the numbers of all other WALs.
    pub(crate) next: VecDeque<NewLog>,
    /// The WAL files of immutable memtables. These files are still open.
    pub(crate) retired: Vec<LogFile>,
    /// The length, in bytes, of the last WAL that was completed. The next WAL will have about this length.
    pub(crate) last_bytes: u64,
    /// The file number of the last WAL that a writer created itself, because no WAL was ready. 0 if there is no such
    /// WAL.
    pub(crate) used: u64,
}

impl LogShelf {
    /// Adds `log`, a WAL that was created in advance. If a writer has meanwhile created a newer WAL, returns `log` as
    /// `Err`, because WALs must be used in the order of their numbers.
    pub(crate) fn add(&mut self, log: NewLog) -> Result<(), NewLog> {
        if log.number < self.used {
            return Err(log);
        }
        self.next.push_back(log);
        Ok(())
    }
}

/// A WAL without records.
pub(crate) struct NewLog {
    /// The file number of the WAL.
    pub(crate) number: u64,
    /// The seal of the WAL: a number that identifies the file and its store, and that each checksum of the file covers.
    pub(crate) seal: u64,
    /// The open WAL file.
    pub(crate) file: LogFile,
}
