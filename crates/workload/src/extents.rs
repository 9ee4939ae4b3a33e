//! The number of keys and versions that a workload has used so far, for each column family.

use std::collections::BTreeMap;

/// The number of keys and versions that a workload has used so far in one column family. The extent at the end of a
/// phase is the extent at the start of the next phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The number of keys that the workload has added, which is also the index of the next new key. The number includes
    /// keys that a thread did not add because it stopped early.
    pub keys: u64,
    /// The number of version numbers that writes have used. Each write gets the next version number, from 1 on.
    pub versions: u32,
    /// The number of keys that single deletes have removed. Single deletes remove the keys in the order of their
    /// indexes, from index 0 on.
    pub retired: u64,
}

impl Extent {
    /// Combines the extents of two threads of a phase: takes the larger number of keys, of versions and of removed
    /// keys.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            keys: self.keys.max(other.keys),
            versions: self.versions.max(other.versions),
            retired: self.retired.max(other.retired),
        }
    }
}

/// The keys and versions that a workload has used so far, by the name of the column family. In a workload without
/// families, the name is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extents(BTreeMap<Option<String>, Extent>);

impl Extents {
    /// Returns how many keys and versions a column family has used. All numbers are 0 for a family that no phase has
    /// used.
    pub fn of(&self, family: Option<&str>) -> Extent {
        self.0.get(&family.map(str::to_owned)).copied().unwrap_or_default()
    }

    /// Sets how many keys and versions a column family has used.
    pub fn set(&mut self, family: Option<&str>, extent: Extent) {
        self.0.insert(family.map(str::to_owned), extent);
    }
}
