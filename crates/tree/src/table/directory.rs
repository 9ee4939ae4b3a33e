//! The block directory, which returns the position of each data block in the file of an SSTable. The directory is a
//! list of offsets. For aligned blocks, the directory computes the offsets instead.

use std::ops::Range;

use crate::codec::{Reader, put_varint};

/// The block directory of an SSTable: the position of each data block in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directory {
    /// The offset of the first data block in the file of the SSTable.
    start: u64,
    lengths: Lengths,
}

/// The positions of the data blocks of an SSTable, relative to the first data block.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Lengths {
    /// Blocks of any length. The list contains the end of each block, relative to the start of the first block. A block
    /// begins at the end of the previous block.
    Ends(Vec<u32>),
    /// Blocks that are padded to whole pages. Every block takes one page, except the blocks in the list `long`.
    Aligned {
        /// The size of a page, to which blocks are padded, in bytes.
        page_bytes: u32,
        /// The number of data blocks in the SSTable.
        blocks: u32,
        /// The data blocks that take more than one page, in ascending order of their numbers.
        long: Vec<LongBlock>,
    },
}

/// A data block that takes more than one page, in an SSTable whose blocks are padded to whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongBlock {
    /// The number of the data block in its SSTable.
    block: u32,
    /// The number of pages that the data block takes in addition to its first page.
    extra_pages: u32,
    /// The sum of `extra_pages` over all earlier blocks that take more than one page. This sum gives the position of
    /// the block without a loop.
    extra_before: u32,
}

/// The offset and the stored length of a data block in an SSTable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockPlace {
    /// The offset of the data block in the file of its SSTable.
    pub(super) offset: u64,
    /// The length of the data block in the file with its trailer, in bytes.
    pub(super) len: usize,
}

impl Directory {
    /// Creates an empty block directory. `align` is the page size of aligned blocks, in bytes, or `None` if blocks are
    /// not aligned.
    pub(super) fn new(align: Option<u32>) -> Self {
        Self { start: 0, lengths: Lengths::new(align) }
    }

    /// Sets the offset of the first data block in the file of the SSTable. The directory must be empty. If blocks are
    /// aligned, the offset must be a multiple of the page size.
    pub(super) fn begin_at(&mut self, start: u64) {
        self.start = start;
    }

    /// Adds the next data block, which takes `len` bytes of the file. If blocks are aligned, `len` must be a multiple
    /// of the page size.
    pub(super) fn push(&mut self, len: usize) {
        self.lengths.push(len);
    }

    /// Returns the number of data blocks of the SSTable.
    pub(super) fn len(&self) -> u32 {
        self.lengths.len()
    }

    /// Returns whether each data block of the SSTable is padded to whole pages.
    pub(super) fn is_aligned(&self) -> bool {
        matches!(self.lengths, Lengths::Aligned { .. })
    }

    /// Returns the position of the data block number `block` in the file of the SSTable. Returns `None` if the SSTable
    /// has no such block.
    #[inline]
    pub(super) fn place(&self, block: u32) -> Option<BlockPlace> {
        let place = self.lengths.place(block)?;
        Some(BlockPlace { offset: self.start + place.offset, ..place })
    }

    /// Returns the total size of all data blocks of the SSTable in the file, in bytes.
    pub(super) fn data_bytes(&self) -> u64 {
        self.lengths.data_bytes()
    }

    /// Returns the byte range of the SSTable file that contains the data blocks.
    pub(super) fn range(&self) -> Range<u64> {
        self.start..self.start + self.data_bytes()
    }

    /// Returns the memory that the block directory takes, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.lengths.memory_bytes()
    }

    /// Appends the encoded directory to `out`. The encoding omits the offset of the first data block.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        self.lengths.encode(out);
    }

    /// Decodes the block directory of an SSTable. `data` is the byte range of the data blocks in the file. The first
    /// block begins at the start of `data`, or at the next page if blocks are aligned.
    ///
    /// Returns `None` if the directory is corrupt, or if the last block does not end at the end of `data`.
    pub(super) fn decode(reader: &mut Reader<'_>, data: Range<u64>) -> Option<Self> {
        let page_bytes = u32::try_from(reader.varint()?).ok()?;
        let blocks = u32::try_from(reader.varint()?).ok()?;
        let start = data.start.checked_next_multiple_of(u64::from(page_bytes.max(1)))?;
        let bytes = data.end.checked_sub(start)?;
        let lengths = match page_bytes {
            0 => Lengths::decode_ends(reader, blocks, bytes)?,
            _ => Lengths::decode_aligned(reader, page_bytes, blocks, bytes)?,
        };
        (lengths.data_bytes() == bytes).then_some(Self { start, lengths })
    }
}

impl Lengths {
    /// Creates an empty list of block positions. `align` is the page size of aligned blocks, in bytes, or `None` if
    /// blocks are not aligned.
    fn new(align: Option<u32>) -> Self {
        match align {
            Some(page_bytes) => Self::Aligned { page_bytes, blocks: 0, long: Vec::new() },
            None => Self::Ends(Vec::new()),
        }
    }

    /// Adds the next data block, which takes `len` bytes of the file. If blocks are aligned, `len` must be a multiple
    /// of the page size.
    fn push(&mut self, len: usize) {
        match self {
            Self::Ends(ends) => ends.push(ends.last().copied().unwrap_or(0) + len as u32),
            Self::Aligned { page_bytes, blocks, long } => {
                let pages = len as u32 / *page_bytes;
                if pages > 1 {
                    let extra_before = long.last().map_or(0, |last| last.extra_before + last.extra_pages);
                    long.push(LongBlock { block: *blocks, extra_pages: pages - 1, extra_before });
                }
                *blocks += 1;
            }
        }
    }

    /// Returns the number of data blocks in the list.
    fn len(&self) -> u32 {
        match self {
            Self::Ends(ends) => ends.len() as u32,
            Self::Aligned { blocks, .. } => *blocks,
        }
    }

    /// Returns the position of the data block number `block`, relative to the first block. Returns `None` if the list
    /// has no such block.
    #[inline]
    fn place(&self, block: u32) -> Option<BlockPlace> {
        match self {
            Self::Ends(ends) => {
                let end = *ends.get(block as usize)?;
                let start = if block == 0 { 0 } else { ends[block as usize - 1] };
                Some(BlockPlace { offset: u64::from(start), len: (end - start) as usize })
            }
            Self::Aligned { page_bytes, blocks, long } => {
                if block >= *blocks {
                    return None;
                }
                let before = long.partition_point(|long| long.block < block);
                let extra_before =
                    before.checked_sub(1).map_or(0, |last| long[last].extra_before + long[last].extra_pages);
                let extra =
                    long.get(before).filter(|long| long.block == block).map_or(0, |long| long.extra_pages);
                let first_page = u64::from(block) + u64::from(extra_before);
                Some(BlockPlace {
                    offset: first_page * u64::from(*page_bytes),
                    len: (1 + extra as usize) * *page_bytes as usize,
                })
            }
        }
    }

    /// Returns the total size of all data blocks in the list, in bytes.
    fn data_bytes(&self) -> u64 {
        match self.len().checked_sub(1).and_then(|last| self.place(last)) {
            Some(last) => last.offset + last.len as u64,
            None => 0,
        }
    }

    /// Returns the memory that the list of block positions takes, in bytes.
    fn memory_bytes(&self) -> usize {
        match self {
            Self::Ends(ends) => ends.len() * size_of::<u32>(),
            Self::Aligned { long, .. } => long.len() * size_of::<LongBlock>(),
        }
    }

    /// Appends the encoded list of block positions to `out`.
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Ends(_) => {
                put_varint(out, 0);
                put_varint(out, u64::from(self.len()));
                (0..self.len())
                    .filter_map(|block| self.place(block))
                    .for_each(|place| put_varint(out, place.len as u64));
            }
            Self::Aligned { page_bytes, blocks, long } => {
                put_varint(out, u64::from(*page_bytes));
                put_varint(out, u64::from(*blocks));
                put_varint(out, long.len() as u64);
                for long in long {
                    put_varint(out, u64::from(long.block));
                    put_varint(out, u64::from(long.extra_pages));
                }
            }
        }
    }

    fn decode_ends(reader: &mut Reader<'_>, blocks: u32, data_end: u64) -> Option<Self> {
        let mut ends = Vec::new();
        let mut end = 0u64;
        for _ in 0..blocks {
            let len = reader.varint()?;
            end = end.checked_add(len).filter(|end| len > 0 && *end <= data_end)?;
            ends.push(u32::try_from(end).ok()?);
        }
        Some(Self::Ends(ends))
    }

    fn decode_aligned(reader: &mut Reader<'_>, page_bytes: u32, blocks: u32, data_end: u64) -> Option<Self> {
        let pages = u32::try_from(data_end / u64::from(page_bytes)).ok()?;
        let mut long: Vec<LongBlock> = Vec::new();
        let mut extra_before = 0u32;
        for _ in 0..reader.varint()? {
            let block = u32::try_from(reader.varint()?).ok()?;
            let extra_pages = u32::try_from(reader.varint()?).ok()?;
            if block >= blocks || long.last().is_some_and(|last| last.block >= block) {
                return None;
            }
            long.push(LongBlock { block, extra_pages, extra_before });
            extra_before = extra_before.checked_add(extra_pages).filter(|extra| *extra <= pages)?;
        }
        Some(Self::Aligned { page_bytes, blocks, long })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(directory: &Directory, lens: &[usize]) {
        let mut offset = 0;
        for (block, len) in lens.iter().enumerate() {
            assert_eq!(directory.place(block as u32), Some(BlockPlace { offset, len: *len }));
            offset += *len as u64;
        }
        assert_eq!(directory.place(lens.len() as u32), None);
        assert_eq!(directory.data_bytes(), offset);
        let mut bytes = Vec::new();
        directory.encode(&mut bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(Directory::decode(&mut reader, 0..offset).as_ref(), Some(directory));
        assert!(reader.is_at_end());
        for cut in 0..bytes.len() {
            assert_eq!(Directory::decode(&mut Reader::new(&bytes[..cut]), 0..offset), None);
        }
        assert_eq!(Directory::decode(&mut Reader::new(&bytes), 0..offset + 1), None);
        let start = 8192;
        let moved = Directory::decode(&mut Reader::new(&bytes), start..start + offset).unwrap();
        assert_eq!(moved.range(), start..start + offset);
        for block in 0..directory.len() {
            let place = directory.place(block).unwrap();
            assert_eq!(moved.place(block), Some(BlockPlace { offset: start + place.offset, ..place }));
        }
    }

    #[test]
    fn places_follow_from_lengths() {
        for (align, lens) in [
            (None, vec![100, 4000, 1, 70_000]),
            (None, vec![7]),
            (Some(4096), vec![4096, 4096, 4096]),
            (Some(4096), vec![8192, 4096, 4096, 40_960, 4096, 8192]),
            (Some(512), vec![512, 1024]),
        ] {
            let mut directory = Directory::new(align);
            lens.iter().for_each(|len| directory.push(*len));
            check(&directory, &lens);
        }
    }
}
