//! The operations of a workload as calls of a tree or of a family.

use std::ops::Bound;

use tree::{MultiGetValues, WriteBatch};
use workload::{Scan, TargetError, Write};

/// Returns the key bounds of a scan.
#[inline]
pub(super) fn bounds<'a>(scan: &Scan<'a>) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    (Bound::Included(scan.low), scan.high.map_or(Bound::Unbounded, Bound::Excluded))
}

/// The writes of an atomic batch.
pub(super) fn batch(writes: &[Write<'_>]) -> Result<WriteBatch, TargetError> {
    let mut batch = WriteBatch::new();
    for write in writes {
        match write {
            Write::Put { key, value } => batch.put(key, value)?,
            Write::Delete { key } => batch.delete(key)?,
            Write::SingleDelete { key } => batch.single_delete(key)?,
            Write::Merge { key, operand } => batch.merge(key, operand)?,
            Write::DeleteRange { low, high } => batch.delete_range(low, high)?,
        }
    }
    Ok(batch)
}

/// Passes the values of a multi-get to `visit`.
pub(super) fn visit_values(values: &MultiGetValues, visit: &mut dyn FnMut(usize, Option<&[u8]>)) {
    values.iter().enumerate().for_each(|(place, value)| visit(place, value.as_deref()));
}
