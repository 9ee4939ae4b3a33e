//! Write method for files with small appends: a parameter of the back ends on POSIX files.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::storage::{Purpose, StorageError, WriteFile};
use crate::{mapped_log, page_cached};

/// Reference text of the parameter for a back end.
macro_rules! appending_reference {
    () => {
        "# Method for appends to the WAL. \"mapped\" copies each record into a memory map of reserved space and\n\
         # needs no system call. \"write\" calls write(2). Both survive a crash of the process.\n\
         log = \"mapped\"\n"
    };
}
pub(crate) use appending_reference;

/// Write method for WAL appends.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Appending {
    /// Copies into a memory map.
    #[default]
    Mapped,
    /// write(2).
    Write,
}

impl Appending {
    /// Creates a file that goes through the page cache, as every [`Purpose`] but tables does.
    pub(crate) fn create(self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        match (purpose, self) {
            (Purpose::Log, Self::Mapped) => mapped_log::create(path),
            _ => page_cached::create(path, purpose),
        }
    }
}
