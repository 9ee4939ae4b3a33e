//! The trait of trace readers, and the errors of traces.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::record::TraceRecord;

/// Reader of recorded operations in one format.
///
/// Contract: reading a file always gives equal records, and memory does not grow with the length of the file.
pub trait TraceReader: Send + Sync {
    /// Returns whether a file that begins with `head` has this format. Returns false if the format cannot be recognised
    /// by content. Users then name it with `kind`.
    fn recognizes(&self, _head: &TraceHead<'_>) -> bool {
        false
    }

    /// Returns the records of a file. The content of `input` is already decompressed.
    ///
    /// # Errors
    /// The file is truncated at its start or of another format.
    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError>;

    /// Returns the length of a key in bytes, 1 to 8, if all keys are big-endian numbers of one width. Only such a trace
    /// can supply keys for a `mix`.
    fn width(&self) -> Option<usize> {
        None
    }

    /// Returns whether a record is only a key. By default, such a trace is replayed as reads of a loaded store.
    fn has_only_keys(&self) -> bool {
        false
    }
}

/// The records of a trace, one at a time, in recorded order.
pub trait TraceRecords: Send {
    /// Returns the next record, or `None` at the end of the trace. After an error the trace has ended.
    ///
    /// # Errors
    /// The content violates the format, at a byte or line that the error names.
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError>;

    /// Returns notes about skipped records and assumptions so far, one sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Error of a trace.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened, read or decompressed.
    #[error("trace {path}: {source}; check the path, and that the file is whole")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the kernel or the decompressor.
        source: io::Error,
    },
    /// The content of the file violates its format.
    #[error("trace {path}: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Description and position of the error.
        message: String,
    },
    /// A line of the file violates its format.
    #[error("trace {path}:{line}: {message}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// Description of the error.
        message: String,
    },
    /// The trace has no accesses to replay.
    #[error("trace {path}: the file has no accesses")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// No reader recognises the file.
    #[error("trace {path}: no format of traces is recognised; set kind. Valid: {kinds}")]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The names of all readers.
        kinds: String,
    },
    /// The traces have more different keys than a run can number.
    #[error("{keys} different keys in the traces; at most {} can be replayed", u32::MAX)]
    TooManyKeys {
        /// The number of different keys.
        keys: usize,
    },
    /// Two traces of one workload have keys of different widths.
    #[error("the traces of one workload must have one width, but there are {first} and {second} bytes")]
    Widths {
        /// One of the two widths, in bytes.
        first: usize,
        /// The other of the two widths, in bytes.
        second: usize,
    },
}

impl TraceError {
    /// Adds the file to an error of a record.
    pub fn of_record(path: &Path, error: RecordError) -> Self {
        let path = path.to_owned();
        match error {
            RecordError::Input(source) => Self::Read { path, source },
            RecordError::Line { line, message } => Self::Line { path, line, message },
            error @ RecordError::Byte { .. } => Self::Malformed { path, message: error.to_string() },
        }
    }

    /// Returns the wrong file; `None` if several files are involved.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Read { path, .. }
            | Self::Malformed { path, .. }
            | Self::Line { path, .. }
            | Self::Empty { path }
            | Self::Unknown { path, .. } => Some(path),
            Self::TooManyKeys { .. } | Self::Widths { .. } => None,
        }
    }
}
