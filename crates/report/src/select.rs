//! The keys of a `[[claim]]` table that select result rows for a claim, and for the other side of its comparison.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Texts;

pub use results::columns::ENGINE;

/// A measured quantity: a column of `runs.csv`, or the quotient of two columns such as `user_bytes_written / seconds`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
pub struct Quantity {
    /// The column of `runs.csv` with the quantity, or the numerator of a quotient.
    pub column: String,
    /// The column with the denominator, if the quantity is a quotient.
    pub over: Option<String>,
}

impl Quantity {
    /// Returns the columns that the quantity needs: the numerator and, for a quotient, the denominator.
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

/// The column of the results that contains a parameter of the claims, such as the number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a column, or { column = \"…\", values = { \"value in the claim\" = \"value in the column\" \
        } }"
)]
pub enum ParamColumn {
    /// A column whose values are the same as in the document.
    Same(String),
    /// A column whose values differ from the values in the document.
    Translated {
        /// The name of the column in the results.
        column: String,
        /// Each value in the document, with the values of the column that match it.
        values: BTreeMap<String, Texts>,
    },
}

impl ParamColumn {
    /// Returns the name of the column that contains the parameter.
    pub fn column(&self) -> &str {
        match self {
            Self::Same(column) | Self::Translated { column, .. } => column,
        }
    }
}

/// The other side of a comparison: the subject or configuration with which the claim's subject is compared.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected the subject of the other side, or a table with the parameters and columns that differ on \
                 the other side, such as { threads = 1 }"
)]
pub enum Other {
    /// Another subject of the claims, such as another filter.
    Subject(String),
    /// The parameters and columns in which the other side differs from the claim's subject, with their values.
    Differing(BTreeMap<String, Texts>),
}

/// The factor by which the measured number of a claim is multiplied.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a factor, or the name of a parameter of the claim")]
pub enum Scale {
    /// A fixed number, by which the measured value is multiplied.
    Number(f64),
    /// The name of a parameter of the claim. The value of this parameter is the factor.
    Param(String),
}

/// Number of CPU cores that the measurement of a claim needs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a whole number of CPU cores, or the name of a parameter of the claim"
)]
pub enum Cores {
    /// A fixed number of cores.
    Number(u64),
    /// The name of the parameter of the claim that contains the number of cores.
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
