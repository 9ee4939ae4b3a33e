//! The keys and versions of each column family that were used so far.

use std::collections::BTreeMap;

/// The keys and versions that were used so far. Each phase passes its extent on to the next phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Number of keys that were added. All keys with smaller indexes were added, except the keys that a stopped thread
    /// did not reach.
    pub keys: u64,
    /// Number of versions that were used. The first version is 1.
    pub versions: u32,
    /// All keys with an index below this number were removed by single deletes. The next single delete takes the key
    /// with this index.
    pub retired: u64,
}

impl Extent {
    /// Combines the extents of two threads of a phase. The result contains the larger number of each pair.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            keys: self.keys.max(other.keys),
            versions: self.versions.max(other.versions),
            retired: self.retired.max(other.retired),
        }
    }
}

/// The keys and versions of each column family that were used so far. In a workload without families, the name is
/// `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents(BTreeMap<Option<String>, Extent>);

impl Extents {
    /// Returns the keys and versions of a family that were used so far.
    pub fn of(&self, family: Option<&str>) -> Extent {
        self.0.get(&family.map(str::to_owned)).copied().unwrap_or_default()
    }

    /// Sets the keys and versions of a family that were used so far.
    pub fn set(&mut self, family: Option<&str>, extent: Extent) {
        self.0.insert(family.map(str::to_owned), extent);
    }
}
