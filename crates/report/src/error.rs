//! Errors in files of claims, worded so that the maintainer of the file can fix them.

use std::path::PathBuf;

use thiserror::Error;

/// An error in claims: a file that cannot be read, or a row that contradicts the tables.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// A file of claims that cannot be read.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error message.
        message: String,
    },
    /// A row that is not a valid claim.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The error message.
        message: String,
    },
}
