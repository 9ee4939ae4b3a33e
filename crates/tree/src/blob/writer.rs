//! Writes one blob file, from its first record to its footer.

use std::sync::Arc;

use storage::{Purpose, WriteFile};

use super::file::BlobFile;
use super::record::{Footer, append};
use super::registry::BlobFiles;
use super::stored::Pointer;
use crate::error::Result;

/// The least number of bytes of an append to storage.
const WRITE_BUFFER_BYTES: usize = 1 << 20;

/// Writes one blob file. Nothing is durable before [`finish`](Self::finish). Unless a version keeps the file, it is
/// removed with the last reference to it.
pub(crate) struct BlobWriter {
    file: Box<dyn WriteFile>,
    handle: Arc<BlobFile>,
    /// Records that are not yet appended to the file.
    buffer: Vec<u8>,
    records: u64,
    partition: u32,
}

impl BlobWriter {
    /// Creates the file with this number for the keys of a partition.
    pub(crate) fn new(files: &BlobFiles, number: u64, partition: u32) -> Result<Self> {
        let handle = files.file(number);
        handle.set_obsolete(true);
        let file = handle.source.storage.create(&handle.path, Purpose::Table)?;
        Ok(Self { handle, file, buffer: Vec::new(), records: 0, partition })
    }

    /// Returns the handle of the file.
    pub(crate) fn handle(&self) -> &Arc<BlobFile> {
        &self.handle
    }

    /// Returns the bytes of all records so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.len() + self.buffer.len() as u64
    }

    /// Appends the value of a key, and returns its place.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) -> Result<Pointer> {
        let offset = self.bytes();
        append(&mut self.buffer, self.handle.seal, offset, key, value);
        self.records += 1;
        if self.buffer.len() >= WRITE_BUFFER_BYTES {
            self.file.append(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(Pointer { file: self.handle.number, offset, value_bytes: value.len() as u64 })
    }

    /// Completes the file and makes its bytes durable. The name becomes durable when the directory is synced. Returns
    /// the length of the file.
    pub(crate) fn finish(mut self) -> Result<u64> {
        let footer = Footer { records: self.records, bytes: self.bytes(), partition: self.partition };
        self.buffer.extend_from_slice(&footer.encode(self.handle.seal));
        self.file.append(&self.buffer)?;
        self.file.sync()?;
        Ok(self.file.len())
    }
}
