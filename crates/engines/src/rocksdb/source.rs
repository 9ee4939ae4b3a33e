//! The source of the functions of the C interface.

use std::path::PathBuf;

use crate::library::version_in;

/// The place from which the functions of the library come.
pub(super) enum LibrarySource {
    /// A shared library.
    File(PathBuf),
    /// The library is linked into this program.
    #[cfg(any(feature = "rocksdb", feature = "speedb"))]
    Program,
}

impl LibrarySource {
    /// The version of the library, if the file name or the build contains the version.
    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::File(path) => version_in(path),
            #[cfg(any(feature = "rocksdb", feature = "speedb"))]
            Self::Program => super::linked::identity().version,
        }
    }
}
