//! The errors of this crate. The messages explain how to fix the problem.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// An error that occurs when results are read, written or continued.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// An error of the file system.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The path of the file or folder on which the action failed.
        path: PathBuf,
        /// The action that failed, as an infinitive such as `open` or `append`.
        action: &'static str,
        /// The error of the file system.
        source: io::Error,
    },
    /// The results file to create exists already.
    #[error("{} already contains results; continue them with --resume, or choose another folder with --out DIR", path.display())]
    Exists {
        /// The path of the existing results file.
        path: PathBuf,
    },
    /// Another process holds the lock of a results file, because it writes to the file.
    #[error("another run is writing {}; wait for this run, or choose another folder with --out DIR", path.display())]
    InUse {
        /// The path of the locked file.
        path: PathBuf,
    },
    /// The columns of the file differ from the columns of the rows to append.
    #[error(
        "{}: the file has results of another experiment: {difference}; choose another folder with --out DIR, or remove the file",
        path.display()
    )]
    OtherShape {
        /// The path of the results file.
        path: PathBuf,
        /// The first column that differs, with its name in the file and its name in the rows to append.
        difference: String,
    },
    /// The first line of a results file is not a valid header: it has an unknown, missing or misplaced column.
    #[error("{}:1: column {column}: {message}", path.display())]
    Header {
        /// The path of the file with the invalid header.
        path: PathBuf,
        /// The number of the first invalid column in the header, from 1.
        column: usize,
        /// A description of the invalid name, such as `unknown column "p5_ns"`.
        message: String,
    },
    /// A line of a file is not valid.
    #[error("{}:{line}: {message}", path.display())]
    Row {
        /// The path of the file with the invalid line.
        path: PathBuf,
        /// The number of the invalid line, from 1.
        line: u64,
        /// The problem of the line, such as `five fields expected`, without the path and the line number. If a field
        /// has a wrong value, the message names the column, the value and the expected type.
        message: String,
    },
    /// A results file differs from its seal, which is the size and the checksum that the manifest of the run stores.
    #[error(
        "{}: {message}; something changed the file after the run; restore a copy of the file, or run the \
         experiment again",
        path.display()
    )]
    Changed {
        /// The path of the changed file.
        path: PathBuf,
        /// The difference between the file and its seal, such as missing bytes.
        message: String,
    },
    /// A requested column does not exist in the table.
    #[error("no column \"{name}\"; {hint}")]
    UnknownColumn {
        /// The name of the requested column.
        name: String,
        /// A suggestion for the user: the most similar column if one exists, and the swept columns of the table.
        hint: String,
    },
    /// A swept path cannot be the name of a column.
    #[error("the swept path \"{path}\" cannot be the name of a column: {message}")]
    SweptPath {
        /// The swept path: the dotted path to a setting, such as `design.bloom.bits_per_key`.
        path: String,
        /// The reason why the path cannot be the name of a column.
        message: String,
    },
    /// A text cannot be written into a field of a results file, because it contains a control character.
    #[error("column \"{column}\" cannot contain {text:?}: {message}")]
    Cell {
        /// The name of the column of the field.
        column: String,
        /// The text that cannot be written.
        text: String,
        /// The reason why the text cannot be written, such as a control character.
        message: &'static str,
    },
    /// The manifest of a results folder (`manifest.json`) cannot be read.
    #[error("{}: {message}", path.display())]
    Manifest {
        /// The path of the manifest.
        path: PathBuf,
        /// The problem of the manifest, with line and column if known.
        message: String,
    },
    /// A latency log (the HDR histograms of one phase in one trial) cannot be read or written.
    #[error("{}:{line}: {message}; to draw charts of latencies, run this configuration again", path.display())]
    Latency {
        /// The path of the latency log.
        path: PathBuf,
        /// The number of the invalid line in the latency log, from 1.
        line: usize,
        /// The problem of the invalid line.
        message: String,
    },
}

impl ResultsError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}

/// Returns the name that is most similar to `wrong`. Returns `None` if no name is similar enough for a suggestion.
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
