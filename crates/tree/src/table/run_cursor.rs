//! Walking a sorted run: its tables one after the other, their blocks one after the other.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use types::{Bytes, Direction, Entry};

use super::block_cursor::BlockCursor;
use super::reader::Table;
use crate::error::{Error, Result};
use crate::merge::Source;
use crate::stats::AllCounters;

/// How a cursor gets its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadMode {
    /// Through the block cache: for ranges.
    Cached,
    /// Many at once and around the cache: for compactions, forward only.
    Streaming,
}

/// The bytes that a streaming cursor reads at once.
const STREAM_BYTES: usize = 512 << 10;

/// A walk over one sorted run.
pub(crate) struct RunCursor {
    /// The tables of the run, in key order; they do not overlap.
    tables: Arc<[Arc<Table>]>,
    /// The blocks of the last table that are walked.
    last_blocks: u32,
    direction: Direction,
    mode: ReadMode,
    /// The table being walked, or one that is outside at the end.
    table: Option<usize>,
    /// The block being walked.
    block: u32,
    cursor: BlockCursor,
    /// Streaming: blocks read and not yet entered; the first is the one behind `block`.
    ahead: VecDeque<Bytes>,
}

impl Source for RunCursor {
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
        match self.cursor.advance() {
            Some(true) => Ok(true),
            Some(false) => self.advance_block(counters),
            None => Err(self.damage()),
        }
    }
}

impl RunCursor {
    /// A cursor for a range, at the first entry of the run in `direction` that `from` allows; `None` where there is none.
    /// `first` is the number of the first table in `direction` that can hold such an entry, if one can.
    pub(crate) fn open(
        tables: Arc<[Arc<Table>]>,
        first: Option<usize>,
        from: Bound<&[u8]>,
        direction: Direction,
        counters: &AllCounters,
    ) -> Result<Option<Self>> {
        let mut cursor = Self {
            last_blocks: tables.last().map_or(0, |table| table.block_count()),
            tables,
            direction,
            mode: ReadMode::Cached,
            table: first,
            block: 0,
            cursor: BlockCursor::default(),
            ahead: VecDeque::new(),
        };
        let standing = match from {
            Bound::Unbounded => cursor.enter_table(counters)? && cursor.advance(counters)?,
            Bound::Included(key) => cursor.seek(key, counters)?,
            Bound::Excluded(key) => {
                let mut standing = cursor.seek(key, counters)?;
                if standing && cursor.cursor.key() == key {
                    standing = cursor.advance(counters)?;
                }
                standing
            }
        };
        Ok(standing.then_some(cursor))
    }

    /// A cursor for a compaction, at the first entry of the run that is at or above `low`; it ends in the first
    /// block that has entries at or above `high`. `None` where no block has entries between the two.
    pub(crate) fn stream(
        tables: &[Arc<Table>],
        low: Option<&[u8]>,
        high: Option<&[u8]>,
        counters: &AllCounters,
    ) -> Result<Option<Self>> {
        let start = low.map_or(0, |low| tables.partition_point(|table| *table.properties().largest < *low));
        let end = high.map_or(tables.len(), |high| {
            tables.partition_point(|table| *table.properties().smallest < *high)
        });
        let tables: Arc<[_]> = tables.get(start..end).unwrap_or_default().into();
        let last_blocks = match (tables.last(), high) {
            (Some(last), Some(high)) => last.seek(high, counters.local())? + 1,
            (last, _) => last.map_or(0, |table| table.block_count()),
        };
        let mut cursor = Self {
            table: (!tables.is_empty()).then_some(0),
            tables,
            last_blocks,
            direction: Direction::Forward,
            mode: ReadMode::Streaming,
            block: 0,
            cursor: BlockCursor::default(),
            ahead: VecDeque::new(),
        };
        let standing = match low {
            None => cursor.enter_table(counters)? && cursor.advance(counters)?,
            Some(low) => cursor.seek(low, counters)?,
        };
        Ok(standing.then_some(cursor))
    }

    /// The current entry.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry { key: self.cursor.key(), value: self.cursor.value() }
    }

    /// Moves to the first entry of the next block that has one.
    #[inline(never)]
    fn advance_block(&mut self, counters: &AllCounters) -> Result<bool> {
        loop {
            let Some(at) = self.table else { return Ok(false) };
            let entered = match self.direction {
                Direction::Forward if self.block + 1 < self.blocks_of(at) => {
                    self.block += 1;
                    true
                }
                Direction::Backward if self.block > 0 => {
                    self.block -= 1;
                    true
                }
                _ => false,
            };
            if entered {
                self.enter_block(counters)?;
            } else {
                self.table = self.next_table(at);
                if !self.enter_table(counters)? {
                    return Ok(false);
                }
            }
            match self.cursor.advance() {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => return Err(self.damage()),
            }
        }
    }

    /// The blocks of a table that are walked.
    fn blocks_of(&self, at: usize) -> u32 {
        if at + 1 == self.tables.len() { self.last_blocks } else { self.tables[at].block_count() }
    }

    fn next_table(&self, at: usize) -> Option<usize> {
        match self.direction {
            Direction::Forward => Some(at + 1).filter(|next| *next < self.tables.len()),
            Direction::Backward => at.checked_sub(1),
        }
    }

    /// Stands before the first entry of the current table; `false` where there is none.
    fn enter_table(&mut self, counters: &AllCounters) -> Result<bool> {
        let Some(at) = self.table else { return Ok(false) };
        self.block = match self.direction {
            Direction::Forward => 0,
            Direction::Backward => self.tables[at].block_count() - 1,
        };
        self.ahead.clear();
        self.enter_block(counters)?;
        Ok(true)
    }

    fn enter_block(&mut self, counters: &AllCounters) -> Result<()> {
        let at = self.table.unwrap_or_default();
        let block = match self.mode {
            ReadMode::Cached => self.tables[at].block(self.block, counters.local())?,
            ReadMode::Streaming => self.streamed_block(at, counters)?,
        };
        self.cursor.enter(block, self.direction).ok_or_else(|| self.damage())
    }

    fn streamed_block(&mut self, at: usize, counters: &AllCounters) -> Result<Bytes> {
        if self.ahead.is_empty() {
            let blocks = self.block..self.blocks_of(at);
            let (blocks, bytes) = self.tables[at].stream_blocks(blocks, STREAM_BYTES)?;
            counters.local().compaction_bytes_read.add(bytes);
            self.ahead.extend(blocks);
        }
        Ok(self.ahead.pop_front().expect("at least the block asked for was read"))
    }

    fn seek(&mut self, key: &[u8], counters: &AllCounters) -> Result<bool> {
        let Some(at) = self.table else { return Ok(false) };
        self.block = self.tables[at].seek(key, counters.local())?;
        self.enter_block(counters)?;
        match self.cursor.seek(key) {
            Some(true) => Ok(true),
            Some(false) => self.advance_block(counters),
            None => Err(self.damage()),
        }
    }

    fn damage(&self) -> crate::Error {
        self.tables[self.table.unwrap_or_default()].damaged_block(self.block)
    }
}
