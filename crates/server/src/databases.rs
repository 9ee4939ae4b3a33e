//! Manages the databases of a server. A store without column families is one database. Otherwise, each family is a
//! database.

use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "grpc")]
use tree::WriteBatch;
use tree::{Design, Families, FamilyId, Result, Stats, Tree};
use types::valid_names;

use crate::keyspace::Keyspace;
use crate::space::Space;

/// The maximum number of characters of an unknown family name that an error message shows.
const SHOWN_CHARACTERS: usize = 32;

/// The store that a server serves, with or without column families.
pub enum ServedStore {
    /// A store without column families, which is one database.
    Tree(Tree),
    /// A store with column families. The number of a database is the number of its family.
    Families(Box<Families>),
}

impl From<Tree> for ServedStore {
    fn from(tree: Tree) -> Self {
        Self::Tree(tree)
    }
}

impl From<Families> for ServedStore {
    fn from(families: Families) -> Self {
        Self::Families(Box::new(families))
    }
}

/// The databases of a server. A store without column families is one database. Otherwise, each column family is a
/// database.
pub(crate) struct Databases {
    /// The names of the column families, by the number of their database. Empty for a store without families.
    families: Vec<String>,
    /// The databases, by number. A server has at least one database.
    keyspaces: Vec<Keyspace>,
}

impl Databases {
    /// Creates the databases of a store, and counts the hashes (Redis values with fields) in each database.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn new(store: ServedStore) -> Result<Self> {
        match store {
            ServedStore::Tree(tree) => {
                Ok(Self { families: Vec::new(), keyspaces: vec![Keyspace::new(Space::Tree(tree))?] })
            }
            ServedStore::Families(families) => {
                let families: Arc<Families> = families.into();
                let names: Vec<String> = families.names().map(str::to_owned).collect();
                let ids: Vec<FamilyId> =
                    names.iter().filter_map(|name| families.family(name)).map(|family| family.id()).collect();
                let keyspace = |id| Keyspace::new(Space::Family { families: Arc::clone(&families), id });
                let keyspaces = ids.into_iter().map(keyspace).collect::<Result<_>>()?;
                Ok(Self { families: names, keyspaces })
            }
        }
    }

    /// Returns the database with the number `number`. The database must exist.
    pub(crate) fn keyspace(&self, number: usize) -> &Keyspace {
        &self.keyspaces[number]
    }

    /// Returns all databases, in the order of their numbers.
    pub(crate) fn keyspaces(&self) -> &[Keyspace] {
        &self.keyspaces
    }

    /// Returns the names of the column families, in the order of their databases. Empty for a store without families.
    pub(crate) fn families(&self) -> &[String] {
        &self.families
    }

    /// Returns the number of the database that stores a column family. The empty name selects database 0.
    ///
    /// # Errors
    /// The store has no such family. The message lists the valid names.
    pub(crate) fn of_family(&self, name: &str) -> Result<usize, String> {
        if name.is_empty() {
            return Ok(0);
        }
        self.families.iter().position(|family| family == name).ok_or_else(|| {
            if self.families.is_empty() {
                return "the store has no column families; leave the family out".to_owned();
            }
            let shown: String = name.chars().take(SHOWN_CHARACTERS).collect();
            format!("unknown family \"{}\". {}", shown.escape_debug(), valid_names(&self.families))
        })
    }

    /// Applies the operations of several databases as one atomic batch. `batches` contains the operations by the number
    /// of the database.
    #[cfg(feature = "grpc")]
    pub(crate) fn write(&self, batches: &[WriteBatch]) -> Result<()> {
        match (self.keyspaces[0].space(), batches) {
            (Space::Tree(tree), [batch, ..]) => tree.write(batch),
            (Space::Tree(_), []) => Ok(()),
            (Space::Family { families, .. }, _) => {
                let ids = self.keyspaces.iter().filter_map(|keyspace| match keyspace.space() {
                    Space::Family { id, .. } => Some(*id),
                    Space::Tree(_) => None,
                });
                families.write_batches(&ids.zip(batches).collect::<Vec<_>>())
            }
        }
    }

    /// Returns the statistics of the whole store.
    pub(crate) fn stats(&self) -> Stats {
        match self.keyspaces[0].space() {
            Space::Tree(tree) => tree.stats(),
            Space::Family { families, .. } => families.stats(),
        }
    }

    /// Returns the design of the store.
    pub(crate) fn design(&self) -> &Design {
        match self.keyspaces[0].space() {
            Space::Tree(tree) => tree.design(),
            Space::Family { families, .. } => families.design(),
        }
    }

    /// Returns the directory of the store.
    pub(crate) fn directory(&self) -> &Path {
        match self.keyspaces[0].space() {
            Space::Tree(tree) => tree.directory(),
            Space::Family { families, .. } => families.directory(),
        }
    }

    /// Flushes all memtables of the store.
    pub(crate) fn flush(&self) -> Result<()> {
        match self.keyspaces[0].space() {
            Space::Tree(tree) => tree.flush(),
            Space::Family { families, .. } => families.flush(),
        }
    }

    /// Compacts the whole store.
    pub(crate) fn compact(&self) -> Result<()> {
        match self.keyspaces[0].space() {
            Space::Tree(tree) => tree.compact(),
            Space::Family { families, .. } => families.compact(),
        }
    }

    /// Waits until no flush and no compaction is due in the store.
    pub(crate) fn settle(&self) -> Result<()> {
        match self.keyspaces[0].space() {
            Space::Tree(tree) => tree.settle(),
            Space::Family { families, .. } => families.settle(),
        }
    }

    /// Makes all acknowledged writes of the store durable.
    pub(crate) fn sync(&self) -> Result<()> {
        match self.keyspaces[0].space() {
            Space::Tree(tree) => tree.sync(),
            Space::Family { families, .. } => families.sync(),
        }
    }

    /// Closes the store, and makes all writes durable.
    pub(crate) fn close(self) -> Result<()> {
        let mut spaces: Vec<Space> = self.keyspaces.into_iter().map(Keyspace::into_space).collect();
        let last = spaces.pop();
        // The last handle closes the store.
        drop(spaces);
        match last {
            None => Ok(()),
            Some(Space::Tree(tree)) => tree.close(),
            Some(Space::Family { families, .. }) => Arc::into_inner(families)
                .expect("all tasks of the server must have released the store before it is closed")
                .close(),
        }
    }
}
