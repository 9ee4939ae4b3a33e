//! The interface through which a fence reads its SSTable.

use std::ops::Range;

use fence::{TableReadError, TableView};
use types::Bytes;

use super::block_bytes::BlockBytes;
use super::footer::FENCE_CHUNK_BYTES;
use super::formats::layout_of;
use super::table_file::TableFile;
use crate::checksum::checksum;
use crate::error::Result;
use crate::stats::Counters;

/// Access to one SSTable for its fence, the index that finds the data block of a key. Each operation, such as a get,
/// creates a `View` of its own.
pub(super) struct View<'a> {
    pub(super) file: &'a TableFile,
    pub(super) counters: &'a Counters,
    /// Whether the fence is read for a get. If so, the data blocks that the fence reads count as searched blocks in the
    /// statistics.
    pub(super) is_get: bool,
}

impl TableView for View<'_> {
    fn block_count(&self) -> u32 {
        self.file.directory.len()
    }

    fn stored_bytes(&self) -> u64 {
        self.file.footer.fence.len
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        Ok(self.file.read_fence(range)?)
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        let id = self.file.block_id(self.file.footer.fence.offset + range.start);
        if let Some(page) = self.file.context.cache.get(&id) {
            self.counters.fence_pages_from_cache.bump();
            return Ok(page);
        }
        let page = self.file.read_fence(range)?;
        self.counters.fence_pages_read.bump();
        self.counters.fence_page_bytes_read.add(page.len() as u64);
        self.file.context.cache.insert(id, page.clone());
        Ok(page)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError> {
        let bytes = self.file.block(block, self.counters)?;
        self.counters.blocks_searched.add(u64::from(self.is_get));
        let key = layout_of(&bytes).and_then(|layout| layout.first_key(&bytes));
        let key = key.ok_or_else(|| {
            self.file.damaged(0, format!("the entries of data block {block} cannot be decoded"))
        })?;
        Ok(match bytes {
            BlockBytes::Own(bytes) => bytes.slice(key),
            BlockBytes::InPlace(_) => {
                let at = self.file.place(block)?.offset + key.start as u64;
                self.file.file.read(at, key.len())?
            }
        })
    }
}

impl TableFile {
    /// Reads the byte range `range` of the fence section of an SSTable, and verifies the checksums of the 4 KiB chunks
    /// that contain this range.
    fn read_fence(&self, range: Range<u64>) -> Result<Bytes> {
        if range.start > range.end || range.end > self.footer.fence.len {
            return Err(self.damaged(
                self.footer.fence.offset,
                "the fence of the SSTable refers to a page outside of the fence section",
            ));
        }
        let chunk = FENCE_CHUNK_BYTES as u64;
        let start = range.start / chunk * chunk;
        let end = range.end.next_multiple_of(chunk).min(self.footer.fence.len);
        let bytes = self.file.read(self.footer.fence.offset + start, (end - start) as usize)?;
        for (index, piece) in bytes.chunks(FENCE_CHUNK_BYTES).enumerate() {
            let at = start + (index * FENCE_CHUNK_BYTES) as u64;
            let offset = self.footer.fence.offset + at;
            let expected = self.fence_checksums.get((at / chunk) as usize);
            if expected != Some(&checksum(self.seal, offset, piece)) {
                return Err(self.damaged(offset, "the fence of the SSTable does not match its checksum"));
            }
        }
        Ok(bytes.slice((range.start - start) as usize..(range.end - start) as usize))
    }
}
