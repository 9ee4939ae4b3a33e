//! Logs that are appended to through a memory map: a record is a copy into the page cache, without a system call.
//!
//! What was copied is the operating system's: it survives the end of the process as what was written with write(2) does,
//! and a sync makes it durable. Space is reserved ahead, so that no copy meets a full device, which a memory map can tell
//! by a signal alone: SIGBUS ends the process. A file system that writes every page to a new place (btrfs with snapshots,
//! ZFS) reserves nothing for certain; there, `log = "write"` is the way. Until the writer is dropped the file ends with
//! the zeros of what is reserved and not used, and so does a file whose writer died.
//!
//! A record of 140 bytes takes some 140 ns so, and 650 ns by write(2).

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, fallocate};

use crate::fuse::Fuse;
use crate::posix::create_new_mappable;
use crate::pread;
use crate::storage::{StorageError, WriteFile};

/// The bytes that are reserved and mapped at a time: as many as the log has, between these. Windows begin where the one
/// before ends, which is a multiple of the fewest.
const FEWEST_BYTES: u64 = 64 << 10;
const MOST_BYTES: u64 = 1 << 20;

/// Creates a log that is appended to through a memory map, or with write(2) where the file system reserves no space or
/// maps no files.
pub(crate) fn create(path: &Path) -> Result<Box<dyn WriteFile>, StorageError> {
    let failed = |error| StorageError::new("create", path, error);
    let file = create_new_mappable(path).map_err(failed)?;
    match Window::at(&file, 0) {
        Ok(window) => Ok(Box::new(MappedLog { file, window, fuse: Fuse::new(path), len: 0 })),
        // A device that is full says so again.
        Err(_) => pread::create(path),
    }
}

/// A log being written.
struct MappedLog {
    window: Window,
    file: File,
    fuse: Fuse,
    /// The bytes of appends that succeeded.
    len: u64,
}

/// A part of the file that is mapped.
struct Window {
    map: MmapMut,
    /// Where in the file it begins.
    start: u64,
    /// The bytes of it that are used.
    used: usize,
}

impl Window {
    /// Reserves and maps what is behind `start` bytes of `file`: as much as the file has, or little where so much is not
    /// to be had.
    fn at(file: &File, start: u64) -> io::Result<Self> {
        let reserve = |len| fallocate(file, FallocateFlags::empty(), start, len).map(|()| len);
        let len = reserve(start.clamp(FEWEST_BYTES, MOST_BYTES)).or_else(|_| reserve(FEWEST_BYTES))?;
        #[allow(unsafe_code)]
        // SAFETY: bytes behind an exclusive slice must not change. The file is new and was opened here; nothing else
        // writes to it, and nothing makes it shorter while the map is used: it is cut in `drop`.
        let map = unsafe { MmapOptions::new().offset(start).len(len as usize).map_mut(file)? };
        Ok(Self { map, start, used: 0 })
    }

    /// The bytes of the file up to what is used.
    fn end(&self) -> u64 {
        self.start + self.used as u64
    }
}

impl WriteFile for MappedLog {
    fn append(&mut self, mut bytes: &[u8]) -> Result<(), StorageError> {
        let Self { window, file, fuse, len } = self;
        fuse.attempt("append to", || {
            while !bytes.is_empty() {
                if window.used == window.map.len() {
                    *window = Window::at(file, window.end())?;
                }
                let room = &mut window.map[window.used..];
                let (now, later) = bytes.split_at(bytes.len().min(room.len()));
                room[..now.len()].copy_from_slice(now);
                window.used += now.len();
                bytes = later;
            }
            Ok(())
        })?;
        *len = window.end();
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.fuse.attempt("sync", || self.file.sync_data())
    }

    fn len(&self) -> u64 {
        self.len
    }
}

impl Drop for MappedLog {
    /// Cuts off what was reserved and not used. Where that fails, zeros stay, which are no part of a log.
    fn drop(&mut self) {
        let _ = self.file.set_len(self.window.end());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is in the file, and how many bytes.
    fn content(path: &Path) -> Vec<u8> {
        fs::read(path).unwrap()
    }

    #[test]
    fn records_of_any_size_stand_one_behind_the_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut writer = create(&path).unwrap();
        let mut expected = Vec::new();
        let sizes = [1, 0, 140, FEWEST_BYTES as usize, 7, 3 * MOST_BYTES as usize, 5];
        for (fill, size) in (1..).zip(sizes) {
            expected.extend(std::iter::repeat_n(fill, size));
            writer.append(&vec![fill; size]).unwrap();
            assert_eq!(writer.len(), expected.len() as u64);
            let content = content(&path);
            assert!(content.starts_with(&expected), "after {size} bytes");
            assert!(content[expected.len()..].iter().all(|byte| *byte == 0), "zeros follow");
        }
        writer.sync().unwrap();
        drop(writer);
        assert!(content(&path) == expected, "a writer that is gone leaves what was appended");
    }

    #[test]
    fn after_a_window_that_fails_the_log_takes_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let file = create_new_mappable(&path).unwrap();
        let window = Window::at(&file, 0).unwrap();
        // Nothing can be reserved in a file that is open for reading alone.
        let file = File::open(&path).unwrap();
        let mut writer = MappedLog { file, window, fuse: Fuse::new(&path), len: 0 };
        writer.append(b"whole").unwrap();
        assert!(writer.append(&vec![7; FEWEST_BYTES as usize]).is_err());
        assert_eq!(writer.len(), 5, "what came in part does not count");
        assert_eq!(writer.append(b"more").unwrap_err().kind(), io::ErrorKind::Other);
        assert!(writer.sync().is_err());
    }

    #[test]
    fn what_was_appended_outlives_a_writer_that_is_never_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut writer = create(&path).unwrap();
        writer.append(b"record").unwrap();
        std::mem::forget(writer);
        assert!(content(&path).starts_with(b"record\0"));
    }
}
