//! Errors of charts, worded so that the reader can correct the chart's description.

use std::path::PathBuf;

use results::ResultsError;
use thiserror::Error;

/// A chart that cannot be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// An error in the results, or a column that the results do not contain.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A description of a chart that the table has no data for.
    #[error("{key}: {message}")]
    Spec {
        /// The key in the table `[[chart]]` of the experiment file.
        key: &'static str,
        /// The error in the value of the key, and how to correct it.
        message: String,
    },
    /// An empty chart.
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
