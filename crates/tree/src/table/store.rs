//! The file of an SSTable that is being written. Compresses the blocks, adds their trailers and appends them to the
//! file.

use std::sync::Arc;

use compression::{Compression, Dictionaries, RAW};
use storage::{Purpose, WriteFile};

use super::context::TableContext;
use super::directory::Directory;
use super::footer::Section;
use super::samples::Samples;
use super::trailer::TRAILER_BYTES;
use crate::checksum::{block_checksum, checksum};
use crate::error::Result;

/// The number of buffered bytes at which the bytes are appended to the file.
const WRITE_BUFFER_BYTES: usize = 1 << 20;

/// The file of an SSTable, written from start to end.
pub(super) struct Store {
    context: Arc<TableContext>,
    /// The seal of the file, which every checksum of the file covers.
    seal: u64,
    /// The level of the table. The codec may depend on the level.
    pub(super) level: usize,
    file: Box<dyn WriteFile>,
    /// The bytes that are not appended to the file yet.
    buffer: Vec<u8>,
    /// The places of the blocks.
    pub(super) directory: Directory,
    /// The size of the largest block before compression, in bytes.
    pub(super) largest_block_bytes: u64,
    /// The codec of this table, if the codec was trained on the first blocks of the table.
    learnt: Option<Arc<dyn Compression>>,
    /// The first blocks of the table, until the codec has enough training data.
    samples: Option<Samples>,
    /// The dictionaries of the trained codec.
    pub(super) dictionaries: Dictionaries,
}

impl Store {
    /// Creates the file of table `id` for `level`.
    pub(super) fn new(context: &Arc<TableContext>, id: u64, level: usize) -> Result<Self> {
        let options = context.options.block;
        let path = context.directory.join(context.names.create(id, level));
        Ok(Self {
            file: context.storage.create(&path, Purpose::Table)?,
            seal: context.seals.of(id),
            level,
            buffer: Vec::with_capacity(WRITE_BUFFER_BYTES + WRITE_BUFFER_BYTES / 8),
            directory: Directory::new(context.is_aligned().then_some(options.size.0 as u32)),
            largest_block_bytes: 0,
            learnt: None,
            samples: Samples::new(context.compression.sample_bytes(level)),
            dictionaries: Dictionaries::default(),
            context: Arc::clone(context),
        })
    }

    /// Appends a block. Before the codec is trained, keeps the block as training data.
    pub(super) fn add_block(&mut self, block: &[u8]) -> Result<()> {
        match &mut self.samples {
            None => self.append_block(block),
            Some(samples) => match samples.add(block) {
                true => self.learn(),
                false => Ok(()),
            },
        }
    }

    /// Trains the codec on the blocks that were kept, and then appends these blocks. Does nothing if no blocks were
    /// kept.
    pub(super) fn learn(&mut self) -> Result<()> {
        let Some(samples) = self.samples.take() else { return Ok(()) };
        let blocks: Vec<&[u8]> = samples.blocks().collect();
        self.learnt = self.context.compression.learn(self.level, &blocks, &mut self.dictionaries);
        blocks.into_iter().try_for_each(|block| self.append_block(block))
    }

    fn append_block(&mut self, block: &[u8]) -> Result<()> {
        let start = self.buffer.len();
        let offset = self.offset();
        let codec = self.learnt.as_deref().unwrap_or(&*self.context.compression);
        let tag = codec.compress(self.level, block, &mut self.buffer);
        debug_assert!(
            tag != RAW || self.buffer.len() - start == block.len(),
            "raw blocks are stored as they are"
        );
        self.largest_block_bytes = self.largest_block_bytes.max(block.len() as u64);
        self.seal_block(start, offset, tag, block.len());
        self.directory.push(self.buffer.len() - start);
        self.flush_buffer(WRITE_BUFFER_BYTES)
    }

    /// Appends the trailer of a block, after padding if blocks are aligned.
    fn seal_block(&mut self, start: usize, offset: u64, codec: u8, raw_len: usize) {
        let options = self.context.options.block;
        let stored_len = self.buffer.len() - start;
        if self.context.is_aligned() {
            let whole = (stored_len + TRAILER_BYTES).next_multiple_of(options.size.0 as usize);
            self.buffer.resize(start + whole - TRAILER_BYTES, 0);
        }
        self.buffer.push(codec);
        self.buffer.extend_from_slice(&(stored_len as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(raw_len as u32).to_le_bytes());
        let sum = block_checksum(options.checksum, self.seal, offset, &self.buffer[start..]);
        self.buffer.extend_from_slice(&sum.to_le_bytes());
    }

    /// Appends a part of the file that is not a block. If the part is not empty, it begins at a multiple of
    /// `alignment`.
    pub(super) fn append_section(&mut self, bytes: &[u8], alignment: u64) -> Result<Section> {
        if !bytes.is_empty() {
            let padding = self.offset().next_multiple_of(alignment) - self.offset();
            self.buffer.resize(self.buffer.len() + padding as usize, 0);
        }
        let offset = self.offset();
        self.buffer.extend_from_slice(bytes);
        self.flush_buffer(WRITE_BUFFER_BYTES)?;
        Ok(Section { offset, len: bytes.len() as u64, checksum: checksum(self.seal, offset, bytes) })
    }

    /// Appends the last bytes of the file and makes all bytes durable.
    pub(super) fn finish(mut self, last: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(last);
        self.flush_buffer(0)?;
        Ok(self.file.sync()?)
    }

    /// Returns the offset of the next byte in the file.
    pub(super) fn offset(&self) -> u64 {
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
