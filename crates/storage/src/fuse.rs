//! Rejects all writes to a file after one write has failed.

use std::io;
use std::path::{Path, PathBuf};

use crate::storage::StorageError;

/// The write state of a file: once a write has failed, all later writes fail, because the content of the file is
/// unknown.
pub(crate) struct Fuse {
    path: PathBuf,
    blown: bool,
}

impl Fuse {
    /// Creates the write state of the file at `path`. No write has failed yet.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), blown: false }
    }

    /// Executes `write`, which writes to the file. If an earlier write to the file has failed, returns an error
    /// instead.
    pub(crate) fn attempt(
        &mut self,
        operation: &'static str,
        write: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), StorageError> {
        let done = if self.blown {
            Err(io::Error::other(
                "an earlier write to this file failed, so the content of this file is unknown",
            ))
        } else {
            write()
        };
        self.blown |= done.is_err();
        done.map_err(|error| StorageError::new(operation, &self.path, error))
    }

    /// Returns whether a write to the file has failed.
    pub(crate) fn is_blown(&self) -> bool {
        self.blown
    }
}
