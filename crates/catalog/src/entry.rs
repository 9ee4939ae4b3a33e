//! Reference entries for TOML keys that are not derived from a type.

/// A key of a table in TOML, as the reference describes it. Keys that serde reads have their doc comment instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// The key, such as `threads`.
    pub key: &'static str,
    /// Values that the key accepts, with their unit, in Markdown.
    pub values: &'static str,
    /// The default in TOML; empty if the key has no default.
    pub default: &'static str,
    /// The meaning of the key, in one or two sentences.
    pub about: &'static str,
}

/// A table in TOML with an entry for each of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTable {
    /// The path of the table: `phase.rate`.
    pub name: &'static str,
    /// A sentence: the purpose of the table.
    pub about: &'static str,
    /// Keys of the table, in listed order.
    pub keys: &'static [KeyEntry],
}

impl KeyEntry {
    /// An entry without a default.
    pub const fn new(key: &'static str, values: &'static str, about: &'static str) -> Self {
        Self { key, values, default: "", about }
    }

    /// Returns this entry with a default, in TOML.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default, ..self }
    }
}
