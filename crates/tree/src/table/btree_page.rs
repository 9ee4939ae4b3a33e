//! B-tree leaf pages as data blocks. A page consists of sorted entries with full keys and an array of slots with the
//! offsets of the entries. A lookup is a binary search over the slots. In the file, padding extends each block to a
//! multiple of `block.size`.
//!
//! Source: the leaves of the static B-tree of the document csc443 (section 4.2.3), extended to entries of any size. In
//! the document csc443, all entries have one size, so its leaves need no slots (the format "fixed-pairs" of the crate
//! `study`). The inner pages of this B-tree are the fence `static-btree`.
//!
//! ```text
//! header   u32 page type (2, a leaf), u32 pairs
//! slots    u16 × pairs: offsets of the entries
//! entry*   see `whole`
//! ```

use catalog::Variant;
use types::Entry;

use super::block_footer::BlockFooter;
use super::draft::{Draft, EntryWriter};
use super::format::BlockFormat;
use super::layout::{Entries, Layout, Restarts};
use super::whole;
use crate::codec::Reader;
use crate::design::BlockOptions;

pub(super) const VARIANT: Variant<dyn BlockFormat> = Variant::plain(
    "btree-page",
    "B-tree leaf pages with full keys and a slot array, on which gets run a binary search (csc443)",
    || Box::new(BtreePage),
);

/// The code of the block format `btree-page` in block footers.
pub(super) const CODE: u8 = 2;

/// The number at the start of a block that identifies the block as a leaf page.
const LEAF: u32 = 2;

/// The length of the page header in bytes: the page type and the number of entries.
const HEADER_BYTES: usize = 8;

/// The size of a slot in bytes. A slot contains the offset of an entry in its page. Two bytes are enough, because a
/// page with several entries has at most 64 KiB.
const SLOT_BYTES: usize = 2;

/// The block format `btree-page`.
struct BtreePage;

impl BlockFormat for BtreePage {
    fn code(&self) -> u8 {
        CODE
    }

    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout> {
        layout(block, footer)
    }

    fn writer(&self, _: &BlockOptions) -> Box<dyn EntryWriter> {
        Box::new(Writer::default())
    }

    fn is_page_aligned(&self) -> bool {
        true
    }
}

/// Returns the positions of the parts of a block in the format `btree-page`. Returns `None` if the block is corrupt.
pub(super) fn layout(block: &[u8], footer: &BlockFooter) -> Option<Layout> {
    let mut header = Reader::new(&block[..footer.index_at]);
    let (kind, pairs) = (header.u32()?, header.u32()? as usize);
    let entries_start = HEADER_BYTES.checked_add(pairs.checked_mul(SLOT_BYTES)?)?;
    let fits = kind == LEAF && pairs > 0 && pairs == footer.restart_count && entries_start <= footer.index_at;
    fits.then_some(Layout {
        entries_start,
        entries_end: footer.index_at,
        entries: Entries::Whole,
        restart_count: pairs,
        restarts: Restarts::Before,
        has_bounds: false,
        index: footer.index,
        index_len: footer.index_len,
    })
}

/// Encodes the entries of one B-tree leaf page in key order.
#[derive(Default)]
struct Writer {
    /// For each entry, its offset from the first entry of the page, in bytes.
    starts: Vec<u16>,
    entries: Vec<u8>,
}

impl EntryWriter for Writer {
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>) {
        self.starts.push(self.entries.len() as u16);
        whole::append(entry, &mut self.entries);
        draft.set_last_key(0, entry.key);
    }

    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize {
        draft.bytes_with(entry, HEADER_BYTES + (self.starts.len() + 1) * SLOT_BYTES + self.entries.len())
    }

    fn finish(&mut self, draft: &mut Draft) {
        let first = HEADER_BYTES + self.starts.len() * SLOT_BYTES;
        draft.bytes.extend_from_slice(&LEAF.to_le_bytes());
        draft.bytes.extend_from_slice(&(self.starts.len() as u32).to_le_bytes());
        for start in &self.starts {
            draft.bytes.extend_from_slice(&(first as u16 + start).to_le_bytes());
        }
        draft.bytes.extend_from_slice(&self.entries);
        draft.end(CODE, self.starts.len(), 1);
        self.starts.clear();
        self.entries.clear();
    }
}
