//! How files that are appended to in small pieces are written: a parameter of the back ends on POSIX files.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::storage::{Purpose, StorageError, WriteFile};
use crate::{mapped_log, page_cached};

/// What the reference of a back end says of the parameter.
macro_rules! appending_reference {
    () => {
        "# How logs are appended to: \"mapped\", by a copy into a memory map of space reserved ahead, which is no\n\
         # system call and as safe from a crash of the process, or \"write\", by write(2).\n\
         log = \"mapped\"\n"
    };
}
pub(crate) use appending_reference;

/// How logs are appended to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Appending {
    /// By a copy into a memory map.
    #[default]
    Mapped,
    /// By write(2).
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
