//! The methods of appending small records to a WAL. Back ends on POSIX files have the parameter `log`, which selects
//! the method.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::storage::{Purpose, StorageError, WriteFile};
use crate::{mapped_log, page_cached};

/// Expands to the text in the TOML reference for the parameter `log`, which selects the method for appends to a WAL.
macro_rules! appending_reference {
    () => {
        "# Method for appends to the WAL. \"mapped\" copies each record into a memory map of reserved space and\n\
         # needs no system call. \"write\" calls write(2). With both methods, records survive a\n\
         # crash of the process.\n\
         log = \"mapped\"\n"
    };
}
pub(crate) use appending_reference;

/// The method by which a back end appends records to a WAL.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Appending {
    /// Copies each record into a memory map of the file.
    #[default]
    Mapped,
    /// Appends each record with one call of write(2).
    Write,
}

impl Appending {
    /// Creates a file that is written through the page cache. A WAL is written with this method, and any other file is
    /// written with write(2). `purpose` must not be [`Purpose::Table`].
    pub(crate) fn create(self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        match (purpose, self) {
            (Purpose::Log, Self::Mapped) => mapped_log::create(path),
            _ => page_cached::create(path, purpose),
        }
    }
}
