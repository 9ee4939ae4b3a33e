//! Defines where the functions of the C interface come from.

use std::path::PathBuf;

use crate::library::version_in;

/// Where the functions of the library come from.
pub(super) enum LibrarySource {
    /// The shared library at this path.
    File(PathBuf),
    /// The library that is linked into this program.
    #[cfg(any(feature = "rocksdb", feature = "speedb"))]
    Program,
}

impl LibrarySource {
    /// Returns the version of the library, if the file name or the linked library contains it.
    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::File(path) => version_in(path),
            #[cfg(any(feature = "rocksdb", feature = "speedb"))]
            Self::Program => super::linked::identity().version,
        }
    }
}
