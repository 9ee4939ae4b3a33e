//! The footer of a data block. Blocks of all formats have this footer.
//!
//! ```text
//! footer   u32 restart count, u4 format, u4 kind of the index, u24 bytes of the index
//! ```

use crate::design::BlockIndex;

/// The length of the footer of a data block, in bytes.
pub const BLOCK_FOOTER_BYTES: usize = 8;

/// The footer of a data block, which identifies the format and the index of the block.
pub struct BlockFooter {
    /// The code of the block format in the footer of a block. A format never changes its code.
    pub format: u8,
    /// The number of restart points in the data block, at least one.
    pub restart_count: usize,
    /// The kind of index inside the data block, which finds a key without a binary search.
    pub index: BlockIndex,
    /// The offset of the index in the data block.
    pub index_at: usize,
    /// The length of the index in the data block, in bytes. The footer follows the index.
    pub index_len: usize,
}

impl BlockFooter {
    /// Returns the footer of a data block as bytes.
    pub(super) fn encode(&self) -> [u8; BLOCK_FOOTER_BYTES] {
        let mut bytes = [0; BLOCK_FOOTER_BYTES];
        bytes[..4].copy_from_slice(&(self.restart_count as u32).to_le_bytes());
        let kinds = u32::from(self.format) << 4 | self.index as u32;
        bytes[4..].copy_from_slice(&((self.index_len as u32) << 8 | kinds).to_le_bytes());
        bytes
    }

    /// Decodes the footer at the end of a data block. Returns `None` if the block is too short or the footer is
    /// invalid.
    #[inline]
    pub(super) fn of(block: &[u8]) -> Option<Self> {
        let (before, footer) = block.split_last_chunk::<BLOCK_FOOTER_BYTES>()?;
        let [restarts @ .., _, _, _, _] = *footer;
        let [_, _, _, _, kinds @ ..] = *footer;
        let (restart_count, kinds) = (u32::from_le_bytes(restarts) as usize, u32::from_le_bytes(kinds));
        let index_len = kinds as usize >> 8;
        Some(Self {
            restart_count,
            format: (kinds >> 4 & 0xf) as u8,
            index: *BlockIndex::ALL.get(kinds as usize & 0xf)?,
            index_at: before.len().checked_sub(index_len)?,
            index_len,
        })
    }

    /// Returns the offset of this footer in its data block. The index of the block ends at this offset.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.index_at + self.index_len
    }
}
