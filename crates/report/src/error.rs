//! Errors in files of claims. The messages help the maintainer of the file to fix the errors.

use std::path::PathBuf;

use thiserror::Error;

/// An error in a file of claims.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// The file cannot be read.
    #[error("{}: {message}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error message.
        message: String,
    },
    /// A row of the file is not valid, or contradicts another row.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The path of the file.
        path: PathBuf,
        /// The line of the row, from 1.
        line: u64,
        /// The error message.
        message: String,
    },
}
