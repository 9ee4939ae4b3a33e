//! Implements scans for engines whose iterator over the ordered entries is double-ended.

use std::ops::Bound;

use types::Direction;
use workload::{Scan, TargetError};

/// The lower and the upper bound of a key range.
type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Returns the bounds of a scan. Returns `None` if the range of the scan is empty.
pub(crate) fn bounds<'a>(scan: &Scan<'a>) -> Option<Bounds<'a>> {
    let is_empty = scan.high.is_some_and(|high| high <= scan.low);
    (!is_empty).then(|| (Bound::Included(scan.low), scan.high.map_or(Bound::Unbounded, Bound::Excluded)))
}

/// Passes the entries of a scan to `visit` in the direction of the scan, and stops after `scan.limit` entries.
/// `entries` iterates over the key range of the scan in ascending order. Returns the number of passed entries.
pub(crate) fn walk<T>(
    scan: &Scan<'_>,
    mut entries: impl DoubleEndedIterator<Item = T>,
    mut visit: impl FnMut(T) -> Result<(), TargetError>,
) -> Result<usize, TargetError> {
    let mut visited = 0;
    while visited < scan.limit {
        let entry = match scan.direction {
            Direction::Forward => entries.next(),
            Direction::Backward => entries.next_back(),
        };
        let Some(entry) = entry else { break };
        visit(entry)?;
        visited += 1;
    }
    Ok(visited)
}
