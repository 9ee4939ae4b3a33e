//! Range scans, which return all keys between two bounds in one consistent view, from the front or from the back.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use arc_swap::Guard;
use self_cell::self_cell;
use types::{Direction, Entry, MergeOperator, SequenceNumber};

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::memory::{MemtableCursor, first_batch};
use crate::merge::{Merge, Source};
use crate::merge_operands::{OperandStack, unmarked, value_in};
use crate::read::check_key;
use crate::sorted_view::{SortedView, ViewCursor};
use crate::stats::{AllCounters, Counters};
use crate::table::{RunCursor, RunReaders};
use crate::version::{SortedRun, View};

/// A range scan over the keys between two bounds. The scan sees the state that the tree had when the scan was opened.
///
/// The caller can read from both ends of the scan in any order, until the ends meet. An entry that
/// [`next`](Self::next) returns is borrowed until the next call, so no entry costs an allocation.
pub struct Range<'t> {
    inner: &'t Inner,
    walk: Walk,
    snapshot: SequenceNumber,
    bounds: Bounds,
    is_done: bool,
    given_out: u64,
    /// The number of memtables and sorted runs that the scan merges, minus 1. If the two ends of the scan merge
    /// different numbers, the larger number.
    extra_sources: u64,
    /// The number of entries that the caller expects to read, if the caller has announced a number.
    expected: Option<u64>,
    /// Whether a memtable or an SSTable that the scan can read has range deletes.
    has_deletes: bool,
    /// Whether an SSTable that the scan can read has values in blob files.
    has_blobs: bool,
    /// The value of the current entry, if the value is in a blob file.
    value: Vec<u8>,
    /// The value of the current entry, if the value is combined from operands.
    combined: Vec<u8>,
}

self_cell! {
    /// The memtables and SSTables of a scan, and the iterators over them from both ends. The iterators borrow runs and
    /// blocks without reference counts, because threads that change the same reference count slow each other down.
    struct Walk {
        owner: Guard<Arc<View>>,
        #[not_covariant]
        dependent: Ends,
    }
}

/// The merges for the two ends of the scan, its front and its back. The merge of an end is created when the caller
/// first reads from this end. Its current entry is the entry that the scan last returned from this end.
#[derive(Default)]
struct Ends<'v> {
    front: Option<Merge<Cursor<'v>>>,
    back: Option<Merge<Cursor<'v>>>,
}

/// The lower bound and the upper bound of a range.
struct Bounds {
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
}

/// A sorted source of a scan: a memtable, a run, or a sorted view of all runs.
enum Cursor<'v> {
    /// A memtable.
    Memtable(MemtableCursor<'v>),
    /// A sorted run, with its position in the version. The run cursor is boxed, because sources are moved and a run
    /// cursor is large.
    Run(Box<RunCursor<'v>>, usize),
    /// The sorted view of all runs, which the scan reads instead of the runs.
    View(Box<ViewCursor<'v>>),
}

impl Cursor<'_> {
    #[inline]
    fn entry(&self) -> Entry<'_> {
        match self {
            Self::Memtable(cursor) => cursor.entry(),
            Self::Run(cursor, _) => cursor.entry(),
            Self::View(cursor) => cursor.current().entry(),
        }
    }

    /// Returns the position of the sorted run that contains the current entry. Returns `None` if a memtable contains
    /// the entry.
    fn run(&self) -> Option<usize> {
        match self {
            Self::Memtable(_) => None,
            Self::Run(_, run) => Some(*run),
            Self::View(cursor) => Some(cursor.run()),
        }
    }

    /// Moves forward over entries whose keys satisfy `is_inside`. Calls `visit` for at most `most` entries that are not
    /// tombstones, and returns the number of calls.
    ///
    /// The function visits only entries that are already in memory. Afterwards, the cursor is at the last visited
    /// entry, or at a tombstone after this entry.
    #[inline]
    fn pass(
        &mut self,
        most: usize,
        is_inside: impl Fn(&[u8]) -> bool,
        visit: &mut impl FnMut(&[u8], &[u8]),
    ) -> usize {
        let mut visited = 0;
        let pass = |entry: Entry<'_>| {
            if visited == most || !is_inside(entry.key) {
                return false;
            }
            if let Some(value) = entry.value {
                visit(entry.key, value);
                visited += 1;
            }
            true
        };
        match self {
            Self::Memtable(cursor) => cursor.pass(pass),
            Self::Run(cursor, _) => cursor.pass(pass),
            // A sorted view does not decode entries in batches, because the next entry can be in another run.
            Self::View(_) => {}
        }
        visited
    }

    /// Returns the current entry. If its value is in a blob file, the value is read into `value`. Returns `None` for
    /// a tombstone.
    fn resolved<'m>(
        &'m self,
        value: &'m mut Vec<u8>,
        counters: &AllCounters,
    ) -> Result<Option<(&'m [u8], &'m [u8])>> {
        match self {
            Self::Run(cursor, _) => cursor.resolved(value, counters),
            Self::View(cursor) => cursor.current().resolved(value, counters),
            Self::Memtable(cursor) => {
                let entry = cursor.entry();
                Ok(entry.value.map(|value| (entry.key, value)))
            }
        }
    }

    /// Returns whether the current entry is a tombstone.
    #[inline]
    fn is_tombstone(&self) -> bool {
        match self {
            Self::Memtable(cursor) => cursor.is_tombstone(),
            Self::Run(cursor, _) => cursor.is_tombstone(),
            Self::View(cursor) => cursor.current().is_tombstone(),
        }
    }
}

impl Source for Cursor<'_> {
    type Context = AllCounters;
    type Error = Error;

    #[inline]
    fn head(&self) -> u128 {
        match self {
            Self::Memtable(cursor) => cursor.head(),
            Self::Run(cursor, _) => cursor.head(),
            Self::View(cursor) => cursor.head(),
        }
    }

    #[inline]
    fn key(&self) -> &[u8] {
        match self {
            Self::Memtable(cursor) => cursor.entry().key,
            Self::Run(cursor, _) => cursor.key(),
            Self::View(cursor) => cursor.key(),
        }
    }

    #[inline]
    fn advance(&mut self, counters: &AllCounters) -> Result<bool> {
        match self {
            Self::Memtable(cursor) => Ok(cursor.advance()),
            Self::Run(cursor, _) => cursor.advance(counters),
            Self::View(cursor) => cursor.advance(counters),
        }
    }
}

impl<'t> Range<'t> {
    /// Opens a scan of the keys within `bounds` in `view`. The scan sees the writes up to `snapshot`.
    #[inline]
    pub(crate) fn new(
        inner: &'t Inner,
        view: Guard<Arc<View>>,
        snapshot: SequenceNumber,
        bounds: &impl RangeBounds<[u8]>,
    ) -> Result<Self> {
        let bounds = Bounds::new(bounds)?;
        let (has_deletes, has_blobs) = (view.has_range_deletes(), view.version.has_blobs());
        let counters = inner.counters.local();
        counters.ranges.bump();
        inner.note_range(counters.ranges.get());
        Ok(Self {
            inner,
            walk: Walk::new(view, |_| Ends::default()),
            snapshot,
            is_done: bounds.are_empty(),
            bounds,
            given_out: 0,
            extra_sources: 0,
            expected: None,
            has_deletes,
            has_blobs,
            value: Vec::new(),
            combined: Vec::new(),
        })
    }

    /// Announces the number of entries that the caller expects to read from one end of the scan. The scan can then read
    /// the blocks and the memtable entries for this number of entries at once. The caller may read fewer or more
    /// entries.
    #[must_use]
    #[inline]
    pub fn expecting(mut self, entries: usize) -> Self {
        self.expected = Some(entries as u64);
        self
    }

    /// Returns the next entry from the front, in ascending key order. Returns `None` at the end.
    ///
    /// # Errors
    /// If a block cannot be read or is corrupt. The scan is then at its end.
    #[allow(clippy::should_implement_trait)] // the scan lends its entries
    pub fn next(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if !self.step(Direction::Forward)? {
            return Ok(None);
        }
        self.current(Direction::Forward)
    }

    /// Returns the next entry from the back, in descending key order. Returns `None` at the end.
    ///
    /// # Errors
    /// If a block cannot be read or is corrupt. After an error, the scan is at its end.
    pub fn next_back(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if !self.step(Direction::Backward)? {
            return Ok(None);
        }
        self.current(Direction::Backward)
    }

    /// Returns the current entry of the end that is read in `direction`, or `None` if there is no current entry. If the
    /// value cannot be read, the scan is at its end.
    #[inline]
    fn current(&mut self, direction: Direction) -> Result<Option<(&[u8], &[u8])>> {
        let Self { inner, walk, snapshot, has_deletes, has_blobs, value, combined, is_done, .. } = self;
        walk.with_dependent(|view, ends| {
            let merge = match direction {
                Direction::Forward => ends.front.as_ref(),
                Direction::Backward => ends.back.as_ref(),
            };
            let operator = inner.merge_operator();
            match merge {
                Some(merge) if *has_blobs || operator.is_some() => {
                    let (snapshot, has_deletes, has_blobs) = (*snapshot, *has_deletes, *has_blobs);
                    let view = ValueView { operator, inner, view, snapshot, has_deletes, has_blobs };
                    view.current(merge, value, combined).inspect_err(|_| *is_done = true)
                }
                merge => Ok(merge.and_then(current)),
            }
        })
    }

    /// Calls `visit` for at most `most` further entries in `direction`, and returns the number of calls. The entries
    /// are those that repeated calls of [`next`](Self::next) or [`next_back`](Self::next_back) would return, but this
    /// function is faster.
    ///
    /// # Errors
    /// If a block cannot be read or is corrupt. `visit` has then been called for all entries before this block, and the
    /// scan is at its end.
    pub fn visit(
        &mut self,
        direction: Direction,
        most: usize,
        mut visit: impl FnMut(&[u8], &[u8]),
    ) -> Result<usize> {
        if most == 0 || !self.step(direction)? {
            return Ok(0);
        }
        let Self { inner, walk, bounds, snapshot, has_deletes, has_blobs, value: buffer, combined, .. } =
            self;
        let operator = inner.merge_operator();
        let mut visited = 0;
        let moved = walk.with_dependent_mut(|view, ends| {
            let deletes = has_deletes.then_some(ViewDeletes { inner, view, snapshot: *snapshot });
            let (Some(merge), other) = ends.of(direction) else { return Ok(false) };
            let met = other.and_then(Merge::current).map(Cursor::key);
            let values = (*has_blobs || operator.is_some()).then(|| {
                let (snapshot, has_deletes, has_blobs) = (*snapshot, *has_deletes, *has_blobs);
                ValueView { operator, inner, view, snapshot, has_deletes, has_blobs }
            });
            loop {
                let entry = match &values {
                    None => current(merge),
                    Some(values) => values.current(merge, buffer, combined)?,
                };
                let Some((key, value)) = entry else { return Ok(false) };
                visit(key, value);
                visited += 1;
                if let (Direction::Forward, Some(source), None, None) =
                    (direction, merge.only_source(), &deletes, &values)
                {
                    let is_inside =
                        |key: &[u8]| is_below(|| key, &bounds.high) && met.is_none_or(|met| key < met);
                    visited += source.pass(most - visited, is_inside, &mut visit);
                }
                if visited == most {
                    return Ok(true);
                }
                merge.advance(&inner.counters)?;
                if !bounds.reach_entry(merge, met, direction, deletes.as_ref(), &inner.counters)? {
                    return Ok(false);
                }
            }
        });
        self.is_done = !matches!(moved, Ok(true));
        // The first entry was already counted when the scan moved to this entry.
        self.given_out += (visited as u64).saturating_sub(1);
        moved.map(|_| visited)
    }

    /// Advances the front or the back of the scan, as `direction` selects, to the next entry. Returns `false` if the
    /// scan has no more entries.
    #[inline]
    fn step(&mut self, direction: Direction) -> Result<bool> {
        if self.is_done {
            return Ok(false);
        }
        let moved = self.try_step(direction);
        self.is_done = !matches!(moved, Ok(true));
        self.given_out += u64::from(!self.is_done);
        moved
    }

    #[inline]
    fn try_step(&mut self, direction: Direction) -> Result<bool> {
        let Self { inner, walk, snapshot, bounds, extra_sources, expected, has_deletes, .. } = self;
        let counters = &inner.counters;
        walk.with_dependent_mut(|view, ends| {
            let deletes = has_deletes.then_some(ViewDeletes { inner, view, snapshot: *snapshot });
            let (end, other) = ends.of(direction);
            if let Some(merge) = end {
                merge.advance(counters)?;
            } else {
                let sources = bounds.open(inner, view, *snapshot, direction, *expected)?;
                let count = sources.len() as u64;
                let extra = count.saturating_sub(1);
                *extra_sources = extra.max(*extra_sources);
                let local = counters.local();
                local.range_sources.add(count);
                local.range_extra_sources.add(extra);
                *end = Some(Merge::new(sources, direction));
            }
            let met = other.and_then(Merge::current).map(Cursor::key);
            match end {
                Some(merge) => bounds.reach_entry(merge, met, direction, deletes.as_ref(), counters),
                None => Ok(false),
            }
        })
    }
}

impl<'v> Ends<'v> {
    /// Returns the number of key comparisons in the merges of both ends of the scan.
    fn comparisons(&self) -> u64 {
        [&self.front, &self.back].into_iter().flatten().map(Merge::comparisons).sum()
    }

    /// Returns the merge of the end that is read in `direction`, and the merge of the other end if that end was read.
    #[inline]
    fn of(&mut self, direction: Direction) -> (&mut Option<Merge<Cursor<'v>>>, Option<&Merge<Cursor<'v>>>) {
        match direction {
            Direction::Forward => (&mut self.front, self.back.as_ref()),
            Direction::Backward => (&mut self.back, self.front.as_ref()),
        }
    }
}

/// The range deletes of memtables and SSTables that are visible to a scan.
struct ViewDeletes<'v> {
    inner: &'v Inner,
    view: &'v View,
    snapshot: SequenceNumber,
}

impl ViewDeletes<'_> {
    /// Returns whether a range delete hides the current entry of `source`. Such a range delete is in a newer source, or
    /// it is in the same memtable and newer than the entry.
    fn hide(&self, source: &Cursor<'_>) -> bool {
        let key = source.key();
        for slot in self.view.memtables() {
            if let Cursor::Memtable(cursor) = source
                && cursor.is_of(slot)
            {
                return slot.hides_own(self.inner.hashed(key), self.snapshot);
            }
            if slot.range_deletes.newest(key, self.snapshot).is_some() {
                return true;
            }
        }
        let newer = source.run().unwrap_or(0);
        self.view.version.runs[..newer].iter().any(|run| run.deletes(key))
    }
}

impl Bounds {
    fn new(bounds: &impl RangeBounds<[u8]>) -> Result<Self> {
        for bound in [bounds.start_bound(), bounds.end_bound()] {
            if let Bound::Included(key) | Bound::Excluded(key) = bound {
                check_key(key)?;
            }
        }
        let (low, high) = (bounds.start_bound().map(<[u8]>::to_vec), bounds.end_bound().map(<[u8]>::to_vec));
        Ok(Self { low, high })
    }

    /// Returns whether no key can be between the bounds.
    fn are_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Bound::Included(low), Bound::Included(high)) => low > high,
            (Bound::Included(low) | Bound::Excluded(low), Bound::Included(high) | Bound::Excluded(high)) => {
                low >= high
            }
            _ => false,
        }
    }

    /// Moves a merge in `direction` to the first live entry, starting at the current entry and skipping tombstones.
    ///
    /// Returns `false` if there is no live entry within the bounds and before `met`, which is the current key of the
    /// other end.
    #[inline]
    fn reach_entry(
        &self,
        merge: &mut Merge<Cursor<'_>>,
        met: Option<&[u8]>,
        direction: Direction,
        deletes: Option<&ViewDeletes<'_>>,
        counters: &AllCounters,
    ) -> Result<bool> {
        loop {
            let Some(source) = merge.current() else { return Ok(false) };
            let is_inside = match direction {
                Direction::Forward => {
                    is_below(|| source.key(), &self.high) && met.is_none_or(|met| source.key() < met)
                }
                Direction::Backward => {
                    is_above(|| source.key(), &self.low) && met.is_none_or(|met| source.key() > met)
                }
            };
            if !is_inside {
                return Ok(false);
            }
            if !source.is_tombstone() && !deletes.is_some_and(|deletes| deletes.hide(source)) {
                return Ok(true);
            }
            merge.advance(counters)?;
        }
    }

    fn contain(&self, key: &[u8]) -> bool {
        is_above(|| key, &self.low) && is_below(|| key, &self.high)
    }

    /// Opens the memtables and sorted runs that can have keys between the bounds, from the newest to the oldest source.
    /// In `direction`, each source begins at its first key within the bounds. The sources see the writes up to
    /// `snapshot`. `expected` is the number of entries that the caller has announced, if any.
    fn open<'v>(
        &self,
        inner: &Inner,
        view: &'v View,
        snapshot: SequenceNumber,
        direction: Direction,
        expected: Option<u64>,
    ) -> Result<Vec<Cursor<'v>>> {
        let (low, high) = (self.low.as_ref().map(Vec::as_slice), self.high.as_ref().map(Vec::as_slice));
        let (from, to) = match direction {
            Direction::Forward => (low, high),
            Direction::Backward => (high, low),
        };
        let locks = view.version.level_locks();
        let _shared =
            locks.map(|locks| locks.share_all(view.version.levels.levels.len(), inner.counters.local()));
        if let Some(sorted_view) = view.version.sorted_view() {
            return self.open_view(inner, view, sorted_view, (snapshot, direction, expected));
        }
        let counters = &inner.counters;
        let mut approaches = Vec::with_capacity(view.version.runs.len());
        let options = inner.design.options.range;
        // The expected number of entries from each run is proportional to the size of the run in bytes.
        let runs = &view.version.runs;
        // A view with a single run needs no allocation.
        let overlapping: Vec<_> = match &runs[..] {
            [] | [_] => Vec::new(),
            runs => runs.iter().map(|run| run.overlapping(low, high)).collect(),
        };
        let overlapped = runs.iter().zip(&overlapping).filter(|(_, tables)| !tables.is_empty());
        let all_bytes: u64 = overlapped.map(|(run, _)| run.bytes).sum();
        for (at, run) in runs.iter().enumerate() {
            let tables = overlapping.get(at).cloned().unwrap_or_else(|| run.overlapping(low, high));
            let passes = passes_range_filter(run, &tables, low, high, counters.local());
            if passes == Some(false) || tables.is_empty() {
                continue;
            }
            let share = |entries: u64| match all_bytes {
                0 => entries,
                all => entries.saturating_mul(run.bytes).div_ceil(all),
            };
            let holding = RunReaders::new(&run.tables, tables, direction, options, expected.map(share));
            approaches.push((at, passes, RunCursor::approach(holding, (from, to), direction, counters)?));
        }
        let mut sources = Vec::with_capacity(1 + view.frozen.len() + approaches.len());
        let batch = first_batch(approaches.is_empty() && view.frozen.is_empty(), expected);
        self.open_memtables(view, snapshot, direction, batch, &mut sources);
        for (at, passes, approach) in approaches {
            let cursor = approach.land(from, counters)?.filter(|cursor| self.contain(cursor.key()));
            if passes.is_some() && cursor.is_none() {
                counters.local().range_filter_false_positives.bump();
            }
            sources.extend(cursor.map(|cursor| Cursor::Run(cursor, at)));
        }
        Ok(sources)
    }

    /// Appends to `sources` the memtables that have visible keys between the bounds, from the newest to the oldest
    /// memtable. The first batch from each memtable has `batch` entries.
    #[inline]
    fn open_memtables<'v>(
        &self,
        view: &'v View,
        snapshot: SequenceNumber,
        direction: Direction,
        batch: usize,
        sources: &mut Vec<Cursor<'v>>,
    ) {
        let from = match direction {
            Direction::Forward => &self.low,
            Direction::Backward => &self.high,
        };
        let from = from.as_ref().map(Vec::as_slice);
        // This loop is not a chain of iterator adapters, because adapters would move each cursor several times.
        for slot in view.memtables() {
            if let Some(cursor) = MemtableCursor::open(slot, from, direction, snapshot, batch)
                && self.contain(cursor.entry().key)
            {
                sources.push(Cursor::Memtable(cursor));
            }
        }
    }

    /// Opens the memtables and the sorted view for a scan. Unlike [`open`](Self::open), the function does not open the
    /// sorted runs, because the sorted view replaces them.
    #[inline(never)]
    fn open_view<'v>(
        &self,
        inner: &Inner,
        view: &'v View,
        sorted_view: &'v SortedView,
        (snapshot, direction, expected): (SequenceNumber, Direction, Option<u64>),
    ) -> Result<Vec<Cursor<'v>>> {
        let from = match direction {
            Direction::Forward => &self.low,
            Direction::Backward => &self.high,
        };
        let from = from.as_ref().map(Vec::as_slice);
        let cursor = ViewCursor::open(sorted_view, from, direction, &inner.counters)?;
        let cursor = cursor.filter(|cursor| self.contain(cursor.key()));
        let mut sources = Vec::with_capacity(2 + view.frozen.len());
        let batch = first_batch(cursor.is_none() && view.frozen.is_empty(), expected);
        self.open_memtables(view, snapshot, direction, batch, &mut sources);
        sources.extend(cursor.map(Cursor::View));
        Ok(sources)
    }
}

impl Drop for Range<'_> {
    fn drop(&mut self) {
        let counters = self.inner.counters.local();
        counters.range_comparisons.add(self.walk.with_dependent(|_, ends| ends.comparisons()));
        counters.range_entries.add(self.given_out);
        counters.range_extra_entries.add(self.given_out * self.extra_sources);
    }
}

/// Probes the range filter of a sorted run, if exactly one SSTable of the run overlaps the range, and if the range has
/// a lower and an upper bound. Otherwise, returns `None` without a probe.
fn passes_range_filter(
    run: &SortedRun,
    tables: &std::ops::Range<usize>,
    low: Bound<&[u8]>,
    high: Bound<&[u8]>,
    counters: &Counters,
) -> Option<bool> {
    // If several SSTables overlap the range, a probe cannot help, because the range includes the largest key of the
    // first of these SSTables. A range without a lower or an upper bound almost certainly contains a key.
    if tables.len() != 1 || matches!(low, Bound::Unbounded) || matches!(high, Bound::Unbounded) {
        return None;
    }
    run.tables[tables.start].passes_range_filter(low, high, counters)
}

#[inline]
fn current<'m>(merge: &'m Merge<Cursor<'_>>) -> Option<(&'m [u8], &'m [u8])> {
    let entry = merge.current()?.entry();
    Some((entry.key, entry.value?))
}

/// Computes the values that a scan returns. Reads values in blob files, and combines merge operands.
struct ValueView<'v> {
    operator: Option<MergeOperator>,
    inner: &'v Inner,
    view: &'v View,
    snapshot: SequenceNumber,
    has_deletes: bool,
    has_blobs: bool,
}

impl ValueView<'_> {
    /// Returns the current entry of a merge with its value, or `None` at the end of the merge. A value in a blob file
    /// is read into `value`. If the entry is an operand, its combined value is written to `combined`.
    fn current<'m>(
        &self,
        merge: &'m Merge<Cursor<'_>>,
        value: &'m mut Vec<u8>,
        combined: &'m mut Vec<u8>,
    ) -> Result<Option<(&'m [u8], &'m [u8])>> {
        let entry = match merge.current() {
            Some(source) if self.has_blobs => source.resolved(value, &self.inner.counters)?,
            _ => current(merge),
        };
        let (Some((key, stored)), Some(operator)) = (entry, self.operator) else { return Ok(entry) };
        if let Some(value) = value_in(stored) {
            return Ok(Some((key, value)));
        }
        *combined = self.combine(operator, key, merge)?;
        Ok(Some((key, combined)))
    }

    /// Returns the value of the current key of a merge: its newest value, combined with all newer operands.
    fn combine(&self, operator: MergeOperator, key: &[u8], merge: &Merge<Cursor<'_>>) -> Result<Vec<u8>> {
        let key = self.inner.hashed(key);
        // From a sorted view, a merge gets only the newest version of a key, so `combined` looks up all versions.
        if self.has_deletes || self.view.version.sorted_view().is_some() {
            return self.inner.combined(operator, self.view, self.snapshot, key);
        }
        let (mut stack, mut is_sound, mut buffer) = (OperandStack::default(), true, Vec::new());
        for source in merge.current().into_iter().chain(merge.superseded()) {
            is_sound &= match source {
                Cursor::Memtable(cursor) => cursor.slot().collect(key, self.snapshot, &mut stack),
                Cursor::Run(..) | Cursor::View(_) => {
                    let found = source.resolved(&mut buffer, &self.inner.counters)?;
                    stack.add(found.map(|(_, stored)| stored))
                }
            };
            if stack.is_complete() || !is_sound {
                break;
            }
        }
        let value = if is_sound { stack.value(operator) } else { None };
        value.ok_or_else(|| unmarked(&self.inner.directory))
    }
}

/// Returns whether a key is within the upper bound `high`. If the range has no upper bound, the function does not call
/// `key`.
#[inline]
fn is_below<'k>(key: impl FnOnce() -> &'k [u8], high: &Bound<Vec<u8>>) -> bool {
    match high {
        Bound::Included(high) => key() <= high.as_slice(),
        Bound::Excluded(high) => key() < high.as_slice(),
        Bound::Unbounded => true,
    }
}

/// Returns whether a key is within the lower bound `low`. If the range has no lower bound, the function does not call
/// `key`.
#[inline]
fn is_above<'k>(key: impl FnOnce() -> &'k [u8], low: &Bound<Vec<u8>>) -> bool {
    match low {
        Bound::Included(low) => key() >= low.as_slice(),
        Bound::Excluded(low) => key() > low.as_slice(),
        Bound::Unbounded => true,
    }
}
