//! What the harness drives: a store, as small as a workload needs it.

mod model;
mod noop;

use std::error::Error;

use types::Direction;

pub use model::Model;
pub use noop::NoOp;

/// Whatever a store says when it cannot do what it was asked for.
pub type TargetError = Box<dyn Error + Send + Sync>;

/// An ordered key-value store under test; all methods may be called from many threads at once.
pub trait Target: Send + Sync {
    /// Gives `key` the value `value`, whatever it had before.
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError>;

    /// Appends the value of `key` to `value` and returns true, or returns false where there is none.
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError>;

    /// Deletes `key`, whether or not it is there.
    fn delete(&self, key: &[u8]) -> Result<(), TargetError>;

    /// Hands the entries that `scan` asks for to `visit`, as of one moment, and returns their number.
    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError>;

    /// Does all `writes` in one atomic step; of several writes to a key the last one counts.
    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError>;

    /// Hands the place of every key in `keys` with its value, or with `None` where there is none, to
    /// `visit`, in any order.
    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        get_one_by_one(self, keys, visit)
    }

    /// Writes what waits in memory to storage, and returns when it is there.
    fn flush(&self) -> Result<(), TargetError>;

    /// Returns when nothing is left to be done in the background: flushes, compactions.
    fn settle(&self) -> Result<(), TargetError>;

    /// Makes everything durable and stops background work; nothing is asked for after it.
    fn close(&self) -> Result<(), TargetError>;
}

/// A multi-get of a store that has none: a get for each key.
///
/// # Errors
/// What the store says.
pub fn get_one_by_one<T: Target + ?Sized>(
    target: &T,
    keys: &[&[u8]],
    visit: &mut dyn FnMut(usize, Option<&[u8]>),
) -> Result<(), TargetError> {
    let mut value = Vec::new();
    for (place, key) in keys.iter().enumerate() {
        value.clear();
        let found = target.get(key, &mut value)?;
        visit(place, found.then_some(&*value));
    }
    Ok(())
}

/// Which entries a range reads: at most `limit` of those with `low <= key < high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<'a> {
    /// The smallest key; the empty key is below all.
    pub low: &'a [u8],
    /// The first key that is no longer read; `None` reads to the end.
    pub high: Option<&'a [u8]>,
    /// Whether the smallest keys come first and are the ones within the limit, or the largest.
    pub direction: Direction,
    /// The most entries.
    pub limit: usize,
}

/// One write of an atomic batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write<'a> {
    /// Gives a key a value.
    Put {
        /// The key.
        key: &'a [u8],
        /// Its new value.
        value: &'a [u8],
    },
    /// Deletes a key.
    Delete {
        /// The key.
        key: &'a [u8],
    },
}
