//! The errors of charts. If the description of a chart is wrong, the message explains how to correct it.

use std::path::PathBuf;

use results::ResultsError;
use thiserror::Error;

/// The reason why a chart cannot be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The results cannot be read, or lack a column.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The description of the chart is invalid, or does not fit the table of results.
    #[error("{key}: {message}")]
    Spec {
        /// The key in the table `[[chart]]` of the experiment file.
        key: &'static str,
        /// The error in the value of the key, and how to correct it.
        message: String,
    },
    /// The chart has no values to draw.
    #[error("nothing to draw: {0}")]
    Empty(String),
    /// The chart cannot be written.
    #[error("{}: cannot write the chart: {message}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error message.
        message: String,
    },
}

impl PlotError {
    pub(crate) fn spec(key: &'static str, message: impl Into<String>) -> Self {
        Self::Spec { key, message: message.into() }
    }
}

impl From<PlotError> for types::Problem {
    fn from(error: PlotError) -> Self {
        Self::new(error.to_string())
    }
}
