//! Snapshots: the tree as it was at one moment, for as long as somebody holds it.

use std::ops::RangeBounds;
use std::sync::Arc;

use arc_swap::Guard;
use types::SequenceNumber;

use crate::error::Result;
use crate::inner::Inner;
use crate::range::Range;
use crate::read::Values;
use crate::version::View;

/// The tree as it was when the snapshot was taken. It pins the memtables and tables of that moment: they
/// stay in memory and on storage until the snapshot is dropped, and compaction need not know of it.
#[derive(Clone)]
pub struct Snapshot {
    inner: Arc<Inner>,
    view: Arc<View>,
    sequence: SequenceNumber,
}

impl Snapshot {
    /// The present.
    pub(crate) fn take(inner: &Arc<Inner>) -> Self {
        let (view, sequence) = inner.now();
        Self { inner: Arc::clone(inner), view: Arc::clone(&view), sequence }
    }

    /// The value of `key`, if there was one.
    ///
    /// # Errors
    /// As [`Tree::get`](crate::Tree::get).
    pub fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(self.inner.get_in(&self.view, self.sequence, key, &mut value)?.then_some(value))
    }

    /// The values of many keys.
    ///
    /// # Errors
    /// As [`Tree::get`](crate::Tree::get).
    pub fn multi_get(&self, keys: &[&[u8]]) -> Result<Values> {
        self.inner.multi_get_in(&self.view, self.sequence, keys)
    }

    /// The keys between two bounds, from either end.
    ///
    /// # Errors
    /// As [`Tree::range`](crate::Tree::range).
    pub fn range(&self, bounds: impl RangeBounds<[u8]>) -> Result<Range<'_>> {
        Range::new(&self.inner, Guard::from_inner(Arc::clone(&self.view)), self.sequence, &bounds)
    }

    /// The number of the last write that the snapshot sees.
    pub fn sequence(&self) -> SequenceNumber {
        self.sequence
    }
}
