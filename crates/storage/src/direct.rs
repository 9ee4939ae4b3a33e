//! Reads and writes SSTables with `O_DIRECT`, without the page cache. The block cache is then the only cache.
//!
//! The offsets, lengths and addresses of reads and writes are multiples of 4096. The writer collects appended bytes in
//! a buffer and writes whole blocks. It pads the last block, and then truncates the file to remove the padding. A read
//! covers whole blocks, and the requested part is copied to separate memory of exactly its length. In the block cache,
//! a block therefore takes only its own length. See open(2), section "NOTES".
//!
//! On macOS, `F_NOCACHE` replaces `O_DIRECT`. A read then still finds pages that other programs have brought into the
//! page cache. See fcntl(2) of macOS.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::aligned::{ALIGNMENT, AlignedBuffer};
use crate::appending::{Appending, appending_reference};
use crate::block_writer::BlockWriter;
use crate::posix::{Files, Posix, create_new, open_existing};
use crate::pread;
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile, check_bounds};
use crate::together::read_together;

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<DirectTables>(
    "direct",
    "SSTables that bypass the page cache, so each miss of the block cache reads the device",
    appending_reference!(),
);

/// The maximum size of the read buffer that each thread keeps between direct reads, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// The flag of `open` that makes reads and writes bypass the page cache.
#[cfg(target_os = "linux")]
const DIRECT: i32 = rustix::fs::OFlags::DIRECT.bits().cast_signed();

/// The flag of `open` for direct I/O. The value is 0, because [`bypassing`] makes an open file bypass the page cache.
#[cfg(not(target_os = "linux"))]
const DIRECT: i32 = 0;

thread_local! {
    static SCRATCH: RefCell<AlignedBuffer> = RefCell::new(AlignedBuffer::new(0));
}

/// The storage back end `direct`: reads and writes of SSTables bypass the page cache, and all other files use it.
#[derive(Default)]
struct DirectTables {
    log: Appending,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    log: Appending,
}

impl Build<dyn Storage> for DirectTables {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Storage>, String> {
        Ok(Box::new(Posix(Self { log: params.log })))
    }
}

impl Files for DirectTables {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        if purpose != Purpose::Table {
            return self.log.create(path, purpose);
        }
        Ok(Box::new(BlockWriter::new(path, create_direct(path)?)))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        if purpose != Purpose::Table {
            return pread::open(path);
        }
        let (file, len) = open_direct(path)?;
        Ok(Arc::new(DirectFile { file, path: path.to_owned(), len }))
    }
}

/// Creates a file whose writes bypass the page cache.
pub(crate) fn create_direct(path: &Path) -> Result<File, StorageError> {
    create_new(path, DIRECT).and_then(bypassing).map_err(|error| {
        if is_refusal(&error) {
            // The kernel created the file before it rejected the flag, so the file is removed.
            let _ = fs::remove_file(path);
        }
        StorageError::new("create", path, explain(error))
    })
}

/// Opens a file whose reads bypass the page cache. Returns the file and its length.
pub(crate) fn open_direct(path: &Path) -> Result<(File, u64), StorageError> {
    open_existing(path, DIRECT)
        .and_then(|(file, len)| Ok((bypassing(file)?, len)))
        .map_err(|error| StorageError::new("open", path, explain(error)))
}

/// Returns `file` unchanged, because the flag [`DIRECT`] already makes its reads and writes bypass the page cache.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "on systems other than Linux, `bypassing` can fail")]
fn bypassing(file: File) -> io::Result<File> {
    Ok(file)
}

/// Changes an open file, so that its reads and writes bypass the page cache.
#[cfg(not(target_os = "linux"))]
fn bypassing(file: File) -> io::Result<File> {
    rustix::fs::fcntl_nocache(&file, true)?;
    Ok(file)
}

fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
}

/// Adds advice to the error `EINVAL`, with which the kernel rejects direct I/O on some file systems. Returns all other
/// errors unchanged.
fn explain(error: io::Error) -> io::Error {
    if !is_refusal(&error) {
        return error;
    }
    let advice =
        "this file system does not support O_DIRECT; use storage = \"pread\", or a directory on a disk";
    io::Error::new(io::ErrorKind::Unsupported, advice)
}

/// A file that is open for reads that bypass the page cache.
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

    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        read_together(parts, |offset, len| self.read(offset, len))
    }

    fn len(&self) -> u64 {
        self.len
    }
}

impl DirectFile {
    /// Reads the file from `offset` on, until the first `needed` bytes of `buffer` are filled. The buffer may extend
    /// beyond the end of the file, because direct reads cover whole blocks.
    fn fill(&self, buffer: &mut [u8], offset: u64, needed: usize) -> io::Result<()> {
        let mut filled = 0;
        while filled < needed {
            match self.file.read_at(&mut buffer[filled..], offset + filled as u64) {
                Ok(read) if filled + read >= needed => break,
                Ok(read) if read < ALIGNMENT => return Err(io::ErrorKind::UnexpectedEof.into()),
                // The next read must start at a multiple of the alignment.
                Ok(read) => filled += read - read % ALIGNMENT,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Calls `use_buffer` with aligned memory of `len` bytes, which the thread reuses between reads. The initial content of
/// the memory is unspecified.
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
    #[cfg(target_os = "linux")]
    fn a_file_system_that_refuses_is_named_with_the_way_out() {
        // The file system procfs does not support O_DIRECT.
        let error = DirectTables::default().open(Path::new("/proc/version"), Purpose::Table).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
        let text = error.to_string();
        assert!(text.contains("O_DIRECT") && text.contains("storage = \"pread\""), "{text}");
        assert!(DirectTables::default().open(Path::new("/proc/version"), Purpose::Log).is_ok());
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
