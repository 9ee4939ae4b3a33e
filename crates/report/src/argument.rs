//! An argument of a computation: a value in the table `with`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// An argument of a computation, as the claim states it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, a flag, a name, a list, or a table by subject")]
pub enum Argument {
    /// A number.
    Number(f64),
    /// A flag, true or false.
    Flag(bool),
    /// The name of a claim, a path of the experiment, or another text.
    Text(String),
    /// A list with one element per claim, or with several numbers.
    List(Vec<Argument>),
    /// One argument per subject of the claims, or per value of a parameter.
    Table(BTreeMap<String, Argument>),
}
