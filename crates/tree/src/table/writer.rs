//! Writing one table, from its first entry to its footer.

use std::sync::Arc;

use bloom::FilterInput;
use compression::RAW;
use fence::{FenceInput, Separators};
use storage::{Purpose, WriteFile};
use types::{Entry, KeyHash, KeyList, common_prefix};

use super::Properties;
use super::block_builder::BlockBuilder;
use super::directory::Directory;
use super::footer::{Footer, Section};
use super::reader::{FENCE_CHUNK_BYTES, TRAILER_BYTES, Table, TableContext, table_path};
use crate::checksum::{block_checksum, checksum};
use crate::codec::put_varint;
use crate::error::Result;

/// Appends go to storage in pieces of at least this size.
const WRITE_BUFFER_BYTES: usize = 1 << 20;

/// Writes one table. Entries come in key order; nothing is durable before [`finish`](Self::finish).
pub(crate) struct TableWriter {
    context: Arc<TableContext>,
    id: u64,
    /// The level the table is written for: codecs may depend on it.
    level: usize,
    /// What its filter may spend, where an allocation says.
    filter_bits_per_key: Option<f64>,
    file: Box<dyn WriteFile>,
    /// Bytes that are not with the file yet.
    buffer: Vec<u8>,
    block: BlockBuilder,
    directory: Directory,
    separators: Separators,
    hashes: Vec<KeyHash>,
    /// The keys, where the filter is built from them.
    keys: Option<KeyList>,
    block_starts: Vec<u32>,
    /// The last key of the block before the one being built.
    previous_last_key: Vec<u8>,
    first_key: Vec<u8>,
    properties: Properties,
}

impl TableWriter {
    /// Begins table `id`, which is meant for `level` and whose filter may spend so many bits per key.
    pub(crate) fn new(
        context: &Arc<TableContext>,
        id: u64,
        level: usize,
        filter_bits_per_key: Option<f64>,
    ) -> Result<Self> {
        let path = table_path(&context.directory, id);
        let block_options = context.options.block;
        Ok(Self {
            file: context.storage.create(&path, Purpose::Table)?,
            id,
            level,
            filter_bits_per_key,
            buffer: Vec::with_capacity(WRITE_BUFFER_BYTES + WRITE_BUFFER_BYTES / 8),
            block: BlockBuilder::new(block_options),
            directory: Directory::new(block_options.align.then_some(block_options.size.0 as u32)),
            separators: Separators::default(),
            hashes: Vec::new(),
            keys: context.bloom.component.needs_keys().then(KeyList::default),
            block_starts: Vec::new(),
            previous_last_key: Vec::new(),
            first_key: Vec::new(),
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
            },
            context: Arc::clone(context),
        })
    }

    /// Appends an entry; its key is above the last one.
    pub(crate) fn add(&mut self, entry: Entry<'_>) -> Result<()> {
        let limit = self.context.options.block.size.0 as usize - TRAILER_BYTES;
        if !self.block.is_empty() && self.block.would_exceed(&entry, limit) {
            self.close_block()?;
        }
        if self.block.is_empty() {
            self.open_block(entry.key);
        }
        let hash = self.context.hash.component.hash(entry.key);
        self.hashes.push(hash);
        if let Some(keys) = &mut self.keys {
            keys.push(entry.key);
        }
        self.block.add(entry, hash);
        self.properties.entries += 1;
        self.properties.tombstones += u64::from(entry.value.is_none());
        self.properties.key_bytes += entry.key.len() as u64;
        self.properties.value_bytes += entry.value.map_or(0, <[u8]>::len) as u64;
        Ok(())
    }

    /// Key and value bytes so far, with the charge of each entry: what table capacities are counted in.
    pub(crate) fn charged_bytes(&self) -> u64 {
        self.properties.charged_bytes()
    }

    /// Whether no entry was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.properties.entries == 0
    }

    /// Completes the table, makes its bytes durable and opens it. Its name is durable once the directory is
    /// synced too.
    ///
    /// # Panics
    /// If no entry was added.
    pub(crate) fn finish(mut self) -> Result<Table> {
        assert!(!self.is_empty(), "a table has at least one entry");
        self.properties.smallest = std::mem::take(&mut self.first_key).into();
        self.properties.largest = self.block.last_key().into();
        self.close_block()?;
        self.write_sections()?;
        self.flush_buffer(0)?;
        self.file.sync()?;
        Table::open(&self.context, self.id)
    }

    fn open_block(&mut self, key: &[u8]) {
        if self.properties.entries == 0 {
            self.first_key = key.to_vec();
            self.separators.push(key);
        } else {
            // The shortest prefix of the key that is still above the block before.
            let len = common_prefix(&self.previous_last_key, key) + 1;
            self.separators.push(&key[..len]);
        }
        self.block_starts.push(self.properties.entries as u32);
    }

    fn close_block(&mut self) -> Result<()> {
        self.previous_last_key.clear();
        self.previous_last_key.extend_from_slice(self.block.last_key());
        let start = self.buffer.len();
        let offset = self.file.len() + start as u64;
        let (context, level, buffer) = (&self.context, self.level, &mut self.buffer);
        let (codec, raw_len) = self.block.finish(|block| {
            let codec = context.compression.compress(level, block, buffer);
            debug_assert!(
                codec != RAW || buffer.len() - start == block.len(),
                "raw blocks are stored as they are"
            );
            (codec, block.len())
        });
        self.properties.largest_block_bytes = self.properties.largest_block_bytes.max(raw_len as u64);
        self.seal_block(start, offset, codec, raw_len);
        self.directory.push(self.buffer.len() - start);
        self.flush_buffer(WRITE_BUFFER_BYTES)
    }

    /// Appends padding where blocks are aligned, and the trailer.
    fn seal_block(&mut self, start: usize, offset: u64, codec: u8, raw_len: usize) {
        let options = self.context.options.block;
        let stored_len = self.buffer.len() - start;
        if options.align {
            let whole = (stored_len + TRAILER_BYTES).next_multiple_of(options.size.0 as usize);
            self.buffer.resize(start + whole - TRAILER_BYTES, 0);
        }
        self.buffer.push(codec);
        self.buffer.extend_from_slice(&(stored_len as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(raw_len as u32).to_le_bytes());
        let sum = block_checksum(options.checksum, self.id, offset, &self.buffer[start..]);
        self.buffer.extend_from_slice(&sum.to_le_bytes());
    }

    fn write_sections(&mut self) -> Result<()> {
        let input = FilterInput {
            hashes: &self.hashes,
            bits_per_key: self.filter_bits_per_key,
            keys: self.keys.as_ref(),
        };
        let filter = self.context.bloom.component.build(&input);
        let filter = self.append_section(&filter, 1)?;
        let input = FenceInput {
            separators: &self.separators,
            hashes: &self.hashes,
            block_starts: &self.block_starts,
        };
        let fence_bytes = self.context.fence.component.build(&input);
        let fence = self.append_section(&fence_bytes, self.context.fence.component.alignment())?;
        let mut directory = Vec::new();
        self.directory.encode(&mut directory);
        put_varint(&mut directory, fence_bytes.chunks(FENCE_CHUNK_BYTES).len() as u64);
        for (index, chunk) in fence_bytes.chunks(FENCE_CHUNK_BYTES).enumerate() {
            let offset = fence.offset + (index * FENCE_CHUNK_BYTES) as u64;
            directory.extend_from_slice(&checksum(self.id, offset, chunk).to_le_bytes());
        }
        let directory = self.append_section(&directory, 1)?;
        let mut properties = Vec::new();
        self.properties.encode(&mut properties);
        let properties = self.append_section(&properties, 1)?;
        let footer = Footer { filter, fence, directory, properties };
        let offset = self.offset();
        self.buffer.extend_from_slice(&footer.encode(self.id, offset));
        Ok(())
    }

    fn append_section(&mut self, bytes: &[u8], alignment: u64) -> Result<Section> {
        if !bytes.is_empty() {
            let padding = self.offset().next_multiple_of(alignment) - self.offset();
            self.buffer.resize(self.buffer.len() + padding as usize, 0);
        }
        let offset = self.offset();
        self.buffer.extend_from_slice(bytes);
        self.flush_buffer(WRITE_BUFFER_BYTES)?;
        Ok(Section { offset, len: bytes.len() as u64, checksum: checksum(self.id, offset, bytes) })
    }

    /// Where the next byte comes to stand in the file.
    fn offset(&self) -> u64 {
        self.file.len() + self.buffer.len() as u64
    }

    fn flush_buffer(&mut self, threshold: usize) -> Result<()> {
        if self.buffer.len() >= threshold && !self.buffer.is_empty() {
            self.file.append(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}
