//! Pages of a B-tree as blocks: sorted pairs with whole keys, an array of slots that says where each begins,
//! and a search that halves the slots. Each takes whole pages of `block.size`.
//!
//! The leaves of the static B-tree of csc443 (section 4.2.3) for pairs of any size; the document's have one and so
//! need no slots (the format "fixed-pairs" of the crate `study`). Its inner pages are the fence `static-btree`. The padding of a page stands
//! behind the block.
//!
//! ```text
//! header   u32 page type (2, a leaf), u32 pairs
//! slots    u16 × pairs: offsets of the entries
//! entry*   see `whole`
//! ```

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::Entry;

use super::block_footer::BlockFooter;
use super::draft::{Draft, EntryWriter};
use super::format::BlockFormat;
use super::layout::{Entries, Layout, Restarts};
use super::whole;
use crate::codec::Reader;
use crate::design::BlockOptions;

pub(super) const VARIANT: Variant<dyn BlockFormat> = Variant::new::<BtreePage>(
    "btree-page",
    "pages of pairs with whole keys behind an array of slots, searched by halving (csc443)",
    "",
);

/// Its code in block footers.
pub(super) const CODE: u8 = 2;

/// The type of a page that holds pairs.
const LEAF: u32 = 2;

/// The bytes before the slots.
const HEADER_BYTES: usize = 8;

/// The bytes of a slot: entries begin before 64 KiB, the largest block.
const SLOT_BYTES: usize = 2;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {}

/// The format.
struct BtreePage;

impl Build<dyn BlockFormat> for BtreePage {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn BlockFormat>, String> {
        Ok(Box::new(Self))
    }
}

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

/// Where the parts of such a block lie.
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

/// Lays out the entries of one page after the other.
#[derive(Default)]
struct Writer {
    /// Where each entry begins among the entries.
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
