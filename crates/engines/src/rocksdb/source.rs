//! The source of the functions of the C interface.

use std::path::PathBuf;

use crate::library::version_in;

/// The source of the functions.
pub(super) enum LibrarySource {
    /// A shared library.
    File(PathBuf),
    /// This program.
    #[cfg(any(feature = "rocksdb", feature = "speedb"))]
    Program,
}

impl LibrarySource {
    /// The version of the library, as far as its source reveals it.
    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::File(path) => version_in(path),
            #[cfg(any(feature = "rocksdb", feature = "speedb"))]
            Self::Program => super::linked::identity().version,
        }
    }
}
