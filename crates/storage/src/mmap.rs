//! Reads SSTables through memory maps. A read returns a part of the mapping, without a copy.
//!
//! The page cache of the kernel stores the blocks, so a read makes no system call. If a page is not in memory, an
//! access causes a page fault, which waits for the device. If another program truncates a mapped file, or if the device
//! fails to read, the signal SIGBUS ends the process. See Crotty, Leis, Pavlo, "Are You Sure You Want to Use MMAP in
//! Your Database Management System?" (CIDR 2022).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalog::{Build, Variant};
use memmap2::{Advice, Mmap};
use serde::{Deserialize, Serialize};
use types::Bytes;

use crate::appending::{Appending, appending_reference};
use crate::expected::{Expected, advice_reference};
use crate::page_cache::is_in_memory;
use crate::posix::{Files, Posix, open_existing};
use crate::pread;
use crate::storage::{Purpose, ReadFile, Storage, StorageError, WriteFile, check_bounds};

pub(crate) const VARIANT: Variant<dyn Storage> = Variant::new::<MappedTables>(
    "mmap",
    "memory-mapped SSTables; a read from the page cache needs no system call and no copy",
    concat!(advice_reference!("random"), appending_reference!()),
);

/// The storage back end `mmap`: SSTables are read through memory maps, and other files with pread(2). The parameter
/// `log` selects how WALs are written. All other files are written with write(2).
struct MappedTables {
    advice: Advice,
    log: Appending,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    advice: Expected,
    log: Appending,
}

impl Default for Params {
    fn default() -> Self {
        Self { advice: Expected::Random, log: Appending::default() }
    }
}

impl Build<dyn Storage> for MappedTables {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Storage>, String> {
        let advice = match params.advice {
            Expected::Random => Advice::Random,
            Expected::Normal => Advice::Normal,
        };
        Ok(Box::new(Posix(Self { advice, log: params.log })))
    }
}

impl Files for MappedTables {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        self.log.create(path, purpose)
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        if purpose != Purpose::Table {
            return pread::open(path);
        }
        let opened = open_existing(path, 0).map_err(|error| StorageError::new("open", path, error))?;
        let map = map(&opened.0)
            .and_then(|map| map.advise(self.advice).map(|()| map))
            .map_err(|error| StorageError::new("map", path, error))?;
        Ok(Arc::new(MappedFile { path: path.to_owned(), len: map.len() as u64, map: Arc::new(map) }))
    }
}

/// Maps a whole file into memory, for reading.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the bytes of a shared slice must not change. No file of a store is written after it was opened as an
    // SSTable. SSTables are appended front to back and opened when they are complete. `create` replaces a file by
    // unlinking it, never by truncating it (invariant 4 of `Storage`). The lock on the directory excludes other
    // processes.
    unsafe { Mmap::map(file) }
}

/// A memory-mapped file that is open for reading.
struct MappedFile {
    path: PathBuf,
    len: u64,
    map: Arc<Mmap>,
}

impl ReadFile for MappedFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        check_bounds(&self.path, offset, len, self.len)?;
        let (start, map) = (offset as usize, Arc::clone(&self.map));
        Ok(Bytes::from_owner(map, start..start + len))
    }

    fn mapped(&self) -> Option<&[u8]> {
        Some(&self.map)
    }

    fn expect(&self, offset: u64, len: usize) {
        if check_bounds(&self.path, offset, len, self.len).is_ok() {
            // The pages are fetched together and ahead, although other reads of the file are random. If the kernel
            // ignores the advice, the pages are fetched one by one.
            let _ = self.map.advise_range(Advice::WillNeed, offset as usize, len);
        }
    }

    fn is_in_memory(&self, offset: u64) -> bool {
        check_bounds(&self.path, offset, 1, self.len).is_ok() && is_in_memory(&self.map, offset as usize)
    }

    fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_borrowed_and_all_else_is_copied() {
        let directory = tempfile::tempdir().unwrap();
        let storage = <MappedTables as Build<_>>::build(Params::default()).unwrap();
        let path = directory.path().join("file");
        storage.create(&path, Purpose::Table).unwrap().append(&[7; 10_000]).unwrap();
        let heap_bytes = |purpose| storage.open(&path, purpose).unwrap().read(5, 100).unwrap().heap_bytes();
        assert_eq!(heap_bytes(Purpose::Table), 0);
        assert!(heap_bytes(Purpose::Log) >= 100);
        assert!(heap_bytes(Purpose::Manifest) >= 100);
    }

    #[test]
    fn bytes_outlive_the_file_they_came_from() {
        let directory = tempfile::tempdir().unwrap();
        let storage =
            <MappedTables as Build<_>>::build(Params { advice: Expected::Normal, ..Params::default() })
                .unwrap();
        let path = directory.path().join("file");
        storage.create(&path, Purpose::Table).unwrap().append(b"hello world").unwrap();
        let bytes = storage.open(&path, Purpose::Table).unwrap().read(6, 5).unwrap();
        storage.remove(&path).unwrap();
        assert_eq!(&*bytes, b"world");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_the_system_let_go_of_is_not_in_memory_until_it_was_read() {
        use crate::page_cache::let_go_of;
        use rustix::param::page_size;

        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = directory.path().join("file");
        let storage = <MappedTables as Build<_>>::build(Params::default()).unwrap();
        let len = 8 * page_size();
        storage.create(&path, Purpose::Table).unwrap().append(&vec![7; len]).unwrap();
        let_go_of(&path).unwrap();
        let file = storage.open(&path, Purpose::Table).unwrap();
        let last = len as u64 - 1;
        assert!(!file.is_in_memory(0) && !file.is_in_memory(last));
        assert_eq!(*file.read(last, 1).unwrap(), [7]);
        assert!(file.is_in_memory(last) && !file.is_in_memory(last + 1));
    }
}
