//! What is wrong with a request, said once: where it stands, what is wrong, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

/// A request that cannot be met: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The file at fault, with the line where it is known.
    place: Option<(PathBuf, Option<usize>)>,
    message: String,
}

/// The result of anything a user can ask for.
pub(crate) type Outcome<T> = Result<T, Problem>;

impl Problem {
    /// A problem that is in no file.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { place: None, message: message.into() }
    }

    /// A problem in a file, at a line counted from 1 where it is known.
    pub(crate) fn at(file: &Path, line: Option<usize>, message: impl Into<String>) -> Self {
        Self { place: Some((file.to_owned(), line)), message: message.into() }
    }

    /// A problem that an error tells of, with what was being done: `cannot write results/x: …`.
    pub(crate) fn doing(what: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self::new(format!("cannot {what}: {error}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some((file, Some(line))) => write!(f, "{}:{line}: ", file.display())?,
            Some((file, None)) => write!(f, "{}: ", file.display())?,
            None => {}
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// Errors whose texts say all a user needs.
macro_rules! from_error {
    ($($error:ty),+) => {
        $(impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::new(error.to_string())
            }
        })+
    };
}

from_error!(
    tree::Error,
    results::ResultsError,
    plot::PlotError,
    storage::StorageError,
    workload::TargetError
);
