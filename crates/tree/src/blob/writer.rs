//! Writes one blob file, from its first record to its footer.

use std::sync::Arc;

use storage::{Purpose, WriteFile};

use super::file::BlobFile;
use super::record::{Footer, append};
use super::registry::BlobFiles;
use super::stored::Pointer;
use crate::error::Result;

/// The size of the write buffer, in bytes, at which its content is appended to the blob file.
const WRITE_BUFFER_BYTES: usize = 1 << 20;

/// A writer of one blob file. The file is not durable before [`finish`](Self::finish). If the last reference to the
/// handle of the file is dropped before a version of the tree uses the file, the file is removed.
pub(crate) struct BlobWriter {
    file: Box<dyn WriteFile>,
    handle: Arc<BlobFile>,
    /// The write buffer: records that are not appended to the blob file yet.
    buffer: Vec<u8>,
    records: u64,
    partition: u32,
}

impl BlobWriter {
    /// Creates the blob file `number` for keys of one partition. `partition` is the number of this partition in the
    /// value policy.
    pub(crate) fn new(files: &BlobFiles, number: u64, partition: u32) -> Result<Self> {
        let handle = files.file(number);
        handle.set_obsolete(true);
        let file = handle.source.storage.create(&handle.path, Purpose::Table)?;
        Ok(Self { handle, file, buffer: Vec::new(), records: 0, partition })
    }

    /// Returns the handle of the blob file, which SSTables with pointers to the file share.
    pub(crate) fn handle(&self) -> &Arc<BlobFile> {
        &self.handle
    }

    /// Returns the total length of the records that were added so far, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.len() + self.buffer.len() as u64
    }

    /// Adds the value of a key to the blob file, and returns the pointer to the value.
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

    /// Completes the blob file and makes its bytes durable. The name of the file becomes durable when the directory is
    /// synced. Returns the length of the file.
    pub(crate) fn finish(mut self) -> Result<u64> {
        let footer = Footer { records: self.records, bytes: self.bytes(), partition: self.partition };
        self.buffer.extend_from_slice(&footer.encode(self.handle.seal));
        self.file.append(&self.buffer)?;
        self.file.sync()?;
        Ok(self.file.len())
    }
}
