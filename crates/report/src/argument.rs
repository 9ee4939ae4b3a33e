//! The arguments of computations, which a `[[claim]]` table sets in its table `with`.

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
    /// A number.
    Number(f64),
    /// A flag, true or false.
    Flag(bool),
    /// The name of a claim, a path of the experiment, or another text.
    Text(String),
    /// A list: one element per claim, or several numbers for one claim.
    List(Vec<Argument>),
    /// One argument per subject of the claims, or per value of a claim's parameter. The key is the subject or the
    /// value.
    Table(BTreeMap<String, Argument>),
}
