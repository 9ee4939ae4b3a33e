//! How many blocks a range reads from storage at once.

use catalog::ByteSize;

use super::reader::Table;

/// The blocks that a range reads at once: first those that the entries it is expected to take should need, then one, and
/// twice as many each time that it goes on, up to a limit. What is read in vain is then no more than what was of use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReadAhead {
    /// The blocks read at once the next time, before the limit.
    next: u32,
    /// Whether those were what the range was expected to need.
    is_expected: bool,
    /// The most blocks read at once.
    most: u32,
    /// The blocks, of those not read yet, that can have keys of the range.
    left: u32,
}

impl ReadAhead {
    /// What a range reads at once that begins in a table like `table`, within `limit`, and is `expected` to take so many
    /// entries. Blocks of mapped tables are not read, and those of others one at a time without a limit to go up to.
    pub(super) fn new(table: &Table, limit: ByteSize, expected: Option<u64>) -> Self {
        if limit.0 == 0 || table.is_mapped() {
            return Self::default();
        }
        let blocks = u64::from(table.block_count());
        let entries = expected.map(|entries| entries.saturating_sub(1).saturating_mul(blocks));
        // Where its first entry is in a block, and so where the last one is, is not known.
        let expected =
            entries.map(|entries| entries.div_ceil(table.properties().entries.max(1)).saturating_add(1));
        Self {
            next: expected.unwrap_or(1).min(u64::from(u32::MAX)) as u32,
            is_expected: expected.is_some(),
            most: (limit.0.saturating_mul(blocks) / table.block_bytes().max(1)).clamp(1, u64::from(u32::MAX))
                as u32,
            left: u32::MAX,
        }
    }

    /// Takes note that only so many blocks, from the one that is read first, can have keys of the range.
    pub(super) fn end_after(&mut self, blocks: u32) {
        self.left = blocks;
    }

    /// Whether more than one block may be read at once.
    pub(super) fn is_on(&self) -> bool {
        self.most > 1
    }

    /// Takes note that blocks are to be read, and says how many at once.
    pub(super) fn take(&mut self) -> u32 {
        let now = self.next.min(self.most).min(self.left).max(1);
        self.left = self.left.saturating_sub(now);
        self.next = match self.is_expected {
            true if self.next > now => self.next - now,
            true => 1,
            false => now.saturating_mul(2),
        };
        self.is_expected &= self.next > 1;
        now
    }
}
