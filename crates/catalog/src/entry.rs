//! Entries of the reference pages for TOML keys that are not fields of a Rust type.

/// The description of a TOML key in the reference pages, for keys that are not fields of a Rust type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// The key, such as `threads`.
    pub key: &'static str,
    /// The valid values of the key with their unit, in Markdown.
    pub values: &'static str,
    /// The default value in TOML. Empty if the key has no default.
    pub default: &'static str,
    /// The meaning of the key, in one or two sentences.
    pub about: &'static str,
}

/// The description of a TOML table in the reference pages, with an entry for each of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTable {
    /// The path of the TOML table, such as `phase.rate`.
    pub name: &'static str,
    /// The purpose of the TOML table, as a sentence.
    pub about: &'static str,
    /// The keys of the table, in the order in which the reference pages list them.
    pub keys: &'static [KeyEntry],
}

impl KeyEntry {
    /// Creates an entry for a key without a default.
    pub const fn new(key: &'static str, values: &'static str, about: &'static str) -> Self {
        Self { key, values, default: "", about }
    }

    /// Returns this entry with a default value, which is written in TOML.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Self {
        Self { default, ..self }
    }
}
