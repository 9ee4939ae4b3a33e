//! Plain blocks: a sequence of entries without an index. cs265 prints this format.
//!
//! The document prints two versions with different headers. Version 1 (section 2.3.1) has a magic number, the
//! version, flags and a count. Version 2 (section 3.6.1, the code that serialises) has a count and the smallest and
//! the largest key. In lsmbench, the lengths, the compression and the checksum of both versions are in the block
//! trailer, as for every block. The keys of the document are numbers of eight bytes. The keys of lsmbench have a
//! length. If all entries have one size, lsmbench computes the position of an entry from this size, and finds keys by
//! binary search, as in section 2.3.1. Other entries are scanned from the start of the block.
//!
//! ```text
//! version 1   u32 "usbl", u8 1, u8 0, u16 entries, u32 stride
//! version 2   u32 entries, u32 length and smallest key, u32 length and largest key, u32 stride
//! entry*      see `append_whole`
//! ```
//!
//! The stride is the common size of all entries, or 0 if sizes differ.

use catalog::{Build, Variant, origin};
use serde::{Deserialize, Serialize};
use tree::BlockOptions;
use tree::block::{BlockFooter, BlockFormat, Draft, Entries, EntryWriter, Layout, Restarts, append_whole};
use types::Entry;

/// The block formats of cs265.
pub static VARIANT: Variant<dyn BlockFormat> = Variant::new::<Plain>(
    "plain",
    "entries with full keys; binary search if all have equal size, otherwise a linear search (cs265)",
    "# Version of the format in cs265, 1 or 2. Section 2.3.1 describes version 1. Version 2 (section\n\
     # 3.6.1) also stores the smallest and the largest key of the block.\n\
     version = 2\n",
)
.from(origin!());

/// The code of this format in block footers.
const CODE: u8 = 1;

/// Magic number of version 1: "usbl", as a little-endian number.
const MAGIC: u32 = 0x7573_626c;

/// Bytes of the header of version 1.
const HEADER_1_BYTES: usize = 12;

/// Bytes of the header of version 2 without the two keys.
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

/// The block format of one of the two versions.
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
        let start = entries_start(block.get(..footer.index_at)?)?;
        let stride = number_before(block, start)? as usize;
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

/// Reads the four-byte number that ends at `end`; `None` if fewer than four bytes precede `end`.
fn number_before(block: &[u8], end: usize) -> Option<u32> {
    block.get(..end)?.last_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Returns the offset of the first entry, after the header and the stride. Returns `None` if the block is too short
/// for the header and the stride.
fn entries_start(block: &[u8]) -> Option<usize> {
    let mut stride_at = HEADER_1_BYTES - size_of::<u32>();
    if number_before(block, size_of::<u32>())? != MAGIC {
        stride_at = size_of::<u32>();
        for _ in 0..2 {
            let key_at = stride_at + size_of::<u32>();
            stride_at = key_at.checked_add(number_before(block, key_at)? as usize)?;
        }
    }
    let start = stride_at.checked_add(size_of::<u32>())?;
    (start <= block.len()).then_some(start)
}

/// Writes the entries of consecutive blocks.
struct Writer {
    format: Plain,
    smallest: Vec<u8>,
    entries: Vec<u8>,
    count: u32,
    /// The common size of all entries so far, or 0 if sizes differ.
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
        } else {
            out.extend_from_slice(&MAGIC.to_le_bytes());
            out.extend_from_slice(&[1, 0]);
            out.extend_from_slice(&(self.count as u16).to_le_bytes());
        }
        out.extend_from_slice(&(self.stride as u32).to_le_bytes());
        out.extend_from_slice(&self.entries);
        match self.stride {
            0 => draft.end(CODE, 1, self.count as usize),
            _ => draft.end(CODE, self.count as usize, 1),
        }
        self.entries.clear();
        self.count = 0;
    }
}
