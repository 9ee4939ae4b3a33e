//! Opens stores with column families for races. The keys are spread over the families, so most batches, multi-gets,
//! cursors and snapshots use several families.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use storage::Storage;
use tree::{Design, Families, Mode, MultiGetValues, OpenOptions, Range, Result, Snapshot};

use super::store::{Cursor, Pair, Shared, SharedMaker, View};
use crate::families::place_of;
use crate::script::{Content, ScriptWrite};
use crate::subject::StoreUnderTest;

/// Opens stores with the column families of one design, in `timed` mode.
pub(super) struct TimedFamiliesMaker(pub(super) Design);

impl SharedMaker for TimedFamiliesMaker {
    fn open(&self, storage: &Arc<dyn Storage>, directory: &Path) -> Result<Box<dyn Shared>> {
        let options = OpenOptions::new(self.0.clone()).mode(Mode::Timed).storage(Arc::clone(storage));
        Ok(Box::new(SharedFamilies(Families::open(options, directory)?)))
    }
}

/// A store with column families, in which each read sees a batch either in all families or in none. Its gets read a
/// snapshot of all families, because a plain get may see only one family's part of a batch.
struct SharedFamilies(Families);

impl StoreUnderTest for SharedFamilies {
    fn write(&self, commit: &[ScriptWrite]) -> Result<()> {
        StoreUnderTest::write(&self.0, commit)
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.view().get(key)
    }

    fn range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Content> {
        self.0.range(low, high)
    }

    fn flush(&self) -> Result<()> {
        self.0.flush()
    }

    fn compact(&self) -> Result<()> {
        self.0.compact()
    }

    fn sync(&self) -> Result<()> {
        self.0.sync()
    }

    fn checkpoint(&self, directory: &Path) -> Result<()> {
        self.0.checkpoint(directory)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.0.close()
    }
}

impl Shared for SharedFamilies {
    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
        self.view().multi_get(keys)
    }

    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>> {
        Ok(Box::new(Merged::new(self.0.ranges((low, high))?)))
    }

    fn view(&self) -> Box<dyn View> {
        Box::new(FamiliesView(self.0.snapshots()))
    }
}

/// A consistent snapshot of a store with column families: one snapshot per family, in the order of their numbers.
struct FamiliesView(Vec<Snapshot>);

impl View for FamiliesView {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0[place_of(key, self.0.len())].get(key)
    }

    fn multi_get(&self, keys: &[&[u8]]) -> Result<MultiGetValues> {
        let mut values: MultiGetValues = vec![None; keys.len()];
        for (place, snapshot) in self.0.iter().enumerate() {
            let of_family = |at: &usize| place_of(keys[*at], self.0.len()) == place;
            let own: Vec<usize> = (0..keys.len()).filter(of_family).collect();
            let found = snapshot.multi_get(&own.iter().map(|at| keys[*at]).collect::<Vec<_>>())?;
            own.into_iter().zip(found).for_each(|(at, value)| values[at] = value);
        }
        Ok(values)
    }

    fn cursor(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<Box<dyn Cursor + '_>> {
        let ranges = self.0.iter().map(|snapshot| snapshot.range((low, high)));
        Ok(Box::new(Merged::new(ranges.collect::<Result<_>>()?)))
    }
}

/// A scan over all column families of a store, in the order of keys.
struct Merged<'f>(Vec<Peeked<'f>>);

/// The scan of one column family, with entries that were read but not returned yet.
struct Peeked<'f> {
    range: Range<'f>,
    front: Option<Pair>,
    back: Option<Pair>,
}

impl<'f> Merged<'f> {
    fn new(ranges: Vec<Range<'f>>) -> Self {
        Self(ranges.into_iter().map(|range| Peeked { range, front: None, back: None }).collect())
    }
}

impl Peeked<'_> {
    /// Returns the next entry of the scan from the front, without removing it. Also finds an entry that was read from
    /// the back.
    fn peek(&mut self) -> Result<Option<&Pair>> {
        if self.front.is_none() {
            self.front = Cursor::next(&mut self.range)?.or_else(|| self.back.take());
        }
        Ok(self.front.as_ref())
    }

    /// Returns the next entry of the scan from the back, without removing it. Also finds an entry that was read from
    /// the front.
    fn peek_back(&mut self) -> Result<Option<&Pair>> {
        if self.back.is_none() {
            self.back = Cursor::next_back(&mut self.range)?.or_else(|| self.front.take());
        }
        Ok(self.back.as_ref())
    }
}

impl Cursor for Merged<'_> {
    fn next(&mut self) -> Result<Option<Pair>> {
        let mut first: Option<(usize, Vec<u8>)> = None;
        for (place, family) in self.0.iter_mut().enumerate() {
            if let Some((key, _)) = family.peek()?
                && first.as_ref().is_none_or(|(_, first)| key < first)
            {
                first = Some((place, key.clone()));
            }
        }
        Ok(first.and_then(|(place, _)| self.0[place].front.take()))
    }

    fn next_back(&mut self) -> Result<Option<Pair>> {
        let mut last: Option<(usize, Vec<u8>)> = None;
        for (place, family) in self.0.iter_mut().enumerate() {
            if let Some((key, _)) = family.peek_back()?
                && last.as_ref().is_none_or(|(_, last)| key > last)
            {
                last = Some((place, key.clone()));
            }
        }
        Ok(last.and_then(|(place, _)| self.0[place].back.take()))
    }
}
