//! The interface to a store, with only the calls that a workload needs.

mod model;
mod noop;

use std::error::Error;

use types::Direction;

use crate::operation::Kind;

pub use model::Model;
pub use noop::NoOp;

/// Any error of a store.
pub type TargetError = Box<dyn Error + Send + Sync>;

/// An ordered key-value store under test. Many threads may call all methods at the same time.
pub trait Target: Send + Sync {
    /// Sets the value of `key` to `value`. The key may exist or be absent.
    fn put(&self, key: &[u8], value: &[u8]) -> Result<(), TargetError>;

    /// Looks up `key`. If the key exists, appends its value to `value` and returns true. If the key is absent,
    /// returns false.
    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool, TargetError>;

    /// Deletes `key`. The key may exist or be absent.
    fn delete(&self, key: &[u8]) -> Result<(), TargetError>;

    /// Merges `operand` into the value of `key` with the merge operator of the store. A missing value counts as an
    /// empty value. Returns `None` and does nothing if the store does not support merges or has no merge operator.
    fn merge(&self, _key: &[u8], _operand: &[u8]) -> Option<Result<(), TargetError>> {
        None
    }

    /// Sets the value of `key` if the key is absent, in one atomic step. Returns whether the value was set. Returns
    /// `None` and does nothing if the store does not support conditional puts.
    fn put_if_absent(&self, _key: &[u8], _value: &[u8]) -> Option<Result<bool, TargetError>> {
        None
    }

    /// Deletes all keys from `low` to `high` in one atomic step. `low` is included, and `high` is excluded. `low`
    /// must be below `high`. Returns `None` and does nothing if the store does not support range deletes.
    fn delete_range(&self, _low: &[u8], _high: &[u8]) -> Option<Result<(), TargetError>> {
        None
    }

    /// Deletes `key` by a single delete. Since the previous single delete of `key`, at most one put and no other write
    /// of `key` is allowed. Returns `None` and does nothing if the store does not support single deletes.
    fn single_delete(&self, _key: &[u8]) -> Option<Result<(), TargetError>> {
        None
    }

    /// Passes the entries that `scan` requests to `visit`, and returns the number of entries. All entries come from
    /// one consistent snapshot.
    fn range(&self, scan: &Scan<'_>, visit: &mut dyn FnMut(&[u8], &[u8])) -> Result<usize, TargetError>;

    /// Applies all `writes` in one atomic step. If several writes have the same key, the last write wins.
    fn write(&self, writes: &[Write<'_>]) -> Result<(), TargetError>;

    /// Reads several keys. Calls `visit` once for each key, with the position of the key in `keys` and the value of
    /// the key. The calls may be in any order. The value is `None` if the key is absent.
    fn multi_get(
        &self,
        keys: &[&[u8]],
        visit: &mut dyn FnMut(usize, Option<&[u8]>),
    ) -> Result<(), TargetError> {
        get_one_by_one(self, keys, visit)
    }

    /// Flushes all memtables. Returns when all flushed SSTables are on storage.
    fn flush(&self) -> Result<(), TargetError>;

    /// Waits until no flush and no compaction is running or due.
    fn settle(&self) -> Result<(), TargetError>;

    /// Makes all writes durable and stops background work. After `close`, no other call is allowed.
    fn close(&self) -> Result<(), TargetError>;
}

/// Executes a multi-get as one get per key, for a store without its own multi-get.
///
/// # Errors
/// Returns the error of the store.
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

/// The settings of a scan, which reads at most `limit` entries with `low <= key < high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scan<'a> {
    /// The smallest key. The empty key is below all other keys.
    pub low: &'a [u8],
    /// The exclusive end key; `None` if the scan continues to the last key.
    pub high: Option<&'a [u8]>,
    /// Whether the scan begins at the smallest key or at the largest key.
    pub direction: Direction,
    /// The maximum number of entries that the scan reads.
    pub limit: usize,
}

/// One write of an atomic batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write<'a> {
    /// Sets the value of a key.
    Put {
        /// The key of the operation.
        key: &'a [u8],
        /// New value of the key.
        value: &'a [u8],
    },
    /// Deletes a key.
    Delete {
        /// The key of the operation.
        key: &'a [u8],
    },
    /// Deletes a key that has at most one put since its previous single delete.
    SingleDelete {
        /// The key of the operation.
        key: &'a [u8],
    },
    /// Merges an operand into the value of a key.
    Merge {
        /// The key of the operation.
        key: &'a [u8],
        /// The operand that is merged into the value.
        operand: &'a [u8],
    },
    /// Deletes all keys of a range, whose exclusive end is above its first key.
    DeleteRange {
        /// The first key of the range.
        low: &'a [u8],
        /// The exclusive end key of the range.
        high: &'a [u8],
    },
}

impl Write<'_> {
    /// Returns the error of an engine that does not support this kind of write in a batch.
    pub fn unsupported(&self) -> TargetError {
        let kind = match self {
            Self::Put { .. } => Kind::Put,
            Self::Delete { .. } => Kind::Delete,
            Self::SingleDelete { .. } => Kind::SingleDelete,
            Self::Merge { .. } => Kind::Merge,
            Self::DeleteRange { .. } => Kind::DeleteRange,
        };
        format!("the engine does not support {kind} in a write batch").into()
    }

    /// Returns an error if a batch contains other writes than puts and deletes. An engine that supports only puts and
    /// deletes in batches calls this function before it begins a batch.
    ///
    /// # Errors
    /// Returns an error that names the kind of the first other write.
    pub fn only_puts_and_deletes(writes: &[Self]) -> Result<(), TargetError> {
        let is_other = |write: &&Self| !matches!(write, Self::Put { .. } | Self::Delete { .. });
        writes.iter().find(is_other).map_or(Ok(()), |write| Err(write.unsupported()))
    }
}
