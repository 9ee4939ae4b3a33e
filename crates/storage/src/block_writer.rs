//! A file that is written in whole aligned blocks, as direct I/O requires. The writer collects appended bytes in a
//! buffer. It pads the last block, and then truncates the file to remove the padding.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::aligned::{ALIGNMENT, AlignedBuffer};
use crate::fuse::Fuse;
use crate::storage::{StorageError, WriteFile};

/// The maximum number of bytes of one write to the file, which is the size of the buffer.
pub(crate) const WRITE_BYTES: usize = 1 << 20;

/// A file that accepts only writes of whole aligned blocks, as direct I/O requires.
pub(crate) trait BlockFile: Send {
    /// Writes all bytes at an offset of the file. The offset and the length must be multiples of the alignment for
    /// direct I/O, 4096 bytes.
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Truncates the file to the length `len`.
    fn set_len(&mut self, len: u64) -> io::Result<()>;

    /// Syncs the file, so that written data is durable.
    fn sync_data(&mut self) -> io::Result<()>;
}

impl BlockFile for File {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, offset)
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        Self::set_len(self, len)
    }

    fn sync_data(&mut self) -> io::Result<()> {
        Self::sync_data(self)
    }
}

/// A writer for a file that accepts only writes of whole blocks. After a sync, or after the writer is dropped, the file
/// contains all appended bytes.
pub(crate) struct BlockWriter<F: BlockFile> {
    fuse: Fuse,
    blocks: Blocks<F>,
}

impl<F: BlockFile> BlockWriter<F> {
    /// Creates a writer for the new file `file`, whose path is `path`.
    pub(crate) fn new(path: &Path, file: F) -> Self {
        Self { fuse: Fuse::new(path), blocks: Blocks::new(file) }
    }
}

impl<F: BlockFile> WriteFile for BlockWriter<F> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.fuse.attempt("append to", || self.blocks.append(bytes))
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.fuse.attempt("sync", || {
            self.blocks.write_tail()?;
            self.blocks.file.sync_data()
        })
    }

    fn len(&self) -> u64 {
        self.blocks.written + self.blocks.buffered as u64
    }
}

impl<F: BlockFile> Drop for BlockWriter<F> {
    /// Writes the buffered bytes to the file. Ignores errors, because unsynced data need not be durable.
    fn drop(&mut self) {
        if !self.fuse.is_blown() {
            let _ = self.blocks.write_tail();
        }
    }
}

/// The buffer of a [`BlockWriter`], which collects appended bytes and writes them to the file in whole blocks.
struct Blocks<F> {
    file: F,
    buffer: AlignedBuffer,
    /// The number of bytes in the buffer. In the file, these bytes follow the first `written` bytes.
    buffered: usize,
    /// The number of bytes in complete blocks that were written to the file.
    written: u64,
    /// Whether the buffer contains bytes that the file does not contain yet.
    dirty: bool,
}

impl<F: BlockFile> Blocks<F> {
    fn new(file: F) -> Self {
        Self { file, buffer: AlignedBuffer::new(WRITE_BYTES), buffered: 0, written: 0, dirty: false }
    }

    fn append(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(WRITE_BYTES - self.buffered));
            self.buffer.bytes_mut()[self.buffered..][..now.len()].copy_from_slice(now);
            self.buffered += now.len();
            self.dirty = true;
            if self.buffered == WRITE_BYTES {
                self.write_tail()?;
            }
            bytes = later;
        }
        Ok(())
    }

    /// Writes all buffered bytes to the file. If the last block is partial, the function pads it and then truncates the
    /// file to remove the padding. The partial block stays in the buffer until later appends complete it.
    fn write_tail(&mut self) -> io::Result<()> {
        if !self.dirty {
            return Ok(());
        }
        let padded = self.buffered.next_multiple_of(ALIGNMENT);
        self.buffer.bytes_mut()[self.buffered..padded].fill(0);
        self.file.write_all_at(&self.buffer.bytes()[..padded], self.written)?;
        if padded > self.buffered {
            self.file.set_len(self.written + self.buffered as u64)?;
        }
        let full = self.buffered - self.buffered % ALIGNMENT;
        self.buffer.bytes_mut().copy_within(full..self.buffered, 0);
        self.written += full as u64;
        self.buffered -= full;
        self.dirty = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::posix::create_new;

    /// Tests the offsets and lengths of writes with a file in the page cache. Such a file works on any file system.
    #[test]
    fn tails_are_padded_cut_and_completed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut expected = Vec::new();
        let mut writer = BlockWriter::new(&path, create_new(&path, 0).unwrap());
        let sizes = [1, 4094, 1, 1, 4096, 0, WRITE_BYTES - 8193, 8192, 2 * WRITE_BYTES, WRITE_BYTES + 7];
        for (fill, size) in (1..).zip(sizes) {
            expected.extend(std::iter::repeat_n(fill, size));
            writer.append(&vec![fill; size]).unwrap();
            assert_eq!(writer.len(), expected.len() as u64);
            if fill % 3 != 0 {
                writer.sync().unwrap();
                assert!(fs::read(&path).unwrap() == expected, "after {size} bytes");
            }
        }
        drop(writer);
        assert!(fs::read(&path).unwrap() == expected);
    }
}
