//! What threads share: a store with all its ways to be read, behind a small interface, so that tests can put a
//! wrong one in its place.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use tree::wal::WalMode;
use tree::{Design, Mode, OpenOptions, Range, Result, Snapshot, Tree, Values};

use crate::subject::Store;

/// A key and its value.
pub type Pair = (Vec<u8>, Vec<u8>);

/// An open store that many threads use at once.
pub trait Shared: Store + Send + Sync {
    /// The values of many keys as of one moment.
    fn multi_get(&self, keys: &[&[u8]]) -> Result<Values>;

    /// The entries between two bounds as of now.
    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>>;

    /// The store as it is now, for reading later.
    fn view(&self) -> Box<dyn View>;
}

/// A store as it was at one moment.
pub trait View: Send + Sync {
    /// The value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// The values of many keys.
    fn multi_get(&self, keys: &[&[u8]]) -> Result<Values>;

    /// The entries between two bounds.
    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>>;
}

/// Entries that are read from both ends until they meet.
pub trait Cursor: Send {
    /// The next entry from the front.
    fn next(&mut self) -> Result<Option<Pair>>;

    /// The next entry from the back.
    fn next_back(&mut self) -> Result<Option<Pair>>;
}

/// Opens stores for many threads.
pub trait SharedMaker: Send + Sync {
    /// Opens the store in `directory`, or makes a new one.
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn Shared>>;
}

/// A kind of store that threads race on.
pub struct Contestant {
    /// What it is called.
    pub name: String,
    /// When it acknowledges a write.
    pub wal: WalMode,
    /// Opens it.
    pub maker: Box<dyn SharedMaker>,
}

impl Contestant {
    /// The tree of a design in `timed` mode.
    ///
    /// # Errors
    /// If the log mode of the design cannot be built.
    pub fn tree(name: &str, design: Design) -> Result<Self> {
        let wal = tree::wal::CATALOG.build(design.choice("wal"));
        let wal = wal.map_err(|error| tree::Error::Misuse(error.message))?.mode();
        Ok(Self { name: name.to_owned(), wal, maker: Box::new(TimedMaker(design)) })
    }
}

/// Opens trees of one design in `timed` mode: flushes and compactions have threads of their own.
pub struct TimedMaker(pub Design);

impl SharedMaker for TimedMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn Shared>> {
        let options = OpenOptions::new(self.0.clone()).mode(Mode::Timed).storage(Arc::clone(storage));
        Ok(Box::new(options.open(directory)?))
    }
}

impl Shared for Tree {
    fn multi_get(&self, keys: &[&[u8]]) -> Result<Values> {
        Tree::multi_get(self, keys)
    }

    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>> {
        Ok(Box::new(Tree::range(self, (low, high))?))
    }

    fn view(&self) -> Box<dyn View> {
        Box::new(Tree::snapshot(self))
    }
}

impl View for Snapshot {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        Snapshot::get(self, key)
    }

    fn multi_get(&self, keys: &[&[u8]]) -> Result<Values> {
        Snapshot::multi_get(self, keys)
    }

    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>> {
        Ok(Box::new(self.range((low, high))?))
    }
}

impl Cursor for Range<'_> {
    fn next(&mut self) -> Result<Option<Pair>> {
        Ok(Range::next(self)?.map(|(key, value)| (key.to_vec(), value.to_vec())))
    }

    fn next_back(&mut self) -> Result<Option<Pair>> {
        Ok(Range::next_back(self)?.map(|(key, value)| (key.to_vec(), value.to_vec())))
    }
}
