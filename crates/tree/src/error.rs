//! Errors of the tree. Most messages also state the next step for the user.

use std::path::{Path, PathBuf};

use compression::CorruptBlock;
use storage::{Held, StorageError};
use thiserror::Error;
use types::{MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES};

use crate::design::DesignError;

/// The reason why a call to a tree failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read, written, synced, renamed or removed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A file is corrupt.
    #[error("{}, offset {offset}: {what}; `lsmbench verify` lists all corruption of a store", file.display())]
    Damaged {
        /// The corrupt file.
        file: PathBuf,
        /// The offset of the first corrupt byte or record in the corrupt file.
        offset: u64,
        /// The description of the corruption.
        what: String,
    },
    /// The design of the tree is invalid.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// A key is longer than the maximum.
    #[error("the key has {0} bytes; the limit is {MAX_KEY_BYTES}")]
    KeyTooLong(usize),
    /// A value is longer than the maximum.
    #[error("the value has {0} bytes; the limit is {MAX_VALUE_BYTES}")]
    ValueTooLong(usize),
    /// A write batch is longer than the maximum.
    #[error("the batch would have {0} bytes; the limit is {MAX_BATCH_BYTES}; split the batch")]
    BatchTooLong(usize),
    /// The directory of the store is in use by another process, or by another tree of this process.
    #[error("{} is in use by {}; close the store in that process first", .0.display(), .1.user())]
    InUse(PathBuf, Held),
    /// The directory has files, but none of them is a file of a store.
    #[error("{} has files, but no store; use an empty or a new directory", .0.display())]
    NotATree(PathBuf),
    /// The directory contains no store, and the caller wants to open an existing store.
    #[error("{} is not a store: it has no manifest, no SSTable and no WAL", .0.display())]
    NotAStore(PathBuf),
    /// The directory already contains a store, but the caller requires a new store.
    #[error("{} already has a store; use an empty or a new directory", .0.display())]
    Exists(PathBuf),
    /// A WAL file that the manifest needs is missing.
    #[error("{} is missing, so acknowledged writes are lost; {QUARANTINE_HINT}", .0.display())]
    MissingLog(PathBuf),
    /// An earlier write or background job failed. Acknowledged writes are safe, but the tree accepts no more writes.
    #[error("the tree accepts no writes after this error: {0}; open the tree again")]
    Failed(String),
    /// The compaction policy failed and can pick no more jobs. The policy may be another process.
    #[error("the compaction policy failed: {0}")]
    Policy(String),
    /// The keys of an SSTable are not in ascending order. Its checksums match, or the SSTable has no checksums.
    #[error("{}: keys of a corrupt SSTable are out of order; run `lsmbench verify` to find the SSTable", .0.display())]
    OutOfOrder(PathBuf),
    /// The call is invalid: for example, an argument is out of range, or the design does not support the call.
    #[error("{0}")]
    Misuse(String),
}

/// The advice in an error message if corruption prevents the opening of a store.
pub(crate) const QUARANTINE_HINT: &str = "open the store with quarantine to continue with the readable files";

/// The result of a call to a tree.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Returns the error that the file `file` is corrupt at `offset`. `what` describes the corruption.
    pub(crate) fn damaged(file: &Path, offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged { file: file.to_owned(), offset, what: what.into() }
    }

    /// Returns the error that the block of `file` at `offset` cannot be decompressed.
    pub(crate) fn block(file: &Path, offset: u64, error: &CorruptBlock) -> Self {
        Self::damaged(file, offset, error.to_string())
    }

    /// Returns whether the error reports corruption of a file, and not a failed call or a misuse.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::MissingLog(_) | Self::OutOfOrder(_))
    }

    /// Returns whether a failed read or a corrupt file has caused the error. Such an error does not prevent later
    /// writes.
    pub(crate) fn is_of_reading(&self) -> bool {
        self.is_damage() || matches!(self, Self::Storage(error) if error.operation == "read")
    }
}

impl From<Error> for types::Problem {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}
