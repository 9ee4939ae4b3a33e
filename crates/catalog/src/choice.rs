//! The choice of a design for one axis: a variant with a value for every parameter.

use std::fmt;

use toml::{Table, Value};

use crate::label;

/// A named variant with a value for every parameter. Two choices are equal if name and values are equal, even if
/// they were written with different earlier names.
#[derive(Clone, Debug)]
pub struct Choice {
    kind: &'static str,
    params: Table,
    defaults: Table,
    old_names: Vec<OldName>,
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.params == other.params
    }
}

/// A deprecated name in TOML, of a variant or of a parameter, with the name that replaced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldName {
    /// The axis.
    pub axis: &'static str,
    /// The name as it was written.
    pub old: String,
    /// The name to write instead.
    pub new: &'static str,
}

impl fmt::Display for OldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: \"{}\" is deprecated; write \"{}\"", self.axis, self.old, self.new)
    }
}

impl Choice {
    pub(crate) fn new(kind: &'static str, params: Table, defaults: Table) -> Self {
        Self { kind, params, defaults, old_names: Vec::new() }
    }

    /// Sets the deprecated names with which the choice was written.
    pub(crate) fn with_old_names(self, old_names: Vec<OldName>) -> Self {
        Self { old_names, ..self }
    }

    /// Records that the variant was written by its earlier name `old`.
    pub(crate) fn written_as(mut self, axis: &'static str, old: String) -> Self {
        self.old_names.push(OldName { axis, old, new: self.kind });
        self
    }

    /// The deprecated names with which the choice was written.
    pub fn old_names(&self) -> &[OldName] {
        &self.old_names
    }

    /// The name of the variant.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// All parameters, defaults included.
    pub fn params(&self) -> &Table {
        &self.params
    }

    /// The label: the name with the parameters that differ from their defaults, such as `blocked(bits_per_key=12)`.
    /// Reading the label gives the same choice.
    pub fn label(&self) -> String {
        let changed = self.params.iter().filter(|(key, value)| self.defaults.get(*key) != Some(value));
        label::write(self.kind, changed)
    }

    /// The choice as a TOML table with all parameters.
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
