//! A scan over the ordered entries of an engine that hands them out from both ends.

use std::ops::Bound;

use types::Direction;
use workload::{Scan, TargetError};

/// The lowest and the highest key of a range.
type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// The keys that a scan is about; `None` where it is about none.
pub(crate) fn bounds<'a>(scan: &Scan<'a>) -> Option<Bounds<'a>> {
    let is_empty = scan.high.is_some_and(|high| high <= scan.low);
    (!is_empty).then(|| (Bound::Included(scan.low), scan.high.map_or(Bound::Unbounded, Bound::Excluded)))
}

/// Hands the entries from the end that the scan begins at to `visit`, up to its limit; returns their number.
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
