//! Defines the interface of a store that several threads share, with all its read paths. The interface is small so that
//! tests can substitute a faulty store.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use tree::{Design, Mode, MultiGetValues, OpenOptions, Range, Result, Snapshot, Tree};

use crate::subject::StoreUnderTest;

/// A key and its value, as a cursor returns them.
pub type Pair = (Vec<u8>, Vec<u8>);

/// An open store that several threads can use at the same time.
pub trait Shared: StoreUnderTest + Send + Sync {
    /// Returns the values of many keys in the order of `keys`, from one consistent snapshot.
    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues>;

    /// Opens a cursor over the current entries between two bounds.
    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>>;

    /// Takes a snapshot of the current content.
    fn view(&self) -> Box<dyn View>;
}

/// A consistent snapshot of a store.
pub trait View: Send + Sync {
    /// Returns the value of a key in the snapshot.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>>;

    /// Returns the values of many keys in the snapshot.
    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues>;

    /// Opens a cursor over the entries of the snapshot between two bounds.
    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>>;
}

/// A cursor that can be read from both ends, until the two ends meet.
pub trait Cursor: Send {
    /// Returns the next entry from the front. Returns `None` if no entry remains.
    fn next(&mut self) -> Result<Option<Pair>>;

    /// Returns the next entry from the back. Returns `None` if no entry remains.
    fn next_back(&mut self) -> Result<Option<Pair>>;
}

/// Opens stores that several threads can use at the same time.
pub trait SharedMaker: Send + Sync {
    /// Opens the store in `directory`, or creates it.
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn Shared>>;
}

/// Opens trees of one design in `timed` mode, which flush and compact in background threads.
pub struct TimedMaker(pub Design);

impl SharedMaker for TimedMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn Shared>> {
        let options = OpenOptions::new(self.0.clone()).mode(Mode::Timed).storage(Arc::clone(storage));
        Ok(Box::new(options.open(directory)?))
    }
}

impl Shared for Tree {
    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
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

    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
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
