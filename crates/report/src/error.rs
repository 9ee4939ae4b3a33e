//! The errors in files that list claims or features. Each message contains the path and the line of the error.

use std::path::PathBuf;

use thiserror::Error;

/// An error in a file that lists claims or features, such as `claims.csv`.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// The file with the claims or features cannot be read.
    #[error("{}: {message}", path.display())]
    File {
        /// The path of the file that cannot be read.
        path: PathBuf,
        /// The reason why the file cannot be read.
        message: String,
    },
    /// A row of the file is not valid, or contradicts another row.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The path of the file with the invalid row.
        path: PathBuf,
        /// The line number of the invalid row, starting from 1.
        line: u64,
        /// The reason why the row is not valid.
        message: String,
    },
}
