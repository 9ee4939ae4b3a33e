//! The file of an open SSTable, which reads, verifies and decompresses blocks.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use cache::BlockId;
use compression::{Decompressor, RAW};
use fence::FenceError;
use storage::ReadFile;
use types::Bytes;

use super::block_bytes::BlockBytes;
use super::checked::CheckedBlocks;
use super::context::TableContext;
use super::directory::{BlockPlace, Directory};
use super::footer::Footer;
use super::memory_index::MemoryIndex;
use super::prefetcher::Prefetcher;
use super::properties::Properties;
use super::restart_hints::RestartHints;
use super::trailer::TRAILER_BYTES;
use crate::checksum::{Checksum, block_checksum};
use crate::codec::Reader;
use crate::error::{Error, Result};
use crate::hash::KeyHasher;
use crate::stats::Counters;

/// The file of an open SSTable, and the parts of the SSTable that are needed to read its data blocks.
pub(super) struct TableFile {
    pub(super) context: Arc<TableContext>,
    pub(super) id: u64,
    /// A number that identifies the file and its store. Every checksum in the file covers this number.
    pub(super) seal: u64,
    pub(super) path: PathBuf,
    pub(super) file: Arc<dyn ReadFile>,
    pub(super) properties: Properties,
    pub(super) decompressor: Decompressor,
    pub(super) directory: Directory,
    pub(super) footer: Footer,
    pub(super) fence_checksums: Vec<u32>,
    /// Whether data blocks are read in place, in a memory-mapped file. The value is true if the file is memory-mapped
    /// and its first data block is not compressed.
    pub(super) is_in_place: bool,
    /// Prefetches the parts of the SSTable that will be read soon.
    pub(super) ahead: Prefetcher,
    /// The data blocks whose checksums were verified. `None` if every read from storage must verify the checksum.
    pub(super) checked: Option<CheckedBlocks>,
    /// The restart hints of the data blocks, which are computed when the checksum of a block is verified.
    pub(super) restart_hints: Option<RestartHints>,
    /// The restart points and hash indexes of all data blocks, if the design keeps them in memory.
    pub(super) memory_index: Option<MemoryIndex>,
}

/// The decoded trailer of a data block.
pub(super) struct Trailer {
    codec: u8,
    /// The length of the data block in the file before its padding and trailer, in bytes.
    stored_len: usize,
    /// The length of the data block before compression, in bytes.
    raw_len: usize,
}

impl TableFile {
    pub(super) fn damaged(&self, offset: u64, what: impl Into<String>) -> Error {
        Error::damaged(&self.path, offset, what)
    }

    pub(super) fn fence_error(&self, error: FenceError) -> Error {
        match error {
            FenceError::Corrupt(what) => {
                self.damaged(self.footer.fence.offset, format!("the fence of the SSTable is corrupt: {what}"))
            }
            FenceError::Read(source) => match source.downcast::<Error>() {
                Ok(error) => *error,
                Err(other) => self.damaged(self.footer.fence.offset, other.to_string()),
            },
        }
    }

    pub(super) fn place(&self, index: u32) -> Result<BlockPlace> {
        self.directory.place(index).ok_or_else(|| {
            let blocks = self.directory.len();
            self.damaged(
                self.footer.fence.offset,
                format!(
                    "the fence refers to data block {index}, but the SSTable has only {blocks} data blocks"
                ),
            )
        })
    }

    pub(super) fn block_id(&self, offset: u64) -> BlockId {
        BlockId { tree: self.context.tree, table: self.id, offset }
    }

    /// Returns the data block number `index` from the cache or from storage.
    pub(super) fn block(&self, index: u32, counters: &Counters) -> Result<BlockBytes<'_>> {
        let place = self.place(index)?;
        if self.is_in_place
            && let Some(block) = self.block_in_place(index, place, counters)?
        {
            return Ok(BlockBytes::InPlace(block));
        }
        if let Some(block) = self.context.cache.get(&self.block_id(place.offset)) {
            counters.data_blocks_from_cache.bump();
            return Ok(BlockBytes::Own(block));
        }
        let stored = self.file.read(place.offset, place.len)?;
        self.take_in(&stored, place, counters).map(BlockBytes::Own)
    }

    /// Returns a data block in place, in a memory-mapped file. Returns `None` if the block is compressed. The function
    /// bypasses the block cache, because a lookup in the cache would take longer.
    pub(super) fn block_in_place(
        &self,
        index: u32,
        place: BlockPlace,
        counters: &Counters,
    ) -> Result<Option<&[u8]>> {
        let Some(stored) = self.mapped(place) else { return Ok(None) };
        let codec = place.len.checked_sub(TRAILER_BYTES).and_then(|at| stored.get(at));
        if codec != Some(&RAW) {
            return Ok(None);
        }
        counters.blocks_in_place.bump();
        let is_checked = self.checked.as_ref().is_some_and(|checked| checked.contains(index));
        let kind = if is_checked { Checksum::None } else { self.properties.checksum };
        let trailer = self.trailer(stored, place, kind)?;
        if !is_checked {
            if let Some(restart_hints) = &self.restart_hints {
                restart_hints.learn(index, &stored[..trailer.stored_len]);
            }
            self.checked.iter().for_each(|checked| checked.insert(index));
        }
        Ok(Some(&stored[..trailer.stored_len]))
    }

    /// Returns a data block as stored in a memory-mapped file, with its trailer. Returns `None` if the file is not
    /// memory-mapped.
    #[inline]
    pub(super) fn mapped(&self, place: BlockPlace) -> Option<&[u8]> {
        self.file.mapped()?.get(place.offset as usize..)?.get(..place.len)
    }

    /// Returns the data blocks with the numbers `indexes`, as a map from block number to block. `indexes` may be
    /// unsorted and may contain duplicates. One storage request reads all blocks that are not in the block cache.
    pub(super) fn blocks_by_number(
        &self,
        indexes: &[u32],
        counters: &Counters,
    ) -> Result<HashMap<u32, Bytes>> {
        let mut indexes = indexes.to_vec();
        indexes.sort_unstable();
        indexes.dedup();
        let blocks = self.blocks_together(&indexes, counters)?;
        Ok(indexes.into_iter().zip(blocks).collect())
    }

    /// Returns the data blocks with the numbers `indexes`, in this order. One storage request reads all blocks that are
    /// not in the block cache.
    pub(super) fn blocks_together(&self, indexes: &[u32], counters: &Counters) -> Result<Vec<Bytes>> {
        let mut blocks = Vec::with_capacity(indexes.len());
        let (mut missing, mut parts) = (Vec::new(), Vec::new());
        for index in indexes {
            let place = self.place(*index)?;
            let cached = self.context.cache.get(&self.block_id(place.offset));
            counters.data_blocks_from_cache.add(u64::from(cached.is_some()));
            if cached.is_none() {
                missing.push((blocks.len(), place));
                parts.push((place.offset, place.len));
            }
            blocks.push(cached);
        }
        for ((at, place), stored) in missing.into_iter().zip(self.file.read_many(&parts)) {
            blocks[at] = Some(self.take_in(&stored?, place, counters)?);
        }
        Ok(blocks
            .into_iter()
            .map(|block| block.expect("`read_many` must return one result per requested part"))
            .collect())
    }

    /// Verifies and decompresses a data block that was read from storage, and inserts it into the block cache.
    pub(super) fn take_in(&self, stored: &Bytes, place: BlockPlace, counters: &Counters) -> Result<Bytes> {
        counters.data_blocks_read.bump();
        counters.data_block_bytes_read.add(place.len as u64);
        let block = self.unpack(stored, place, self.properties.checksum)?;
        self.context.cache.insert(self.block_id(place.offset), block.clone());
        Ok(block)
    }

    pub(super) fn stream_blocks(&self, range: Range<u32>, bytes: usize) -> Result<(Vec<Bytes>, u64)> {
        let start = self.place(range.start)?;
        let mut places = vec![start];
        let mut end = start.offset + start.len as u64;
        for next in (range.start + 1..range.end).map_while(|index| self.directory.place(index)) {
            if end + next.len as u64 - start.offset > bytes as u64 {
                break;
            }
            end += next.len as u64;
            places.push(next);
        }
        let len = (end - start.offset) as usize;
        self.file.expect(start.offset, len);
        let stored = self.file.read(start.offset, len)?;
        let block = |place: &BlockPlace| {
            let at = (place.offset - start.offset) as usize;
            self.unpack(&stored.slice(at..at + place.len), *place, self.properties.checksum)
        };
        let blocks: Result<Vec<Bytes>> = places.iter().map(block).collect();
        Ok((blocks?, stored.len() as u64))
    }

    /// Reads all data blocks, and creates the in-memory index of their restart points and key hashes. `hasher` is the
    /// hash function of the SSTable.
    ///
    /// # Errors
    /// If storage cannot read a block. A corrupt block is not an error here, because lookups in the block return the
    /// error.
    pub(super) fn new_memory_index(&self, hasher: &dyn KeyHasher) -> Result<MemoryIndex> {
        let mut memory_index = MemoryIndex::default();
        for index in 0..self.directory.len() {
            let block = match self.stream_blocks(index..index + 1, 0) {
                Ok((blocks, _)) => blocks.into_iter().next(),
                Err(error) if error.is_damage() => None,
                Err(error) => return Err(error),
            };
            memory_index.add(block.as_deref(), &self.context.options.block, |key| hasher.hash(key));
        }
        Ok(memory_index)
    }

    /// Verifies the checksum of a data block as stored in the file, and decompresses the block. `kind` is the algorithm
    /// of the checksum. With [`Checksum::None`], the checksum is not verified.
    pub(super) fn unpack(&self, stored: &Bytes, place: BlockPlace, kind: Checksum) -> Result<Bytes> {
        let Trailer { codec, stored_len, raw_len } = self.trailer(stored, place, kind)?;
        if codec == RAW {
            return Ok(stored.slice(0..stored_len));
        }
        let decompressed =
            Bytes::with_len(raw_len, |out| self.decompressor.decompress(codec, &stored[..stored_len], out));
        decompressed.map_err(|error| Error::block(&self.path, place.offset, &error))
    }

    /// Verifies the checksum of a data block as stored in the file, and decodes its trailer. `kind` is the algorithm of
    /// the checksum. With [`Checksum::None`], the checksum is not verified.
    pub(super) fn trailer(&self, stored: &[u8], place: BlockPlace, kind: Checksum) -> Result<Trailer> {
        let trailer = stored.len().checked_sub(TRAILER_BYTES);
        let trailer_at = trailer
            .ok_or_else(|| self.damaged(place.offset, "the data block is shorter than its trailer"))?;
        let mut trailer = Reader::new(&stored[trailer_at..]);
        let (codec, stored_len, raw_len, sum) = (trailer.byte(), trailer.u32(), trailer.u32(), trailer.u32());
        let (Some(codec), Some(stored_len), Some(raw_len), Some(sum)) = (codec, stored_len, raw_len, sum)
        else {
            return Err(self.damaged(place.offset, "the data block has no trailer"));
        };
        let (stored_len, raw_len) = (stored_len as usize, raw_len as usize);
        let is_checked = kind != Checksum::None;
        if is_checked && block_checksum(kind, self.seal, place.offset, &stored[..stored.len() - 4]) != sum {
            return Err(self.damaged(place.offset, "the data block does not match its checksum"));
        }
        if stored_len > trailer_at || raw_len as u64 > self.properties.largest_block_bytes {
            return Err(self.damaged(
                place.offset,
                "the trailer of the data block states a length that exceeds the stored block, or exceeds the \
                 largest block of the SSTable",
            ));
        }
        Ok(Trailer { codec, stored_len, raw_len })
    }
}
