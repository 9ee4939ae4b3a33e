//! Everything that can go wrong in a tree, said so that the reader knows what to do next.

use std::path::{Path, PathBuf};

use compression::CorruptBlock;
use storage::{Held, StorageError};
use thiserror::Error;
use types::{MAX_BATCH_BYTES, MAX_KEY_BYTES, MAX_VALUE_BYTES};

use crate::design::DesignError;

/// Why a call to a tree failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read, written, synced, renamed or removed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A file holds what no tree wrote there.
    #[error("{}, offset {offset}: {what}; `lsmbench verify` lists all damage of a store", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where in the file, in bytes.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// The design cannot be built.
    #[error(transparent)]
    Design(#[from] DesignError),
    /// A key above the limit.
    #[error("the key has {0} bytes; keys have at most {MAX_KEY_BYTES}")]
    KeyTooLong(usize),
    /// A value above the limit.
    #[error("the value has {0} bytes; values have at most {MAX_VALUE_BYTES}")]
    ValueTooLong(usize),
    /// A batch above the limit.
    #[error("the batch would have {0} bytes; batches have at most {MAX_BATCH_BYTES}: write it in several")]
    BatchTooLong(usize),
    /// Another process, or another tree of this one, has the directory open.
    #[error("{} is in use by {}; close it there first", .0.display(), .1.user())]
    InUse(PathBuf, Held),
    /// The directory holds files, but no tree.
    #[error("{} holds files, but no tree; give an empty or a new directory", .0.display())]
    NotATree(PathBuf),
    /// The directory holds nothing that a tree leaves.
    #[error("{} is no store: there is no manifest, no table and no log", .0.display())]
    NotAStore(PathBuf),
    /// A write-ahead log that the manifest needs is gone.
    #[error("{} is missing: writes that were acknowledged are lost; {QUARANTINE_HINT}", .0.display())]
    MissingLog(PathBuf),
    /// A write or a background job failed before; what was acknowledged is safe, but nothing more is taken.
    #[error("the tree takes no more writes since this error: {0}; open it again")]
    Failed(String),
    /// The compaction policy, which may be another process, can pick no more jobs.
    #[error("the compaction policy failed: {0}")]
    Policy(String),
    /// Keys that a merge read from tables do not rise, though the checksums of those are right or there are none.
    #[error("{}: a merge met keys that do not rise, so a table is damaged; `lsmbench verify` names it", .0.display())]
    OutOfOrder(PathBuf),
    /// An option of the call is out of range.
    #[error("{0}")]
    Misuse(String),
}

/// What a user does about a store that does not open because of damage.
pub(crate) const QUARANTINE_HINT: &str = "open it with quarantine to go on with what can be read";

/// The result of a call to a tree.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// Damage in `file` at `offset`.
    pub(crate) fn damaged(file: &Path, offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged { file: file.to_owned(), offset, what: what.into() }
    }

    /// A block that does not decompress, in `file` at `offset`.
    pub(crate) fn block(file: &Path, offset: u64, error: &CorruptBlock) -> Self {
        Self::damaged(file, offset, error.to_string())
    }

    /// Whether this is damage of a file, as opposed to a failed call or a misuse.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::MissingLog(_) | Self::OutOfOrder(_))
    }

    /// Whether something could not be read, or was not what had been written; nothing was changed.
    pub(crate) fn is_of_reading(&self) -> bool {
        self.is_damage() || matches!(self, Self::Storage(error) if error.operation == "read")
    }
}

impl From<Error> for types::Problem {
    fn from(error: Error) -> Self {
        Self::new(error.to_string())
    }
}
