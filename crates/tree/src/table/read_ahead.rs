//! The number of blocks that a range reads from storage at once.

use catalog::ByteSize;
use types::{Bytes, Direction};

use super::reader::Table;
use crate::error::Result;
use crate::stats::Counters;

/// The number of blocks that a range reads from a run at once.
///
/// The first read covers the blocks that the expected entries need. The next read covers one block, and each further
/// read doubles the number. A scan therefore reads at most as many unused blocks as used blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadAhead {
    /// Maximum number of bytes to read at once; 0 means one block at a time.
    bytes: usize,
    /// The number of blocks to read at once the next time, within the limit of bytes.
    next: u32,
    /// Whether `next` is the number of blocks that the range is expected to need.
    is_expected: bool,
    /// The number of unread blocks of the current table that can have keys of the range; `None` if it is not computed
    /// yet.
    left: Option<u32>,
}

impl ReadAhead {
    /// Creates the read-ahead of a scan that begins in a table like `table`. At most `limit` bytes are read at once,
    /// and `expected` entries are expected. Blocks of memory-mapped tables are not read ahead.
    pub(super) fn new(table: &Table, limit: ByteSize, expected: Option<u64>) -> Self {
        if limit.0 == 0 || table.is_mapped() {
            return Self::default();
        }
        let entries =
            expected.map(|entries| entries.saturating_sub(1).saturating_mul(u64::from(table.block_count())));
        // One more block is needed, because the position of the first entry in its block is unknown.
        let blocks =
            entries.map(|entries| entries.div_ceil(table.properties().entries.max(1)).saturating_add(1));
        Self {
            bytes: usize::try_from(limit.0).unwrap_or(usize::MAX),
            next: blocks.map_or(1, |blocks| u32::try_from(blocks).unwrap_or(u32::MAX)),
            is_expected: blocks.is_some(),
            left: None,
        }
    }

    /// Whether more than one block may be read at once.
    pub(super) fn is_on(&self) -> bool {
        self.bytes > 0
    }

    /// Resets the read-ahead for the next table.
    pub(super) fn enter_table(&mut self) {
        self.left = None;
    }

    /// Returns the number of blocks to read now, at least one. `left` computes the number of blocks of the table that
    /// can have keys of the range. `left` is called once per table.
    pub(super) fn wanted(&mut self, left: impl FnOnce() -> u32) -> u32 {
        if self.next <= 1 {
            return 1;
        }
        self.next.min(*self.left.get_or_insert_with(left)).max(1)
    }

    /// Reads at most `most` blocks from `first` on in `direction`, within the byte limit but at least one block.
    /// Returns the blocks in the order of `direction`.
    pub(super) fn read(
        &self,
        table: &Table,
        first: u32,
        direction: Direction,
        most: u32,
        counters: &Counters,
    ) -> Result<Vec<Bytes>> {
        let mut indexes = Vec::new();
        let mut bytes = 0;
        for step in 0..most {
            let index = match direction {
                Direction::Forward => first.checked_add(step),
                Direction::Backward => first.checked_sub(step),
            };
            let Some(len) = index.and_then(|index| table.stored_len(index)) else { break };
            bytes += len;
            if step > 0 && bytes > self.bytes {
                break;
            }
            indexes.extend(index);
        }
        // Storage combines the reads of contiguous blocks in ascending order.
        if direction == Direction::Backward {
            indexes.reverse();
        }
        let mut blocks = table.blocks_together(&indexes, counters)?;
        if direction == Direction::Backward {
            blocks.reverse();
        }
        Ok(blocks)
    }

    /// Notes that this many blocks were read.
    pub(super) fn took(&mut self, blocks: u32) {
        self.left = self.left.map(|left| left.saturating_sub(blocks));
        if self.is_expected {
            self.is_expected = self.next > blocks;
            self.next = self.next.saturating_sub(blocks).max(1);
        } else {
            self.next = self.next.saturating_mul(2);
        }
    }
}
