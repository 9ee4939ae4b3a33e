//! The arguments of computations. A `[[claim]]` table of an experiment file sets them in its table `with`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// An argument of a computation. The experiment file sets it in the table `with` of a `[[claim]]` table.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a number, true or false, a name, a list, or a table with one value per subject"
)]
pub enum Argument {
    /// A number as an argument.
    Number(f64),
    /// A flag as an argument: true or false.
    Flag(bool),
    /// A text, such as the name of a claim or a path in the experiment file.
    Text(String),
    /// A list: one element per claim of the `[[claim]]` table, or several numbers for one claim.
    List(Vec<Argument>),
    /// A table with different values for different claims. A key is the subject of a claim, or the value of one of its
    /// parameters.
    Table(BTreeMap<String, Argument>),
}
