//! Translates the operations of a workload into calls of a tree or of a column family.

use std::ops::Bound;

use tree::{MultiGetValues, WriteBatch};
use workload::{Scan, TargetError, Write};

/// Returns the key bounds of a scan: from `low` inclusive to `high` exclusive. An absent `high` is unbounded.
#[inline]
pub(super) fn bounds<'a>(scan: &Scan<'a>) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    (Bound::Included(scan.low), scan.high.map_or(Bound::Unbounded, Bound::Excluded))
}

/// Converts the writes of a workload into an atomic batch of the tree.
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

/// Passes the position and the value of each key of a multi-get to `visit`. The value is `None` if the key is absent.
pub(super) fn visit_values(values: &MultiGetValues, visit: &mut dyn FnMut(usize, Option<&[u8]>)) {
    values.iter().enumerate().for_each(|(place, value)| visit(place, value.as_deref()));
}
