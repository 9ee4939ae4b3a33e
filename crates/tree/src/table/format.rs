//! The block formats: how the entries of a data block are laid out.
//!
//! Whatever the format, a block ends with the same tail, which names it, so that a table is read under any
//! design. Only blocks of `fixed_pairs` without an index have a single byte in its place:
//!
//! ```text
//! …       what the format says
//! index   nothing, or a hash index (see `hash_index`), or fingerprints (see `fingerprints`)
//! tail    u32 restart count, u4 format, u4 kind of the index, u24 bytes of the index
//! ```
//!
//! Restart points are entries whose key stands there whole and whose place is known: searches go from one to
//! the other, and indexes name them.

use catalog::Catalog;

use super::block::Layout;
use super::block_builder::EntryWriter;
use super::{btree_page, delta, fixed_pairs, plain};
use crate::design::{BlockIndex, BlockOptions};

/// How the entries of a block are laid out. What it takes to read a block is in the block.
pub trait BlockFormat: Send + Sync {
    /// What lays out the entries of one block after the other.
    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter>;

    /// Whether blocks take whole pages, as with `block.align`.
    fn is_page_aligned(&self) -> bool {
        false
    }
}

/// All formats. The first is the baseline.
pub static CATALOG: Catalog<dyn BlockFormat> = Catalog::new(
    catalog::origin!(),
    "format",
    "how entries are laid out in a block; also written block.format",
    &[delta::VARIANT, plain::VARIANT, btree_page::VARIANT, fixed_pairs::VARIANT],
);

/// What finds the parts of a block of a format, given its tail.
type LayoutOf = fn(&[u8], &Tail) -> Option<Layout>;

/// The formats by their codes in tails, which never change their meaning.
static LAYOUTS: [LayoutOf; 4] = [delta::layout, plain::layout, btree_page::layout, fixed_pairs::layout];

/// The bytes of a tail.
pub(super) const TAIL_BYTES: usize = 8;

/// What stands at the end of every block.
pub(super) struct Tail {
    /// The format of the block: a place in [`LAYOUTS`].
    pub(super) format: u8,
    /// The number of restart points; at least one.
    pub(super) restart_count: usize,
    /// What the block carries to find a key without a search.
    pub(super) index: BlockIndex,
    /// Where the index begins.
    pub(super) index_at: usize,
    /// The bytes of the index; it ends where the tail begins.
    pub(super) index_len: usize,
}

impl Tail {
    /// The tail as bytes.
    pub(super) fn encode(&self) -> [u8; TAIL_BYTES] {
        let mut bytes = [0; TAIL_BYTES];
        bytes[..4].copy_from_slice(&(self.restart_count as u32).to_le_bytes());
        let kinds = u32::from(self.format) << 4 | self.index as u32;
        bytes[4..].copy_from_slice(&((self.index_len as u32) << 8 | kinds).to_le_bytes());
        bytes
    }

    /// Reads the tail of a block; `None` where it has none.
    #[inline]
    pub(super) fn of(block: &[u8]) -> Option<Self> {
        let (before, tail) = block.split_last_chunk::<TAIL_BYTES>()?;
        let [restarts @ .., _, _, _, _] = *tail;
        let [_, _, _, _, kinds @ ..] = *tail;
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

    /// Where the tail begins, and the index ends.
    #[inline]
    pub(super) fn end(&self) -> usize {
        self.index_at + self.index_len
    }

    /// Where the parts of the block lie that the tail is of; `None` where they do not fit in it.
    #[inline]
    pub(super) fn layout(&self, block: &[u8]) -> Option<Layout> {
        match usize::from(self.format) {
            // Spelt out, so that it is compiled into the caller: the default is met with every get.
            delta::CODE => delta::layout(block, self),
            code => LAYOUTS.get(code)?(block, self),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use toml::Value;

    use super::*;

    /// Every format of the catalog, and some with other parameters.
    pub(in super::super) fn formats() -> Vec<(String, Box<dyn BlockFormat>)> {
        let other = CATALOG.choose(&Value::from("plain(version=1)")).unwrap();
        let choices = CATALOG.all().chain([other]);
        choices.map(|choice| (choice.label(), CATALOG.build(&choice).unwrap())).collect()
    }

    #[test]
    fn the_catalog_keeps_its_laws() {
        catalog::laws::check(&CATALOG).unwrap();
        let error = CATALOG.choose(&Value::from("plain(version=3)")).unwrap_err();
        assert!(error.to_string().contains("cs265 prints 1 and 2"), "{error}");
    }

    #[test]
    fn blocks_without_restart_points_or_of_unknown_formats_are_refused() {
        let block = |format: u8, restart_count: usize| {
            let tail = Tail { format, restart_count, index: BlockIndex::None, index_at: 4, index_len: 0 };
            [&[0; 4][..], &tail.encode()].concat()
        };
        assert!(Layout::of(&block(0, 1)).is_some());
        assert!(Layout::of(&block(0, 0)).is_none());
        assert!((1..16).all(|format| Layout::of(&block(format, 1)).is_none()));
    }
}
