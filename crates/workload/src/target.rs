//! The interface to a store, as small as a workload needs it.

mod model;
mod noop;

use std::error::Error;

use types::Direction;

pub use model::Model;
pub use noop::NoOp;

/// Any error of a store.
pub type TargetError = Box<dyn Error + Send + Sync>;

/// An ordered key-value store under test; all methods may be called from many threads at once.
pub trait Target: Send + Sync {
    /// Sets the value of `key` to `value`, whether or not it exists.
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError>;

    /// Appends the value of `key` to `value` and returns true, or returns false if the key is absent.
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError>;

    /// Deletes `key`, whether or not it exists.
    fn delete(&self, key: &[u8]) -> Result<(), TargetError>;

    /// Merges `operand` into the value of `key` with the merge operator of the store. A missing value equals an empty
    /// value. `None` means that the store has no such call or no merge operator, and nothing was done.
    fn merge(&self, _key: &[u8], _operand: &[u8]) -> Option<Result<(), TargetError>> {
        None
    }

    /// Sets the value of `key` if the key is absent, in one atomic step, and returns whether the value was set. `None` means
    /// that the store has no such call, and nothing was done.
    fn put_if_absent(&self, _key: &[u8], _value: &[u8]) -> Option<Result<bool, TargetError>> {
        None
    }

    /// Deletes all keys from `low`, inclusive, to `high`, exclusive, in one atomic step. `low` is below `high`. `None`
    /// means that the store has no such call, and nothing was done.
    fn delete_range(&self, _low: &[u8], _high: &[u8]) -> Option<Result<(), TargetError>> {
        None
    }

    /// Passes the entries that `scan` requests to `visit`, from one consistent snapshot, and returns their number.
    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError>;

    /// Applies all `writes` in one atomic step. The last of several writes to a key counts.
    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError>;

    /// Passes the position of every key in `keys` to `visit`, in any order. Each position comes with the value, or with
    /// `None` if the key is absent.
    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        get_one_by_one(self, keys, visit)
    }

    /// Flushes memtables to storage, and returns when they are written.
    fn flush(&self) -> Result<(), TargetError>;

    /// Waits until no background work (flushes, compactions) remains.
    fn settle(&self) -> Result<(), TargetError>;

    /// Makes all writes durable and stops background work. No call follows `close`.
    fn close(&self) -> Result<(), TargetError>;
}

/// Implements a multi-get with one get per key, for a store without multi-gets.
///
/// # Errors
/// The error of the store.
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

/// The entries that a scan reads: at most `limit` entries with `low <= key < high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<'a> {
    /// The smallest key; the empty key is below all others.
    pub low: &'a [u8],
    /// The exclusive end key; `None` reads to the end.
    pub high: Option<&'a [u8]>,
    /// Whether the scan returns the smallest keys first, up to the limit, or the largest.
    pub direction: Direction,
    /// The maximum number of entries.
    pub limit: usize,
}

/// One write of an atomic batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write<'a> {
    /// Sets the value of a key.
    Put {
        /// The key.
        key: &'a [u8],
        /// New value of the key.
        value: &'a [u8],
    },
    /// Deletes a key.
    Delete {
        /// The key.
        key: &'a [u8],
    },
}
