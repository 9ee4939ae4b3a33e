//! The error of stored filter bytes that cannot be right.

use thiserror::Error;

/// Stored filter bytes that cannot be right.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("corrupt filter: {0}")]
pub struct CorruptFilter(pub String);
