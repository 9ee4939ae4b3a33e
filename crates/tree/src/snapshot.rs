//! Snapshots, which are consistent views of the tree that later writes do not change.

use std::ops::RangeBounds;
use std::sync::Arc;

use arc_swap::Guard;
use types::SequenceNumber;

use crate::error::Result;
use crate::inner::Inner;
use crate::range::Range;
use crate::read::MultiGetValues;
use crate::version::View;

/// A consistent view of the tree at the time at which the snapshot was taken.
///
/// A snapshot holds references to the memtables and SSTables of that time. The memtables stay in memory and the
/// SSTables stay on storage until the snapshot is dropped. Compactions ignore snapshots, because each snapshot holds
/// its own references.
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
    view: Arc<View>,
    sequence: SequenceNumber,
}

impl Snapshot {
    /// Takes a snapshot of the current state.
    pub(crate) fn take(inner: &Arc<Inner>) -> Self {
        let (view, sequence) = inner.now();
        Self { inner: Arc::clone(inner), view: Arc::clone(&view), sequence }
    }

    /// Returns the value of `key`, or `None` if the key is absent.
    ///
    /// # Errors
    /// If the key is longer than its limit, or if a block cannot be read or is corrupt.
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(self.inner.get_in(&self.view, self.sequence, key, &mut value)?.then_some(value))
    }

    /// Returns the values of many keys, in the order of `keys`. The value of an absent key is `None`.
    ///
    /// # Errors
    /// If a key is longer than its limit, or if a block cannot be read or is corrupt.
    pub fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
        self.inner.multi_get_in(&self.view, self.sequence, keys)
    }

    /// Opens a scan of the keys between two bounds. The scan can be read from both ends.
    ///
    /// # Errors
    /// If a bound is longer than the maximum length of keys. Reading entries from the scan can also fail later.
    pub fn range(&self, bounds: impl RangeBounds<[u8]>) -> Result<Range<'_>> {
        Range::new(&self.inner, Guard::from_inner(Arc::clone(&self.view)), self.sequence, &bounds)
    }

    /// Returns the sequence number of the last write that the snapshot sees.
    pub fn sequence(&self) -> SequenceNumber {
        self.sequence
    }
}
