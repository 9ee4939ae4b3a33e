//! Gives access to the keys of one database of a server.

use std::ops::RangeBounds;
use std::sync::Arc;

use tree::{Design, Families, FamilyId, Range, Result, Snapshot, Tree, WriteBatch};

use crate::text::TextStore;

/// The storage of one database of a server: a tree, or one column family of a store.
pub(crate) enum Space {
    /// The only database of a store without families.
    Tree(Tree),
    /// The database of one column family. All families of the store share its WAL.
    Family { families: Arc<Families>, id: FamilyId },
}

impl Space {
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Tree(tree) => tree.get(key),
            Self::Family { families, id } => families.of(*id).get(key),
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        match self {
            Self::Tree(tree) => tree.snapshot(),
            Self::Family { families, id } => families.of(*id).snapshot(),
        }
    }

    pub(crate) fn range(&self, bounds: impl RangeBounds<[u8]>) -> Result<Range<'_>> {
        match self {
            Self::Tree(tree) => tree.range(bounds),
            Self::Family { families, id } => families.of(*id).range(bounds),
        }
    }

    #[cfg(feature = "grpc")]
    pub(crate) fn put(&self, key: &[u8], value: &[u8]) -> Result<()> {
        match self {
            Self::Tree(tree) => tree.put(key, value),
            Self::Family { families, id } => families.of(*id).put(key, value),
        }
    }

    #[cfg(feature = "grpc")]
    pub(crate) fn delete(&self, key: &[u8]) -> Result<()> {
        match self {
            Self::Tree(tree) => tree.delete(key),
            Self::Family { families, id } => families.of(*id).delete(key),
        }
    }

    /// Applies all operations of a batch atomically.
    pub(crate) fn write(&self, batch: &WriteBatch) -> Result<()> {
        match self {
            Self::Tree(tree) => tree.write(batch),
            Self::Family { families, id } => families.of(*id).write(batch),
        }
    }

    /// Returns the design of the tree that stores this database.
    pub(crate) fn design(&self) -> &Design {
        match self {
            Self::Tree(tree) => tree.design(),
            Self::Family { families, id } => families.of(*id).design(),
        }
    }

    /// Calls `run` with this database as a store for the text language of `lsmbench shell`.
    pub(crate) fn as_text_store<R>(&self, run: impl FnOnce(&dyn TextStore) -> R) -> R {
        match self {
            Self::Tree(tree) => run(tree),
            Self::Family { families, id } => run(&families.of(*id)),
        }
    }
}
