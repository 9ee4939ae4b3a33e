//! Writes the file of an SSTable: compresses the blocks, adds their trailers and appends them to the file.

use std::path::PathBuf;
use std::sync::Arc;

use compression::{Compression, Dictionaries, RAW};
use storage::{Purpose, WriteFile};

use super::context::TableContext;
use super::directory::Directory;
use super::footer::Section;
use super::leaves::{Leaf, Leaves};
use super::names::{SequenceRange, unfinished_path};
use super::samples::Samples;
use super::trailer::TRAILER_BYTES;
use crate::checksum::{block_checksum, checksum};
use crate::design::TableLayout;
use crate::error::Result;

/// The size of the write buffer, in bytes, at which its content is appended to the file of the SSTable.
const WRITE_BUFFER_BYTES: usize = 1 << 20;

/// The file of an SSTable under construction. The file is written from start to end.
pub(super) struct Store {
    context: Arc<TableContext>,
    /// A number that identifies the file and its store. Every checksum in the file covers this number.
    seal: u64,
    /// The level of the SSTable. The compression may use another codec in each level.
    pub(super) level: usize,
    file: Box<dyn WriteFile>,
    /// The final path of the SSTable, if its file has a temporary name while it is written. `None` if the file has its
    /// final name from the start.
    finished: Option<PathBuf>,
    /// The bytes that are not yet written to the file of the SSTable, or to the temporary file of its data blocks if
    /// `leaves` is set.
    buffer: Vec<u8>,
    /// The temporary file of the data blocks, until the fence is written. `None` if the blocks come before the fence in
    /// the SSTable.
    leaves: Option<Leaves>,
    /// The offsets and lengths of the data blocks written so far.
    pub(super) directory: Directory,
    /// The size of the largest data block before compression, in bytes.
    pub(super) largest_block_bytes: u64,
    /// The compression that was trained on the first data blocks of this SSTable. `None` without training.
    learnt: Option<Arc<dyn Compression>>,
    /// The first data blocks of the SSTable, which are kept until the compression has enough training data.
    samples: Option<Samples>,
    /// The dictionaries that the compression has trained on the first data blocks.
    pub(super) dictionaries: Dictionaries,
}

impl Store {
    /// Creates the file of the SSTable with the file number `id` for `level`.
    ///
    /// In a store without a manifest, the file name contains `sequences`, the sequence numbers of the writes in the
    /// SSTable. The file then has a temporary name until the SSTable is complete.
    pub(super) fn new(
        context: &Arc<TableContext>,
        id: u64,
        level: usize,
        sequences: Option<SequenceRange>,
    ) -> Result<Self> {
        let options = context.options.block;
        let path = context.directory.join(context.names.create(id, level, sequences));
        let waits = context.options.table.layout == TableLayout::IndexFirst;
        let finished = sequences.map(|_| path.clone());
        let written = finished.as_deref().map_or_else(|| path.clone(), unfinished_path);
        Ok(Self {
            file: context.storage.create(&written, Purpose::Table)?,
            finished,
            leaves: if waits { Some(Leaves::new(&context.storage, &path)?) } else { None },
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

    /// Compresses and appends a data block. Before the compression is trained, keeps the block as training data.
    pub(super) fn add_block(&mut self, block: &[u8]) -> Result<()> {
        match &mut self.samples {
            None => self.append_block(block),
            Some(samples) => match samples.add(block) {
                true => self.learn(),
                false => Ok(()),
            },
        }
    }

    /// Trains the compression on the data blocks that were kept, and then appends these blocks. Does nothing if no
    /// blocks were kept.
    pub(super) fn learn(&mut self) -> Result<()> {
        let Some(samples) = self.samples.take() else { return Ok(()) };
        let blocks: Vec<&[u8]> = samples.blocks().collect();
        self.learnt = self.context.compression.learn(self.level, &blocks, &mut self.dictionaries);
        blocks.into_iter().try_for_each(|block| self.append_block(block))
    }

    fn append_block(&mut self, block: &[u8]) -> Result<()> {
        let start = self.buffer.len();
        let codec = self.learnt.as_deref().unwrap_or(&*self.context.compression);
        let tag = codec.compress(self.level, block, &mut self.buffer);
        debug_assert!(
            tag != RAW || self.buffer.len() - start == block.len(),
            "a codec with the code RAW must not change the block"
        );
        self.largest_block_bytes = self.largest_block_bytes.max(block.len() as u64);
        if let Some(leaves) = &mut self.leaves {
            let stored_len = self.buffer.len() - start;
            leaves.push(Leaf { codec: tag, stored_len, raw_len: block.len() });
        } else {
            self.seal_block(start, tag, block.len());
        }
        self.flush_buffer(WRITE_BUFFER_BYTES)
    }

    /// Returns the offset of every data block, relative to the first data block.
    pub(super) fn block_offsets(&self) -> Vec<u64> {
        if let Some(leaves) = &self.leaves {
            let lens = leaves.blocks().iter().map(|leaf| self.sealed_len(leaf.stored_len) as u64);
            return lens.scan(0, |next, len| Some(std::mem::replace(next, *next + len))).collect();
        }
        let places = (0..self.directory.len()).filter_map(|block| self.directory.place(block));
        places.map(|place| place.offset).collect()
    }

    /// Returns whether the data blocks are in a temporary file until the fence is written.
    pub(super) fn waits_for_fence(&self) -> bool {
        self.leaves.is_some()
    }

    /// Writes the fence at the start of the SSTable, and then copies the data blocks from their temporary file to the
    /// positions after the fence. Returns the position of the fence.
    pub(super) fn join(&mut self, fence: &[u8]) -> Result<Section> {
        self.flush_buffer(0)?;
        let leaves = self.leaves.take();
        let section = self.append_section(fence, 1)?;
        if self.context.is_aligned() {
            let page_bytes = self.context.options.block.size.0;
            let padding = self.offset().next_multiple_of(page_bytes) - self.offset();
            self.buffer.resize(self.buffer.len() + padding as usize, 0);
        }
        self.directory.begin_at(self.offset());
        let Some(leaves) = leaves else { return Ok(section) };
        leaves.read(|leaf, block| {
            let start = self.buffer.len();
            self.buffer.extend_from_slice(block);
            self.seal_block(start, leaf.codec, leaf.raw_len);
            self.flush_buffer(WRITE_BUFFER_BYTES)
        })?;
        Ok(section)
    }

    /// Returns the length of a data block in the file of the SSTable, in bytes: its compressed length, padding and
    /// trailer.
    fn sealed_len(&self, stored_len: usize) -> usize {
        match self.context.is_aligned() {
            true => (stored_len + TRAILER_BYTES).next_multiple_of(self.context.options.block.size.0 as usize),
            false => stored_len + TRAILER_BYTES,
        }
    }

    /// Completes the data block that begins at the offset `start` of the write buffer. Appends padding if blocks are
    /// aligned, and then the trailer. Adds the block to the directory.
    fn seal_block(&mut self, start: usize, codec: u8, raw_len: usize) {
        let options = self.context.options.block;
        let (stored_len, offset) = (self.buffer.len() - start, self.file.len() + start as u64);
        self.buffer.resize(start + self.sealed_len(stored_len) - TRAILER_BYTES, 0);
        self.buffer.push(codec);
        self.buffer.extend_from_slice(&(stored_len as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(raw_len as u32).to_le_bytes());
        let sum = block_checksum(options.checksum, self.seal, offset, &self.buffer[start..]);
        self.buffer.extend_from_slice(&sum.to_le_bytes());
        self.directory.push(self.buffer.len() - start);
    }

    /// Appends a part of the SSTable that is not a data block, such as the filter. The part begins at an offset that is
    /// a multiple of `alignment`, unless it is empty.
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

    /// Appends `last`, the end of the SSTable file, and makes all bytes durable. The file then has its final name,
    /// which becomes durable when the directory is synced.
    pub(super) fn finish(mut self, last: &[u8]) -> Result<()> {
        self.buffer.extend_from_slice(last);
        self.flush_buffer(0)?;
        self.file.sync()?;
        drop(self.file);
        match self.finished {
            Some(path) => Ok(self.context.storage.rename(&unfinished_path(&path), &path)?),
            None => Ok(()),
        }
    }

    /// Returns the offset in the file at which the next byte will be written.
    pub(super) fn offset(&self) -> u64 {
        self.file.len() + self.buffer.len() as u64
    }

    fn flush_buffer(&mut self, threshold: usize) -> Result<()> {
        if self.buffer.len() >= threshold && !self.buffer.is_empty() {
            match &mut self.leaves {
                Some(leaves) => leaves.append(&self.buffer)?,
                None => self.file.append(&self.buffer)?,
            }
            self.buffer.clear();
        }
        Ok(())
    }
}
