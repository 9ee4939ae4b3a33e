//! Logs that are appended to through a memory map: a record is a copy into the page cache, without a system call.
//!
//! What was copied is the operating system's: it survives the end of the process as what was written with write(2) does,
//! and a sync makes it durable. Space is reserved ahead, so that no copy meets a full device, which a memory map can tell
//! by a signal alone: SIGBUS ends the process. A file system that writes every page to a new place (btrfs with snapshots,
//! ZFS) reserves nothing for certain; there, `log = "write"` is the way. Until the writer is dropped the file ends with
//! the zeros of what is reserved and not used, and so does a file whose writer died.
//!
//! The first touch of a page that the file does not have yet costs 4 µs; where the page cache was given the zeros of 64
//! KiB by write(2) before, in folios as large, it costs a seventh of that. So that is done ahead of what is copied, unless
//! the log is synced: a sync writes whole folios. What is large goes by write(2) itself, and so does what comes behind a
//! sync. A record of 140 bytes takes some 40 ns so, 140 ns without the zeros, and 650 ns by write(2).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, fallocate};

use crate::fuse::Fuse;
use crate::page_cached;
use crate::posix::create_new_mappable;
use crate::storage::{Purpose, StorageError, WriteFile};

/// The bytes that are reserved and mapped at a time: as many as the log has, between these. Windows begin and end at
/// multiples of the fewest, which are whole pages.
const FEWEST_BYTES: u64 = 64 << 10;
const MOST_BYTES: u64 = 1 << 20;

/// The zeros that the page cache is given at a time, so that they end where a window does at the latest.
static ZEROS: [u8; FEWEST_BYTES as usize] = [0; FEWEST_BYTES as usize];

/// From so many bytes on, write(2) is quicker than a copy.
const WRITTEN_BYTES: usize = 32 << 10;

/// Creates a log that is appended to through a memory map, or with write(2) where the file system reserves no space or
/// maps no files.
pub(crate) fn create(path: &Path) -> Result<Box<dyn WriteFile>, StorageError> {
    let failed = |error| StorageError::new("create", path, error);
    let file = create_new_mappable(path).map_err(failed)?;
    match Window::at(&file, 0) {
        Ok(window) => Ok(Box::new(MappedLog::new(file, window, path))),
        // A device that is full says so again.
        Err(_) => page_cached::create(path, Purpose::Log),
    }
}

/// A log being written.
struct MappedLog {
    tail: Tail,
    fuse: Fuse,
    /// The bytes of appends that succeeded.
    len: u64,
}

/// The end of a log, where it grows.
struct Tail {
    file: File,
    window: Window,
    /// The bytes of the file that hold records.
    end: u64,
    /// Where the zeros end that the page cache was given last; before `end` where none are left.
    zeroed: u64,
    /// Whether a sync was asked for: then zeros are not given, and every append is to a place that is reserved.
    is_synced: bool,
    /// Whether a sync came last: a copy to its page through the map is a fault, write(2) is none. Where all appends are
    /// synced, none is a copy; behind a sync now and then it is one call and one fault.
    is_clean: bool,
}

/// A part of the file that is mapped.
struct Window {
    map: MmapMut,
    /// Where in the file it begins.
    start: u64,
}

impl Window {
    /// Reserves and maps the part of `file` that offset `at` is in: as much as the file has, or little where so much is
    /// not to be had.
    fn at(file: &File, at: u64) -> io::Result<Self> {
        let start = at - at % FEWEST_BYTES;
        let reserve = |len| fallocate(file, FallocateFlags::empty(), start, len).map(|()| len);
        let len = reserve(start.clamp(FEWEST_BYTES, MOST_BYTES)).or_else(|_| reserve(FEWEST_BYTES))?;
        #[allow(unsafe_code)]
        // SAFETY: bytes behind an exclusive slice must not change. The file is new and was opened here; nothing else
        // writes to it; `Tail` does so by write(2) as well, but never while a slice of the map is lent; and nothing makes
        // it shorter while the map is used: it is cut in `drop`.
        let map = unsafe { MmapOptions::new().offset(start).len(len as usize).map_mut(file)? };
        Ok(Self { map, start })
    }

    /// The first offset of the file behind it.
    fn end(&self) -> u64 {
        self.start + self.map.len() as u64
    }
}

impl Tail {
    /// Appends by write(2). What is going to be synced goes to places that are reserved: a sync of a file that has grown
    /// writes its length too.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = if self.is_synced { (self.ready()? - self.end) as usize } else { bytes.len() };
            let (now, later) = bytes.split_at(bytes.len().min(room));
            self.file.write_all_at(now, self.end)?;
            self.end += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Appends by copying.
    fn copy(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let until = self.ready()?;
            let (now, later) = bytes.split_at(bytes.len().min((until - self.end) as usize));
            let at = (self.end - self.window.start) as usize;
            self.window.map[at..][..now.len()].copy_from_slice(now);
            self.end += now.len() as u64;
            bytes = later;
        }
        Ok(())
    }

    /// Sees to it that there is a place to copy to at the end, and says where in the file that place ends.
    #[inline]
    fn ready(&mut self) -> io::Result<u64> {
        if self.end >= self.window.end() {
            self.window = Window::at(&self.file, self.end)?;
        }
        // Whoever syncs a log syncs it with its header.
        if self.is_synced || self.end == 0 {
            return Ok(self.window.end());
        }
        if self.end >= self.zeroed {
            self.zero()?;
        }
        Ok(self.zeroed.min(self.window.end()))
    }

    /// Gives the page cache zeros from the end on, up to a multiple of as many as it gets at a time.
    #[cold]
    fn zero(&mut self) -> io::Result<()> {
        let zeros = &ZEROS[(self.end % ZEROS.len() as u64) as usize..];
        self.file.write_all_at(zeros, self.end)?;
        self.zeroed = self.end + zeros.len() as u64;
        Ok(())
    }
}

impl MappedLog {
    fn new(file: File, window: Window, path: &Path) -> Self {
        let tail = Tail { file, window, end: 0, zeroed: 0, is_synced: false, is_clean: false };
        Self { tail, fuse: Fuse::new(path), len: 0 }
    }
}

impl WriteFile for MappedLog {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        let tail = &mut self.tail;
        let is_by_call = std::mem::take(&mut tail.is_clean) || bytes.len() >= WRITTEN_BYTES;
        self.fuse.attempt("append to", || if is_by_call { tail.write(bytes) } else { tail.copy(bytes) })?;
        self.len = self.tail.end;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        (self.tail.is_synced, self.tail.is_clean) = (true, true);
        self.fuse.attempt("sync", || self.tail.file.sync_data())
    }

    fn len(&self) -> u64 {
        self.len
    }
}

impl Drop for MappedLog {
    /// Cuts off what was reserved and not used, and what came in part. Where that fails, zeros stay, which are no part
    /// of a log.
    fn drop(&mut self) {
        let _ = self.tail.file.set_len(self.len);
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

    /// Appends records of many sizes, each synced by itself or none, and looks at the file behind each.
    fn append_all_sizes(is_synced: bool) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut writer = create(&path).unwrap();
        let mut expected = Vec::new();
        let sizes = [1, 0, 140, FEWEST_BYTES as usize, 7, WRITTEN_BYTES - 1, 3 * MOST_BYTES as usize, 5, 9];
        for (fill, size) in (1..).zip(sizes) {
            expected.extend(std::iter::repeat_n(fill, size));
            writer.append(&vec![fill; size]).unwrap();
            assert_eq!(writer.len(), expected.len() as u64);
            let content = content(&path);
            assert!(content.starts_with(&expected), "after {size} bytes");
            assert!(content[expected.len()..].iter().all(|byte| *byte == 0), "zeros follow");
            if is_synced {
                assert!(content.len().is_multiple_of(FEWEST_BYTES as usize), "all was reserved");
                writer.sync().unwrap();
            }
        }
        writer.sync().unwrap();
        drop(writer);
        assert!(content(&path) == expected, "a writer that is gone leaves what was appended");
    }

    #[test]
    fn records_of_any_size_stand_one_behind_the_other() {
        append_all_sizes(false);
        append_all_sizes(true);
    }

    #[test]
    fn after_a_window_that_fails_the_log_takes_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let file = create_new_mappable(&path).unwrap();
        let window = Window::at(&file, 0).unwrap();
        // Nothing can be reserved in a file that is open for reading alone.
        let file = File::open(&path).unwrap();
        let mut writer = MappedLog::new(file, window, &path);
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
