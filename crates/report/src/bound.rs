//! States whether the result of a computation is an upper or a lower bound for a claim.

use schemars::JsonSchema;
use serde::Deserialize;

/// States whether the result of a computation is a lower or an upper bound for a claimed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Bound {
    /// The claimed value is at least the computed result.
    #[serde(rename = "at least")]
    AtLeast,
    /// The claimed value is at most the computed result.
    #[serde(rename = "at most")]
    AtMost,
}

impl Bound {
    /// Returns the name of the bound in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }
}

/// Returns the words before a number that is a bound, such as `at most `. Returns an empty text if the number is not
/// a bound.
pub(crate) fn bounding(bound: Option<Bound>) -> String {
    bound.map_or_else(String::new, |bound| format!("{} ", bound.name()))
}
