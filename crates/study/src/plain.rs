//! Plain blocks: a sequence of entries without an index. The published system cs265 prints this format.
//!
//! The document prints two versions with different headers, which exclude each other (contradiction S53 in the report).
//! Version 1 (section 2.3.1) has a magic number, the version, flags, a count, two sizes and a checksum, 20 bytes.
//! Version 2 (section 3.6.1, the code that serializes a block) has a count and the smallest and the largest key.
//!
//! In lsmbench, a block is encoded in its format first and compressed afterwards, so the lengths, the codec and the
//! checksum of the compressed block are in the block trailer. A header of version 1 therefore describes a block without
//! compression. Its flags name no codec, and both of its sizes are the size of the entries. Every search in a block of
//! version 1 verifies the checksum of the header, a CRC-32C over the header and the entries.
//!
//! The keys of the document are numbers of eight bytes. Keys in lsmbench can have any length, so each entry also stores
//! the length of its key. If all entries have one size, lsmbench computes the position of an entry from this size, and
//! finds keys by binary search, as in section 2.3.1. If the sizes differ, a search reads the entries from the start of
//! the block.
//!
//! ```text
//! version 1   u32 "usbl", u8 1, u8 flags, u16 entries, u32 size, u32 size before compression, u32 CRC-32C
//! version 2   u32 entries, u32 length and smallest key, u32 length and largest key, u32 stride
//! entry*      see `append_whole`
//! ```
//!
//! The stride is the common size of all entries, or 0 if sizes differ. In version 1, bit 4 of the flags is set if all
//! entries have one size. The bits 0 to 3 belong to compression.

use catalog::{Build, Variant, origin};
use crc_fast::{CrcAlgorithm, Digest};
use serde::{Deserialize, Serialize};
use tree::BlockOptions;
use tree::block::{BlockFooter, BlockFormat, Draft, Entries, EntryWriter, Layout, Restarts, append_whole};
use types::Entry;

/// The block format `plain` of the published system cs265, in the two versions that its document prints.
pub static VARIANT: Variant<dyn BlockFormat> = Variant::new::<Plain>(
    "plain",
    "entries with full keys; binary search if all entries have equal size, otherwise a linear search \
     (cs265)",
    "# Version of the format in cs265, 1 or 2. Section 2.3.1 describes version 1. Version 2 (section\n\
     # 3.6.1) also stores the smallest and the largest key of the block.\n\
     version = 2\n",
)
.from(origin!());

/// The number that identifies this block format in block footers.
const CODE: u8 = 1;

/// The first four bytes of a block of version 1: "usbl", as a little-endian number.
const MAGIC: u32 = 0x7573_626c;

/// Size in bytes of the header of a block of version 1, as the published system cs265 prints it.
const HEADER_1_BYTES: usize = 20;

/// Number of bytes of the header of version 1 before its checksum.
const CHECKED_BYTES: usize = HEADER_1_BYTES - size_of::<u32>();

/// The flag in the header of version 1 for blocks whose entries all have one size.
const EQUAL_SIZES: u8 = 1 << 4;

/// Size in bytes of the header of a block of version 2, without the smallest and the largest key.
const HEADER_2_BYTES: usize = 16;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    version: u8,
}

impl Default for Params {
    fn default() -> Self {
        Self { version: 2 }
    }
}

/// The block format `plain` in one of its two versions.
#[derive(Clone, Copy)]
struct Plain {
    has_bounds: bool,
}

impl Build<dyn BlockFormat> for Plain {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn BlockFormat>, String> {
        match params.version {
            1 | 2 => Ok(Box::new(Self { has_bounds: params.version == 2 })),
            other => Err(format!("version is {other}; it must be 1 or 2, the versions that cs265 prints")),
        }
    }
}

impl BlockFormat for Plain {
    fn code(&self) -> u8 {
        CODE
    }

    fn layout(&self, block: &[u8], footer: &BlockFooter) -> Option<Layout> {
        let (start, stride) = entries_start(block.get(..footer.index_at)?, footer.restart_count)?;
        let end = footer.index_at;
        let (stride, fits) = match stride {
            0 => (end - start, footer.restart_count == 1),
            stride => (stride, end > start && footer.restart_count.checked_mul(stride) == Some(end - start)),
        };
        fits.then_some(Layout {
            entries_start: start,
            entries_end: end,
            entries: Entries::Whole,
            restart_count: footer.restart_count,
            restarts: Restarts::Every(stride as u32),
            has_bounds: !block.starts_with(&MAGIC.to_le_bytes()),
            index: footer.index,
            index_len: footer.index_len,
        })
    }

    fn writer(&self, _: &BlockOptions) -> Box<dyn EntryWriter> {
        let format = *self;
        Box::new(Writer { format, smallest: Vec::new(), entries: Vec::new(), count: 0, stride: 0 })
    }
}

/// Reads the four-byte number that ends at the offset `end` of a block. Returns `None` if fewer than four bytes precede
/// `end`.
fn number_before(block: &[u8], end: usize) -> Option<u32> {
    block.get(..end)?.last_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Returns the offset of the first entry of a block, and the size of its entries (0 if the sizes differ). `restarts` is
/// the number of restart points of the block. Returns `None` if the header does not match the block.
fn entries_start(block: &[u8], restarts: usize) -> Option<(usize, usize)> {
    if number_before(block, size_of::<u32>())? == MAGIC {
        return first_version(block, restarts);
    }
    let mut stride_at = size_of::<u32>();
    for _ in 0..2 {
        let key_at = stride_at + size_of::<u32>();
        stride_at = key_at.checked_add(number_before(block, key_at)? as usize)?;
    }
    let start = stride_at.checked_add(size_of::<u32>())?;
    Some((start, number_before(block, start)? as usize))
}

/// Checks the header of a block of version 1. Returns the offset of the first entry, and the size of the entries (0 if
/// the sizes differ).
fn first_version(block: &[u8], restarts: usize) -> Option<(usize, usize)> {
    let (header, entries) = block.split_first_chunk::<HEADER_1_BYTES>()?;
    let bytes = entries.len() as u32;
    let (flags, count) = (header[5], u16::from_le_bytes([header[6], header[7]]));
    let has_equal_sizes = flags == EQUAL_SIZES && count == restarts as u16 && restarts > 0;
    let is_sound = header[4] == 1
        && (has_equal_sizes || flags == 0)
        && [12, 16].into_iter().all(|end| number_before(header, end) == Some(bytes))
        && number_before(header, HEADER_1_BYTES) == Some(header_checksum(&header[..CHECKED_BYTES], entries));
    is_sound.then(|| (HEADER_1_BYTES, if has_equal_sizes { entries.len() / restarts } else { 0 }))
}

/// Returns the checksum of a block of version 1: the CRC-32C of the header before the checksum, and of the entries.
fn header_checksum(header: &[u8], entries: &[u8]) -> u32 {
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    digest.update(header);
    digest.update(entries);
    digest.finalize() as u32
}

/// Encodes the entries of one block after another.
struct Writer {
    format: Plain,
    smallest: Vec<u8>,
    entries: Vec<u8>,
    count: u32,
    /// The size of every entry of the block so far, or 0 if the sizes differ.
    stride: usize,
}

impl EntryWriter for Writer {
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>) {
        let start = self.entries.len();
        append_whole(entry, &mut self.entries);
        let size = self.entries.len() - start;
        if self.count == 0 {
            self.smallest.clear();
            self.smallest.extend_from_slice(entry.key);
            self.stride = size;
        } else if self.stride != size {
            self.stride = 0;
        }
        self.count += 1;
        draft.set_last_key(0, entry.key);
    }

    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize {
        let header = match self.format.has_bounds {
            true => HEADER_2_BYTES + self.smallest.len() + entry.key.len(),
            false => HEADER_1_BYTES,
        };
        draft.bytes_with(entry, header + self.entries.len())
    }

    fn finish(&mut self, draft: &mut Draft) {
        let out = &mut draft.bytes;
        if self.format.has_bounds {
            out.extend_from_slice(&self.count.to_le_bytes());
            for key in [&self.smallest, &draft.last_key] {
                out.extend_from_slice(&(key.len() as u32).to_le_bytes());
                out.extend_from_slice(key);
            }
            out.extend_from_slice(&(self.stride as u32).to_le_bytes());
        } else {
            let start = out.len();
            out.extend_from_slice(&MAGIC.to_le_bytes());
            out.extend_from_slice(&[1, if self.stride > 0 { EQUAL_SIZES } else { 0 }]);
            out.extend_from_slice(&(self.count as u16).to_le_bytes());
            // The two size fields are equal, because blocks are compressed only after this encoding.
            let size = (self.entries.len() as u32).to_le_bytes();
            out.extend_from_slice(&[size, size].concat());
            let sum = header_checksum(&out[start..], &self.entries);
            out.extend_from_slice(&sum.to_le_bytes());
        }
        out.extend_from_slice(&self.entries);
        match self.stride {
            0 => draft.end(CODE, 1, self.count as usize),
            _ => draft.end(CODE, self.count as usize, 1),
        }
        self.entries.clear();
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use tree::block::{BlockBuilder, layout_of};
    use types::KeyHash;

    use super::*;
    use crate::testing::register;

    /// Builds a block of version 1 with 10 entries. The keys have four bytes, and the values have the given lengths in
    /// turn.
    fn block(value_bytes: [usize; 2]) -> Vec<u8> {
        static FORMAT: LazyLock<Box<dyn BlockFormat>> = LazyLock::new(|| {
            register();
            Plain::build(Params { version: 1 }).unwrap()
        });
        let mut builder = BlockBuilder::new(&**FORMAT, &BlockOptions::default());
        for number in 0u32..10 {
            let value = vec![b'v'; value_bytes[number as usize % 2]];
            builder.add(Entry { key: &number.to_be_bytes(), value: Some(&value) }, KeyHash(0));
        }
        builder.finish(<[u8]>::to_vec)
    }

    #[test]
    fn the_header_of_version_1_is_as_printed() {
        for (value_bytes, flags, entry_bytes) in [([4, 4], EQUAL_SIZES, 160u32), ([4, 6], 0, 170)] {
            let block = block(value_bytes);
            assert_eq!(block[..4], 0x7573_626c_u32.to_le_bytes(), "magic");
            assert_eq!(block[4..8], [1, flags, 10, 0], "version, flags, count");
            assert_eq!(block[8..12], entry_bytes.to_le_bytes(), "size");
            assert_eq!(block[12..16], entry_bytes.to_le_bytes(), "size before compression");
            let covered = [&block[..16], &block[20..][..entry_bytes as usize]].concat();
            let sum = crc_fast::checksum(CrcAlgorithm::Crc32Iscsi, &covered) as u32;
            assert_eq!(block[16..20], sum.to_le_bytes(), "CRC-32C");
        }
    }

    #[test]
    fn a_changed_byte_is_detected_by_the_header() {
        for value_bytes in [[4, 4], [4, 6]] {
            let sound = block(value_bytes);
            assert!(layout_of(&sound).is_some());
            // Without the magic number, the block is read as one of version 2.
            for at in 4..HEADER_1_BYTES + 150 {
                let mut changed = sound.clone();
                changed[at] ^= 1;
                assert!(layout_of(&changed).is_none(), "byte {at}");
            }
        }
    }
}
