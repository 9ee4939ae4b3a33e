//! Writes one SSTable, from its first entry to its footer.

use std::sync::Arc;

use bloom::FilterInput;
use fence::{BlockBounds, FenceInput, Separators};
use types::{Entry, KeyHash, common_prefix};

use super::Properties;
use super::block_builder::BlockBuilder;
use super::context::TableContext;
use super::filter_file;
use super::footer::FENCE_CHUNK_BYTES;
use super::footer::{Footer, Section};
use super::kept_keys::KeptKeys;
use super::metadata::{self, Description};
use super::names::SequenceRange;
use super::reader::Table;
use super::single_marks::SingleMarks;
use super::store::Store;
use super::trailer::TRAILER_BYTES;
use crate::blob::{BlobFile, References};
use crate::checksum::checksum;
use crate::codec::put_varint;
use crate::design::FilterPlace;
use crate::error::{Error, Result};
use crate::range_tombstones::{KeyRange, RangeTombstones};

/// A writer of one SSTable. The caller adds entries in key order. The file is not durable before
/// [`finish`](Self::finish).
pub(crate) struct TableWriter {
    context: Arc<TableContext>,
    id: u64,
    /// The memory budget of the filter of this SSTable. `None` if the filter variant has no parameter for the bits per
    /// key.
    filter_budget: Option<FilterBudget>,
    store: Store,
    block: BlockBuilder,
    separators: Separators,
    hashes: Vec<KeyHash>,
    /// Copies of the keys of the SSTable, if the filter or the option `table.last_key` needs them.
    kept: Option<KeptKeys>,
    block_starts: Vec<u32>,
    /// The first and the last key of each data block. `None` if the fence does not need these keys.
    bounds: Option<BlockBounds>,
    /// The last key of the previous data block.
    previous_last_key: Vec<u8>,
    first_key: Vec<u8>,
    /// The range tombstones of the SSTable, which are disjoint and in key order.
    deletes: Vec<KeyRange>,
    /// The total size of the keys of the range tombstones, in bytes.
    delete_bytes: u64,
    /// The positions of the entries that are single deletes or have replaced one.
    marks: SingleMarks,
    /// The blob files that contain values of the SSTable. `None` if the SSTable cannot contain pointers to blob files.
    references: Option<References>,
    properties: Properties,
}

/// The memory budget of a filter, in bits.
#[derive(Clone, Copy)]
pub(crate) enum FilterBudget {
    /// A number of bits for each key of the SSTable.
    PerKey(f64),
    /// A number of bits for all keys of the SSTable. The writer knows the number of keys only at the end.
    PerTable(f64),
}

impl FilterBudget {
    fn bits_per_key(self, keys: usize) -> f64 {
        match self {
            Self::PerKey(bits) => bits,
            Self::PerTable(bits) => bits / keys.max(1) as f64,
        }
    }
}

impl TableWriter {
    /// Begins the SSTable with the file number `id` for `level`. `filter_budget` is the memory budget of its filter. In
    /// a store without a manifest, the file name contains `sequences`, the sequence numbers of its writes.
    pub(crate) fn new(
        context: &Arc<TableContext>,
        id: u64,
        level: usize,
        filter_budget: Option<FilterBudget>,
        sequences: Option<SequenceRange>,
    ) -> Result<Self> {
        let block_options = context.options.block;
        Ok(Self {
            id,
            filter_budget,
            store: Store::new(context, id, level, sequences)?,
            block: BlockBuilder::new(&*context.format, &block_options),
            separators: Separators::default(),
            hashes: Vec::new(),
            kept: KeptKeys::new(context.bloom.component.needs_keys(), context.options.table.last_key),
            block_starts: Vec::new(),
            bounds: context.fence.component.needs_bounds().then(BlockBounds::default),
            previous_last_key: Vec::new(),
            first_key: Vec::new(),
            deletes: Vec::new(),
            delete_bytes: 0,
            marks: SingleMarks::default(),
            references: None,
            properties: Properties {
                entries: 0,
                tombstones: 0,
                key_bytes: 0,
                value_bytes: 0,
                largest_block_bytes: 0,
                smallest: Arc::default(),
                largest: Arc::default(),
                bloom: context.bloom.label.clone(),
                fence: context.fence.label.clone(),
                hash: context.hash.label.clone(),
                checksum: block_options.checksum,
                is_filter_apart: context.options.table.filter == FilterPlace::Apart,
                dictionaries: Vec::new(),
            },
            context: Arc::clone(context),
        })
    }

    /// Appends an entry to the SSTable. The key must be larger than the previous key.
    ///
    /// # Errors
    /// If writing fails, or if the key is not larger than the previous key, which happens if a compaction has corrupt
    /// inputs.
    pub(crate) fn add(&mut self, entry: Entry<'_>) -> Result<()> {
        if !self.is_empty() && self.block.last_key() >= entry.key {
            return Err(Error::OutOfOrder(self.context.directory.clone()));
        }
        let limit = self.context.options.block.size.0 as usize - TRAILER_BYTES;
        if !self.block.is_empty() && self.block.would_exceed(&entry, limit) {
            self.close_block()?;
        }
        if self.block.is_empty() {
            self.open_block(entry.key);
        }
        let hash = self.context.hash.component.hash(entry.key);
        self.hashes.push(hash);
        if let Some(kept) = &mut self.kept {
            kept.push(entry.key);
        }
        self.block.add(entry, hash);
        self.properties.entries += 1;
        self.properties.tombstones += u64::from(entry.value.is_none());
        self.properties.key_bytes += entry.key.len() as u64;
        self.properties.value_bytes += entry.value.map_or(0, <[u8]>::len) as u64;
        Ok(())
    }

    /// Marks the last added entry. Its tombstone belongs to a single delete, or its value replaced a single delete (see
    /// [`single_deletes`](crate::single_deletes)).
    pub(crate) fn mark_last(&mut self) {
        let (block, first) = (self.block_starts.len() as u32, self.block_starts.last().copied());
        let entry = (self.properties.entries as u32).saturating_sub(first.unwrap_or_default());
        self.marks.push(block.saturating_sub(1), entry.saturating_sub(1));
    }

    /// Declares that every stored value of the SSTable begins with a tag byte, in the form of
    /// [`Stored`](crate::blob::Stored). Must be called before the first entry is added.
    pub(crate) fn mark_values(&mut self) {
        self.references = Some(References::default());
    }

    /// Records that the SSTable points to one more record of the blob file `file`. The record has `bytes` bytes.
    pub(crate) fn refer(&mut self, file: &Arc<BlobFile>, bytes: u64) {
        self.references.get_or_insert_default().add(file, bytes);
    }

    /// Appends a range tombstone to the SSTable. It must begin after the previous range tombstone.
    pub(crate) fn add_range_tombstone(&mut self, range: KeyRange) {
        self.delete_bytes += range.bytes();
        self.deletes.push(range);
    }

    /// Returns the size of the SSTable for the comparison with `table.capacity`, in bytes: the sizes of keys and
    /// values, 8 bytes per entry, and the keys of range tombstones.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.properties.charged_bytes() + self.delete_bytes
    }

    /// Returns whether the SSTable has no entry yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.properties.entries == 0
    }

    /// Completes the SSTable, makes its bytes durable and opens it for reading. The name of the file becomes durable
    /// when the directory is synced.
    ///
    /// # Panics
    /// If the SSTable has neither an entry nor a range tombstone.
    pub(crate) fn finish(mut self) -> Result<Table> {
        if let (true, Some(first)) = (self.is_empty(), self.deletes.first()) {
            // Every SSTable has a data block. If the SSTable has only range tombstones, its block contains this
            // tombstone of the first deleted key.
            let key = Arc::clone(&first.low);
            self.add(Entry { key: &key, value: None })?;
        }
        assert!(!self.is_empty(), "an SSTable must have an entry or a range tombstone");
        self.properties.smallest = std::mem::take(&mut self.first_key).into();
        let last = self.kept.as_mut().and_then(KeptKeys::take_last);
        self.properties.largest = last.unwrap_or_else(|| self.block.last_key().into());
        self.close_block()?;
        self.store.learn()?;
        let footer = self.write_sections()?;
        let (level, blocks) = (self.store.level, self.store.directory.len());
        self.store.finish(&footer)?;
        let table = Table::open(&self.context, self.id)?;
        let bits_per_key = self.filter_budget.map(|budget| budget.bits_per_key(self.hashes.len()));
        metadata::write(&self.context, &table, &Description { level, blocks, bits_per_key })?;
        Ok(table)
    }

    fn open_block(&mut self, key: &[u8]) {
        if self.properties.entries == 0 {
            self.first_key = key.to_vec();
            self.separators.push(key);
        } else {
            // The separator is the shortest prefix of the key that is above the last key of the previous block.
            let len = common_prefix(&self.previous_last_key, key) + 1;
            self.separators.push(&key[..len]);
        }
        self.block_starts.push(self.properties.entries as u32);
        if let Some(bounds) = &mut self.bounds {
            bounds.first_keys.push(key);
        }
    }

    fn close_block(&mut self) -> Result<()> {
        self.previous_last_key.clear();
        self.previous_last_key.extend_from_slice(self.block.last_key());
        if let Some(bounds) = &mut self.bounds {
            bounds.last_keys.push(self.block.last_key());
        }
        self.block.finish(|block| self.store.add_block(block))
    }

    /// Writes all parts of the SSTable after the data blocks, except for the footer. Returns the encoded footer.
    fn write_sections(&mut self) -> Result<Vec<u8>> {
        let is_fence_first = self.store.waits_for_fence();
        let fence_bytes = self.build_fence();
        let first = if is_fence_first { Some(self.store.join(&fence_bytes)?) } else { None };
        let filter = self.write_filter()?;
        let fence = match first {
            Some(fence) => fence,
            None => self.store.append_section(&fence_bytes, self.context.fence.component.alignment())?,
        };
        let range_tombstones = if self.deletes.is_empty() {
            None
        } else {
            let deletes: RangeTombstones = std::mem::take(&mut self.deletes).into_iter().collect();
            Some(self.store.append_section(&deletes.encode(), 1)?)
        };
        let marks = std::mem::take(&mut self.marks);
        let single_marks = match marks.is_empty() {
            true => None,
            false => Some(self.store.append_section(&marks.encode(), 1)?),
        };
        let (mut directory, seal) = (Vec::new(), self.context.seals.of(self.id));
        self.store.directory.encode(&mut directory);
        put_varint(&mut directory, fence_bytes.chunks(FENCE_CHUNK_BYTES).len() as u64);
        for (index, chunk) in fence_bytes.chunks(FENCE_CHUNK_BYTES).enumerate() {
            let offset = fence.offset + (index * FENCE_CHUNK_BYTES) as u64;
            directory.extend_from_slice(&checksum(seal, offset, chunk).to_le_bytes());
        }
        if let Some(references) = &self.references {
            references.encode(&mut directory);
        }
        let directory = self.store.append_section(&directory, 1)?;
        self.properties.largest_block_bytes = self.store.largest_block_bytes;
        self.properties.dictionaries = self.store.dictionaries.encode();
        let mut properties = Vec::new();
        self.properties.encode(&mut properties);
        let properties = self.store.append_section(&properties, 1)?;
        let footer = Footer { filter, fence, range_tombstones, single_marks, directory, properties };
        Ok(footer.encode(seal, self.store.offset()))
    }

    fn build_fence(&mut self) -> Vec<u8> {
        if let Some(bounds) = &mut self.bounds {
            bounds.offsets = self.store.block_offsets();
        }
        self.context.fence.component.build(&FenceInput {
            separators: &self.separators,
            hashes: &self.hashes,
            block_starts: &self.block_starts,
            level: self.store.level,
            bounds: self.bounds.as_ref(),
        })
    }

    fn write_filter(&mut self) -> Result<Section> {
        let filter = self.context.bloom.component.build(&FilterInput {
            hashes: &self.hashes,
            bits_per_key: self.filter_budget.map(|budget| budget.bits_per_key(self.hashes.len())),
            keys: self.kept.as_ref().and_then(KeptKeys::all),
        });
        if self.properties.is_filter_apart {
            filter_file::write(&self.context, self.id, &filter)?;
            return self.store.append_section(&[], 1);
        }
        self.store.append_section(&filter, 1)
    }
}
