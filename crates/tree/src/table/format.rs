//! The trait of block formats: how the entries of a data block are laid out.
//!
//! A block of any format ends with the same footer (see `block_footer`), which names the format, so that a table can
//! be read under any design. A format may do without a footer if no footer ends as its blocks do:
//!
//! ```text
//! …        what the format says
//! index    nothing, or a hash index (see `hash_index`), or fingerprints (see `fingerprints`)
//! footer   see `block_footer`
//! ```
//!
//! Restart points are entries whose key stands there whole and whose place is known. Searches go from one to the
//! other, and indexes name them.

use super::block_footer::BlockFooter;
use super::draft::EntryWriter;
use super::layout::Layout;
use crate::design::BlockOptions;

/// How the entries of a block are laid out. What it takes to read a block is in the block.
///
/// Contract:
/// 1. No two formats have the same [`code`](Self::code), and a code never changes its meaning.
/// 2. [`layout`](Self::layout) reads every block that the format's writer finished with that code, under any
///    parameters of the format, and [`layout_without_footer`](Self::layout_without_footer) those without a footer. The
///    layout of other bytes is `None`, or its parts lie in the block.
pub trait BlockFormat: Send + Sync {
    /// The code of the format in block footers: 0 and 2 are built in, 1 and 3 are those of the crate
    /// `study`, 4 to 15 are free.
    fn code(&self) -> u8;

    /// Where the parts of a block lie whose footer has the code of the format. `None` if they do not fit in the block.
    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout>;

    /// Where the parts of a block without a footer lie. `None` if the block is none of the format: always, for a
    /// format whose blocks have footers.
    fn layout_without_footer(&self, block: &[u8]) -> Option<Layout> {
        let _ = block;
        None
    }

    /// What lays out the entries of one block after the other.
    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter>;

    /// Whether blocks take whole pages, as with `block.align`.
    fn is_page_aligned(&self) -> bool {
        false
    }
}
