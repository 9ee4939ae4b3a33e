//! A cursor over a sorted run that also knows how new the run is. If two runs of a merge contain one key, the entry of
//! the newer run is valid.

use super::run_cursor::RunCursor;
use crate::error::{Error, Result};
use crate::merge::Source;
use crate::stats::AllCounters;

/// An input of a merge: a cursor over a sorted run, and the rank of the run. The newest input run has the rank 0.
pub(crate) struct RankedRun<'t> {
    pub(crate) cursor: RunCursor<'t>,
    pub(crate) rank: usize,
}

impl Source for RankedRun<'_> {
    type Context = AllCounters;
    type Error = Error;

    #[inline]
    fn head(&self) -> u128 {
        self.cursor.head()
    }

    #[inline]
    fn key(&self) -> &[u8] {
        self.cursor.key()
    }

    #[inline]
    fn advance(&mut self, counters: &AllCounters) -> Result<bool> {
        self.cursor.advance(counters)
    }
}
