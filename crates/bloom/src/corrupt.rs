//! The error for stored filter bytes that are corrupt.

use thiserror::Error;

/// An error because stored filter bytes are corrupt or belong to another kind of filter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("corrupt filter: {0}")]
pub struct CorruptFilter(pub String);
