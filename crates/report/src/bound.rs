//! The side on which a result bounds a claim.

use schemars::JsonSchema;
use serde::Deserialize;

/// Side on which the result of a computation bounds a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Bound {
    /// The claim is at least the result.
    #[serde(rename = "at least")]
    AtLeast,
    /// The claim is at most the result.
    #[serde(rename = "at most")]
    AtMost,
}

impl Bound {
    /// Name of the bound in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtLeast => "at least",
            Self::AtMost => "at most",
        }
    }
}

/// Prefix of a number that is a bound: `at most `.
pub(crate) fn bounding(bound: Option<Bound>) -> String {
    bound.map_or_else(String::new, |bound| format!("{} ", bound.name()))
}
