//! A choice: the variant that a design uses on an axis, with a value for every parameter.

use std::collections::BTreeSet;
use std::fmt;

use toml::{Table, Value};

use crate::label;

/// A variant with a value for every parameter. Two choices are equal if their names and all values are equal.
#[derive(Clone, Debug)]
pub struct Choice {
    kind: &'static str,
    params: Table,
    defaults: Table,
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.params == other.params
    }
}

impl Choice {
    pub(crate) fn new(kind: &'static str, params: Table, defaults: Table) -> Self {
        Self { kind, params, defaults }
    }

    /// Returns the name of the variant, such as `blocked`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns all parameters of the choice, including those with their default value.
    pub fn params(&self) -> &Table {
        &self.params
    }

    /// Returns the label of the choice: the name, and the parameters that differ from their defaults, such as
    /// `blocked(bits_per_key=12)`. The catalog parses the label to an equal choice.
    pub fn label(&self) -> String {
        self.label_with(&BTreeSet::new())
    }

    /// Returns the label of the choice, which also contains the parameters `kept` with their default values, such as
    /// `blocked(bits_per_key=10)`. The label contains no default that is an empty text or list. Parameters that the
    /// variant does not have are ignored. The catalog parses the label to an equal choice.
    pub fn label_with(&self, kept: &BTreeSet<String>) -> String {
        let is_empty = |value: &Value| match value {
            Value::String(text) => text.is_empty(),
            Value::Array(values) => values.is_empty(),
            _ => false,
        };
        let is_written = |(key, value): &(&String, &Value)| {
            self.defaults.get(*key) != Some(*value) || kept.contains(*key) && !is_empty(value)
        };
        label::write(self.kind, self.params.iter().filter(is_written))
    }

    /// Returns the choice as a TOML table, with the name of the variant and all parameters.
    pub fn to_toml(&self) -> Value {
        let mut table = Table::new();
        table.insert("kind".to_owned(), Value::String(self.kind.to_owned()));
        table.extend(self.params.clone());
        Value::Table(table)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}
