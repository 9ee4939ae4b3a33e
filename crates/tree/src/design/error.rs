//! The error type for invalid designs.

use thiserror::Error;

/// An invalid design: the key of the `[design]` table and the reason.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct DesignError {
    /// The path from the table `[design]` to the invalid key, for example `["bloom", "bits_per_key"]`.
    pub path: Vec<String>,
    /// The reason why the key or its value is invalid, and the valid values.
    pub message: String,
}

impl DesignError {
    /// Creates an error about the key `key` of a design. If `inner` is given, the error is about the key `inner` in the
    /// TOML table `key`.
    pub(super) fn at(key: &str, inner: Option<String>, message: impl Into<String>) -> Self {
        let path = std::iter::once(key.to_owned()).chain(inner).collect();
        Self { path, message: message.into() }
    }

    /// Adds `key`, the name of a TOML table, at the front of the path to the invalid key in this table.
    pub(super) fn inside(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }
}
