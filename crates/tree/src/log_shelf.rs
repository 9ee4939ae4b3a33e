//! The WAL files that no memtable writes to.

use crate::wal::LogFile;

/// The WAL files that no memtable writes to.
#[derive(Default)]
pub(crate) struct LogShelf {
    /// The next WAL, if it was created already. Its number is above the numbers of all other WALs.
    pub(crate) next: Option<NewLog>,
    /// WALs of immutable memtables that are still open.
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
