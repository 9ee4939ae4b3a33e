//! An iterator over a sorted view. After its seek, the iterator follows the recorded order of the entries and compares
//! no keys.

use std::ops::Bound;

use types::Direction;

use super::entry_reader::EntryReader;
use super::view::SortedView;
use crate::error::{Error, Result};
use crate::merge::Source;
use crate::stats::AllCounters;
use crate::table::{BlockReads, RunCursor};

/// An iterator over a sorted view, which visits the newest version of each key.
pub(crate) struct ViewCursor<'v> {
    view: &'v SortedView,
    direction: Direction,
    /// The position of the current entry in the sorted view.
    at: usize,
    /// For each sorted run, the number of its entries before the current entry.
    before: Vec<u32>,
    reader: EntryReader<'v>,
    /// The number of the sorted run that contains the current entry.
    run: usize,
}

impl<'v> ViewCursor<'v> {
    /// Opens a cursor at the first entry of the sorted view in `direction` that the bound `from` allows. Returns `None`
    /// if the view has no such entry.
    ///
    /// # Errors
    /// If a block cannot be read or is corrupt.
    pub(crate) fn open(
        view: &'v SortedView,
        from: Bound<&[u8]>,
        direction: Direction,
        counters: &AllCounters,
    ) -> Result<Option<Box<Self>>> {
        if view.segments() == 0 {
            return Ok(None);
        }
        let reader = EntryReader::new(view, direction, BlockReads::Cached);
        let mut cursor = Box::new(Self { view, direction, at: 0, before: Vec::new(), reader, run: 0 });
        let (segment, at) = match (from, direction) {
            (Bound::Unbounded, Direction::Forward) => (0, 0),
            (Bound::Unbounded, Direction::Backward) => (view.segments() - 1, view.len()),
            (Bound::Included(from), Direction::Forward) | (Bound::Excluded(from), Direction::Backward) => {
                cursor.search(|key| key < from, counters)?
            }
            (Bound::Excluded(from), Direction::Forward) | (Bound::Included(from), Direction::Backward) => {
                cursor.search(|key| key <= from, counters)?
            }
        };
        (cursor.at, cursor.before) = (at, view.before(segment, at));
        let is_standing = match direction {
            Direction::Forward => at < view.len() && cursor.stand(counters)?,
            Direction::Backward => cursor.advance(counters)?,
        };
        Ok(is_standing.then_some(cursor))
    }

    /// Searches the sorted view for the first entry whose key is not before the bound of a scan. `is_before` returns
    /// whether a key is before the bound. Returns a segment number and the position of the entry. The segment contains
    /// the entry, or ends directly before the entry.
    fn search(
        &mut self,
        is_before: impl Fn(&[u8]) -> bool,
        counters: &AllCounters,
    ) -> Result<(usize, usize)> {
        let view = self.view;
        let mut comparisons = 0;
        let (mut low, mut high) = (0, view.segments());
        while low < high {
            let middle = low.midpoint(high);
            comparisons += 1;
            if is_before(view.anchor(middle)) { low = middle + 1 } else { high = middle }
        }
        let segment = low.saturating_sub(1);
        let mut found = 0..0;
        if low > 0 {
            let entries = view.segment(segment);
            found = entries.start + 1..entries.end;
            while !found.is_empty() {
                let middle = found.start.midpoint(found.end);
                let ordinal = view.before(segment, middle)[view.run(middle)];
                comparisons += 1;
                match is_before(self.reader.place(view.run(middle), ordinal, counters)?.key()) {
                    true => found.start = middle + 1,
                    false => found.end = middle,
                }
            }
        }
        counters.local().range_comparisons.add(comparisons);
        Ok((segment, found.start))
    }

    /// Finds the run that contains the current entry of the sorted view, and moves the cursor of this run to the entry.
    /// Always returns `true`, because the cursor is then at an entry.
    #[inline]
    fn stand(&mut self, counters: &AllCounters) -> Result<bool> {
        self.run = self.view.run(self.at);
        self.reader.place(self.run, self.before[self.run], counters)?;
        Ok(true)
    }

    /// Returns the cursor of the sorted run that contains the current entry.
    #[inline]
    pub(crate) fn current(&self) -> &RunCursor<'v> {
        self.reader.cursor(self.run)
    }

    /// Returns the number of the sorted run that contains the current entry.
    #[inline]
    pub(crate) fn run(&self) -> usize {
        self.run
    }
}

impl Source for ViewCursor<'_> {
    type Context = AllCounters;
    type Error = Error;

    #[inline]
    fn head(&self) -> u128 {
        self.current().head()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.current().key()
    }

    #[inline]
    fn advance(&mut self, counters: &AllCounters) -> Result<bool> {
        loop {
            match self.direction {
                Direction::Forward => {
                    self.before[self.view.run(self.at)] += 1;
                    self.at += 1;
                    if self.at == self.view.len() {
                        return Ok(false);
                    }
                }
                Direction::Backward => {
                    if self.at == 0 {
                        return Ok(false);
                    }
                    self.at -= 1;
                    self.before[self.view.run(self.at)] -= 1;
                }
            }
            if !self.view.is_superseded(self.at) {
                return self.stand(counters);
            }
        }
    }
}
