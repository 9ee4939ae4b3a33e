//! Positional reads and plain writes through the page cache: what most engines do by default.

use std::fs::File;
use std::io::Write;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Build, Variant};
use rustix::fs::{Advice, fadvise};
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::aligned::ALIGNMENT;
use crate::appending::{Appending, appending_reference};
use crate::expected::{Expected, advice_reference};
use crate::fuse::Fuse;
use crate::posix::{Files, Posix, create_new, open_existing};
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile, check_bounds};
use crate::together::read_together;

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<Pread>(
    "pread",
    "through the page cache: one system call and one copy per read, pread(2)",
    concat!(advice_reference!("normal"), appending_reference!()),
);

/// Reads every file with pread(2).
#[derive(Default)]
pub(crate) struct Pread(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Params {
    advice: Expected,
    log: Appending,
}

impl Default for Params {
    fn default() -> Self {
        Self { advice: Expected::Normal, log: Appending::default() }
    }
}

impl Build<dyn Storage> for Pread {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Storage>, String> {
        Ok(Box::new(Posix(Self(params))))
    }
}

impl Files for Pread {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        self.0.log.create(path, purpose)
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let advice = if purpose == Purpose::Table { self.0.advice } else { Expected::Normal };
        Ok(Arc::new(PreadFile::open(path, advice)?))
    }
}

/// Creates a file that is written through the page cache.
pub(crate) fn create(path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
    let file = create_new(path, 0).map_err(|error| StorageError::new("create", path, error))?;
    let begun = (purpose == Purpose::Table).then_some(0);
    Ok(Box::new(Appender { file, fuse: Fuse::new(path), len: 0, begun }))
}

/// Opens a file that is read through the page cache.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn ReadFile>, StorageError> {
    Ok(Arc::new(PreadFile::open(path, Expected::Normal)?))
}

/// The system is told to begin with pieces of at least this size.
const WRITEBACK_BYTES: u64 = 256 << 10;

/// A file being written with write(2).
struct Appender {
    file: File,
    fuse: Fuse,
    len: u64,
    /// How much of it the system was told to write to the device, where all of it will be synced soon.
    begun: Option<u64>,
}

impl WriteFile for Appender {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.fuse.attempt("append to", || self.file.write_all(bytes))?;
        self.len += bytes.len() as u64;
        // A page that is not full yet would have to be written again.
        let whole = self.len - self.len % ALIGNMENT as u64;
        if let Some(begun) = &mut self.begun
            && whole - *begun >= WRITEBACK_BYTES
        {
            begin_writeback(&self.file, *begun, whole - *begun);
            *begun = whole;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.fuse.attempt("sync", || self.file.sync_data())
    }

    fn len(&self) -> u64 {
        self.len
    }
}

/// Has the system begin to write a part of a file to the device, as it would when the file is synced. Where it cannot,
/// the sync does all.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn begin_writeback(file: &File, offset: u64, len: u64) {
    let (offset, len) = (offset.cast_signed(), len.cast_signed());
    // SAFETY: the call takes numbers, and the descriptor is open as long as the file is borrowed.
    unsafe { libc::sync_file_range(file.as_raw_fd(), offset, len, libc::SYNC_FILE_RANGE_WRITE) };
}

#[cfg(not(target_os = "linux"))]
fn begin_writeback(_: &File, _: u64, _: u64) {}

/// A file read with pread(2).
struct PreadFile {
    file: File,
    path: PathBuf,
    len: u64,
}

impl PreadFile {
    fn open(path: &Path, advice: Expected) -> Result<Self, StorageError> {
        let (file, len) = open_existing(path, 0).map_err(|error| StorageError::new("open", path, error))?;
        if advice == Expected::Random {
            // Where the advice is not taken the answers are the same.
            let _ = fadvise(&file, 0, None, Advice::Random);
        }
        Ok(Self { file, path: path.to_owned(), len })
    }
}

impl ReadFile for PreadFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        check_bounds(&self.path, offset, len, self.len)?;
        Bytes::with_len(len, |target| self.file.read_exact_at(target, offset))
            .map_err(|error| StorageError::new("read", &self.path, error))
    }

    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        read_together(parts, |offset, len| self.read(offset, len))
    }

    fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_file_that_was_cut_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        create(&path, Purpose::Table).unwrap().append(&[7; 100]).unwrap();
        let file = open(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(50).unwrap();
        assert_eq!(&*file.read(0, 50).unwrap(), [7; 50]);
        assert_eq!(file.read(10, 50).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn after_a_failed_write_the_file_takes_no_more() {
        // A device that is always full.
        let file = File::options().write(true).open("/dev/full").unwrap();
        let mut writer = Appender { file, fuse: Fuse::new(Path::new("/dev/full")), len: 0, begun: None };
        assert_eq!(writer.append(b"x").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(writer.append(b"").unwrap_err().kind(), io::ErrorKind::Other);
        assert_eq!(writer.sync().unwrap_err().to_string().split(": ").next(), Some("cannot sync /dev/full"));
        assert_eq!(writer.len(), 0);
    }
}
