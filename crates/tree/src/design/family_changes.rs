//! Computes the design of each column family from the design of the store and the changes of the family.

use catalog::{KeyEntry, alternatives};
use toml::{Table, Value};

use super::assembly::Design;
use super::error::DesignError;
use super::families::{FamilyDesigns, FamilyLayout, LAYOUT};
use crate::recovery::QUARANTINE;

/// The name of the TOML table of column families in a design.
pub(super) const FAMILIES: &str = "families";

/// The keys of a design that all column families of a store share.
const SHARED: [&str; 6] = ["cache", "storage", "wal", "memory", "arbiter", FAMILIES];

/// The maximum length of the name of a column family, in bytes.
const MOST_NAME_BYTES: usize = 32;

impl Design {
    /// Returns the design of the tree of a column family. This design has no WAL and no memory limit, because all
    /// families share the WAL and the memory limit of the store.
    ///
    /// # Errors
    /// If the changes of the family are invalid for this design.
    pub fn family(&self, name: &str) -> Result<Self, DesignError> {
        let mut design = self.changed_for(name)?;
        design.options.memory = None;
        design.with(&Table::from_iter([("wal".to_owned(), "none".into())]))
    }

    /// Returns this design without its column families, and with the changes of the family `name`.
    fn changed_for(&self, name: &str) -> Result<Self, DesignError> {
        let design = Self { families: FamilyDesigns::default(), ..self.clone() };
        match self.families.changes.get(name) {
            None => Ok(design),
            Some(changes) => design.with(changes).map_err(|error| error.inside(name).inside(FAMILIES)),
        }
    }

    /// Returns an error if the design of a column family is invalid.
    pub(super) fn check_families(&self) -> Result<(), DesignError> {
        self.families().try_for_each(|name| self.changed_for(name).map(|_| ()))
    }

    /// Returns this design with the changes of the TOML table `families`. A new family starts from this design.
    pub(super) fn with_families(mut self, value: &Value) -> Result<Self, DesignError> {
        let Value::Table(families) = value else {
            let message = format!(
                "families must be a table with one table per family, as in families.index = {{}}, not {value}"
            );
            return Err(DesignError::at(FAMILIES, None, message));
        };
        for (name, value) in families {
            let at = |message: String| DesignError::at(FAMILIES, Some(name.clone()), message);
            if name == LAYOUT {
                self.families.layout = read_layout(value).map_err(at)?;
                continue;
            }
            check_name(name).map_err(at)?;
            let Value::Table(changes) = value else {
                let message = format!(
                    "the family \"{name}\" must be a table, as in families.{name} = {{}}, not {value}"
                );
                return Err(at(message));
            };
            if let Some(key) = SHARED.into_iter().find(|key| changes.contains_key(*key)) {
                let message = format!(
                    "a family cannot set \"{key}\", because all families share it; set \"{key}\" in the \
                     design of the store"
                );
                return Err(DesignError::at(key, None, message).inside(name).inside(FAMILIES));
            }
            let design = self.changed_for(name)?.with(changes);
            let design = design.map_err(|error| error.inside(name).inside(FAMILIES))?;
            design.check_family_manifest().map_err(|error| error.inside(name).inside(FAMILIES))?;
            let named =
                self.families.changes.get(name).into_iter().flat_map(Table::keys).chain(changes.keys());
            let named: Vec<String> = named.cloned().collect();
            let (of_store, mut own) = (self.to_toml(), design.to_toml());
            own.retain(|key, value| {
                named.iter().any(|named| named == key) || of_store.get(key) != Some(value)
            });
            self.families.changes.insert(name.clone(), own);
        }
        if self.families.is_empty() && self.families.layout != FamilyLayout::default() {
            let message = "families.layout has an effect only in a store with families; name each family, as \
                           in families.index = {}";
            return Err(DesignError::at(FAMILIES, Some(LAYOUT.to_owned()), message));
        }
        self.check_arbiter()?;
        Ok(self)
    }
}

/// Returns the name of the column family to which a path in the table `[design]` leads, such as `families.index.bloom`.
/// Returns `None` if the path leads to no family.
pub fn family_of_path<'a>(path: &[&'a str]) -> Option<&'a str> {
    match path {
        [FAMILIES, name, ..] if *name != LAYOUT => Some(*name),
        _ => None,
    }
}

/// Returns the documentation of the keys in the table `families`, for the reference pages.
pub fn family_entries() -> impl Iterator<Item = KeyEntry> {
    [
        KeyEntry::new(
            LAYOUT,
            "`\"trees\"`, `\"prefixed\"`",
            "Where the store keeps the data of its families. With `\"trees\"`, each family is a tree of its \
             own. With `\"prefixed\"`, all families are in one tree, and each key begins with one byte, the \
             number of its family. This tree has the design of the store.",
        )
        .or("\"trees\""),
        KeyEntry::new(
            "NAME",
            "table with the keys of a design",
            "Family called NAME, with the values that differ from the design of the store. All families share `cache`, \
             `storage`, `wal`, `memory` and `arbiter`, so these keys are not valid here.",
        ),
    ]
    .into_iter()
}

fn read_layout(value: &Value) -> Result<FamilyLayout, String> {
    FamilyLayout::ALL.into_iter().find(|layout| value.as_str() == Some(layout.name())).ok_or_else(|| {
        let names = FamilyLayout::ALL.map(FamilyLayout::name);
        format!("unknown layout {value}{}", alternatives(value.as_str().unwrap_or_default(), names))
    })
}

/// Returns an error if the name of a column family has an invalid length or an invalid character. Also returns an error
/// if a store uses a directory of this name for another purpose. Every operating system accepts the valid names as
/// directory names.
fn check_name(name: &str) -> Result<(), String> {
    let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let is_reserved = name == QUARANTINE;
    if name.is_empty() || name.len() > MOST_NAME_BYTES || !name.bytes().all(is_valid) || is_reserved {
        return Err(format!(
            "\"{name}\" cannot be the name of a family; use 1 to {MOST_NAME_BYTES} characters from a-z, 0-9, \"-\" and \"_\", \
             but not \"{QUARANTINE}\""
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(text: &str) -> Result<Design, DesignError> {
        Design::default().with(&text.parse().unwrap())
    }

    #[test]
    fn a_family_has_the_design_of_the_store_with_its_own_changes() {
        let text = "block = { size = \"8KiB\" }\n[families.index]\nbloom = { bits_per_key = 20 }\n[families.values]\n\
                    compression = \"zstd\"\nmemtable = { capacity = \"1MiB\" }\n";
        let store = design(text).unwrap();
        assert_eq!(store.families().collect::<Vec<_>>(), ["index", "values"]);
        let [index, values] = ["index", "values"].map(|name| store.family(name).unwrap());
        assert_eq!(index.filter_bits_per_key(), Some(20.0));
        assert_eq!(
            (values.choice("compression").kind(), index.choice("compression").kind()),
            ("zstd", "none")
        );
        assert_eq!((values.memtable_capacity.0, index.memtable_capacity), (1 << 20, store.memtable_capacity));
        for tree in [&index, &values] {
            assert_eq!((tree.options.block.size.0, tree.choice("wal").kind()), (8 << 10, "none"));
            assert!(tree.families().next().is_none());
        }
        assert_eq!(Design::default().with(&store.to_toml()).unwrap(), store);
        // A sweep changes the store or one family.
        let swept = store.with(&"block = { size = \"16KiB\" }".parse().unwrap()).unwrap();
        assert_eq!(swept.family("values").unwrap().options.block.size.0, 16 << 10);
        let swept = store.with(&"[families.values]\ncompression = \"lz4\"".parse().unwrap()).unwrap();
        let values = swept.family("values").unwrap();
        assert_eq!((values.choice("compression").kind(), values.memtable_capacity.0), ("lz4", 1 << 20));
        let prefixed = store.with(&"families = { layout = \"prefixed\" }".parse().unwrap()).unwrap();
        assert_eq!(prefixed.family_layout(), FamilyLayout::Prefixed);
        assert_eq!(Design::default().with(&prefixed.to_toml()).unwrap(), prefixed);
    }

    #[test]
    fn impossible_families_name_their_key() {
        for (text, path, message) in [
            ("families = [\"a\"]", "families", "must be a table with one table per family"),
            ("families = { a = 3 }", "families.a", "as in families.a = {}"),
            ("families = { \"../a\" = {} }", "families.../a", "cannot be the name of a family"),
            ("families = { quarantine = {} }", "families.quarantine", "cannot be the name of a family"),
            (
                "families = { a = { wal = \"sync\" } }",
                "families.a.wal",
                "all families share it; set \"wal\" in the design of the store",
            ),
            ("families = { a = { blum = \"none\" } }", "families.a.blum", "did you mean \"bloom\"?"),
            ("families = { a = {}, layout = \"tree\" }", "families.layout", "did you mean \"trees\"?"),
            ("families = { layout = \"prefixed\" }", "families.layout", "name each family"),
            (
                "families = { a = { memtable = { filter = \"1MiB\" } } }\nmemtable = { capacity = \"64KiB\" }",
                "families.a.memtable.filter",
                "must be at most 64KiB",
            ),
        ] {
            let error = design(text).unwrap_err();
            assert_eq!(error.path.join("."), path, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }
}
