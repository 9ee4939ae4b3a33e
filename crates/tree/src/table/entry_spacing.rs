//! How far apart the entries of a table begin, where they are large: what a walk asks memory for.
//!
//! A walk reads the lengths and the key of each entry; values are read by whoever wants them. Of entries that take many
//! cache lines it needs few, and asking for all takes as long as memory does to bring them: of a block of 4 KiB with four
//! values of 1000 bytes, 64 lines for some 8.

use std::ops::Range;

use prefetch::{LINE_BYTES, prefetch_all};

use super::block_footer::BLOCK_FOOTER_BYTES;
use super::directory::Directory;
use super::properties::Properties;
use super::trailer::TRAILER_BYTES;

/// What stands before the key of an entry, at most, where lengths are short.
const LENGTHS_BYTES: usize = 8;

/// An entry is large if it takes so many times the bytes that are asked for of it.
const LARGE: usize = 4;

/// The distance between entries, if a block begins with its entries and all have one size, and what is asked for of each, in
/// bytes. A walk waits for each that begins elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntrySpacing {
    step: usize,
    /// How far before a step what is asked for begins.
    early: usize,
    asked: usize,
}

impl EntrySpacing {
    /// The distance between the entries of a table; `None` where they are small, or where stored bytes do not tell it:
    /// those of compressed blocks, and of blocks that are filled up to whole pages.
    pub(super) fn of(properties: &Properties, directory: &Directory) -> Option<Self> {
        let entries = properties.entries.max(1);
        let around = u64::from(directory.len()) * (TRAILER_BYTES + BLOCK_FOOTER_BYTES) as u64;
        let stored = directory.data_bytes().saturating_sub(around);
        if stored < properties.value_bytes || matches!(directory, Directory::Aligned { .. }) {
            return None;
        }
        let step = (stored / entries) as usize;
        // The first key of a block stands there whole, so that other entries begin up to as many bytes behind the step. Restart
        // points, too, take bytes, which makes the step longer than entries are: by a byte or two, or, where a second key
        // stands there whole, by a few.
        let key_bytes = (properties.key_bytes / entries) as usize;
        let early = LENGTHS_BYTES + key_bytes / 2;
        let asked = early + LENGTHS_BYTES + 2 * key_bytes;
        let is_large = step >= LARGE * asked.max(LINE_BYTES);
        is_large.then_some(Self { step, early, asked })
    }

    /// Asks memory for the lengths and keys in a block, or behind one of its restart points.
    #[inline]
    pub(super) fn prefetch(self, block: &[u8]) {
        for part in self.parts(block.len()) {
            prefetch_all(&block[part]);
        }
    }

    /// Where lengths and keys stand in a block of `len` bytes.
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

    /// A block with as many values of `bytes` bytes as fit in 4 KiB, their number, and the stride of a table of such blocks
    /// that are stored in so many bytes less.
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
