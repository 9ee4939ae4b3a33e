//! Walking a sorted run: its tables one after the other, their blocks one after the other.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use types::{Bytes, Direction, Entry, head};

use super::block_cursor::BlockCursor;
use super::reader::Table;
use crate::error::Result;
use crate::stats::AllCounters;

/// How a cursor gets its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadMode {
    /// Through the block cache: for ranges.
    Cached,
    /// Many at once and around the cache: for compaction, forward only.
    Streaming,
}

/// The bytes that a streaming cursor reads at once.
const STREAM_BYTES: usize = 512 << 10;

/// A walk over one sorted run.
pub(crate) struct RunCursor {
    /// The tables of the run, in key order; they do not overlap.
    tables: Arc<[Arc<Table>]>,
    direction: Direction,
    mode: ReadMode,
    /// The table being walked, or one that is outside at the end.
    table: Option<usize>,
    /// The block being walked.
    block: u32,
    cursor: BlockCursor,
    /// Streaming: blocks read and not yet entered; the first is the one behind `block`.
    ahead: VecDeque<Bytes>,
    head: u64,
}

impl RunCursor {
    /// A cursor at the first entry of the run in `direction` that `from` allows; `None` where there is none.
    /// `first` is the number of the first table in `direction` that can hold such an entry, if one can.
    pub(crate) fn open(
        tables: Arc<[Arc<Table>]>,
        first: Option<usize>,
        from: Bound<&[u8]>,
        direction: Direction,
        mode: ReadMode,
        counters: &AllCounters,
    ) -> Result<Option<Self>> {
        let mut cursor = Self {
            tables,
            direction,
            mode,
            table: first,
            block: 0,
            cursor: BlockCursor::default(),
            ahead: VecDeque::new(),
            head: 0,
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

    /// The current entry.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'_> {
        Entry { key: self.cursor.key(), value: self.cursor.value() }
    }

    /// The current key.
    #[inline]
    pub(crate) fn key(&self) -> &[u8] {
        self.cursor.key()
    }

    /// The head of the current key.
    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Moves to the next entry in the cursor's direction; `false` at the end.
    #[inline]
    pub(crate) fn advance(&mut self, counters: &AllCounters) -> Result<bool> {
        match self.cursor.advance(self.direction) {
            Some(true) => {
                self.head = head(self.cursor.key());
                Ok(true)
            }
            Some(false) => self.advance_block(counters),
            None => Err(self.damage()),
        }
    }

    /// Moves to the first entry of the next block that has one.
    #[inline(never)]
    fn advance_block(&mut self, counters: &AllCounters) -> Result<bool> {
        loop {
            let Some(at) = self.table else { return Ok(false) };
            let entered = match self.direction {
                Direction::Forward if self.block + 1 < self.tables[at].block_count() => {
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
            match self.cursor.advance(self.direction) {
                Some(true) => {
                    self.head = head(self.cursor.key());
                    return Ok(true);
                }
                Some(false) => {}
                None => return Err(self.damage()),
            }
        }
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
            let (blocks, bytes) = self.tables[at].stream_blocks(self.block, STREAM_BYTES)?;
            counters.local().compaction_bytes_read.add(bytes);
            self.ahead.extend(blocks);
        }
        Ok(self.ahead.pop_front().expect("at least the block asked for was read"))
    }

    fn seek(&mut self, key: &[u8], counters: &AllCounters) -> Result<bool> {
        let Some(at) = self.table else { return Ok(false) };
        self.block = self.tables[at].seek(key, counters.local())?;
        self.enter_block(counters)?;
        match self.cursor.seek(key, self.direction) {
            Some(true) => {
                self.head = head(self.cursor.key());
                Ok(true)
            }
            Some(false) => self.advance_block(counters),
            None => Err(self.damage()),
        }
    }

    fn damage(&self) -> crate::Error {
        self.tables[self.table.unwrap_or_default()].damaged_block(self.block)
    }
}
