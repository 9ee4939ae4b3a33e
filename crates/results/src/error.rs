//! What can be wrong with results on disk, said so that the reader knows what to do.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Results that cannot be read, written or continued.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The file system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: `open`, `append`.
        action: &'static str,
        /// What the file system said.
        source: io::Error,
    },
    /// There are results already.
    #[error("{} holds results already; continue them with --resume, or write elsewhere with --out DIR", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another process writes to the same file.
    #[error("{} is being written by another run; wait for it, or write elsewhere with --out DIR", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file's columns are not those that are about to be appended.
    #[error(
        "{}: these are results of another experiment: {difference}; write elsewhere with --out DIR, or remove the file",
        path.display()
    )]
    OtherShape {
        /// The file.
        path: PathBuf,
        /// The first difference between the headers.
        difference: String,
    },
    /// A header that no version of this schema has written.
    #[error("{}:1: column {column}: {message}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The number of the column, from 1.
        column: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A row that cannot be right.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column, what it holds and what it should hold.
        message: String,
    },
    /// A file that is not as it was when its rows were written.
    #[error(
        "{}: {message}: it was changed since it was written; put back a copy of it, or run the experiment again",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// What is other than before.
        message: String,
    },
    /// A column that the table does not have.
    #[error("no column \"{name}\"; {hint}")]
    UnknownColumn {
        /// The name asked for.
        name: String,
        /// The closest name, and the swept columns there are.
        hint: String,
    },
    /// A swept path that cannot be a column.
    #[error("\"{path}\" cannot be a column: {message}")]
    SweptPath {
        /// The path.
        path: String,
        /// Why not.
        message: String,
    },
    /// A cell that cannot be written.
    #[error("column \"{column}\" cannot hold {text:?}: {message}")]
    Cell {
        /// The column.
        column: String,
        /// What it was given.
        text: String,
        /// Why not.
        message: &'static str,
    },
    /// A manifest that cannot be read.
    #[error("{}: {message}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column where there is one.
        message: String,
    },
    /// A latency log that cannot be read.
    #[error("{}:{line}: {message}; the charts that need it can be drawn after the cell is run again", path.display())]
    Latency {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

impl ResultsError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}

/// The name among `names` that is closest to `wrong`, if any is close.
pub(crate) fn closest<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}

impl From<ResultsError> for types::Problem {
    fn from(error: ResultsError) -> Self {
        Self::new(error.to_string())
    }
}
