//! The order of all versions in a memtable, and the lookups and scans of all memtables that keep their versions in this
//! order.
//!
//! Keys are in ascending order, and the newest version of each key comes first. A lookup is therefore one search for
//! the first version at or after the pair of the key and the snapshot. No version has the sequence number 0 or the
//! highest possible sequence number. The pair of a key and the highest number is therefore before all versions of the
//! key. The pair of a key and 0 is after all versions of the key.

use std::cmp::Ordering;
use std::ops::Bound;

use types::{Direction, Entries, Entry, Lookup, Rest, SequenceNumber};

use crate::shared_arena::{SharedArena, VersionRecord};

/// A position in the order of versions, given by a key and a sequence number. No version need exist at this position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) sequence: SequenceNumber,
}

impl<'a> Probe<'a> {
    /// Returns the position before all versions of `key`.
    pub(crate) fn newest(key: &'a [u8]) -> Self {
        Self { key, sequence: SequenceNumber::MAX }
    }

    /// Returns the position after all versions of `key`.
    pub(crate) fn oldest(key: &'a [u8]) -> Self {
        Self { key, sequence: 0 }
    }

    /// Returns whether this position is before the position `other`.
    #[inline]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.key.cmp(other.key).then_with(|| other.sequence.cmp(&self.sequence)).is_lt()
    }

    /// Compares `record` with this position in the order of versions.
    #[inline]
    pub(crate) fn order_of(&self, record: &VersionRecord<'_>) -> Ordering {
        record.key.cmp(self.key).then_with(|| self.sequence.cmp(&record.sequence))
    }
}

/// A structure that keeps all versions of a memtable in order. A cursor is always at a version. If versions are
/// inserted concurrently, a moving cursor may reach them or skip them.
pub(crate) trait Versions {
    type Cursor;

    /// Returns a cursor at the first version at or after `from`. If `from` is `None`, returns a cursor at the first
    /// version of the structure. Returns `None` if there is no such version.
    fn seek(&self, from: Option<Probe<'_>>) -> Option<Self::Cursor>;

    /// Returns a cursor at the last version before `end`. If `end` is `None`, returns a cursor at the last version of
    /// the structure. Returns `None` if there is no such version.
    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Self::Cursor>;

    /// Moves a cursor to the next version. If there is no next version, the cursor becomes `None`.
    fn next(&self, cursor: &mut Option<Self::Cursor>);

    /// Moves a cursor to the next version. Returns whether this version may have the same key. If the result is
    /// `false`, the next version certainly has another key, so the caller need not compare the keys.
    #[inline]
    fn next_may_share_key(&self, cursor: &mut Option<Self::Cursor>) -> bool {
        self.next(cursor);
        true
    }

    /// Moves a cursor to the previous version. If there is no previous version, the cursor becomes `None`.
    fn previous(&self, cursor: &mut Option<Self::Cursor>);

    fn record<'a>(&'a self, cursor: &Self::Cursor) -> VersionRecord<'a>;

    /// Informs the structure that a scan in `direction` will read `versions` versions, beginning at the cursor. The
    /// structure may use this number to prefetch versions.
    #[inline]
    fn expect(&self, cursor: &mut Self::Cursor, direction: Direction, versions: usize) {
        let _ = (cursor, direction, versions);
    }

    /// Returns the newest version of `key` whose sequence number is not above `snapshot`. Returns `None` if there is no
    /// such version.
    #[inline]
    fn visible(&self, key: &[u8], snapshot: SequenceNumber) -> Option<VersionRecord<'_>> {
        let cursor = self.seek(Some(Probe { key, sequence: snapshot }))?;
        Some(self.record(&cursor)).filter(|record| record.key == key)
    }
}

/// Returns the result of a lookup that has found `version`. If the version has a value, appends this value to
/// `value`.
#[inline]
pub(crate) fn lookup(version: Option<VersionRecord<'_>>, value: &mut Vec<u8>) -> Lookup {
    match version.map(|record| record.value) {
        None => Lookup::Absent,
        Some(None) => Lookup::Deleted,
        Some(Some(found)) => {
            value.extend_from_slice(found);
            Lookup::Found
        }
    }
}

/// Scans in `direction`, beginning at the bound `from`. Calls `sink` with the newest version of each key that is
/// visible at `snapshot`, for up to `limit` keys.
pub(crate) fn scan<V: Versions, S: FnMut(VersionRecord<'_>) + ?Sized>(
    versions: &V,
    from: Bound<&[u8]>,
    direction: Direction,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut at = begin(versions, from, direction);
    go_on(versions, &mut at, direction, snapshot, limit, sink);
}

/// Calls `sink` with the newest version of every key, in ascending key order.
pub(crate) fn drain<V: Versions, S: FnMut(VersionRecord<'_>) + ?Sized>(versions: &V, sink: &mut S) {
    let mut at = versions.seek(None);
    go_on(versions, &mut at, Direction::Forward, SequenceNumber::MAX, usize::MAX, sink);
}

/// Returns a cursor at the version with which a scan from the bound `from` in `direction` begins. Returns `None` if
/// there is no version in this direction.
pub(crate) fn begin<V: Versions>(
    versions: &V,
    from: Bound<&[u8]>,
    direction: Direction,
) -> Option<V::Cursor> {
    match (direction, from) {
        (Direction::Forward, Bound::Included(key)) => versions.seek(Some(Probe::newest(key))),
        (Direction::Forward, Bound::Excluded(key)) => versions.seek(Some(Probe::oldest(key))),
        (Direction::Forward, Bound::Unbounded) => versions.seek(None),
        (Direction::Backward, Bound::Included(key)) => versions.seek_before(Some(Probe::oldest(key))),
        (Direction::Backward, Bound::Excluded(key)) => versions.seek_before(Some(Probe::newest(key))),
        (Direction::Backward, Bound::Unbounded) => versions.seek_before(None),
    }
}

/// Continues a scan from the cursor `at`. Calls `sink` with the newest version of each key that is visible at
/// `snapshot`, for up to `limit` keys. Moves the cursor `at` to the first version after the scanned keys.
pub(crate) fn go_on<'a, V: Versions, S: FnMut(VersionRecord<'a>) + ?Sized>(
    versions: &'a V,
    at: &mut Option<V::Cursor>,
    direction: Direction,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    if let Some(cursor) = at {
        versions.expect(cursor, direction, limit);
    }
    match direction {
        Direction::Forward => ascend(versions, at, snapshot, limit, sink),
        Direction::Backward => descend(versions, at, snapshot, limit, sink),
    }
}

fn ascend<'a, V: Versions, S: FnMut(VersionRecord<'a>) + ?Sized>(
    versions: &'a V,
    at: &mut Option<V::Cursor>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut left = limit;
    while left > 0
        && let Some(cursor) = at
    {
        // The newest version of each key comes first. One seek skips all older versions of the key, for any number of
        // versions.
        let record = versions.record(cursor);
        if versions.next_may_share_key(at)
            && at.as_ref().is_some_and(|next| versions.record(next).key == record.key)
        {
            *at = versions.seek(Some(Probe::oldest(record.key)));
            if let Some(cursor) = at {
                versions.expect(cursor, Direction::Forward, left - 1);
            }
        }
        let visible =
            if record.sequence <= snapshot { Some(record) } else { versions.visible(record.key, snapshot) };
        if emit(visible, sink) {
            left -= 1;
        } else if let Some(cursor) = at {
            versions.expect(cursor, Direction::Forward, left);
        }
    }
}

fn descend<'a, V: Versions, S: FnMut(VersionRecord<'a>) + ?Sized>(
    versions: &'a V,
    at: &mut Option<V::Cursor>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut left = limit;
    while left > 0
        && let Some(cursor) = at
    {
        // In descending order, the oldest version of each key comes first.
        let record = versions.record(cursor);
        versions.previous(at);
        let is_alone = at.as_ref().is_none_or(|next| versions.record(next).key != record.key);
        if !is_alone {
            *at = versions.seek_before(Some(Probe::newest(record.key)));
            if let Some(cursor) = at {
                versions.expect(cursor, Direction::Backward, left - 1);
            }
        }
        let visible = match record.sequence <= snapshot {
            true if is_alone => Some(record),
            true => versions.visible(record.key, snapshot),
            false => None,
        };
        if emit(visible, sink) {
            left -= 1;
        } else if let Some(cursor) = at {
            versions.expect(cursor, Direction::Backward, left);
        }
    }
}

/// Calls `sink` with `version` unless it is `None`. Returns whether `sink` was called.
#[inline]
fn emit<'a, S: FnMut(VersionRecord<'a>) + ?Sized>(version: Option<VersionRecord<'a>>, sink: &mut S) -> bool {
    version.inspect(|record| sink(*record)).is_some()
}

/// A scan of ordered versions that can be continued. The structure must allow reads of its versions without a lock.
/// Each continuation begins after the last returned version.
pub(crate) struct Scan<'a, V: Versions> {
    versions: &'a V,
    direction: Direction,
    snapshot: SequenceNumber,
    /// The cursor after the last returned version. `None` at the end of the scan.
    at: Option<V::Cursor>,
}

impl<'a, V: Versions> Scan<'a, V> {
    pub(crate) fn new(
        versions: &'a V,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
    ) -> Self {
        Self { versions, direction, snapshot, at: begin(versions, from, direction) }
    }
}

impl<'a, V: Versions<Cursor: Send + Sync> + Sync> Rest<'a> for Scan<'a, V> {
    fn find(&mut self, limit: usize, found: &mut Vec<Entry<'a>>) {
        let Self { versions, direction, snapshot, at } = self;
        go_on(*versions, at, *direction, *snapshot, limit, &mut |record: VersionRecord<'a>| {
            found.push(record.entry());
        });
    }
}

/// Scans in `direction`, beginning at the bound `from`. Returns up to `limit` versions that are visible at `snapshot`.
/// The caller must hold the lock of `versions`. The result borrows only from `arena`, so the caller can release the
/// lock before it uses the result.
pub(crate) fn found_in<'a, V: Versions>(
    arena: &'a SharedArena,
    versions: &V,
    from: Bound<&[u8]>,
    direction: Direction,
    snapshot: SequenceNumber,
    limit: usize,
) -> Entries<'a> {
    let mut found = Vec::new();
    let sink = &mut |record: VersionRecord<'_>| found.push(arena.record(record.version).entry());
    scan(versions, from, direction, snapshot, limit, sink);
    Entries::in_place(found)
}

/// Implements the read methods of [`Memtable`](crate::Memtable) for a memtable whose method `versions` returns its
/// ordered versions.
///
/// * `guarded`: the method returns a lock guard, and the memtable must have a field `arena`.
/// * `unguarded`: the versions can be read without a lock, so scans can be continued.
macro_rules! read_versions {
    (guarded) => {
        $crate::versions::read_versions!();

        fn entries(
            &self,
            from: std::ops::Bound<&[u8]>,
            direction: types::Direction,
            snapshot: types::SequenceNumber,
            limit: usize,
        ) -> types::Entries<'_> {
            $crate::versions::found_in(&self.arena, &*self.versions(), from, direction, snapshot, limit)
        }
    };
    (unguarded) => {
        $crate::versions::read_versions!();

        fn entries(
            &self,
            from: std::ops::Bound<&[u8]>,
            direction: types::Direction,
            snapshot: types::SequenceNumber,
            limit: usize,
        ) -> types::Entries<'_> {
            types::Entries::of($crate::versions::Scan::new(self.versions(), from, direction, snapshot), limit)
        }
    };
    () => {
        fn get(
            &self,
            key: types::HashedKey<'_>,
            snapshot: types::SequenceNumber,
            value: &mut Vec<u8>,
        ) -> types::Lookup {
            $crate::versions::lookup(self.versions().visible(key.bytes, snapshot), value)
        }

        fn sequence_of(
            &self,
            key: types::HashedKey<'_>,
            snapshot: types::SequenceNumber,
        ) -> Option<types::SequenceNumber> {
            self.versions().visible(key.bytes, snapshot).map(|record| record.sequence)
        }

        fn scan(
            &self,
            from: std::ops::Bound<&[u8]>,
            direction: types::Direction,
            snapshot: types::SequenceNumber,
            limit: usize,
            batch: &mut types::EntryBatch,
        ) {
            let sink = &mut |record: $crate::shared_arena::VersionRecord<'_>| batch.push(record.entry());
            $crate::versions::scan(&*self.versions(), from, direction, snapshot, limit, sink);
        }

        fn drain(&self, sink: &mut dyn FnMut(types::Entry<'_>)) {
            let sink = &mut |record: $crate::shared_arena::VersionRecord<'_>| sink(record.entry());
            $crate::versions::drain(&*self.versions(), sink);
        }
    };
}

pub(crate) use read_versions;
