//! The number of keys and versions that a workload has used so far, for each column family.

use std::collections::BTreeMap;

/// The number of keys and versions that a workload has used so far in one column family. The extent after a phase is
/// the extent before the next phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The index of the next key to add. All keys with smaller indexes were added, except the keys that a stopped
    /// thread did not reach.
    pub keys: u64,
    /// Number of versions that were used. The first version is 1.
    pub versions: u32,
    /// All keys with an index below this number were removed by single deletes. The next single delete removes the key
    /// with this index.
    pub retired: u64,
}

impl Extent {
    /// Combines the extents of two threads of a phase. Each field of the result is the larger of the two values.
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
    /// Returns the extent of a family, which is 0 in all fields if the family is unused.
    pub fn of(&self, family: Option<&str>) -> Extent {
        self.0.get(&family.map(str::to_owned)).copied().unwrap_or_default()
    }

    /// Sets the extent of a family.
    pub fn set(&mut self, family: Option<&str>, extent: Extent) {
        self.0.insert(family.map(str::to_owned), extent);
    }
}
