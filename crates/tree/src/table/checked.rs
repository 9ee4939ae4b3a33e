//! Records which blocks of a table have a verified checksum.

use std::sync::atomic::{AtomicU64, Ordering};

/// One bit for each block of a table. The thread that verifies the checksum of a block sets the bit of the block.
/// Later reads of the block then skip the verification.
pub(super) struct CheckedBlocks(Box<[AtomicU64]>);

impl CheckedBlocks {
    /// Creates the bits for `count` blocks. No block is marked as verified.
    pub(super) fn new(count: u32) -> Self {
        Self((0..count.div_ceil(u64::BITS)).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    fn place(&self, block: u32) -> (&AtomicU64, u64) {
        (&self.0[(block / u64::BITS) as usize], 1 << (block % u64::BITS))
    }

    /// Returns whether the checksum of the block was verified.
    #[inline]
    pub(super) fn contains(&self, block: u32) -> bool {
        let (word, bit) = self.place(block);
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Records that the checksum of the block was verified.
    pub(super) fn insert(&self, block: u32) {
        let (word, bit) = self.place(block);
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_a_bit_of_its_own() {
        let checked = CheckedBlocks::new(130);
        for block in (0..130).step_by(3) {
            checked.insert(block);
        }
        assert!((0..130).all(|block| checked.contains(block) == (block % 3 == 0)));
    }
}
