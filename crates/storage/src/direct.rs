//! Tables read and written past the page cache (`O_DIRECT`): the block cache is the only cache there is.
//!
//! Offsets, lengths and addresses are multiples of 4096: appends are collected and go out in whole blocks,
//! the last one is padded and the file then cut to its length; reads are rounded out and the part asked
//! for is copied, so that a block kept in a cache holds no more memory than it has bytes. See open(2),
//! section "NOTES".

use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Build, Variant};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::aligned::{ALIGNMENT, AlignedBuffer};
use crate::fuse::Fuse;
use crate::posix::{Files, Posix, create_new, open_existing};
use crate::pread;
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile, check_bounds};

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<DirectTables>(
    "direct",
    "tables bypass the page cache: every read that the block cache misses goes to the device",
    "",
);

/// Appends go to the device in pieces of this size.
const WRITE_BYTES: usize = 1 << 20;

/// Each thread keeps memory for reads up to this size.
const KEPT_BYTES: usize = 1 << 20;

const DIRECT: i32 = OFlags::DIRECT.bits().cast_signed();

thread_local! {
    static SCRATCH: RefCell<AlignedBuffer> = RefCell::new(AlignedBuffer::new(0));
}

/// Reads and writes tables with `O_DIRECT`, all else through the page cache.
struct DirectTables;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn Storage> for DirectTables {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn Storage>, String> {
        Ok(Box::new(Posix(Self)))
    }
}

impl Files for DirectTables {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        if purpose != Purpose::Table {
            return pread::create(path);
        }
        let file = create_new(path, DIRECT).map_err(|error| {
            if is_refusal(&error) {
                // The name was made before the flag was refused.
                let _ = fs::remove_file(path);
            }
            StorageError::new("create", path, explain(error))
        })?;
        Ok(Box::new(DirectWriter { fuse: Fuse::new(path), blocks: BlockWriter::new(file) }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        if purpose != Purpose::Table {
            return pread::open(path);
        }
        let (file, len) =
            open_existing(path, DIRECT).map_err(|error| StorageError::new("open", path, explain(error)))?;
        Ok(Arc::new(DirectFile { file, path: path.to_owned(), len }))
    }
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

/// Says what `EINVAL` means here.
fn explain(error: io::Error) -> io::Error {
    if !is_refusal(&error) {
        return error;
    }
    let advice = "this file system does not take O_DIRECT; use storage = \"pread\", or a directory on a disk";
    io::Error::new(io::ErrorKind::Unsupported, advice)
}

/// A file being written past the page cache.
struct DirectWriter {
    fuse: Fuse,
    blocks: BlockWriter,
}

impl WriteFile for DirectWriter {
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

impl Drop for DirectWriter {
    /// What was not synced is written as far as that succeeds: nobody was promised more.
    fn drop(&mut self) {
        if !self.fuse.is_blown() {
            let _ = self.blocks.write_tail();
        }
    }
}

/// Collects bytes and writes them in whole blocks.
struct BlockWriter {
    file: File,
    buffer: AlignedBuffer,
    /// The bytes in the buffer; they belong behind those written.
    buffered: usize,
    /// The bytes of the whole blocks that stay as they are in the file.
    written: u64,
    /// Whether the buffer holds bytes that the file does not.
    dirty: bool,
}

impl BlockWriter {
    fn new(file: File) -> Self {
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

    /// Writes what is buffered. A last block that is not full is padded, the padding is cut off the file
    /// again, and the block stays in the buffer to be completed.
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

/// A file read past the page cache.
struct DirectFile {
    file: File,
    path: PathBuf,
    len: u64,
}

impl ReadFile for DirectFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        check_bounds(&self.path, offset, len, self.len)?;
        let before = (offset % ALIGNMENT as u64) as usize;
        let needed = before + len;
        let read = |buffer: &mut [u8]| {
            self.fill(buffer, offset - before as u64, needed)?;
            Bytes::with_len(len, |target| {
                target.copy_from_slice(&buffer[before..needed]);
                Ok(())
            })
        };
        with_scratch(needed.next_multiple_of(ALIGNMENT), read)
            .map_err(|error| StorageError::new("read", &self.path, error))
    }

    fn len(&self) -> u64 {
        self.len
    }
}

impl DirectFile {
    /// Reads at `offset`, a multiple, until `buffer`, whole blocks, has its first `needed` bytes. The rest
    /// may lie behind the end of the file.
    fn fill(&self, buffer: &mut [u8], offset: u64, needed: usize) -> io::Result<()> {
        let mut filled = 0;
        while filled < needed {
            match self.file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(read) if filled + read >= needed => break,
                Ok(read) if read < ALIGNMENT => return Err(io::ErrorKind::UnexpectedEof.into()),
                // What follows must start at a multiple again.
                Ok(read) => filled += read - read % ALIGNMENT,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Lends `use_buffer` aligned memory of `len` bytes; what is in it is not known.
fn with_scratch<R>(len: usize, use_buffer: impl FnOnce(&mut [u8]) -> R) -> R {
    if len > KEPT_BYTES {
        return use_buffer(AlignedBuffer::new(len).bytes_mut());
    }
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < len {
            *scratch = AlignedBuffer::new(len.next_power_of_two());
        }
        use_buffer(&mut scratch.bytes_mut()[..len])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_refuses_is_named_with_the_way_out() {
        // procfs takes no O_DIRECT.
        let error = DirectTables.open(Path::new("/proc/version"), Purpose::Table).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        let text = error.to_string();
        assert!(text.contains("O_DIRECT") && text.contains("storage = \"pread\""), "{text}");
        assert!(DirectTables.open(Path::new("/proc/version"), Purpose::Log).is_ok());
    }

    /// The writer's blocks, on a file that the page cache holds: alignment is the business of the system,
    /// the arithmetic is tested here on every file system.
    #[test]
    fn tails_are_padded_cut_and_completed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut expected = Vec::new();
        let mut writer =
            DirectWriter { fuse: Fuse::new(&path), blocks: BlockWriter::new(create_new(&path, 0).unwrap()) };
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

    #[test]
    fn a_file_that_was_cut_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, [7; 10_000]).unwrap();
        let file = DirectFile { file: File::open(&path).unwrap(), path: path.clone(), len: 10_000 };
        File::options().write(true).open(&path).unwrap().set_len(5000).unwrap();
        assert_eq!(&*file.read(4500, 500).unwrap(), [7; 500]);
        assert_eq!(file.read(4500, 501).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(file.read(9000, 10).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
