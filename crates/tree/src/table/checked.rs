//! Records for which data blocks of an SSTable the checksum was verified.

use std::sync::atomic::{AtomicU64, Ordering};

/// The set of data blocks of an SSTable whose checksums were verified, with one bit per block. The thread that verifies
/// the checksum of a block sets its bit. Later reads of the block then skip the verification.
pub(super) struct CheckedBlocks(Box<[AtomicU64]>);

impl CheckedBlocks {
    /// Creates the set for an SSTable with `count` data blocks. No block is in the set.
    pub(super) fn new(count: u32) -> Self {
        Self((0..count.div_ceil(u64::BITS)).map(|_| AtomicU64::new(0)).collect())
    }

    #[inline]
    fn place(&self, block: u32) -> (&AtomicU64, u64) {
        (&self.0[(block / u64::BITS) as usize], 1 << (block % u64::BITS))
    }

    /// Returns whether the checksum of the data block number `block` was verified.
    #[inline]
    pub(super) fn contains(&self, block: u32) -> bool {
        let (word, bit) = self.place(block);
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Records that the checksum of the data block number `block` was verified.
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
