//! A sorted run as a source of a merge that must know which of two entries is newer.

use super::run_cursor::RunCursor;
use crate::error::{Error, Result};
use crate::merge::Source;
use crate::stats::AllCounters;

/// The cursor over a sorted run in a merge, and its rank: the number of newer runs in the merge.
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
