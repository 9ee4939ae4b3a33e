//! What can be wrong with a design, and at which key.

use thiserror::Error;

/// A design that cannot be: which key of the `[design]` table, and why.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct DesignError {
    /// The key at fault, from the design down: `["bloom", "bits_per_key"]`.
    pub path: Vec<String>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl DesignError {
    /// An error at a key of the design, with the key inside it where one is at fault.
    pub(super) fn at(key: &str, inner: Option<String>, message: impl Into<String>) -> Self {
        let path = std::iter::once(key.to_owned()).chain(inner).collect();
        Self { path, message: message.into() }
    }

    /// The same error where what is at fault stands in the table of `key`.
    pub(super) fn inside(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }
}
