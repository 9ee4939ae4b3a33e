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
    /// The description of the chart is invalid, or does not fit the results.
    #[error("{key}: {message}")]
    Spec {
        /// The invalid key in the table `[[chart]]` of the experiment file.
        key: &'static str,
        /// The error in the value of the key, and how to correct it.
        message: String,
    },
    /// The chart has no values to draw.
    #[error("nothing to draw: {0}")]
    Empty(String),
    /// A file of the chart cannot be written.
    #[error("{}: cannot write the chart: {message}", path.display())]
    Write {
        /// The path of the chart file.
        path: PathBuf,
        /// The reason why the file cannot be written.
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
