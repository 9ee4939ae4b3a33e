//! States whether a computed number is an upper or a lower bound for a claimed number.

use schemars::JsonSchema;
use serde::Deserialize;

/// Whether a computed number is a lower or an upper bound for a claimed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Bound {
    /// The computed number is a lower bound: a correct claimed number is at least as large.
    #[serde(rename = "at least")]
    AtLeast,
    /// The computed number is an upper bound: a correct claimed number is at most as large.
    #[serde(rename = "at most")]
    AtMost,
}

impl Bound {
    /// Returns the name of the bound in TOML files and on report pages, such as `at least`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }
}

/// Returns the words that a page prints before a computed bound, such as `at most `. Returns an empty text for `None`.
pub(crate) fn bounding(bound: Option<Bound>) -> String {
    bound.map_or_else(String::new, |bound| format!("{} ", bound.name()))
}
