//! The trait of block formats, which define how the entries of a data block are encoded.
//!
//! A block of any format ends with the common footer (see `block_footer`), which identifies the format. A table can
//! therefore be read under any design. A format may omit the footer if no footer looks like the end of its blocks:
//!
//! ```text
//! …        defined by the format
//! index    nothing, or a hash index (see `hash_index`), or fingerprints (see `fingerprints`)
//! footer   see `block_footer`
//! ```
//!
//! Restart points are entries with a full key at a known offset. Searches move from one restart point to another, and
//! indexes refer to restart points.

use super::block_footer::BlockFooter;
use super::draft::EntryWriter;
use super::layout::Layout;
use crate::design::BlockOptions;

/// A block format: the encoding of the entries of a block. A block has all data that is needed to read it.
///
/// Contract:
/// 1. No two formats have the same [`code`](Self::code), and a code never changes its meaning.
/// 2. [`layout`](Self::layout) reads every block that the format's writer finished with that code, under any
///    parameters of the format, and [`layout_without_footer`](Self::layout_without_footer) those without a footer. The
///    layout of other bytes is `None`, or its parts lie in the block.
pub trait BlockFormat: Send + Sync {
    /// Returns the code of the format in block footers. Codes 0 and 2 are built in, 1 and 3 belong to the crate
    /// `study`, and 4 to 15 are free.
    fn code(&self) -> u8;

    /// Returns the layout of a block whose footer has the code of the format. `None` if its parts do not fit in the
    /// block.
    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout>;

    /// Returns the layout of a block without a footer. `None` if the block is not of this format; always `None` for a
    /// format with footers.
    fn layout_without_footer(&self, block: &[u8]) -> Option<Layout> {
        let _ = block;
        None
    }

    /// Returns a writer that encodes the entries of one block, one after the other.
    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter>;

    /// Whether blocks take whole pages, as with `block.align`.
    fn is_page_aligned(&self) -> bool {
        false
    }
}
