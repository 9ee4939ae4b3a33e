//! Block format of fixed-size pairs: keys and values without lengths, addressed by arithmetic and found by binary
//! search.
//!
//! Source: the leaves of the static B-tree of the published system csc443 (section 4.2.3 of its document). Its pages of
//! 4 KiB have 510 pairs of 4 and 4 bytes. A block of 4 KiB has the same number of pairs, except for the space of the
//! block trailer. All keys of a block have the same length of 1 to 255 bytes, and all values have the same length of at
//! most 255 bytes. The first entry of a block determines both lengths. If a block has a tombstone or an entry of
//! another size, the block gets the layout of a B-tree page ("btree-page") with the same entries.
//!
//! ```text
//! sizes    u8 bytes of a key, u8 bytes of a value
//! pair*    key, value
//! mark     u8, if the block has no index; a block with an index has the index and a footer instead
//! ```
//!
//! The format "sentinel-pairs" has the same layout, and stores tombstones as pairs.

use catalog::{Variant, origin};
use tree::block::{
    BLOCK_FOOTER_BYTES, BlockFooter, BlockFormat, CATALOG, Draft, Entries, EntryWriter, Layout, Restarts,
};
use tree::{BlockIndex, BlockOptions};
use types::Entry;

/// The block format `fixed-pairs`: the leaves of the static B-tree of the published system csc443.
pub static VARIANT: Variant<dyn BlockFormat> = Variant::<dyn BlockFormat>::plain(
    "fixed-pairs",
    "key-value pairs of equal size without metadata; blocks with tombstones or other sizes use \
     \"btree-page\" (csc443)",
    || Box::new(FixedPairs::new(PAIRS)),
)
.from(origin!());

/// A version of the block format of fixed-size pairs, which determines how tombstones are stored.
#[derive(Clone, Copy)]
pub(crate) struct Form {
    /// The number that identifies this version of the format in block footers.
    pub(crate) code: u8,
    pub(crate) entries: Entries,
    /// The stored value that marks a tombstone. `None` if tombstones cannot be stored as pairs.
    pub(crate) tombstone: Option<&'static [u8; 4]>,
}

/// The version `fixed-pairs`, in which tombstones cannot be stored as pairs.
const PAIRS: Form = Form { code: 3, entries: Entries::Pairs, tombstone: None };

impl Form {
    /// Returns the last byte of a block that has no footer. The byte is at least 0x80. A footer of an index of less
    /// than 8 MiB ends with a smaller byte, so a reader can distinguish both kinds of blocks.
    fn mark(self) -> u8 {
        0x80 | self.code
    }

    /// Returns the bytes that a pair stores as the value of `entry`. Returns `None` if the entry cannot be stored as a
    /// pair.
    fn stored_value<'a>(self, entry: &Entry<'a>) -> Option<&'a [u8]> {
        match (self.tombstone, entry.value) {
            (None, value) => value,
            (Some(tombstone), None) => Some(tombstone),
            (Some(tombstone), Some(value)) => {
                (value.len() == tombstone.len() && value != tombstone).then_some(value)
            }
        }
    }

    /// Returns the lengths of the key and the value in the pair that stores `entry`. Returns `None` if the entry cannot
    /// be stored as a pair.
    fn sizes(self, entry: &Entry<'_>) -> Option<[u8; HEADER_BYTES]> {
        let sizes = [entry.key.len(), self.stored_value(entry)?.len()].map(|len| u8::try_from(len).ok());
        Some([sizes[0].filter(|key| *key > 0)?, sizes[1]?])
    }

    /// Returns the entry that a stored pair of key and value represents.
    fn entry<'a>(self, (key, value): (&'a [u8], &'a [u8])) -> Entry<'a> {
        let is_tombstone = self.tombstone.is_some_and(|tombstone| value == tombstone);
        Entry { key, value: (!is_tombstone).then_some(value) }
    }

    /// Returns the layout of a block of pairs that has no index. Its pairs end at the offset `entries_end`. Returns
    /// `None` if the block is corrupt.
    fn layout_until(self, block: &[u8], entries_end: usize) -> Option<Layout> {
        let (sizes, pairs) = block.get(..entries_end)?.split_first_chunk::<HEADER_BYTES>()?;
        let stride = stride(*sizes);
        let has_values = self.tombstone.is_none_or(|tombstone| usize::from(sizes[1]) == tombstone.len());
        let fits = has_values && sizes[0] > 0 && !pairs.is_empty() && pairs.len().is_multiple_of(stride);
        fits.then(|| Layout {
            entries_start: HEADER_BYTES,
            entries_end,
            entries: self.entries,
            restart_count: pairs.len() / stride,
            restarts: Restarts::Every(stride as u32),
            has_bounds: false,
            index: BlockIndex::None,
            index_len: 0,
        })
    }
}

/// The number of bytes of a block before its pairs.
const HEADER_BYTES: usize = 2;

/// The bytes that each entry takes in a block of the format "btree-page", in addition to its key and value: a slot and
/// two lengths.
const PAGE_BYTES_PER_PAIR: usize = 10;

/// The block format of fixed-size pairs. `others` is the format of blocks with entries that cannot be pairs.
pub(crate) struct FixedPairs {
    form: Form,
    others: Box<dyn BlockFormat>,
}

impl FixedPairs {
    pub(crate) fn new(form: Form) -> Self {
        let page = CATALOG
            .variant("btree-page")
            .expect("the catalog of block formats must contain \"btree-page\"")
            .default_choice();
        Self {
            form,
            others: CATALOG
                .build(&page)
                .expect("the block format \"btree-page\" must be buildable with its default parameters"),
        }
    }
}

impl BlockFormat for FixedPairs {
    fn code(&self) -> u8 {
        self.form.code
    }

    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout> {
        let layout = self.form.layout_until(block, footer.index_at)?;
        (layout.restart_count == footer.restart_count).then_some(Layout {
            index: footer.index,
            index_len: footer.index_len,
            ..layout
        })
    }

    fn layout_without_footer(&self, block: &[u8]) -> Option<Layout> {
        let (mark, before) = block.split_last()?;
        if *mark == self.form.mark() { self.form.layout_until(block, before.len()) } else { None }
    }

    fn writer(&self, options: &BlockOptions) -> Box<dyn EntryWriter> {
        Box::new(Writer {
            form: self.form,
            is_indexed: options.index != BlockIndex::None,
            sizes: [0; HEADER_BYTES],
            pairs: Vec::new(),
            others: self.others.writer(options),
            has_others: false,
        })
    }
}

/// Returns the size of a pair in bytes: the size of its key plus the size of its value.
fn stride([key, value]: [u8; HEADER_BYTES]) -> usize {
    usize::from(key) + usize::from(value)
}

/// Encodes one block after another as key-value pairs of fixed size.
struct Writer {
    form: Form,
    is_indexed: bool,
    /// The size of the key and the size of the value of every entry of the block.
    sizes: [u8; HEADER_BYTES],
    /// The encoded pairs of the block. Empty if `has_others` is true.
    pairs: Vec<u8>,
    /// The writer that receives all entries of the block if they cannot all be stored as pairs of one size. This writer
    /// has the layout "btree-page".
    others: Box<dyn EntryWriter>,
    /// Whether the entries of the block cannot all be stored as pairs of one size. If so, the writer `others` has all
    /// entries of the block.
    has_others: bool,
}

impl Writer {
    /// Returns whether the block can store all its entries and this entry as pairs of one size.
    fn has_pairs_with(&self, entry: &Entry<'_>) -> bool {
        !self.has_others
            && self.form.sizes(entry).is_some_and(|sizes| self.pairs.is_empty() || sizes == self.sizes)
    }

    /// Passes all entries of the block to the writer `others`, because the next entry cannot be stored as a pair.
    fn move_to_others(&mut self, draft: &mut Draft) {
        self.has_others = true;
        for pair in self.pairs.chunks_exact(stride(self.sizes).max(1)) {
            self.others.add(draft, &self.form.entry(pair.split_at(usize::from(self.sizes[0]))));
        }
        self.pairs.clear();
    }
}

impl EntryWriter for Writer {
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>) {
        if !self.has_pairs_with(entry) {
            self.move_to_others(draft);
            return self.others.add(draft, entry);
        }
        if self.pairs.is_empty() {
            self.sizes = self.form.sizes(entry).unwrap_or_default();
        }
        self.pairs.extend_from_slice(entry.key);
        self.pairs.extend_from_slice(self.form.stored_value(entry).unwrap_or_default());
        draft.set_last_key(0, entry.key);
    }

    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize {
        if !self.has_pairs_with(entry) {
            let moved = self.pairs.len() / stride(self.sizes).max(1);
            return self.others.bytes_with(draft, entry) + moved * PAGE_BYTES_PER_PAIR + self.pairs.len();
        }
        let behind = if self.is_indexed { BLOCK_FOOTER_BYTES } else { 1 };
        let pair = entry.key.len() + self.form.stored_value(entry).map_or(0, <[u8]>::len);
        HEADER_BYTES + self.pairs.len() + pair + behind
    }

    fn finish(&mut self, draft: &mut Draft) {
        if std::mem::take(&mut self.has_others) {
            return self.others.finish(draft);
        }
        draft.bytes.extend_from_slice(&self.sizes);
        draft.bytes.extend_from_slice(&self.pairs);
        match self.is_indexed {
            true => draft.end(self.form.code, self.pairs.len() / stride(self.sizes).max(1), 1),
            false => draft.bytes.push(self.form.mark()),
        }
        self.pairs.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use tree::block::{BlockBuilder, Found, TRAILER_BYTES, find, layout_of};
    use types::{HashedKey, KeyHash};

    use super::*;
    use crate::testing::register;

    const PAGE_BYTES: usize = 4096 - TRAILER_BYTES;

    /// Returns the format from its catalog.
    fn format() -> &'static dyn BlockFormat {
        static FORMAT: LazyLock<Box<dyn BlockFormat>> = LazyLock::new(|| {
            register();
            CATALOG.build(&VARIANT.default_choice()).unwrap()
        });
        &**FORMAT
    }

    /// Returns the number of entries that fit into a block of one page.
    fn fill(index: BlockIndex, entry: impl Fn(u32) -> (Vec<u8>, Option<Vec<u8>>)) -> (usize, Vec<u8>) {
        let mut builder = BlockBuilder::new(format(), &BlockOptions { index, ..BlockOptions::default() });
        for number in 0.. {
            let (key, value) = entry(number);
            let entry = Entry { key: &key, value: value.as_deref() };
            if builder.would_exceed(&entry, PAGE_BYTES) {
                return (number as usize, builder.finish(<[u8]>::to_vec));
            }
            builder.add(entry, KeyHash(0));
        }
        unreachable!("a block is full at some time")
    }

    fn pair(number: u32) -> (Vec<u8>, Option<Vec<u8>>) {
        (number.to_be_bytes().to_vec(), Some(number.to_le_bytes().to_vec()))
    }

    #[test]
    fn a_page_holds_510_pairs_as_the_document_says() {
        let (pairs, block) = fill(BlockIndex::None, pair);
        assert_eq!((pairs, block.len()), (510, PAGE_BYTES));
        let long = |number: u32| (u64::from(number).to_be_bytes().to_vec(), Some(vec![0; size_of::<u64>()]));
        assert_eq!(fill(BlockIndex::None, long).0, 255);
        assert_eq!(fill(BlockIndex::Fingerprint, pair).0, 452, "with a byte for each, and a footer");
    }

    #[test]
    fn what_is_no_pair_of_that_size_makes_it_another_block() {
        for other in [(vec![0, 0, 0, 200], None), (vec![0, 0, 0, 200, 0], Some(vec![0; 4]))] {
            let entry = |number: u32| if number == 200 { other.clone() } else { pair(number) };
            let (entries, block) = fill(BlockIndex::None, entry);
            assert!((220..230).contains(&entries), "{entries}");
            for (key, value) in (0..entries as u32).map(entry) {
                let hashed = HashedKey { bytes: &key, hash: KeyHash(0) };
                match (find(&block, hashed).unwrap(), value) {
                    (Found::Value(place), Some(value)) => assert_eq!(block[place], value),
                    (found, value) => assert_eq!((found, value), (Found::Tombstone, None)),
                }
            }
        }
        // In the other layout, these entries would exceed the block, so the block ends before the first entry of
        // another size.
        let late =
            |number: u32| if number == 300 { (number.to_be_bytes().to_vec(), None) } else { pair(number) };
        assert_eq!(fill(BlockIndex::None, late).0, 300);
    }

    #[test]
    fn a_block_without_a_tail_is_known_by_its_end() {
        let (_, block) = fill(BlockIndex::None, pair);
        assert!(layout_of(&block).is_some());
        assert!(layout_of(&block[..block.len() - 1]).is_none());
        for sizes in [[0, 8], [4, 5], [255, 254]] {
            let damaged = [&sizes, &block[HEADER_BYTES..]].concat();
            assert!(layout_of(&damaged).is_none(), "{sizes:?}");
        }
        let mark = PAIRS.mark();
        assert!([&[][..], &[mark], &[4, 4, mark]].iter().all(|block| layout_of(block).is_none()));
    }
}
