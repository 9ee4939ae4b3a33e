//! The error of corrupt stored filter bytes.

use thiserror::Error;

/// Stored filter bytes that are corrupt or of another filter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("corrupt filter: {0}")]
pub struct CorruptFilter(pub String);
