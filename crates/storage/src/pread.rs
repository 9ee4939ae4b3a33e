//! Reads with pread(2) and writes with write(2), through the page cache. Most engines use this method by default.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::appending::{Appending, appending_reference};
use crate::expected::{Expected, advice_reference};
use crate::posix::{Files, Posix, open_existing};
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile, check_bounds};
use crate::together::read_together;

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<Pread>(
    "pread",
    "reads by pread(2) through the page cache, with one system call and one copy per read",
    concat!(advice_reference!("normal"), appending_reference!()),
);

/// The storage back end `pread`: reads every file with pread(2), through the page cache.
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

/// Advises the kernel that the reads of a file are random, so that the kernel reads only the requested pages.
#[cfg(target_os = "linux")]
fn without_read_ahead(file: &File) -> io::Result<()> {
    use rustix::fs::{Advice, fadvise};
    Ok(fadvise(file, 0, None, Advice::Random)?)
}

/// Disables the read-ahead of a file with `F_RDAHEAD`, so that the kernel reads only the requested pages.
#[cfg(not(target_os = "linux"))]
#[allow(unsafe_code)]
fn without_read_ahead(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the call takes only numbers. The descriptor is open as long as the file is borrowed.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_RDAHEAD, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Opens a file for reads with pread(2), through the page cache.
pub(crate) fn open(path: &Path) -> Result<Arc<dyn ReadFile>, StorageError> {
    Ok(Arc::new(PreadFile::open(path, Expected::Normal)?))
}

/// A file that is read with pread(2).
struct PreadFile {
    file: File,
    path: PathBuf,
    len: u64,
}

impl PreadFile {
    fn open(path: &Path, advice: Expected) -> Result<Self, StorageError> {
        let (file, len) = open_existing(path, 0).map_err(|error| StorageError::new("open", path, error))?;
        if advice == Expected::Random {
            // If the kernel ignores the advice, reads return the same bytes.
            let _ = without_read_ahead(&file);
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
    use super::*;
    use crate::page_cached;

    #[test]
    fn a_file_that_was_cut_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        page_cached::create(&path, Purpose::Table).unwrap().append(&[7; 100]).unwrap();
        let file = open(&path).unwrap();
        File::options().write(true).open(&path).unwrap().set_len(50).unwrap();
        assert_eq!(&*file.read(0, 50).unwrap(), [7; 50]);
        assert_eq!(file.read(10, 50).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
