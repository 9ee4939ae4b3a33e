//! The WAL files to which no memtable writes.

use crate::wal::LogFile;

/// The WAL files to which no memtable writes.
#[derive(Default)]
pub(crate) struct LogShelf {
    /// The WAL of the next memtable, if it exists already. The file number of this WAL is larger than the numbers of
    /// all other WALs.
    pub(crate) next: Option<NewLog>,
    /// The open WALs of immutable memtables.
    pub(crate) retired: Vec<LogFile>,
}

/// A WAL without records.
pub(crate) struct NewLog {
    /// The file number.
    pub(crate) number: u64,
    /// The seal of the file.
    pub(crate) seal: u64,
    /// The file.
    pub(crate) file: LogFile,
}
