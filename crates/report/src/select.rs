//! The selection of result rows for a claim and for its other side.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Texts;

pub use results::columns::ENGINE;

/// A measured quantity: a column of `runs.csv`, or the quotient of two columns such as `user_bytes_written / seconds`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Quantity {
    /// The column, or the numerator of the quotient.
    pub column: String,
    /// The denominator of the quotient, if the quantity is a quotient.
    pub over: Option<String>,
}

impl Quantity {
    /// Returns the columns of the quantity: the numerator and, for a quotient, the denominator.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.column.as_str()).chain(self.over.as_deref())
    }
}

impl TryFrom<String> for Quantity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(" / ").map(str::trim).collect();
        match parts[..] {
            [column] if !column.is_empty() => Ok(Self { column: column.to_owned(), over: None }),
            [column, over] if !column.is_empty() && !over.is_empty() => {
                Ok(Self { column: column.to_owned(), over: Some(over.to_owned()) })
            }
            _ => Err(format!(
                "\"{text}\" is not a column and not a quotient of two columns, such as \"a / b\""
            )),
        }
    }
}

/// The column that stands for a parameter of a claim when rows are selected.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a column, or { column = \"…\", values = { theirs = \"ours\" } }"
)]
pub enum ParamColumn {
    /// A column whose values equal the values of the parameter.
    Same(String),
    /// A column whose values differ from the values of the parameter.
    Translated {
        /// The column.
        column: String,
        /// The values of the column for each value of the parameter. If several are listed, any of them matches.
        values: BTreeMap<String, Texts>,
    },
}

impl ParamColumn {
    /// Returns the selected column.
    pub fn column(&self) -> &str {
        match self {
            Self::Same(column) | Self::Translated { column, .. } => column,
        }
    }
}

/// The other side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a subject, or a table of parameters and columns that differ")]
pub enum Other {
    /// A subject of the claims.
    Subject(String),
    /// The parameters and columns in which the other side differs from the side of the claim.
    Differing(BTreeMap<String, Texts>),
}

/// Factor by which a measurement is multiplied.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, or the name of a parameter")]
pub enum Scale {
    /// A fixed number.
    Number(f64),
    /// The value of a parameter of the claim. For the other side, this is the value of the parameter on the other
    /// side.
    Param(String),
}

/// Number of CPU cores that a claim needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number, or the name of a parameter")]
pub enum Cores {
    /// A fixed number of cores.
    Number(u64),
    /// A parameter of the claim that gives the number of cores.
    Param(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_have_two_columns() {
        let read = |text: &str| Quantity::try_from(text.to_owned());
        assert_eq!(read("ops").unwrap().columns().collect::<Vec<_>>(), ["ops"]);
        assert_eq!(read("a / b").unwrap().columns().collect::<Vec<_>>(), ["a", "b"]);
        for wrong in ["", "a / ", "a / b / c", " / b"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_misspelt_key_is_refused_in_either_form() {
        let read =
            |text: &str| toml::from_str::<toml::Table>(text).unwrap()["x"].clone().try_into::<ParamColumn>();
        assert_eq!(read("x = \"phase\"").unwrap().column(), "phase");
        let both =
            read("x = { column = \"phase\", values = { 1 = \"get-1\", 2 = [\"a\", \"b\"] } }").unwrap();
        assert_eq!(both.column(), "phase");
        assert!(read("x = { column = \"phase\", value = {} }").is_err());
        assert!(
            read("x = { column = \"phase\", values = {}, more = 1 }")
                .unwrap_err()
                .message()
                .contains("values")
        );
    }
}
