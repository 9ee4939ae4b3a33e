//! The expected positions of large entries in the data blocks of an SSTable. With these positions, a scan prefetches
//! only the lengths and keys of the entries.
//!
//! A scan reads the lengths and the key of each entry. The scan reads the values later or not at all. A large entry
//! takes many cache lines, but a scan reads only a few of them. Prefetching all cache lines would take too much memory
//! bandwidth. For example, a 4 KiB block with four values of 1000 bytes has 64 cache lines, of which a scan needs about
//! 8.

use std::ops::Range;

use prefetch::{LINE_BYTES, prefetch_all};

use super::block_footer::BLOCK_FOOTER_BYTES;
use super::directory::Directory;
use super::properties::Properties;
use super::trailer::TRAILER_BYTES;

/// The expected maximum size, in bytes, of the encoded lengths in front of the key of an entry.
const LENGTHS_BYTES: usize = 8;

/// The minimum size of a large entry, as a multiple of the number of bytes that a scan prefetches of it. A scan
/// prefetches only the lengths and the key of a large entry.
const LARGE: usize = 4;

/// The expected positions of the entries in the data blocks of an SSTable, so that a scan prefetches only their lengths
/// and keys.
///
/// The computation assumes that a block begins with its entries and that all entries have equal sizes. If an entry is
/// at another position, the scan only has a cache miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntrySpacing {
    step: usize,
    /// The number of bytes that are prefetched before the expected start of an entry.
    early: usize,
    asked: usize,
}

impl EntrySpacing {
    /// Returns the expected positions of the entries in the data blocks of an SSTable. Returns `None` if the entries
    /// are small, or if the stored sizes do not determine the positions. Examples are compressed blocks, and blocks
    /// that are padded to whole pages.
    pub(super) fn of(properties: &Properties, directory: &Directory) -> Option<Self> {
        let entries = properties.entries.max(1);
        let around = u64::from(directory.len()) * (TRAILER_BYTES + BLOCK_FOOTER_BYTES) as u64;
        let stored = directory.data_bytes().saturating_sub(around);
        if stored < properties.value_bytes || directory.is_aligned() {
            return None;
        }
        let step = (stored / entries) as usize;
        // The first key of a block is a full key. Other entries therefore begin later than a multiple of the step, by
        // up to the length of a key. Restart points also take space, so the step is longer than an entry. The
        // difference is one or two bytes, or a few bytes if the block has a second full key.
        let key_bytes = (properties.key_bytes / entries) as usize;
        let early = LENGTHS_BYTES + key_bytes / 2;
        let asked = early + LENGTHS_BYTES + 2 * key_bytes;
        let is_large = step >= LARGE * asked.max(LINE_BYTES);
        is_large.then_some(Self { step, early, asked })
    }

    /// Prefetches the lengths and keys of the entries in `block`, which is a data block, or the part of a data block
    /// that begins at a restart point.
    #[inline]
    pub(super) fn prefetch(self, block: &[u8]) {
        for part in self.parts(block.len()) {
            prefetch_all(&block[part]);
        }
    }

    /// Returns the byte ranges of a data block of `len` bytes at which the lengths and keys of its entries are
    /// expected.
    #[inline]
    fn parts(self, len: usize) -> impl Iterator<Item = Range<usize>> {
        (0..len).step_by(self.step).map(move |at| {
            let start = at.saturating_sub(self.early);
            start..(start + self.asked).min(len)
        })
    }
}

#[cfg(test)]
mod tests {
    use types::{Entry, KeyHash};

    use super::super::block_builder::BlockBuilder;
    use super::super::delta::Delta;
    use super::super::formats::layout_of;
    use super::*;
    use crate::checksum::Checksum;
    use crate::design::BlockOptions;

    /// Returns a 4 KiB block that is filled with values of `bytes` bytes, the number of its entries, and the spacing
    /// of its table. Each stored block of the table is `saved` bytes shorter.
    fn table(bytes: usize, saved: usize) -> (Vec<u8>, u64, Option<EntrySpacing>) {
        let mut builder = BlockBuilder::new(&Delta, &BlockOptions::default());
        let value = vec![7; bytes];
        let mut entries = 0;
        loop {
            let key = format!("user{:016}", entries * 77);
            let entry = Entry { key: key.as_bytes(), value: Some(&value) };
            if entries > 0 && builder.would_exceed(&entry, 4096) {
                break;
            }
            builder.add(entry, KeyHash(0));
            entries += 1;
        }
        let block = builder.finish(<[u8]>::to_vec);
        let mut directory = Directory::new(None);
        directory.push(block.len() + TRAILER_BYTES - saved);
        let properties = Properties {
            entries,
            tombstones: 0,
            key_bytes: 20 * entries,
            value_bytes: bytes as u64 * entries,
            largest_block_bytes: block.len() as u64,
            smallest: Vec::new().into(),
            largest: Vec::new().into(),
            bloom: String::new(),
            fence: String::new(),
            hash: String::new(),
            checksum: Checksum::Crc32c,
            is_filter_apart: false,
            dictionaries: Vec::new(),
        };
        (block, entries, EntrySpacing::of(&properties, &directory))
    }

    #[test]
    fn lengths_and_keys_of_large_entries_are_asked_for_and_little_else() {
        for bytes in [400, 500, 1000, 2000, 5000] {
            let (block, entries, stride) = table(bytes, 0);
            let parts: Vec<_> = stride.unwrap().parts(block.len()).collect();
            let layout = layout_of(&block).unwrap();
            let mut at = layout.entries_start;
            while at < layout.entries_end {
                let entry = layout.entry(&block, at).unwrap();
                let head = at..entry.suffix.end;
                let holds = |part: &Range<usize>| part.start <= head.start && head.end <= part.end;
                assert!(parts.iter().any(holds), "{bytes}: {head:?} of {parts:?}");
                at = entry.value.end;
            }
            assert!(parts.len() as u64 <= entries + 1, "{bytes}: {} for {entries}", parts.len());
        }
    }

    #[test]
    fn small_entries_and_compressed_ones_have_none() {
        for bytes in [0, 8, 100, 200] {
            assert_eq!(table(bytes, 0).2, None, "{bytes}");
        }
        assert_eq!(table(1000, 100).2, None);
    }
}
