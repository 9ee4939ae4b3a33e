//! Deprecated names of keys in designs. A deprecated name still works in this version.

use std::borrow::Cow;

use toml::{Table, Value};

use super::axes;

/// A deprecated name in a design, and the name that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deprecation {
    /// The TOML table in the design that contains the deprecated key: an axis or a group of options.
    pub table: &'static str,
    /// The deprecated key.
    pub old: &'static str,
    /// The key that replaces the deprecated key.
    pub new: &'static str,
}

/// All deprecated names of keys in a design.
pub const DEPRECATIONS: [Deprecation; 2] = [
    Deprecation { table: axes::BLOCK, old: "signposts", new: "restart_hints" },
    Deprecation { table: axes::COMPACTION, old: "seek_price", new: "read_triggered" },
];

/// Returns the deprecated names that occur in a `[design]` table, so that the program can print a warning.
pub fn deprecations(design: &Table) -> Vec<Deprecation> {
    DEPRECATIONS
        .into_iter()
        .filter(|name| design.get(name.table).is_some_and(|value| name.is_in(value)))
        .collect()
}

/// Replaces the deprecated names in a `[design]` table with the new names. If a table has both names of a key, the
/// deprecated name stays and is then rejected as unknown.
pub(super) fn renamed(design: &Table) -> Cow<'_, Table> {
    let mut design = Cow::Borrowed(design);
    for name in deprecations(&design) {
        if let Some(value) = design.to_mut().get_mut(name.table) {
            name.rename(value);
        }
    }
    design
}

impl Deprecation {
    /// Returns whether a value contains the deprecated name, as a key of a TOML table or as a parameter in a label such
    /// as `l0-tiered(seek_price=4KiB)`. If the value is a list, the function checks each element.
    fn is_in(self, value: &Value) -> bool {
        match value {
            Value::Table(table) => table.contains_key(self.old),
            Value::String(label) => self.place_in(label).is_some(),
            // A list contains the values of a sweep.
            Value::Array(values) => values.iter().any(|value| self.is_in(value)),
            _ => false,
        }
    }

    fn rename(self, value: &mut Value) {
        match value {
            Value::Table(table) if !table.contains_key(self.new) => {
                let value = table.remove(self.old);
                table.extend(value.map(|value| (self.new.to_owned(), value)));
            }
            Value::String(label) => {
                if let Some(at) = self.place_in(label) {
                    label.replace_range(at..at + self.old.len(), self.new);
                }
            }
            _ => {}
        }
    }

    /// Returns the position of the deprecated name as a parameter in a label, such as `l0-tiered(seek_price=4KiB)`.
    /// Returns `None` if the label lacks this parameter.
    fn place_in(self, label: &str) -> Option<usize> {
        let mut places = label.match_indices(self.old).map(|(at, _)| at);
        places.find(|at| {
            let (before, behind) = (&label[..*at], &label[at + self.old.len()..]);
            before.ends_with(['(', ',', ' ']) && behind.trim_start().starts_with('=')
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Design;

    #[test]
    fn old_names_mean_the_same_and_are_reported() {
        for (old, new) in [
            ("block = { signposts = false }", "block = { restart_hints = false }"),
            (
                "compaction = { kind = \"l0-tiered\", seek_price = \"4KiB\" }",
                "compaction = { kind = \"l0-tiered\", read_triggered = \"4KiB\" }",
            ),
            ("compaction = { seek_price = \"4KiB\" }", "compaction = { read_triggered = \"4KiB\" }"),
            (
                "compaction = \"l0-tiered(level0_runs=2, seek_price=4KiB)\"",
                "compaction = \"l0-tiered(level0_runs=2, read_triggered=4KiB)\"",
            ),
        ] {
            let [old, new]: [Table; 2] = [old.parse().unwrap(), new.parse().unwrap()];
            let designs = [&old, &new].map(|table| Design::default().with(table).unwrap());
            assert_eq!(designs[0], designs[1], "{old}");
            assert_ne!(designs[0], Design::default(), "{old}");
            assert_eq!(deprecations(&old).len(), 1, "{old}");
            let list = |value: &Value| Value::Array(vec!["none".into(), value.clone()]);
            let swept = old.iter().map(|(key, value)| (key.clone(), list(value))).collect();
            assert_eq!(deprecations(&swept).len(), 1, "{swept}");
            assert!(deprecations(&new).is_empty(), "{new}");
        }
    }

    #[test]
    fn a_key_under_both_names_is_rejected() {
        let both: Table = "block = { signposts = true, restart_hints = false }".parse().unwrap();
        let error = Design::default().with(&both).unwrap_err();
        assert!(error.to_string().contains("signposts"), "{error}");
    }
}
