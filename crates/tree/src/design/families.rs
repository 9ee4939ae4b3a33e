//! The column families of a design: their names, where their data is stored, and how their designs differ from the
//! design of the store.

use std::collections::BTreeMap;

use toml::{Table, Value};

/// The key in the TOML table `families` that selects where the data of the column families is stored.
pub(super) const LAYOUT: &str = "layout";

/// Where a store keeps the data of its column families.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FamilyLayout {
    /// Each family is a tree of its own, with its own design. The trees share the WAL, the cache and the memory budget.
    #[default]
    Trees,
    /// All families are in one tree of the design of the store. The first byte of each key is the number of its
    /// family.
    Prefixed,
}

impl FamilyLayout {
    pub(super) const ALL: [Self; 2] = [Self::Trees, Self::Prefixed];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Trees => "trees",
            Self::Prefixed => "prefixed",
        }
    }
}

/// The column families of a design, and where the store keeps their data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FamilyDesigns {
    pub(super) layout: FamilyLayout,
    /// For each column family, by name, the values that it changes in the design of the store. A value that the family
    /// sets explicitly is included, even if it is equal to the value of the store.
    pub(super) changes: BTreeMap<String, Table>,
}

impl FamilyDesigns {
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.changes.keys().map(String::as_str)
    }

    /// Returns the column families as TOML. The table omits the layout if the layout is the default.
    pub(super) fn to_toml(&self) -> Table {
        let families =
            self.changes.iter().map(|(name, changes)| (name.clone(), Value::Table(changes.clone())));
        let layout = (self.layout != FamilyLayout::default())
            .then(|| (LAYOUT.to_owned(), Value::String(self.layout.name().to_owned())));
        families.chain(layout).collect()
    }
}
