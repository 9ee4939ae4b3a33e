//! The values of a row on their way from the process of a trial to the file.

use serde::{Deserialize, Serialize};

use crate::Metric;

/// The values of one row, by the names of their columns. What was not measured is not there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cells(
    /// Names of columns and values.
    pub Vec<(String, CellValue)>,
);

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CellValue {
    /// A count.
    Integer(u64),
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl From<u64> for CellValue {
    fn from(number: u64) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for CellValue {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for CellValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Cells {
    /// Sets a column.
    pub fn set(&mut self, metric: &Metric, value: impl Into<CellValue>) -> &mut Self {
        self.0.push((metric.name.to_owned(), value.into()));
        self
    }

    /// Sets a column where there is a value.
    pub fn set_some(&mut self, metric: &Metric, value: Option<impl Into<CellValue>>) -> &mut Self {
        if let Some(value) = value {
            self.set(metric, value);
        }
        self
    }
}
