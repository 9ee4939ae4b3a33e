//! Decides how many data blocks a scan reads from storage at once.

use catalog::ByteSize;
use types::{Bytes, Direction};

use super::reader::Table;
use crate::error::Result;
use crate::stats::Counters;

/// Decides how many blocks of a sorted run a scan reads from storage at once.
///
/// The first read covers the blocks that the expected entries need. The second read covers one block, and each further
/// read covers twice as many blocks. A scan therefore reads at most as many unused blocks as used blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadAhead {
    /// The maximum number of bytes that the scan reads at once. With 0, the scan reads one block at a time.
    bytes: usize,
    /// The number of blocks for the next read, before the limit in bytes applies.
    next: u32,
    /// Whether `next` comes from the number of entries that the caller expects, and not from doubling the previous
    /// read.
    is_expected: bool,
    /// The number of blocks of the current SSTable that the scan has not read and that can contain keys of its range.
    /// `None` if this number is not computed yet.
    left: Option<u32>,
}

impl ReadAhead {
    /// Creates the read-ahead of a scan over a sorted run. The scan reads at most `limit` bytes at once, and its caller
    /// expects `expected` entries. Memory-mapped SSTables have no read-ahead.
    ///
    /// `table` is any SSTable of the run. Its mean number of entries per block is used as an estimate for the whole
    /// run.
    pub(super) fn new(table: &Table, limit: ByteSize, expected: Option<u64>) -> Self {
        if limit.0 == 0 || table.is_mapped() {
            return Self::default();
        }
        let entries =
            expected.map(|entries| entries.saturating_sub(1).saturating_mul(u64::from(table.block_count())));
        // The position of the first entry in its block is unknown, so the scan may need one more block.
        let blocks =
            entries.map(|entries| entries.div_ceil(table.properties().entries.max(1)).saturating_add(1));
        Self {
            bytes: usize::try_from(limit.0).unwrap_or(usize::MAX),
            next: blocks.map_or(1, |blocks| u32::try_from(blocks).unwrap_or(u32::MAX)),
            is_expected: blocks.is_some(),
            left: None,
        }
    }

    /// Returns whether the scan may read more than one block at once.
    pub(super) fn is_on(&self) -> bool {
        self.bytes > 0
    }

    /// Records that the scan enters the next SSTable of the run.
    pub(super) fn enter_table(&mut self) {
        self.left = None;
    }

    /// Returns the number of blocks to read now, at least one. `left` returns the number of unread blocks of the
    /// current SSTable that can contain keys of the range. The function calls `left` at most once per SSTable.
    pub(super) fn wanted(&mut self, left: impl FnOnce() -> u32) -> u32 {
        if self.next <= 1 {
            return 1;
        }
        self.next.min(*self.left.get_or_insert_with(left)).max(1)
    }

    /// Reads up to `most` data blocks of an SSTable at once, beginning with block `first` and continuing in
    /// `direction`. Returns the blocks in this order.
    ///
    /// The function always reads the first block. It reads further blocks only within the byte limit. `most` must be at
    /// least 1.
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
        // The storage combines reads of contiguous blocks only in ascending order.
        if direction == Direction::Backward {
            indexes.reverse();
        }
        let mut blocks = table.blocks_together(&indexes, counters)?;
        if direction == Direction::Backward {
            blocks.reverse();
        }
        Ok(blocks)
    }

    /// Records that the scan has read `blocks` blocks, and computes the size of the next read.
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
