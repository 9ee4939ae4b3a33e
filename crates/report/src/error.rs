//! What can be wrong with claims, said so that their keeper knows what to do.

use std::path::PathBuf;

use thiserror::Error;

/// Claims that cannot be read, or that their tables do not fit.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClaimsError {
    /// A file of claims that cannot be read.
    #[error("{}: {message}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A claim that cannot be right.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
}
