//! Errors of designs.

use thiserror::Error;

/// An invalid design: the key of the `[design]` table and the reason.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct DesignError {
    /// The path of the invalid key, from the design down: `["bloom", "bits_per_key"]`.
    pub path: Vec<String>,
    /// The reason, and the valid values.
    pub message: String,
}

impl DesignError {
    /// Creates an error at a key of the design, or at a key inside its table.
    pub(super) fn at(key: &str, inner: Option<String>, message: impl Into<String>) -> Self {
        let path = std::iter::once(key.to_owned()).chain(inner).collect();
        Self { path, message: message.into() }
    }

    /// Returns the same error, moved into the table of `key`.
    pub(super) fn inside(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }
}
