//! How many blocks a range reads from storage at once.

use catalog::ByteSize;
use types::{Bytes, Direction};

use super::reader::Table;
use crate::error::Result;
use crate::stats::Counters;

/// The blocks that a range reads at once from a run: first those that the entries it is expected to take should need, then
/// one, and twice as many each time that it goes on. What is read in vain is then no more than what was of use.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReadAhead {
    /// The most bytes read at once; 0 is one block at a time.
    bytes: usize,
    /// The blocks read at once the next time, as far as bytes allow.
    next: u32,
    /// Whether those are what the range was expected to need.
    is_expected: bool,
    /// The blocks of the current table, of those not read yet, that can have keys of the range, once somebody looked.
    left: Option<u32>,
}

impl ReadAhead {
    /// What a range reads at once that begins in a table like `table`, at most `limit`, and is `expected` to take so many
    /// entries. Blocks of mapped tables are not read.
    pub(super) fn new(table: &Table, limit: ByteSize, expected: Option<u64>) -> Self {
        if limit.0 == 0 || table.is_mapped() {
            return Self::default();
        }
        let entries =
            expected.map(|entries| entries.saturating_sub(1).saturating_mul(u64::from(table.block_count())));
        // Where its first entry is in a block, and so where the last one is, is not known.
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

    /// Takes note of another table.
    pub(super) fn enter_table(&mut self) {
        self.left = None;
    }

    /// The blocks to read at once now, at least one; `left` counts those of the table that can have keys of the range,
    /// and is asked once for each.
    pub(super) fn wanted(&mut self, left: impl FnOnce() -> u32) -> u32 {
        if self.next <= 1 {
            return 1;
        }
        self.next.min(*self.left.get_or_insert_with(left)).max(1)
    }

    /// Reads `most` blocks from `first` on in `direction`, as far as they fit in the limit but at least one; they come in
    /// that order.
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
        // Storage reads as one what lies one behind the other.
        if direction == Direction::Backward {
            indexes.reverse();
        }
        let mut blocks = table.blocks_together(&indexes, counters)?;
        if direction == Direction::Backward {
            blocks.reverse();
        }
        Ok(blocks)
    }

    /// Takes note that so many blocks were read.
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
