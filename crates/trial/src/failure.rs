//! The failure of a trial.

/// The result of a step of a trial, or the reason why the trial cannot continue, as reported to the parent.
pub(crate) type TrialResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
