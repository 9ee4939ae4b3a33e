//! Defines the result type of the steps of a trial.

/// The result of a step of a trial that may fail. After an error, the trial ends and reports the error to the parent
/// process.
pub(crate) type TrialResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
