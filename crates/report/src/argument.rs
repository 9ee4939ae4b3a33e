//! The arguments of a computation: an element of `with`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// What a computation is given.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, a flag, a name, a list, or a table by subject")]
pub enum Argument {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// The name of a claim, a path of the experiment, or a word.
    Text(String),
    /// One element per claim, or several numbers.
    List(Vec<Argument>),
    /// By the claim's subject, or by a parameter of it.
    Table(BTreeMap<String, Argument>),
}
