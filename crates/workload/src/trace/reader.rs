//! The trait of trace readers, and the errors of traces.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reads recorded accesses of one format.
///
/// Contract: the same file gives the same accesses, and no number takes more bytes than [`width`](Self::width).
pub trait TraceReader: Send + Sync {
    /// Reads all accesses of a file in recorded order, each as the number of its key.
    ///
    /// # Errors
    /// The file is missing, damaged or of another format.
    fn read(&self, path: &Path) -> Result<Vec<u64>, TraceError>;

    /// The bytes of a key, 1 to 8: the key format `trace` writes keys as big-endian numbers of so many bytes.
    fn width(&self) -> usize;
}

/// What can be wrong with a trace.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be opened, read or decompressed.
    #[error("trace {path}: {source}; check the path, and that the file is whole")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system or the decompressor says.
        source: io::Error,
    },
    /// The file ends in the middle of a number.
    #[error("trace {path}: {bytes} bytes are no whole number of {width}-byte keys; is the width right?")]
    Torn {
        /// The file.
        path: PathBuf,
        /// Its length after decompression.
        bytes: u64,
        /// The width that was asked for.
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
    /// The content of the file is not what its format says.
    #[error("trace {path}: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        message: String,
    },
    /// There is nothing to replay.
    #[error("trace {path}: the file holds no accesses")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// More different keys than a run can number.
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
        /// Another.
        second: usize,
    },
}

impl TraceError {
    /// The file that is at fault. `None` where several are.
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
