//! Why a trial cannot be done.

/// What a step of a trial gives, or why the trial cannot be done, as reported to the parent.
pub(crate) type TrialResult<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
