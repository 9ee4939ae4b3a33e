//! Reads the entries of a sorted view by their positions in the sorted runs.

use types::Direction;

use super::view::SortedView;
use crate::error::Result;
use crate::merge::Source;
use crate::stats::AllCounters;
use crate::table::{BlockReads, RunCursor};

/// The largest distance, in entries, over which the cursor of a run moves step by step. If the wanted entry is farther
/// away, the reader seeks within the current block or opens a new cursor.
const MOST_STEPS: u32 = 32;

/// Reads entries of a sorted view, with one cursor for each sorted run. A cursor is opened when its run is first read.
pub(super) struct EntryReader<'v> {
    view: &'v SortedView,
    direction: Direction,
    reads: BlockReads,
    cursors: Vec<Option<PlacedCursor<'v>>>,
}

/// A cursor of a sorted run, with the position of its current entry.
struct PlacedCursor<'v> {
    cursor: Box<RunCursor<'v>>,
    /// The number of entries before the current entry in the sorted run.
    ordinal: u32,
}

impl<'v> EntryReader<'v> {
    pub(super) fn new(view: &'v SortedView, direction: Direction, reads: BlockReads) -> Self {
        let cursors = view.runs.iter().map(|_| None).collect();
        Self { view, direction, reads, cursors }
    }

    /// Moves the cursor of the sorted run `run` to the entry that has `ordinal` entries before it in this run. Returns
    /// the cursor.
    ///
    /// # Errors
    /// If a block cannot be read or is corrupt.
    #[inline]
    pub(super) fn place(
        &mut self,
        run: usize,
        ordinal: u32,
        counters: &AllCounters,
    ) -> Result<&RunCursor<'v>> {
        let placed = &mut self.cursors[run];
        let steps = placed.as_ref().and_then(|placed| match self.direction {
            Direction::Forward => ordinal.checked_sub(placed.ordinal),
            Direction::Backward => placed.ordinal.checked_sub(ordinal),
        });
        match (placed, steps) {
            (Some(placed), Some(steps @ 0..=MOST_STEPS)) => {
                for _ in 0..steps {
                    placed.cursor.advance(counters)?;
                }
                placed.ordinal = ordinal;
                Ok(&placed.cursor)
            }
            (placed, _) => {
                let in_view = &self.view.runs[run];
                let (position, direction) = (in_view.position(ordinal), self.direction);
                if let Some(PlacedCursor { cursor, ordinal: at }) = placed.as_mut()
                    && cursor.move_within_block(position)?
                {
                    *at = ordinal;
                    return Ok(&placed.as_ref().expect("the reader must have a cursor of the run").cursor);
                }
                let cursor = RunCursor::open_at(&in_view.tables, position, direction, self.reads, counters)?;
                let placed = placed.insert(PlacedCursor { cursor, ordinal });
                Ok(&placed.cursor)
            }
        }
    }

    /// Returns the cursor of a run that was [placed](Self::place) before.
    ///
    /// # Panics
    /// If the run was never read.
    #[inline]
    pub(super) fn cursor(&self, run: usize) -> &RunCursor<'v> {
        match &self.cursors[run] {
            Some(placed) => &placed.cursor,
            None => unreachable!("the cursor of a run must be placed before the run is read"),
        }
    }
}
