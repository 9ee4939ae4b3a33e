//! The arguments of a computation: an element of `with`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// Argument of a computation.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, a flag, a name, a list, or a table by subject")]
pub enum Argument {
    /// A number.
    Number(f64),
    /// A flag, true or false.
    Flag(bool),
    /// The name of a claim, a path of the experiment, or a word.
    Text(String),
    /// A list: one element per claim, or several numbers.
    List(Vec<Argument>),
    /// Arguments by the claim's subject, or by one of its parameters.
    Table(BTreeMap<String, Argument>),
}
