//! The trait of trace readers, and the errors of traces.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::head::TraceHead;
use super::input::{RecordError, TraceInput};
use super::record::TraceRecord;

/// A reader of traces in one format, which returns the recorded operations.
///
/// Contract: if a file is read twice, the records are equal. The memory of the reader does not depend on the length of
/// the file.
pub trait TraceReader: Send + Sync {
    /// Returns whether a file that begins with `head` has this format. Always returns false for a format that lsmbench
    /// cannot recognize by the content of a file. For such a format, the user must set `kind`.
    fn recognizes(&self, _head: &TraceHead<'_>) -> bool {
        false
    }

    /// Returns the records of a file. The bytes of `input` are already decompressed.
    ///
    /// # Errors
    /// Returns an error if the file is truncated at its start or has another format.
    fn records(&self, input: TraceInput) -> Result<Box<dyn TraceRecords>, RecordError>;

    /// Returns the length of a key in bytes, 1 to 8, if all keys are big-endian numbers of one width. Only the keys of
    /// such a trace are valid for a phase with a `mix`.
    fn width(&self) -> Option<usize> {
        None
    }

    /// Returns whether the records contain only keys and no operations. By default, lsmbench replays such a trace as
    /// gets on a loaded store.
    fn has_only_keys(&self) -> bool {
        false
    }
}

/// The records of a trace, one at a time, in recorded order.
pub trait TraceRecords: Send {
    /// Returns the next record, or `None` at the end of the trace. No call may follow an error.
    ///
    /// # Errors
    /// Returns an error if the content violates the format. The error has the byte offset or the line.
    fn read(&mut self) -> Result<Option<TraceRecord>, RecordError>;

    /// Returns notes about skipped records, and about the assumptions that the reader has made so far, one sentence
    /// each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Reason why a trace cannot be read or replayed.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened, read or decompressed.
    #[error("trace {path}: {source}; check the path, and check that the file is complete")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error or the error of the decompressor.
        source: io::Error,
    },
    /// The content of the file violates its format.
    #[error("trace {path}: {message}")]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// Description of the error, with its position in the file.
        message: String,
    },
    /// A line of the file violates its format.
    #[error("trace {path}:{line}: {message}")]
    Line {
        /// The path of the file.
        path: PathBuf,
        /// The number of the wrong line, from 1.
        line: u64,
        /// Description of the error.
        message: String,
    },
    /// The trace contains no accesses to replay.
    #[error("trace {path}: the file has no accesses")]
    Empty {
        /// The path of the file.
        path: PathBuf,
    },
    /// No reader recognizes the file.
    #[error("trace {path}: unknown trace format; set kind. {valid}")]
    Unknown {
        /// The path of the file.
        path: PathBuf,
        /// The list of the names of all trace formats, for the error message.
        valid: String,
    },
    /// The traces have more distinct keys than a workload can have.
    #[error("the traces have {keys} different keys; the maximum is {}", u32::MAX)]
    TooManyKeys {
        /// The number of distinct keys.
        keys: usize,
    },
    /// Two traces of one workload have keys of different lengths.
    #[error(
        "the traces of one workload must have keys of one length, but the keys of two traces have {first} \
         and {second} bytes"
    )]
    Widths {
        /// The key length of one trace, in bytes.
        first: usize,
        /// The key length of the other trace, in bytes.
        second: usize,
    },
}

impl TraceError {
    /// Creates a trace error from the error of a record and the path of the file.
    pub fn of_record(path: &Path, error: RecordError) -> Self {
        let path = path.to_owned();
        match error {
            RecordError::Input(source) => Self::Read { path, source },
            RecordError::Line { line, message } => Self::Line { path, line, message },
            error @ RecordError::Byte { .. } => Self::Malformed { path, message: error.to_string() },
        }
    }

    /// Returns the path of the file that caused the error. Returns `None` if the error is about several files.
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
