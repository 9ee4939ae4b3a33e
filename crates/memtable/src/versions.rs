//! All versions in one order, and what every memtable that keeps such an order does with it.
//!
//! Keys ascend, and of each key the newest version comes first, so that a lookup is one search for the
//! first version at or behind (key, snapshot). No version has number 0 and none the highest number: (key,
//! highest) stands before all versions of a key, (key, 0) behind them.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use types::{Direction, Entries, Entry, Lookup, SequenceNumber};

use crate::shared_arena::{Record, Ref, SharedArena, Version};

/// What there is room for when a scan begins: most are short.
const FOUND_AT_FIRST: usize = 16;

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
    let mut at = begin(versions, from, direction);
    go_on(versions, &mut at, direction, snapshot, limit, sink);
}

/// The newest version of every key, in order.
pub(crate) fn drain<V: Versions, S: FnMut(Record<'_>) + ?Sized>(versions: &V, sink: &mut S) {
    let mut at = versions.seek(None);
    ascend(versions, &mut at, SequenceNumber::MAX, usize::MAX, sink);
}

/// Where a scan begins.
fn begin<V: Versions>(versions: &V, from: Bound<&[u8]>, direction: Direction) -> Option<V::Cursor> {
    match (direction, from) {
        (Direction::Forward, Bound::Included(key)) => versions.seek(Some(Probe::newest(key))),
        (Direction::Forward, Bound::Excluded(key)) => versions.seek(Some(Probe::oldest(key))),
        (Direction::Forward, Bound::Unbounded) => versions.seek(None),
        (Direction::Backward, Bound::Included(key)) => versions.seek_before(Some(Probe::oldest(key))),
        (Direction::Backward, Bound::Excluded(key)) => versions.seek_before(Some(Probe::newest(key))),
        (Direction::Backward, Bound::Unbounded) => versions.seek_before(None),
    }
}

/// Hands up to `limit` versions from `at` on, as of `snapshot`, to `sink`; `at` is then behind them.
fn go_on<V: Versions, S: FnMut(Record<'_>) + ?Sized>(
    versions: &V,
    at: &mut Option<V::Cursor>,
    direction: Direction,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    match direction {
        Direction::Forward => ascend(versions, at, snapshot, limit, sink),
        Direction::Backward => descend(versions, at, snapshot, limit, sink),
    }
}

fn ascend<V: Versions, S: FnMut(Record<'_>) + ?Sized>(
    versions: &V,
    at: &mut Option<V::Cursor>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut left = limit;
    while left > 0
        && let Some(cursor) = at
    {
        // Of each key the newest version comes first; what it hides is jumped over, however much it is.
        let record = versions.record(cursor);
        versions.next(at);
        if at.as_ref().is_some_and(|next| versions.record(next).key == record.key) {
            *at = versions.seek(Some(Probe::oldest(record.key)));
        }
        let visible =
            if record.sequence <= snapshot { Some(record) } else { versions.visible(record.key, snapshot) };
        left -= usize::from(emit(visible, sink));
    }
}

fn descend<V: Versions, S: FnMut(Record<'_>) + ?Sized>(
    versions: &V,
    at: &mut Option<V::Cursor>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut left = limit;
    while left > 0
        && let Some(cursor) = at
    {
        // Of each key the oldest version comes first.
        let record = versions.record(cursor);
        versions.previous(at);
        let is_alone = at.as_ref().is_none_or(|next| versions.record(next).key != record.key);
        if !is_alone {
            *at = versions.seek_before(Some(Probe::newest(record.key)));
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

/// Versions that a scan found, where they stand; it goes on from behind them.
pub(crate) struct Scan<'a, V: Versions> {
    versions: &'a V,
    arena: &'a SharedArena,
    direction: Direction,
    snapshot: SequenceNumber,
    /// Behind what was found.
    at: Option<V::Cursor>,
    found: Vec<Ref<Version>>,
}

impl<'a, V: Versions> Scan<'a, V> {
    /// A scan over versions that stand in `arena`, which has found up to `limit`.
    pub(crate) fn new(
        versions: &'a V,
        arena: &'a SharedArena,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
    ) -> Self {
        let at = begin(versions, from, direction);
        let found = Vec::with_capacity(limit.min(FOUND_AT_FIRST));
        let mut scan = Self { versions, arena, direction, snapshot, at, found };
        scan.find(limit);
        scan
    }

    fn find(&mut self, limit: usize) {
        let Self { versions, direction, snapshot, at, found, .. } = self;
        let sink = &mut |record: Record<'_>| found.push(record.version);
        go_on(*versions, at, *direction, *snapshot, limit, sink);
    }
}

impl<V: Versions<Cursor: Send + Sync> + Sync> Entries for Scan<'_, V> {
    fn len(&self) -> usize {
        self.found.len()
    }

    fn entry(&self, index: usize) -> Entry<'_> {
        self.arena.record(self.found[index]).entry()
    }

    fn go_on(&mut self, limit: usize) -> bool {
        self.found.clear();
        self.find(limit);
        true
    }
}

/// Versions that a scan found under a lock, where they stand.
pub(crate) struct InPlace {
    arena: Arc<SharedArena>,
    found: Vec<Ref<Version>>,
}

impl InPlace {
    /// Up to `limit` versions in this arena.
    pub(crate) fn new<V: Versions>(
        versions: &V,
        arena: &Arc<SharedArena>,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
    ) -> Self {
        let mut found = Vec::with_capacity(limit.min(FOUND_AT_FIRST));
        let sink = &mut |record: Record<'_>| found.push(record.version);
        scan(versions, from, direction, snapshot, limit, sink);
        Self { arena: Arc::clone(arena), found }
    }
}

impl Entries for InPlace {
    fn len(&self) -> usize {
        self.found.len()
    }

    fn entry(&self, index: usize) -> Entry<'_> {
        self.arena.record(self.found[index]).entry()
    }
}

/// The parts of [`Memtable`](crate::Memtable) that follow from an order of versions, which the method
/// `versions` lends: with the lock that guards it, or `unguarded`, so that a scan may go on later.
macro_rules! read_versions {
    () => {
        $crate::versions::read_versions!(@with InPlace);
    };
    (unguarded) => {
        $crate::versions::read_versions!(@with Scan);
    };
    (@with $entries:ident) => {
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
            let versions = self.versions();
            let found = $crate::versions::$entries::new(
                &*versions,
                &versions.arena,
                from,
                direction,
                snapshot,
                limit,
            );
            Box::new(found)
        }

        fn drain(&self, sink: &mut dyn FnMut(types::Entry<'_>)) {
            let sink = &mut |record: $crate::shared_arena::Record<'_>| sink(record.entry());
            $crate::versions::drain(&*self.versions(), sink);
        }
    };
}

pub(crate) use read_versions;
