//! A cursor over a sorted run with the rank of the run. In a merge, the ranks show which of two entries with equal keys
//! is newer.

use super::run_cursor::RunCursor;
use crate::error::{Error, Result};
use crate::merge::Source;
use crate::stats::AllCounters;

/// A source of a merge: the cursor over a sorted run, and the rank of the run. The newest input run of the merge has
/// the rank 0.
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
