//! A scan that merges several structures. Each structure returns its versions in order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Bound;

use types::{Direction, SequenceNumber};

use crate::shared_arena::VersionRecord;
use crate::versions::{Versions, begin, go_on};

/// The position of a scan in one of the structures that the scan merges: the next version to return, and a cursor at
/// the version after it.
struct Part<'a, V: Versions> {
    versions: &'a V,
    /// The cursor at the version after `record` in this structure.
    at: Option<V::Cursor>,
    direction: Direction,
    record: VersionRecord<'a>,
}

impl<'a, V: Versions> Part<'a, V> {
    fn first(
        versions: &'a V,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
    ) -> Option<Self> {
        let mut at = begin(versions, from, direction);
        let record = visible(versions, &mut at, direction, snapshot)?;
        Some(Self { versions, at, direction, record })
    }

    /// Moves to the next key of this structure that has a version visible at `snapshot`. Returns `false` if there is no
    /// such key.
    fn advance(&mut self, snapshot: SequenceNumber) -> bool {
        let next = visible(self.versions, &mut self.at, self.direction, snapshot);
        next.map(|record| self.record = record).is_some()
    }
}

/// Returns the first version, from the cursor `at` on, that is visible at `snapshot`. Returns `None` if there is no
/// such version. Moves the cursor to the position after this version.
fn visible<'a, V: Versions>(
    versions: &'a V,
    at: &mut Option<V::Cursor>,
    direction: Direction,
    snapshot: SequenceNumber,
) -> Option<VersionRecord<'a>> {
    let mut found = None;
    go_on(versions, at, direction, snapshot, 1, &mut |record| found = Some(record));
    found
}

impl<V: Versions> Ord for Part<'_, V> {
    /// Compares the parts of a merging scan for a max-heap: the part whose version comes next in the scan is the
    /// greatest part. If two versions have equal keys, the newer version comes first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = match self.direction {
            Direction::Forward => other.record.key.cmp(self.record.key),
            Direction::Backward => self.record.key.cmp(other.record.key),
        };
        by_key.then_with(|| self.record.sequence.cmp(&other.record.sequence))
    }
}

impl<V: Versions> PartialOrd for Part<'_, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V: Versions> PartialEq for Part<'_, V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<V: Versions> Eq for Part<'_, V> {}

/// Merges the scans of several structures (`parts`) in `direction`, from the bound `from` on. Calls `sink` with the
/// newest version of each key that is visible at `snapshot`, for up to `limit` keys.
pub(crate) fn scan<'a, V: Versions + 'a>(
    parts: impl Iterator<Item = &'a V>,
    from: Bound<&[u8]>,
    direction: Direction,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut (impl FnMut(VersionRecord<'a>) + ?Sized),
) {
    let parts = parts.filter_map(|versions| Part::first(versions, from, direction, snapshot));
    let mut parts: BinaryHeap<Part<'a, V>> = parts.collect();
    let (mut left, mut last) = (limit, None);
    while left > 0
        && let Some(mut part) = parts.peek_mut()
    {
        let record = part.record;
        if last != Some(record.key) {
            last = Some(record.key);
            left -= 1;
            sink(record);
        }
        if !part.advance(snapshot) {
            PeekMut::pop(part);
        }
    }
}
