//! Where the functions of the C interface come from.

use std::path::PathBuf;

use crate::library::version_in;

/// Where the functions come from.
pub(super) enum LibrarySource {
    /// A shared library.
    File(PathBuf),
    /// This program.
    #[cfg(any(feature = "rocksdb", feature = "speedb"))]
    Program,
}

impl LibrarySource {
    /// The version that it is known by.
    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::File(path) => version_in(path),
            #[cfg(any(feature = "rocksdb", feature = "speedb"))]
            Self::Program => super::linked::identity().version,
        }
    }
}
