//! What can be wrong with a chart, said so that the reader knows what to write instead.

use std::path::PathBuf;

use results::ResultsError;
use thiserror::Error;

/// A chart that cannot be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The results cannot be read, or do not have a column.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The chart's description asks for what the table cannot give.
    #[error("{key}: {message}")]
    Spec {
        /// The key of the chart's table in the experiment file.
        key: &'static str,
        /// What is wrong and what would be right.
        message: String,
    },
    /// Nothing is left to draw.
    #[error("nothing to draw: {0}")]
    Empty(String),
    /// The chart cannot be written.
    #[error("{}: cannot write the chart: {message}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
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
