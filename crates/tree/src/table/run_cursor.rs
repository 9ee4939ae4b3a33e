//! Iterators over sorted runs, which read the SSTables of a run in key order and the blocks of each SSTable.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use types::{Bytes, Direction, Entry};

use super::block_bytes::BlockBytes;
use super::block_cursor::BlockCursor;
use super::layout::Part;
use super::read_ahead::ReadAhead;
use super::reader::Table;
use super::run_readers::{Reader, Readers, RunReaders, first_block};
use crate::blob::References;
use crate::error::{Error, Result};
use crate::merge::Source;
use crate::stats::AllCounters;

/// The method by which the cursor of a sorted run reads data blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockReads {
    /// Reads data blocks through the block cache, as scans do.
    Cached,
    /// Reads many data blocks at once without the block cache, as compactions do. The cursor can then only read
    /// forward.
    Streaming,
    /// Reads one data block at a time without the block cache, for seeks to keys that are far apart.
    Single,
}

/// The position of an entry in a sorted run. A cursor can return to this position without comparing keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryPosition {
    /// The index of the SSTable in the sorted run.
    pub(crate) table: usize,
    /// The number of the data block in the SSTable.
    pub(crate) block: u32,
    /// The number of entries before this entry in the data block.
    pub(crate) number: u32,
    /// The number of all entries in the data block.
    pub(crate) block_entries: u32,
}

/// The cursor of a scan whose first block is prefetched, but not searched yet.
///
/// A scan first creates an `Approach` for each of its sorted runs, so that the cache misses of the runs overlap. Then
/// [`land`](Self::land) searches the blocks.
pub(crate) struct Approach<'t> {
    cursor: Box<RunCursor<'t>>,
    /// The first data block of the scan. `None` if the block is read in place.
    block: Option<BlockBytes<'t>>,
    /// The part of the first block that can contain the start of the scan, if the restart hints of the block are known.
    part: Option<Part>,
}

/// The maximum number of bytes that a scan prefetches from a data block before it reads the block.
const PREFETCHED_BYTES: usize = 64 << 10;

/// The number of consecutive data blocks after which a scan counts as long. A long scan announces later blocks to the
/// storage.
const LONG_SCAN_BLOCKS: u32 = 4;

/// The number of data blocks that a long scan announces to the storage at once. After the scan has read these blocks,
/// it announces the next blocks.
const BLOCKS_AHEAD: u32 = 32;

/// The number of bytes that the cursor of a compaction reads at once.
const STREAM_BYTES: usize = 512 << 10;

/// An iterator over the entries of one sorted run, which consists of SSTables in key order.
pub(crate) struct RunCursor<'t> {
    /// The SSTables of the sorted run in key order. Their key ranges do not overlap.
    tables: &'t [Arc<Table>],
    /// References that keep the SSTables open during the scan, if `range.references` is "table". Otherwise empty.
    _references: Vec<Arc<Table>>,
    /// The number of data blocks that the cursor may read in the last SSTable of the run.
    last_blocks: u32,
    direction: Direction,
    reads: BlockReads,
    /// The index of the current SSTable. Out of bounds or `None` at the end of the run.
    table: Option<usize>,
    /// The number of the current data block in its SSTable.
    block: u32,
    cursor: BlockCursor<'t>,
    /// The prepared readers of the SSTables that the cursor has not entered yet, if `range.readers` is "eager".
    readers: Option<Readers<'t>>,
    /// The number of consecutive data blocks that the scan has read.
    walked: u32,
    /// Decides how many data blocks the scan reads from storage at once.
    read_ahead: ReadAhead,
    /// The bound at which the scan ends. The cursor reads no block beyond this bound in advance. `None` if the scan has
    /// no such bound, or if it reads one block at a time.
    read_to: Option<Box<[u8]>>,
    /// The number of bytes after the current data block that the scan is expected to need. `None` if this number is
    /// unknown, or if the scan has already read more entries than its caller announced.
    expected_bytes: Option<usize>,
    /// The data blocks that are read but not entered yet. The first one is the block number `block`, and the others
    /// follow in `direction`.
    ahead: VecDeque<Bytes>,
}

impl Source for RunCursor<'_> {
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

impl<'t> RunCursor<'t> {
    /// Begins a scan over a sorted run: prefetches the data block that contains the first entry within the bound
    /// `from`. Then [`Approach::land`] positions the cursor at this entry. The read-ahead of the scan ends at the bound
    /// `to`.
    #[inline]
    pub(crate) fn approach(
        RunReaders { tables, first, references, mut readers, read_ahead, expected }: RunReaders<'t>,
        (from, to): (Bound<&[u8]>, Bound<&[u8]>),
        direction: Direction,
        counters: &AllCounters,
    ) -> Result<Approach<'t>> {
        let reader = readers.as_mut().and_then(|readers| readers.take(first));
        let mut cursor = Box::new(Self {
            last_blocks: tables.last().map_or(0, |table| table.block_count()),
            tables,
            _references: references,
            direction,
            reads: BlockReads::Cached,
            table: Some(first),
            block: 0,
            cursor: reader.map_or_else(BlockCursor::default, |reader| reader.cursor),
            readers,
            walked: 0,
            read_ahead,
            read_to: None,
            expected_bytes: None,
            ahead: VecDeque::new(),
        });
        cursor.block = match from {
            Bound::Unbounded => cursor.first_block(first),
            Bound::Included(key) | Bound::Excluded(key) => {
                cursor.tables[first].seek(key, counters.local())?
            }
        };
        if let (true, Bound::Included(key) | Bound::Excluded(key)) = (cursor.read_ahead.is_on(), to) {
            cursor.read_to = Some(key.into());
        }
        // A block in place is searched only after all runs have prefetched their first blocks.
        let table: &'t Table = &tables[first];
        if !table.is_in_place() {
            let block = Some(cursor.cached_block(first, counters)?);
            return Ok(Approach { cursor, block, part: None });
        }
        let part = match from {
            Bound::Unbounded => None,
            Bound::Included(key) | Bound::Excluded(key) => table.part(cursor.block, key),
        };
        match &part {
            Some(part) => cursor.prefetch_from(table, part, expected),
            None => table.prefetch_block(cursor.block, PREFETCHED_BYTES),
        }
        Ok(Approach { cursor, block: None, part })
    }

    /// Prefetches the bytes that a scan reads first. They begin with `part`, a part of the first data block. `expected`
    /// is the number of entries that the caller of the scan has announced, if any.
    fn prefetch_from(&mut self, table: &Table, part: &Part, expected: Option<u64>) {
        let expected_bytes = expected.map_or(PREFETCHED_BYTES, |entries| table.expected_bytes(entries));
        let block_bytes = table.stored_len(self.block).unwrap_or(0);
        let end = part.end.unwrap_or(block_bytes);
        if self.direction == Direction::Backward {
            table.prefetch_entries(self.block, part.start.saturating_sub(expected_bytes)..end);
            return;
        }
        let to = end.saturating_add(expected_bytes);
        table.prefetch_entries(self.block, part.start..to.min(part.start + PREFETCHED_BYTES));
        self.expected_bytes = expected.map(|_| to.saturating_sub(block_bytes));
        if let Some(bytes @ 1..) = self.expected_bytes
            && self.block + 1 < table.block_count()
        {
            table.prefetch_block(self.block + 1, bytes.min(PREFETCHED_BYTES));
        }
    }

    /// Opens the cursor of a compaction at the first entry of the run whose key is at or above `low`. The cursor ends
    /// after the data block that can contain `high`, so the caller must stop at the first key at or above `high`. A
    /// bound that is `None` does not limit the cursor.
    ///
    /// Returns `None` if no entry is at or above `low` before this end.
    pub(crate) fn stream(
        tables: &'t [Arc<Table>],
        low: Option<&[u8]>,
        high: Option<&[u8]>,
        counters: &AllCounters,
    ) -> Result<Option<Self>> {
        let start = low.map_or(0, |low| tables.partition_point(|table| *table.properties().largest < *low));
        let end = high.map_or(tables.len(), |high| {
            tables.partition_point(|table| *table.properties().smallest < *high)
        });
        let tables = tables.get(start..end).unwrap_or_default();
        let last_blocks = match (tables.last(), high) {
            (Some(last), Some(high)) => last.seek(high, counters.local())? + 1,
            (last, _) => last.map_or(0, |table| table.block_count()),
        };
        let mut cursor = Self {
            table: (!tables.is_empty()).then_some(0),
            tables,
            _references: Vec::new(),
            last_blocks,
            direction: Direction::Forward,
            reads: BlockReads::Streaming,
            block: 0,
            cursor: BlockCursor::default(),
            readers: None,
            walked: 0,
            read_ahead: ReadAhead::default(),
            read_to: None,
            expected_bytes: None,
            ahead: VecDeque::new(),
        };
        let standing = match low {
            None => cursor.enter_table(counters)? && cursor.advance(counters)?,
            Some(low) => cursor.seek(low, counters)?,
        };
        Ok(standing.then_some(cursor))
    }

    /// Opens a cursor of a sorted run at a given position, without comparing keys.
    ///
    /// # Errors
    /// If the data block cannot be read, is corrupt, or has no entry at this position.
    pub(crate) fn open_at(
        tables: &'t [Arc<Table>],
        position: EntryPosition,
        direction: Direction,
        reads: BlockReads,
        counters: &AllCounters,
    ) -> Result<Box<Self>> {
        let mut cursor = Box::new(Self {
            table: Some(position.table),
            tables,
            _references: Vec::new(),
            last_blocks: tables.last().map_or(0, |table| table.block_count()),
            direction,
            reads,
            block: position.block,
            cursor: BlockCursor::default(),
            readers: None,
            walked: 0,
            read_ahead: ReadAhead::default(),
            read_to: None,
            expected_bytes: None,
            ahead: VecDeque::new(),
        });
        cursor.enter_block(counters)?;
        cursor.pass_to(position)?;
        Ok(cursor)
    }

    /// Moves the cursor to a position in the current data block. Returns `false` without a move if the position is in
    /// another block.
    ///
    /// # Errors
    /// If the block is corrupt, or has no entry at this position.
    pub(crate) fn move_within_block(&mut self, position: EntryPosition) -> Result<bool> {
        if self.table != Some(position.table) || self.block != position.block {
            return Ok(false);
        }
        self.cursor.rewind();
        self.pass_to(position)?;
        Ok(true)
    }

    /// Moves from the start of the current data block to the entry at `position`.
    fn pass_to(&mut self, position: EntryPosition) -> Result<()> {
        let steps = match self.direction {
            Direction::Forward => position.number + 1,
            Direction::Backward => position.block_entries - position.number,
        };
        for _ in 0..steps {
            if self.cursor.advance() != Some(true) {
                return Err(self.damage());
            }
        }
        Ok(())
    }

    /// Returns the current entry.
    #[inline]
    pub(crate) fn entry(&self) -> Entry<'_> {
        self.cursor.entry()
    }

    /// Returns the position of the current entry: the file number of its SSTable, the number of its data block, and the
    /// number of the entry in the block. Returns `None` at the end of the run. The cursor must be
    /// [streaming](Self::stream).
    pub(crate) fn position(&self) -> Option<(u64, u32, u32)> {
        let table = self.tables.get(self.table?)?;
        Some((table.id(), self.block, self.cursor.number() as u32))
    }

    /// Returns the blob files that contain values of the current SSTable. Returns `None` at the end of the run, or if
    /// the SSTable cannot contain pointers to blob files.
    #[inline]
    pub(crate) fn references(&self) -> Option<&References> {
        self.tables.get(self.table?)?.references()
    }

    /// Returns the current entry with its value. If stored values of the SSTable have tag bytes, the function writes
    /// the value to `value`, and reads it from its blob file if necessary. Returns `None` for a tombstone.
    ///
    /// # Errors
    /// If the value is in a blob file that cannot be read or is corrupt.
    pub(crate) fn resolved<'a>(
        &'a self,
        value: &'a mut Vec<u8>,
        counters: &AllCounters,
    ) -> Result<Option<(&'a [u8], &'a [u8])>> {
        let entry = self.entry();
        let Some(stored) = entry.value else { return Ok(None) };
        let table = &self.tables[self.table.unwrap_or_default()];
        if table.references().is_none() {
            return Ok(Some((entry.key, stored)));
        }
        value.clear();
        table.resolve(self.block, stored, entry.key, value, counters.local())?;
        Ok(Some((entry.key, value)))
    }

    /// Returns the error for a stored value at the current position that is neither a value nor a pointer to a blob
    /// file.
    pub(crate) fn damaged_value(&self) -> Error {
        self.tables[self.table.unwrap_or_default()].damaged_value(self.block)
    }

    /// Moves past decoded entries: calls `pass` with each entry after the current entry, as long as `pass` returns
    /// `true`. Ends at the last entry for which `pass` returned `true`, or at the last decoded entry. Only for forward
    /// iteration.
    #[inline]
    pub(crate) fn pass(&mut self, pass: impl FnMut(Entry<'_>) -> bool) {
        self.cursor.pass(pass);
    }

    /// Returns whether the current entry is a tombstone.
    #[inline]
    pub(crate) fn is_tombstone(&self) -> bool {
        self.cursor.is_tombstone()
    }

    /// Moves to the first entry of the next data block in the direction of the cursor. Skips blocks without entries.
    /// Returns `false` at the end of the run.
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
                self.expect_blocks(at);
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

    /// Prefetches the next data block while the scan reads the current block. A long scan also announces later blocks
    /// to the storage. `at` is the index of the current SSTable.
    fn expect_blocks(&mut self, at: usize) {
        if self.reads != BlockReads::Cached {
            return;
        }
        let end = self.blocks_of(at);
        let step = if self.direction == Direction::Forward { 1 } else { u32::MAX };
        let next = self.block.wrapping_add(step);
        let len = self.tables[at].stored_len(self.block).unwrap_or(0);
        self.expected_bytes =
            self.expected_bytes.filter(|bytes| *bytes > 0).map(|bytes| bytes.saturating_sub(len));
        let bytes = self.expected_bytes.unwrap_or(PREFETCHED_BYTES);
        if next < end && bytes > 0 {
            self.tables[at].prefetch_block(next, bytes.min(PREFETCHED_BYTES));
        }
        self.walked += 1;
        if self.direction == Direction::Forward && self.walked % BLOCKS_AHEAD == LONG_SCAN_BLOCKS {
            self.tables[at].expect_blocks(self.block..end.min(self.block.saturating_add(BLOCKS_AHEAD)));
        }
    }

    /// Returns the number of data blocks that the cursor may read in the SSTable number `at` of the run.
    fn blocks_of(&self, at: usize) -> u32 {
        if at + 1 == self.tables.len() { self.last_blocks } else { self.tables[at].block_count() }
    }

    fn next_table(&self, at: usize) -> Option<usize> {
        match self.direction {
            Direction::Forward => Some(at + 1).filter(|next| *next < self.tables.len()),
            Direction::Backward => at.checked_sub(1),
        }
    }

    /// Returns the number of the data block at which the cursor enters the SSTable number `at` of the run.
    fn first_block(&self, at: usize) -> u32 {
        first_block(&self.tables[at], self.direction)
    }

    /// Enters the current SSTable at its first data block, before the first entry. Returns `false` if the run has no
    /// more SSTables.
    fn enter_table(&mut self, counters: &AllCounters) -> Result<bool> {
        let Some(at) = self.table else { return Ok(false) };
        self.block = match self.readers.as_mut().and_then(|readers| readers.take(at)) {
            Some(Reader { first_block, cursor }) => {
                self.cursor = cursor;
                first_block
            }
            None => self.first_block(at),
        };
        self.ahead.clear();
        self.read_ahead.enter_table();
        self.enter_block(counters)?;
        Ok(true)
    }

    fn enter_block(&mut self, counters: &AllCounters) -> Result<()> {
        let at = self.table.unwrap_or_default();
        let block = match self.reads {
            BlockReads::Cached => self.cached_block(at, counters)?,
            BlockReads::Streaming => BlockBytes::Own(self.streamed_block(at, STREAM_BYTES, counters)?),
            BlockReads::Single => BlockBytes::Own(self.streamed_block(at, 0, counters)?),
        };
        self.cursor.enter(block, self.direction).ok_or_else(|| self.damage())
    }

    /// Returns the current data block of a scan, through the block cache. Also prefetches the start of the block,
    /// unless the block is read in place and therefore was prefetched earlier.
    fn cached_block(&mut self, at: usize, counters: &AllCounters) -> Result<BlockBytes<'t>> {
        let table: &'t Table = &self.tables[at];
        if self.ahead.is_empty() && self.read_ahead.is_on() {
            self.read_on(at, counters);
        }
        let block = match self.ahead.pop_front() {
            Some(block) => BlockBytes::Own(block),
            None => table.block(self.block, counters.local())?,
        };
        if !table.is_in_place() {
            table.prefetch(&block[..block.len().min(PREFETCHED_BYTES)]);
        }
        Ok(block)
    }

    /// Reads the current data block of a scan, together with as many following blocks as the read-ahead allows.
    ///
    /// The function ignores read errors. After an error, the scan reads block by block and returns the error when it
    /// reaches the unreadable block.
    fn read_on(&mut self, at: usize, counters: &AllCounters) {
        let (table, block, end) = (&self.tables[at], self.block, self.blocks_of(at));
        let (direction, read_to) = (self.direction, self.read_to.as_deref());
        let wanted = self.read_ahead.wanted(|| {
            let last = match (read_to, direction) {
                (Some(key), _) if table.covers(key) => table.seek(key, counters.local()).unwrap_or(block),
                (_, Direction::Forward) => end.saturating_sub(1),
                (_, Direction::Backward) => 0,
            };
            block.abs_diff(last) + 1
        });
        if wanted > 1
            && let Ok(blocks) = self.read_ahead.read(table, block, direction, wanted, counters.local())
        {
            self.ahead.extend(blocks);
        }
        self.read_ahead.took((self.ahead.len() as u32).max(1));
    }

    /// Returns the current data block without the block cache. If the block was not read ahead, one call reads the
    /// current and the following blocks: as many as fit in `bytes`, and at least one block.
    fn streamed_block(&mut self, at: usize, bytes: usize, counters: &AllCounters) -> Result<Bytes> {
        if self.ahead.is_empty() {
            let blocks = self.block..self.blocks_of(at);
            let (blocks, bytes) = self.tables[at].stream_blocks(blocks, bytes)?;
            counters.local().compaction_bytes_read.add(bytes);
            self.ahead.extend(blocks);
        }
        Ok(self
            .ahead
            .pop_front()
            .expect("a read of data blocks must return at least the first requested block"))
    }

    /// Moves the cursor of a compaction to the first entry whose key is at or above `key`. Returns `false` if there is
    /// no such entry.
    ///
    /// The cursor reads the block from its start, so that the [position](Self::position) of each entry is known.
    fn seek(&mut self, key: &[u8], counters: &AllCounters) -> Result<bool> {
        let Some(at) = self.table else { return Ok(false) };
        self.block = self.tables[at].seek(key, counters.local())?;
        self.enter_block(counters)?;
        let mut standing = self.advance(counters)?;
        while standing && self.key() < key {
            standing = self.advance(counters)?;
        }
        Ok(standing)
    }

    /// Moves to the first entry in the reading direction that is not before `key`. The search begins in the current
    /// data block, or in `part` of this block if given. Returns `false` if there is no such entry.
    fn seek_in_block(&mut self, key: &[u8], part: Option<&Part>, counters: &AllCounters) -> Result<bool> {
        match self.cursor.seek(key, part) {
            Some(true) => Ok(true),
            Some(false) => self.advance_block(counters),
            None => Err(self.damage()),
        }
    }

    fn damage(&self) -> crate::Error {
        self.tables[self.table.unwrap_or_default()].damaged_block(self.block)
    }
}

impl<'t> Approach<'t> {
    /// Searches the prefetched data block, and returns the cursor at the first entry within the bound `from`. Returns
    /// `None` if no entry of the run is within this bound. `from` must be the bound that [`RunCursor::approach`] has
    /// received.
    #[inline]
    pub(crate) fn land(
        self,
        from: Bound<&[u8]>,
        counters: &AllCounters,
    ) -> Result<Option<Box<RunCursor<'t>>>> {
        let Self { mut cursor, block, part } = self;
        match block {
            Some(block) => cursor.cursor.enter(block, cursor.direction).ok_or_else(|| cursor.damage())?,
            None => cursor.enter_block(counters)?,
        }
        let standing = match from {
            Bound::Unbounded => cursor.advance(counters)?,
            Bound::Included(key) => cursor.seek_in_block(key, part.as_ref(), counters)?,
            Bound::Excluded(key) => {
                let standing = cursor.seek_in_block(key, part.as_ref(), counters)?;
                if standing && cursor.cursor.key() == key { cursor.advance(counters)? } else { standing }
            }
        };
        Ok(standing.then_some(cursor))
    }
}
