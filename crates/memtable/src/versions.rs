//! All versions in one order, and what every memtable that keeps such an order does with it.
//!
//! Keys ascend, and of each key the newest version comes first, so that a lookup is one search for the
//! first version at or behind (key, snapshot). No version has number 0 and none the highest number: (key,
//! highest) stands before all versions of a key, (key, 0) behind them.

use std::cmp::Ordering;
use std::ops::{Bound, Deref};

use types::{Direction, Entries, Entry, Lookup, SequenceNumber};

use crate::shared_arena::{Record, Ref, SharedArena, Version};

/// A place in the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) sequence: SequenceNumber,
}

impl<'a> Probe<'a> {
    /// Before all versions of `key`.
    pub(crate) fn newest(key: &'a [u8]) -> Self {
        Self { key, sequence: SequenceNumber::MAX }
    }

    /// Behind all versions of `key`.
    pub(crate) fn oldest(key: &'a [u8]) -> Self {
        Self { key, sequence: 0 }
    }

    /// Whether this place comes before `other`.
    #[inline]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.key.cmp(other.key).then_with(|| other.sequence.cmp(&self.sequence)).is_lt()
    }

    /// How `record` stands to this place.
    #[inline]
    pub(crate) fn order_of(&self, record: &Record<'_>) -> Ordering {
        record.key.cmp(self.key).then_with(|| self.sequence.cmp(&record.sequence))
    }
}

/// All versions in order. A cursor stands at a version; versions that come meanwhile may be seen or not.
pub(crate) trait Versions {
    type Cursor;

    /// At the first version, or at the first at or behind `from`.
    fn seek(&self, from: Option<Probe<'_>>) -> Option<Self::Cursor>;

    /// At the last version, or at the last before `end`.
    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Self::Cursor>;

    /// Moves a cursor to the next version, if it stands somewhere; there is none behind the last.
    fn next(&self, cursor: &mut Option<Self::Cursor>);

    /// As [`next`](Self::next), to the version before.
    fn previous(&self, cursor: &mut Option<Self::Cursor>);

    fn record<'a>(&'a self, cursor: &Self::Cursor) -> Record<'a>;

    /// The newest version of `key` not above `snapshot`.
    #[inline]
    fn visible(&self, key: &[u8], snapshot: SequenceNumber) -> Option<Record<'_>> {
        let cursor = self.seek(Some(Probe { key, sequence: snapshot }))?;
        Some(self.record(&cursor)).filter(|record| record.key == key)
    }
}

/// What is known of a version that may not be; a value is appended to `value`.
#[inline]
pub(crate) fn lookup(version: Option<Record<'_>>, value: &mut Vec<u8>) -> Lookup {
    match version.map(|record| record.value) {
        None => Lookup::Absent,
        Some(None) => Lookup::Deleted,
        Some(Some(found)) => {
            value.extend_from_slice(found);
            Lookup::Found
        }
    }
}

/// Hands up to `limit` versions, as of `snapshot`, to `sink`.
pub(crate) fn scan<V: Versions, S: FnMut(Record<'_>) + ?Sized>(
    versions: &V,
    from: Bound<&[u8]>,
    direction: Direction,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    match direction {
        Direction::Forward => ascend(versions, from, snapshot, limit, sink),
        Direction::Backward => descend(versions, from, snapshot, limit, sink),
    }
}

/// The newest version of every key, in order.
pub(crate) fn drain<V: Versions, S: FnMut(Record<'_>) + ?Sized>(versions: &V, sink: &mut S) {
    ascend(versions, Bound::Unbounded, SequenceNumber::MAX, usize::MAX, sink);
}

fn ascend<V: Versions, S: FnMut(Record<'_>) + ?Sized>(
    versions: &V,
    from: Bound<&[u8]>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut at = match from {
        Bound::Included(key) => versions.seek(Some(Probe::newest(key))),
        Bound::Excluded(key) => versions.seek(Some(Probe::oldest(key))),
        Bound::Unbounded => versions.seek(None),
    };
    let mut left = limit;
    while left > 0
        && let Some(cursor) = &at
    {
        // Of each key the newest version comes first; what it hides is jumped over, however much it is.
        let record = versions.record(cursor);
        versions.next(&mut at);
        if at.as_ref().is_some_and(|next| versions.record(next).key == record.key) {
            at = versions.seek(Some(Probe::oldest(record.key)));
        }
        let visible =
            if record.sequence <= snapshot { Some(record) } else { versions.visible(record.key, snapshot) };
        left -= usize::from(emit(visible, sink));
    }
}

fn descend<V: Versions, S: FnMut(Record<'_>) + ?Sized>(
    versions: &V,
    from: Bound<&[u8]>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut at = match from {
        Bound::Included(key) => versions.seek_before(Some(Probe::oldest(key))),
        Bound::Excluded(key) => versions.seek_before(Some(Probe::newest(key))),
        Bound::Unbounded => versions.seek_before(None),
    };
    let mut left = limit;
    while left > 0
        && let Some(cursor) = &at
    {
        // Of each key the oldest version comes first.
        let record = versions.record(cursor);
        versions.previous(&mut at);
        let is_alone = at.as_ref().is_none_or(|next| versions.record(next).key != record.key);
        if !is_alone {
            at = versions.seek_before(Some(Probe::newest(record.key)));
        }
        let visible = match record.sequence <= snapshot {
            true if is_alone => Some(record),
            true => versions.visible(record.key, snapshot),
            false => None,
        };
        left -= usize::from(emit(visible, sink));
    }
}

/// Hands a version to `sink`; says whether there is one.
#[inline]
fn emit<S: FnMut(Record<'_>) + ?Sized>(version: Option<Record<'_>>, sink: &mut S) -> bool {
    version.inspect(|record| sink(*record)).is_some()
}

/// Versions that a scan found, where they stand.
pub(crate) struct InPlace<A> {
    arena: A,
    versions: Vec<Ref<Version>>,
}

impl<A: Deref<Target = SharedArena>> InPlace<A> {
    /// Versions of this arena.
    pub(crate) fn new(arena: A, versions: Vec<Ref<Version>>) -> Self {
        Self { arena, versions }
    }
}

impl<A: Deref<Target = SharedArena> + Send + Sync> Entries for InPlace<A> {
    fn len(&self) -> usize {
        self.versions.len()
    }

    fn entry(&self, index: usize) -> Entry<'_> {
        self.arena.record(self.versions[index]).entry()
    }
}

/// The parts of [`Memtable`](crate::Memtable) that follow from an order of versions, which the method
/// `versions` lends, with the lock that guards it if there is one. The argument says how entries in place hold the arena
/// of what was lent: what no lock guards they borrow, and count no owner.
macro_rules! read_versions {
    ($versions:ident => $arena:expr) => {
        fn get(
            &self,
            key: types::HashedKey<'_>,
            snapshot: types::SequenceNumber,
            value: &mut Vec<u8>,
        ) -> types::Lookup {
            $crate::versions::lookup(self.versions().visible(key.bytes, snapshot), value)
        }

        fn scan(
            &self,
            from: std::ops::Bound<&[u8]>,
            direction: types::Direction,
            snapshot: types::SequenceNumber,
            limit: usize,
            batch: &mut types::EntryBatch,
        ) {
            let sink = &mut |record: $crate::shared_arena::Record<'_>| batch.push(record.entry());
            $crate::versions::scan(&*self.versions(), from, direction, snapshot, limit, sink);
        }

        fn entries(
            &self,
            from: std::ops::Bound<&[u8]>,
            direction: types::Direction,
            snapshot: types::SequenceNumber,
            limit: usize,
        ) -> Box<dyn types::Entries + '_> {
            let $versions = self.versions();
            let mut found = Vec::with_capacity(limit.min(16));
            let sink = &mut |record: $crate::shared_arena::Record<'_>| found.push(record.version);
            $crate::versions::scan(&*$versions, from, direction, snapshot, limit, sink);
            Box::new($crate::versions::InPlace::new($arena, found))
        }

        fn drain(&self, sink: &mut dyn FnMut(types::Entry<'_>)) {
            let sink = &mut |record: $crate::shared_arena::Record<'_>| sink(record.entry());
            $crate::versions::drain(&*self.versions(), sink);
        }
    };
}

pub(crate) use read_versions;
