//! The trait of block formats. A block format defines the encoding of the entries in a data block.
//!
//! A block of any format ends with the common footer (see `block_footer`), which identifies the format. A tree of any
//! design can therefore read the block. A format may omit the footer if the end of its blocks never looks like a
//! footer. A block with a footer has these parts:
//!
//! ```text
//! …        defined by the format
//! index    nothing, or a hash index (see `hash_index`), or fingerprints (see `fingerprints`)
//! footer   see `block_footer`
//! ```
//!
//! Restart points are entries with a full key at a known offset. Searches move between restart points, and block
//! indexes refer to restart points.

use super::block_footer::BlockFooter;
use super::draft::EntryWriter;
use super::layout::Layout;
use crate::design::BlockOptions;

/// A block format: the encoding of the entries of a data block. A block can be decoded without data outside of the
/// block.
///
/// Contract:
/// 1. No two formats have the same [`code`](Self::code), and a code never changes its meaning.
/// 2. [`layout`](Self::layout) decodes every block that a writer of this format finished with a footer, for all
///    parameters of the format.
/// 3. [`layout_without_footer`](Self::layout_without_footer) decodes the blocks that a writer of this format finished
///    without a footer.
/// 4. For any other bytes, both functions return `None`, or a layout whose parts are all within the block.
pub trait BlockFormat: Send + Sync {
    /// Returns the number that identifies this format in the footers of blocks. Codes 0 and 2 belong to formats of this
    /// crate, and codes 1, 3, 4 and 5 belong to formats of the crate `study`. Codes 6 to 15 are not assigned.
    fn code(&self) -> u8;

    /// Returns the positions of the parts of a block whose footer contains the code of this format. Returns `None` if
    /// the parts do not fit in the block.
    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout>;

    /// Returns the positions of the parts of a block without a footer. Returns `None` if the block does not have this
    /// format. A format whose blocks have footers always returns `None`.
    fn layout_without_footer(&self, block: &[u8]) -> Option<Layout> {
        let _ = block;
        None
    }

    /// Returns a writer that encodes the entries of one data block in key order.
    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter>;

    /// Returns whether this format pads each block to whole pages, as the option `block.align` does.
    fn is_page_aligned(&self) -> bool {
        false
    }
}
