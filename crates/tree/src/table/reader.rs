//! An open SSTable. The filter and the fence of the SSTable are in memory, except the pages of a paged fence. These
//! pages and the data blocks are on storage or in the cache.

use std::ops::{Bound, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bloom::Filter;
use compression::{Decompressor, RAW};
use fence::Fence;
use prefetch::prefetch;
use storage::{Purpose, ReadFile};
use types::{Bytes, HashedKey, KeyHash, Lookup};

use super::Properties;
use super::block::{find_in_part, find_noting};
use super::block_bytes::BlockBytes;
use super::block_footer::BLOCK_FOOTER_BYTES;
use super::checked::CheckedBlocks;
use super::context::TableContext;
use super::directory::Directory;
use super::fence_view::View;
use super::filter_file;
use super::footer::{FENCE_CHUNK_BYTES, FOOTER_BYTES, Footer, Section};
use super::formats::layout_of;
use super::layout::{Found, Part};
use super::memory_index::{Hint, MemoryIndex};
use super::names::files_of;
use super::prefetcher::Prefetcher;
use super::restart_hints::RestartHints;
use super::single_marks::SingleMarks;
use super::table_file::TableFile;
use super::trailer::TRAILER_BYTES;
use crate::blob::References;
use crate::checksum::checksum;
use crate::codec::Reader;
use crate::design::{Mapped, Verify};
use crate::error::{Error, Result};
use crate::hash::KeyHasher;
use crate::range_tombstones::RangeTombstones;
use crate::stats::Counters;

/// The maximum number of bytes of a data block that a get prefetches before it searches the block.
const SEARCHED_BYTES: usize = 4 << 10;

/// An open SSTable.
pub(crate) struct Table {
    file: TableFile,
    bounds: Bounds,
    filter: Box<dyn Filter>,
    fence: Box<dyn Fence>,
    /// The hash function with which the SSTable was written. `None` if the tree still has this hash function.
    own_hash: Option<Arc<dyn KeyHasher>>,
    /// The blob files that contain values of the SSTable. `None` if the SSTable cannot contain pointers to blob files,
    /// so that its stored values have no tag byte (see `blob`).
    references: Option<References>,
    /// Whether the SSTable is obsolete, because no version of the tree contains it any more. If set, dropping the last
    /// reference to the SSTable removes its files.
    obsolete: AtomicBool,
    /// The size of the filter file of the SSTable, in bytes. 0 if the file of the SSTable contains the filter.
    filter_file_bytes: u64,
}

impl Table {
    /// Opens the SSTable with the file number `id`. Reads and verifies all parts except the data blocks.
    pub(crate) fn open(context: &Arc<TableContext>, id: u64) -> Result<Self> {
        let (path, seal) = (context.table_path(id), context.seals.of(id));
        let file = context.storage.open(&path, Purpose::Table)?;
        let damaged = |offset: u64, what: String| Error::damaged(&path, offset, what);
        let footer_offset = file.len().checked_sub(FOOTER_BYTES as u64);
        let footer_offset =
            footer_offset.ok_or_else(|| damaged(0, "the SSTable is shorter than its footer".to_owned()))?;
        let mut footer_offset = footer_offset;
        let mut footer = file.read(footer_offset, FOOTER_BYTES)?;
        if let Some(more @ 1..) = Footer::len(&footer).checked_sub(FOOTER_BYTES) {
            footer_offset = footer_offset
                .checked_sub(more as u64)
                .ok_or_else(|| damaged(0, "the SSTable is shorter than its footer".to_owned()))?;
            footer = file.read(footer_offset, FOOTER_BYTES + more)?;
        }
        let footer =
            Footer::decode(&footer, seal, footer_offset).map_err(|what| damaged(footer_offset, what))?;
        let section = |section: Section, part: &str| {
            let bytes = file.read(section.offset, section.len as usize)?;
            match checksum(seal, section.offset, &bytes) == section.checksum {
                true => Ok(bytes),
                false => Err(damaged(section.offset, format!("the {part} does not match its checksum"))),
            }
        };
        let properties = section(footer.properties, "properties block")?;
        let mut properties = Properties::decode(&properties)
            .ok_or_else(|| damaged(footer.properties.offset, "the properties block is corrupt".to_owned()))?;
        let decompressor = Decompressor::open(&std::mem::take(&mut properties.dictionaries))
            .map_err(|error| damaged(footer.properties.offset, error.to_string()))?;
        let directory = section(footer.directory, "block directory")?;
        let (directory, fence_checksums, references) = decode_directory(&directory, &footer, context)
            .ok_or_else(|| damaged(footer.directory.offset, "the block directory is corrupt".to_owned()))?;
        let (stored_filter, filter_file_bytes) = match properties.is_filter_apart {
            true => filter_file::read(context, id)?,
            false => (section(footer.filter, "filter")?, 0),
        };
        let filter = context.bloom.named(&properties.bloom, &bloom::CATALOG);
        let filter = filter.and_then(|policy| policy.open(stored_filter).map_err(|error| error.to_string()));
        let filter = filter.map_err(|what| damaged(footer.filter.offset, what))?;
        let own_hash = match context.hash.label == properties.hash {
            true => None,
            false => Some(context.hash.named(&properties.hash, &crate::hash::CATALOG)),
        };
        let own_hash = own_hash.transpose().map_err(|what| damaged(footer.properties.offset, what))?;
        let fence = context.fence.named(&properties.fence, &fence::CATALOG);
        let fence = fence.map_err(|what| damaged(footer.fence.offset, what))?;
        let range_tombstones = footer.range_tombstones.map(|place| {
            let ranges = RangeTombstones::decode(&section(place, "block of range tombstones")?);
            ranges.ok_or_else(|| damaged(place.offset, "the range tombstones are corrupt".to_owned()))
        });
        let bounds = Bounds::new(&properties, range_tombstones.transpose()?);
        if let Some(place) = footer.single_marks {
            let marks = SingleMarks::decode(&section(place, "marks of single deletes")?);
            marks
                .ok_or_else(|| damaged(place.offset, "the marks of single deletes are corrupt".to_owned()))?;
        }
        let block = context.options.block;
        let is_in_place = block.mapped == Mapped::InPlace
            && file.mapped().is_some()
            && codec_of_first_block(&*file, &directory)? == Some(RAW);
        let checks_once = is_in_place && block.verify == Verify::Once;
        let checked = checks_once.then(|| CheckedBlocks::new(directory.len()));
        let restart_hints = (checks_once && block.restart_hints)
            .then(|| RestartHints::new(directory.len(), &properties.smallest, &properties.largest));
        let mut file = TableFile {
            context: Arc::clone(context),
            id,
            seal,
            path: path.clone(),
            file,
            ahead: Prefetcher::new(&properties, &directory),
            properties,
            decompressor,
            directory,
            footer,
            fence_checksums,
            is_in_place,
            checked,
            restart_hints,
            memory_index: None,
        };
        if context.options.block.memory_index {
            let hasher = own_hash.as_ref().unwrap_or(&context.hash.component);
            file.memory_index = Some(file.new_memory_index(&**hasher)?);
        }
        let fence = fence.open(&View { file: &file, counters: &Counters::default(), is_get: false });
        let fence = fence.map_err(|error| file.fence_error(error))?;
        Ok(Self {
            file,
            bounds,
            filter,
            fence,
            own_hash,
            references,
            obsolete: AtomicBool::new(false),
            filter_file_bytes,
        })
    }

    /// Returns the file number of the SSTable.
    pub(crate) fn id(&self) -> u64 {
        self.file.id
    }

    /// Returns the paths of all files of the SSTable.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        files_of(&self.file.path, self.file.properties.is_filter_apart)
    }

    pub(crate) fn properties(&self) -> &Properties {
        &self.file.properties
    }

    /// Returns the smallest key of the SSTable, over its entries and its range tombstones.
    pub(crate) fn smallest(&self) -> &Arc<[u8]> {
        &self.bounds.smallest
    }

    /// Returns the largest key of the SSTable, over its entries and its range tombstones. If a range tombstone has no
    /// largest deleted key, its exclusive upper bound is used instead.
    pub(crate) fn largest(&self) -> &Arc<[u8]> {
        &self.bounds.largest
    }

    /// Returns the range tombstones of the SSTable. Returns `None` if it has no range tombstones.
    pub(crate) fn range_tombstones(&self) -> Option<&RangeTombstones> {
        self.bounds.range_tombstones.as_ref()
    }

    /// Returns whether a range tombstone of this SSTable deletes the key in older sorted runs.
    #[inline]
    pub(crate) fn deletes(&self, key: &[u8]) -> bool {
        self.bounds.range_tombstones.as_ref().is_some_and(|tombstones| tombstones.cover(key))
    }

    /// Returns whether the SSTable has range tombstones, and the key is outside of the key range of its entries.
    #[inline]
    pub(crate) fn has_only_range_tombstones_at(&self, key: &[u8]) -> bool {
        self.bounds.range_tombstones.is_some() && !self.covers(key)
    }

    /// Reads the marks of single deletes from the SSTable (see [`single_deletes`](crate::single_deletes)). Returns the
    /// marks and the number of bytes read, which is 0 without marks.
    pub(crate) fn single_marks(&self) -> Result<(SingleMarks, u64)> {
        SingleMarks::read(&self.file)
    }

    /// Returns the size of the SSTable for the compaction policy, in bytes: the sizes of keys and values, 8 bytes per
    /// entry, and the keys of range tombstones.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.properties().charged_bytes() + self.range_tombstones().map_or(0, RangeTombstones::bytes)
    }

    /// Returns the size of the files of the SSTable in bytes, with its filter file if it has one.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.file.file.len() + self.filter_file_bytes
    }

    pub(crate) fn block_count(&self) -> u32 {
        self.file.directory.len()
    }

    /// Returns the size of all data blocks in the file of the SSTable, in bytes.
    pub(crate) fn block_bytes(&self) -> u64 {
        self.file.directory.data_bytes()
    }

    pub(crate) fn filter(&self) -> &dyn Filter {
        &*self.filter
    }

    /// Returns the memory of the fence, the block directory, the restart hints and the memory index, in bytes.
    pub(crate) fn fence_bytes(&self) -> usize {
        let restart_hints = self.file.restart_hints.as_ref().map_or(0, RestartHints::memory_bytes);
        let memory_index = self.file.memory_index.as_ref().map_or(0, MemoryIndex::memory_bytes);
        let directory = self.file.directory.memory_bytes() + self.file.fence_checksums.len() * 4;
        self.fence.memory_bytes() + directory + restart_hints + memory_index
    }

    /// Marks the SSTable as obsolete. Dropping the last reference to the SSTable then removes its files.
    pub(crate) fn set_obsolete(&self) {
        self.obsolete.store(true, Ordering::Release);
    }

    /// Returns whether the key is between the smallest and the largest key of the entries of the SSTable.
    #[inline]
    pub(crate) fn covers(&self, key: &[u8]) -> bool {
        *self.file.properties.smallest <= *key && *key <= *self.file.properties.largest
    }

    /// Returns the key with the hash that the filter and the hash indexes of this SSTable need. The hash function of
    /// the tree may have changed since the SSTable was written.
    #[inline]
    fn hashed<'a>(&self, key: HashedKey<'a>) -> HashedKey<'a> {
        match &self.own_hash {
            None => key,
            Some(hasher) => HashedKey { hash: hasher.hash(key.bytes), ..key },
        }
    }

    /// Probes the filter of the SSTable, and counts the probe. Returns `false` only if the SSTable lacks the key.
    #[inline]
    pub(crate) fn passes_filter(&self, key: HashedKey<'_>, counters: &Counters) -> bool {
        counters.filter_probes.bump();
        let passes = self.filter.may_contain_key(self.hashed(key));
        if !passes {
            counters.filter_negatives.bump();
        }
        passes
    }

    /// Probes the filter of the SSTable for each key, and counts the probes. Returns one value per key, in the order of
    /// `keys`: `false` if the SSTable does not contain the key, or `true` if it may contain the key.
    pub(crate) fn filter_all(&self, keys: &[HashedKey<'_>], counters: &Counters) -> Vec<bool> {
        let keys: Vec<HashedKey<'_>> = keys.iter().map(|key| self.hashed(*key)).collect();
        let mut passes = vec![false; keys.len()];
        self.filter.may_contain_keys(&keys, &mut passes);
        counters.filter_probes.add(keys.len() as u64);
        counters.filter_negatives.add(passes.iter().filter(|passes| !**passes).count() as u64);
        passes
    }

    /// Probes the range filter of the SSTable for a key between the bounds, and counts the probe. Returns `false` only
    /// if the SSTable has no such key. Returns `None` without a probe if the filter is not a range filter.
    pub(crate) fn passes_range_filter(
        &self,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        counters: &Counters,
    ) -> Option<bool> {
        if !self.filter.answers_ranges() {
            return None;
        }
        counters.range_filter_probes.bump();
        let passes = self.filter.may_contain_range(low, high);
        counters.range_filter_negatives.add(u64::from(!passes));
        Some(passes)
    }

    /// Looks up a key that passes the filter of the SSTable. If the key has a value, appends the value to `value`.
    pub(crate) fn find(
        &self,
        key: HashedKey<'_>,
        value: &mut Vec<u8>,
        counters: &Counters,
    ) -> Result<Lookup> {
        let key = self.hashed(key);
        counters.fence_searches.bump();
        let view = View { file: &self.file, counters, is_get: true };
        let index = self.fence.find(key, &view).map_err(|error| self.file.fence_error(error))?;
        if let Some(memory_index) = &self.file.memory_index {
            return self.find_with(memory_index, index, key, value, counters);
        }
        let part = self.part(index, key.bytes);
        match &part {
            Some(part) => {
                let end = part.end.unwrap_or(usize::MAX).min(part.start + SEARCHED_BYTES);
                self.prefetch_entries(index, part.start..end);
            }
            None => self.prefetch_block(index, SEARCHED_BYTES),
        }
        let bytes = self.file.block(index, counters)?;
        self.find_in(index, &bytes, part.as_ref(), key, value, counters)
    }

    /// Looks up a key in data block number `index`, the only block that can contain the key. Uses the memory index to
    /// read only a part of the block, or no block.
    #[inline(never)]
    fn find_with(
        &self,
        memory_index: &MemoryIndex,
        index: u32,
        key: HashedKey<'_>,
        value: &mut Vec<u8>,
        counters: &Counters,
    ) -> Result<Lookup> {
        let hint = memory_index.hint(index, key.hash);
        counters.block_index_probes.add(u64::from(hint.is_some()));
        counters.block_index_answers.add(u64::from(matches!(hint, Some(Hint::Absent | Hint::Part(_)))));
        if let Some(Hint::Absent) = hint {
            return Ok(self.absent(key, counters));
        }
        let bytes = self.file.block(index, counters)?;
        let part = match hint {
            Some(Hint::Part(part)) => Some(part),
            _ => memory_index.seek(index, &bytes, key.bytes),
        };
        self.find_in(index, &bytes, part.as_ref(), key, value, counters)
    }

    /// Counts a false positive of the filter, and reports it to the filter. Returns [`Lookup::Absent`] for the lookup.
    fn absent(&self, key: HashedKey<'_>, counters: &Counters) -> Lookup {
        counters.filter_false_positives.bump();
        self.filter.report_false_positive(key);
        Lookup::Absent
    }

    /// Looks up keys that pass the filter of the SSTable. For each key, calls `answer` with the index of the key in
    /// `keys`, the result, and the value, which is empty if the SSTable has no value of the key.
    ///
    /// The function requests as many blocks at once as the queue depth of the storage allows.
    pub(crate) fn find_many(
        &self,
        keys: &[HashedKey<'_>],
        counters: &Counters,
        mut answer: impl FnMut(usize, Lookup, Vec<u8>),
    ) -> Result<()> {
        let depth = self.file.file.queue_depth();
        for (number, keys) in keys.chunks(depth).enumerate() {
            let first = number * depth;
            if let [key] = keys {
                let mut value = Vec::new();
                let found = self.find(*key, &mut value, counters)?;
                answer(first, found, value);
            } else {
                let answer = |at, found, value| answer(first + at, found, value);
                self.find_together(keys, counters, answer)?;
            }
        }
        Ok(())
    }

    /// Looks up keys like [`find_many`](Self::find_many), but requests the blocks of all keys at once.
    fn find_together(
        &self,
        keys: &[HashedKey<'_>],
        counters: &Counters,
        mut answer: impl FnMut(usize, Lookup, Vec<u8>),
    ) -> Result<()> {
        let keys: Vec<HashedKey<'_>> = keys.iter().map(|key| self.hashed(*key)).collect();
        counters.fence_searches.add(keys.len() as u64);
        let view = View { file: &self.file, counters, is_get: true };
        let mut indexes = vec![0; keys.len()];
        let searched = self.fence.find_batch(&keys, &mut indexes, &view);
        searched.map_err(|error| self.file.fence_error(error))?;
        let blocks = self.file.blocks_by_number(&indexes, counters)?;
        for (at, (key, index)) in keys.into_iter().zip(indexes).enumerate() {
            let mut value = Vec::new();
            let found = self.find_in(index, &blocks[&index], None, key, &mut value, counters)?;
            answer(at, found, value);
        }
        Ok(())
    }

    /// Looks up a key in data block number `index`, whose content is `bytes`. If `part` is given, only this part can
    /// contain the key.
    fn find_in(
        &self,
        index: u32,
        bytes: &[u8],
        part: Option<&Part>,
        key: HashedKey<'_>,
        value: &mut Vec<u8>,
        counters: &Counters,
    ) -> Result<Lookup> {
        counters.blocks_searched.bump();
        let found = match part {
            Some(part) => find_in_part(bytes, part, key.bytes),
            None => find_noting(bytes, key, |is_answered| {
                counters.block_index_probes.bump();
                counters.block_index_answers.add(u64::from(is_answered));
            }),
        };
        match found {
            Some(Found::Value(range)) => {
                match &self.references {
                    None => value.extend_from_slice(&bytes[range]),
                    Some(_) => self.resolve(index, &bytes[range], key.bytes, value, counters)?,
                }
                Ok(Lookup::Found)
            }
            Some(Found::Tombstone) => Ok(Lookup::Deleted),
            Some(Found::Absent) => Ok(self.absent(key, counters)),
            None => Err(self.damaged_block(index)),
        }
    }

    /// Returns the blob files that contain values of the SSTable. Returns `None` if the SSTable cannot contain pointers
    /// to blob files, so that its stored values have no tag byte (see `blob`).
    #[inline]
    pub(crate) fn references(&self) -> Option<&References> {
        self.references.as_ref()
    }

    /// Appends the value of `key` to `value`. Data block number `index` contains `stored`: the value or its pointer.
    ///
    /// # Errors
    /// If the stored bytes are corrupt, or if the blob file of the value cannot be read or is corrupt.
    pub(crate) fn resolve(
        &self,
        index: u32,
        stored: &[u8],
        key: &[u8],
        value: &mut Vec<u8>,
        counters: &Counters,
    ) -> Result<()> {
        let Some(references) = &self.references else {
            value.extend_from_slice(stored);
            return Ok(());
        };
        match references.resolve(stored, key, value, counters)? {
            true => Ok(()),
            false => Err(self.damaged_value(index)),
        }
    }

    /// Returns the error for a stored value that is neither a value nor a valid pointer to a blob file.
    pub(crate) fn damaged_value(&self, index: u32) -> Error {
        self.damage_in_block(
            index,
            "a value in the data block is corrupt, or points to a blob file that the SSTable does not list",
        )
    }

    /// Returns the number of the data block in which a scan from `key` starts.
    pub(crate) fn seek(&self, key: &[u8], counters: &Counters) -> Result<u32> {
        let view = View { file: &self.file, counters, is_get: false };
        let index = self.fence.seek(key, &view).map_err(|error| self.file.fence_error(error))?;
        Ok(index.min(self.block_count() - 1))
    }

    /// Returns the offset of the data block that can contain `key`, as the approximate offset of the key in the file.
    /// Returns the end of the data blocks if all keys of the SSTable are below `key`.
    pub(crate) fn approximate_offset(&self, key: &[u8], counters: &Counters) -> Result<u64> {
        if *key > **self.largest() {
            return Ok(self.file.directory.range().end);
        }
        let index = self.seek(key, counters)?;
        Ok(self.file.directory.place(index).map_or(0, |place| place.offset))
    }

    /// Returns the data block number `index` from the cache or from storage.
    pub(crate) fn block(&self, index: u32, counters: &Counters) -> Result<BlockBytes<'_>> {
        self.file.block(index, counters)
    }

    /// Returns whether data blocks are read in place, in a memory-mapped file, and not copied.
    #[inline]
    pub(crate) fn is_in_place(&self) -> bool {
        self.file.is_in_place
    }

    /// Returns whether the whole SSTable is memory-mapped, so that reading a block needs no call to storage.
    pub(super) fn is_mapped(&self) -> bool {
        self.file.file.mapped().is_some()
    }

    /// Returns the stored size of data block number `index`, in bytes. Returns `None` if the block does not exist.
    pub(super) fn stored_len(&self, index: u32) -> Option<usize> {
        self.file.directory.place(index).map(|place| place.len)
    }

    /// Returns the expected number of bytes that `entries` entries take in data blocks.
    pub(super) fn expected_bytes(&self, entries: u64) -> usize {
        let bytes = entries.saturating_mul(self.block_bytes()) / self.file.properties.entries.max(1);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Returns the data blocks with the numbers `indexes`. One storage request reads all blocks outside of the cache.
    pub(super) fn blocks_together(&self, indexes: &[u32], counters: &Counters) -> Result<Vec<Bytes>> {
        self.file.blocks_together(indexes, counters)
    }

    /// Prefetches the first `bytes` bytes of a data block, and its footer, if blocks are read in place.
    #[inline]
    pub(crate) fn prefetch_block(&self, index: u32, bytes: usize) {
        if self.file.is_in_place {
            self.prefetch_tail(index);
            self.prefetch_entries(index, 0..bytes);
        }
    }

    /// Returns the part of a data block that can contain a key, from the restart hints. Returns `None` if the block has
    /// no hints.
    ///
    /// The function also prefetches the footer of the block, so that the cache misses of footer and hints overlap.
    #[inline]
    pub(super) fn part(&self, index: u32, key: &[u8]) -> Option<Part> {
        let restart_hints = self.file.restart_hints.as_ref()?;
        self.prefetch_tail(index);
        restart_hints.part(index, key)
    }

    /// Prefetches the footer and the trailer of a data block in a memory-mapped file.
    #[inline]
    fn prefetch_tail(&self, index: u32) {
        if let Some(block) = self.file.directory.place(index).and_then(|place| self.file.mapped(place)) {
            prefetch(block, block.len().saturating_sub(TRAILER_BYTES + BLOCK_FOOTER_BYTES));
        }
    }

    /// Prefetches the entries in a byte range of a data block into the CPU caches. Does nothing if the data block is
    /// not memory-mapped.
    #[inline]
    pub(super) fn prefetch_entries(&self, index: u32, part: Range<usize>) {
        if let Some(block) = self.file.directory.place(index).and_then(|place| self.file.mapped(place)) {
            let end = part.end.min(block.len());
            self.prefetch(&block[part.start.min(end)..end]);
        }
    }

    /// Prefetches the bytes of `entries` that a search or a scan reads first. `entries` is a part of a data block.
    #[inline]
    pub(super) fn prefetch(&self, entries: &[u8]) {
        self.file.ahead.prefetch(entries);
    }

    /// Announces to the storage that data blocks will be read sequentially, if blocks are read in place.
    pub(crate) fn expect_blocks(&self, blocks: Range<u32>) {
        let place = |index| self.file.directory.place(index);
        let ends = (place(blocks.start), blocks.end.checked_sub(1).and_then(place));
        if let (true, (Some(first), Some(last))) = (self.file.is_in_place, ends) {
            let end = last.offset + last.len as u64;
            let len = end.saturating_sub(first.offset) as usize;
            self.file.ahead.expect(&*self.file.file, first.offset, len);
        }
    }

    /// Reads the first data blocks of `range` at once, without the block cache: as many blocks as fit in `bytes`, and
    /// at least one. Returns the blocks and the number of bytes read.
    pub(crate) fn stream_blocks(&self, range: Range<u32>, bytes: usize) -> Result<(Vec<Bytes>, u64)> {
        self.file.stream_blocks(range, bytes)
    }

    /// Reads the first key of a data block without the block cache. Returns the key and the number of bytes read.
    pub(crate) fn first_key(&self, index: u32) -> Result<(Bytes, u64)> {
        let (blocks, bytes) = self.stream_blocks(index..index + 1, 0)?;
        let key = |block: &Bytes| Some(block.slice(layout_of(block)?.first_key(block)?));
        let first = blocks.first().and_then(key);
        first.map(|key| (key, bytes)).ok_or_else(|| self.damaged_block(index))
    }

    /// Returns the hash of a key, computed with the hash function of the tree.
    pub(crate) fn hash(&self, key: &[u8]) -> KeyHash {
        self.file.context.hash.component.hash(key)
    }

    /// Checks that the padding between the parts of the SSTable consists of zeros.
    pub(super) fn check_padding(&self) -> Result<()> {
        let sections = self.file.footer.sections().into_iter();
        let mut parts: Vec<Range<u64>> =
            sections.map(|section| section.offset..section.offset + section.len).collect();
        parts.push(self.file.directory.range());
        parts.sort_by_key(|part| (part.start, part.end));
        let mut end = 0;
        for part in parts {
            let overlap = || self.file.damaged(part.start, "two parts of the SSTable overlap");
            let padding = part.start.checked_sub(end).ok_or_else(overlap)?;
            let padding = self.file.file.read(end, padding as usize)?;
            if padding.iter().any(|byte| *byte != 0) {
                return Err(self.file.damaged(end, "the padding before a part of the SSTable is not zero"));
            }
            end = part.end;
        }
        Ok(())
    }

    /// Returns the error for corrupt content of data block number `index`.
    pub(crate) fn damaged_block(&self, index: u32) -> Error {
        self.damage_in_block(index, "the content of the data block is corrupt")
    }

    /// Returns the error for corruption in a data block, with the offset of the block. `what` describes the corruption.
    pub(crate) fn damage_in_block(&self, index: u32, what: impl Into<String>) -> Error {
        let offset = self.file.directory.place(index).map_or(0, |place| place.offset);
        Error::damaged(&self.file.path, offset, what)
    }
}

/// The range tombstones of an SSTable, and its key range over entries and range tombstones.
struct Bounds {
    smallest: Arc<[u8]>,
    largest: Arc<[u8]>,
    range_tombstones: Option<RangeTombstones>,
}

impl Bounds {
    fn new(properties: &Properties, range_tombstones: Option<RangeTombstones>) -> Self {
        let (mut smallest, mut largest) = (Arc::clone(&properties.smallest), Arc::clone(&properties.largest));
        let ranges = range_tombstones.as_ref().map_or(&[][..], RangeTombstones::ranges);
        if let [first, ..] = ranges
            && first.low < smallest
        {
            smallest = Arc::clone(&first.low);
        }
        if let [.., last] = ranges
            && *last.largest() > *largest
        {
            largest = last.largest().into();
        }
        Self { smallest, largest, range_tombstones }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if self.obsolete.load(Ordering::Acquire) {
            let context = &self.file.context;
            context.cache.remove_table(context.tree, self.file.id);
            context.remove_table(self.file.id, self.file.properties.is_filter_apart);
        }
    }
}

/// Returns the code of the codec that compressed the first data block. Returns `None` if no block is complete.
fn codec_of_first_block(file: &dyn ReadFile, directory: &Directory) -> Result<Option<u8>> {
    let Some(place) = directory.place(0) else { return Ok(None) };
    let Some(trailer) = place.len.checked_sub(TRAILER_BYTES) else { return Ok(None) };
    Ok(file.read(place.offset + trailer as u64, 1)?.first().copied())
}

/// Decodes the block directory of an SSTable, the checksums of its fence chunks, and the references to blob files. The
/// references are `None` if stored values have no tag byte. Returns `None` if the bytes are corrupt.
fn decode_directory(
    bytes: &[u8],
    footer: &Footer,
    context: &TableContext,
) -> Option<(Directory, Vec<u32>, Option<References>)> {
    let mut reader = Reader::new(bytes);
    let directory = Directory::decode(&mut reader, footer.blocks())?;
    let pieces = reader.varint()?;
    if pieces != footer.fence.len.div_ceil(FENCE_CHUNK_BYTES as u64) {
        return None;
    }
    let mut checksums = Vec::new();
    for _ in 0..pieces {
        checksums.push(reader.u32()?);
    }
    let references = match reader.is_at_end() {
        true => None,
        false => Some(References::decode(&mut reader, &context.blobs)?),
    };
    (reader.is_at_end() && directory.len() > 0).then_some((directory, checksums, references))
}
