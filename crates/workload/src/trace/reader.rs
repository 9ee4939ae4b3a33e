//! The trait of trace readers, and the errors of traces.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reader of recorded accesses in one format.
///
/// Contract: a file always gives the same accesses, and no number takes more bytes than [`width`](Self::width).
pub trait TraceReader: Send + Sync {
    /// Reads all accesses of a file in recorded order, each as the number of its key.
    ///
    /// # Errors
    /// The file is missing, corrupt or of another format.
    fn read(&self, path: &Path) -> Result<Vec<u64>, TraceError>;

    /// Returns the length of a key in bytes, 1 to 8: the key format `trace` writes keys as big-endian numbers of this
    /// width.
    fn width(&self) -> usize;
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
    /// The file ends in the middle of a number.
    #[error("trace {path}: {bytes} bytes are not a whole number of {width}-byte keys; is the width right?")]
    Torn {
        /// The file.
        path: PathBuf,
        /// Length of the trace after decompression.
        bytes: u64,
        /// The requested width.
        width: usize,
    },
    /// A small file decompresses to a large one.
    #[error(
        "trace {path}: it decompresses to more than {bytes} bytes, which no trace of its size does; decompress it"
    )]
    Bomb {
        /// The file.
        path: PathBuf,
        /// The bytes that a file of its size may decompress to.
        bytes: u64,
    },
    /// The content of the file violates its format.
    #[error("trace {path}: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Description and position of the error.
        message: String,
    },
    /// The trace has no accesses to replay.
    #[error("trace {path}: the file holds no accesses")]
    Empty {
        /// The file.
        path: PathBuf,
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
        /// One of the widths.
        first: usize,
        /// Another width.
        second: usize,
    },
}

impl TraceError {
    /// Returns the wrong file; `None` if several files are involved.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Read { path, .. }
            | Self::Torn { path, .. }
            | Self::Bomb { path, .. }
            | Self::Malformed { path, .. }
            | Self::Empty { path } => Some(path),
            Self::TooManyKeys { .. } | Self::Widths { .. } => None,
        }
    }
}
