//! Appends records to WALs through a memory map. An append copies a record into the page cache, without a system call.
//!
//! The copied bytes are in the page cache of the kernel. Like bytes that write(2) has written, these bytes survive the
//! end of the process, and a sync makes them durable. If the device is full, an access to a memory map causes the
//! signal SIGBUS, which ends the process. The writer therefore reserves space in advance. A copy-on-write file system
//! (btrfs with snapshots, ZFS) writes every page to a new place, so it cannot guarantee reserved space. Use `log =
//! "write"` on such a file system. While the writer exists, the file ends with unused reserved zeros. If the process of
//! the writer dies, the zeros remain in the file.
//!
//! The first access to a page that is not in the file yet takes 4 µs. If write(2) has already written zeros to the
//! page, in folios of 64 KiB, the first access takes a seventh of this time. The writer therefore writes zeros in
//! advance. If the WAL is synced, the writer writes no zeros, because a sync writes whole folios. Large appends, and
//! appends right after a sync, use write(2). An append of a record of 140 bytes takes about 40 ns. The append would
//! take 140 ns without the zeros, and 650 ns with write(2).

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

/// The minimum size of a window, in bytes. A window is the part of a WAL file that is mapped into memory, and whose
/// space is reserved.
///
/// A window is as long as the WAL so far, but has at least this size and at most the maximum size. Windows begin and
/// end at multiples of the minimum size, which is a multiple of the page size.
const MIN_WINDOW_BYTES: u64 = 64 << 10;
const MAX_WINDOW_BYTES: u64 = 1 << 20;

/// A block of zeros that one call writes to the page cache in advance. Records later replace these zeros. The length of
/// a window is always a multiple of the length of this block.
static ZEROS: [u8; MIN_WINDOW_BYTES as usize] = [0; MIN_WINDOW_BYTES as usize];

/// The size of an append in bytes from which write(2) is faster than a copy into the memory map.
const MIN_CALL_BYTES: usize = 32 << 10;

/// Creates a WAL whose records are appended through a memory map. If the file system cannot reserve space or map files,
/// the WAL uses write(2).
pub(crate) fn create(path: &Path) -> Result<Box<dyn WriteFile>, StorageError> {
    let failed = |error| StorageError::new("create", path, error);
    let file = create_new_mappable(path).map_err(failed)?;
    match Window::at(&file, 0) {
        Ok(window) => Ok(Box::new(MappedLog::new(file, window, path))),
        // If the device is full, this call fails with the same error.
        Err(_) => page_cached::create(path, Purpose::Log),
    }
}

/// A WAL that is written through a memory map of the file.
struct MappedLog {
    tail: Tail,
    fuse: Fuse,
    /// The number of bytes that successful calls have appended.
    len: u64,
}

/// The end of a WAL, at which the writer appends, and the memory map (window) of this part of the file.
struct Tail {
    file: File,
    window: Window,
    /// The number of bytes at the start of the file that contain records.
    end: u64,
    /// The end of the zeros that were written in advance, as an offset in the file. If records have replaced all zeros,
    /// this offset is at most `end`.
    zeroed: u64,
    /// Whether the WAL was ever synced. If so, the writer writes no zeros in advance, and all appends go to reserved
    /// space.
    is_synced: bool,
    /// Whether the last call was a sync. The next append then uses write(2), because a copy into the memory map would
    /// cause a page fault.
    ///
    /// If every append is synced, all appends therefore use write(2). If syncs are rare, each sync costs one additional
    /// system call and one page fault.
    is_clean: bool,
}

/// A window: the part of a WAL file that is mapped into memory, and whose space is reserved.
struct Window {
    map: MmapMut,
    /// The offset in the file at which the mapped part begins.
    start: u64,
}

impl Window {
    /// Maps a window of `file` that contains the offset `at`, and reserves its disk space. The window is as long as the
    /// file so far, but within the minimum and maximum sizes. If the disk cannot reserve so much space, the window has
    /// the minimum size.
    fn at(file: &File, at: u64) -> io::Result<Self> {
        let start = at - at % MIN_WINDOW_BYTES;
        let reserve = |len| fallocate(file, FallocateFlags::empty(), start, len).map(|()| len);
        let len = reserve(start.clamp(MIN_WINDOW_BYTES, MAX_WINDOW_BYTES))
            .or_else(|_| reserve(MIN_WINDOW_BYTES))?;
        Self::map(file, start, len)
    }

    /// Maps the part of `file` that contains the bytes from the offset `at` to `at + bytes`, and reserves its disk
    /// space.
    fn of_bytes(file: &File, at: u64, bytes: u64) -> io::Result<Self> {
        let start = at - at % MIN_WINDOW_BYTES;
        let len = (at + bytes - start).next_multiple_of(MIN_WINDOW_BYTES);
        fallocate(file, FallocateFlags::empty(), start, len)?;
        Self::map(file, start, len)
    }

    fn map(file: &File, start: u64, len: u64) -> io::Result<Self> {
        #[allow(unsafe_code)]
        // SAFETY: the bytes of an exclusive slice must not change. The file is new and was opened here, and nothing
        // else writes to it. `Tail` also writes to the file with write(2), but never while a slice of the map is
        // borrowed. Nothing truncates the file while the map is in use, because `drop` truncates it last.
        let map = unsafe { MmapOptions::new().offset(start).len(len as usize).map_mut(file)? };
        Ok(Self { map, start })
    }

    /// Returns the offset in the file at which the mapped part ends.
    fn end(&self) -> u64 {
        self.start + self.map.len() as u64
    }
}

impl Tail {
    /// Appends with write(2). If the WAL was ever synced, the bytes go to reserved space, so that the file does not
    /// grow. The sync of a file that has grown is slower, because it must also write the file length.
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

    /// Appends by copying the bytes into the memory map.
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

    /// Ensures that the mapped part of the file contains the end of the WAL. Returns the offset up to which appends can
    /// copy bytes without more preparation.
    #[inline]
    fn ready(&mut self) -> io::Result<u64> {
        if self.end >= self.window.end() {
            self.window = Window::at(&self.file, self.end)?;
        }
        // The first append is the header of the WAL. A caller that syncs the WAL at all has synced the header before it
        // appends the first record, so zeros are not written before the header.
        if self.is_synced || self.end == 0 {
            return Ok(self.window.end());
        }
        if self.end >= self.zeroed {
            self.zero()?;
        }
        Ok(self.zeroed.min(self.window.end()))
    }

    /// Prepares the next `bytes` bytes of the WAL: maps them, writes zeros to them, and causes the page faults of all
    /// their pages in advance. The kernel then has no work until records have replaced the zeros.
    fn reserve(&mut self, bytes: u64) -> io::Result<()> {
        self.window = Window::of_bytes(&self.file, self.end, bytes)?;
        self.zeroed = self.zeroed.max(self.end);
        while self.zeroed < self.window.end() {
            let zeros = &ZEROS[(self.zeroed % ZEROS.len() as u64) as usize..];
            self.file.write_all_at(zeros, self.zeroed)?;
            self.zeroed += zeros.len() as u64;
        }
        #[cfg(target_os = "linux")]
        // An older kernel rejects this advice. The page faults then occur at the appends.
        let _ = self.window.map.advise(memmap2::Advice::PopulateWrite);
        Ok(())
    }

    /// Writes zeros in advance, from the end of the records to the next multiple of 64 KiB.
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
        let is_by_call = std::mem::take(&mut tail.is_clean) || bytes.len() >= MIN_CALL_BYTES;
        self.fuse.attempt("append to", || if is_by_call { tail.write(bytes) } else { tail.copy(bytes) })?;
        self.len = self.tail.end;
        Ok(())
    }

    fn reserve(&mut self, bytes: u64) {
        // If the reservation fails, the appends reserve and map smaller parts themselves, and report their errors.
        if bytes > 0 && !self.tail.is_synced {
            let _ = self.tail.reserve(bytes);
        }
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
    /// Truncates the file, which removes unused reserved space and partial appends. If the truncation fails, the zeros
    /// remain. Readers of a WAL ignore such zeros.
    fn drop(&mut self) {
        let _ = self.tail.file.set_len(self.len);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Returns the content of the file. Checks that the length of the file equals the number of appended bytes.
    fn content(path: &Path) -> Vec<u8> {
        fs::read(path).unwrap()
    }

    /// Appends records of many sizes, and checks the file after each append. `is_synced` decides whether each append is
    /// synced.
    fn append_all_sizes(is_synced: bool) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut writer = create(&path).unwrap();
        let mut expected = Vec::new();
        let sizes = [
            1,
            0,
            140,
            MIN_WINDOW_BYTES as usize,
            7,
            MIN_CALL_BYTES - 1,
            3 * MAX_WINDOW_BYTES as usize,
            5,
            9,
        ];
        for (fill, size) in (1..).zip(sizes) {
            expected.extend(std::iter::repeat_n(fill, size));
            writer.append(&vec![fill; size]).unwrap();
            assert_eq!(writer.len(), expected.len() as u64);
            let content = content(&path);
            assert!(content.starts_with(&expected), "after {size} bytes");
            assert!(content[expected.len()..].iter().all(|byte| *byte == 0), "zeros follow");
            if is_synced {
                assert!(content.len().is_multiple_of(MIN_WINDOW_BYTES as usize), "all was reserved");
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
    fn reserved_space_takes_records_and_then_the_log_goes_on_without_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut writer = create(&path).unwrap();
        writer.append(b"header").unwrap();
        let reserved = 3 * MIN_WINDOW_BYTES + 100;
        writer.reserve(reserved);
        assert_eq!(writer.len(), 6);
        assert!(content(&path).len() as u64 >= 6 + reserved, "the space is in the file");
        let mut expected = b"header".to_vec();
        for fill in 1..=40u8 {
            expected.extend(std::iter::repeat_n(fill, 7000));
            writer.append(&[fill; 7000]).unwrap();
            let content = content(&path);
            assert!(content.starts_with(&expected), "after {} bytes", expected.len());
            assert!(content[expected.len()..].iter().all(|byte| *byte == 0), "zeros follow");
        }
        writer.sync().unwrap();
        let len = content(&path).len();
        writer.reserve(1 << 20);
        assert_eq!(content(&path).len(), len, "a log that is synced reserves nothing in advance");
        drop(writer);
        assert!(content(&path) == expected);
    }

    #[test]
    fn after_a_window_that_fails_the_log_takes_no_more() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let file = create_new_mappable(&path).unwrap();
        let window = Window::at(&file, 0).unwrap();
        // The space of a file that is open only for reading cannot be reserved.
        let file = File::open(&path).unwrap();
        let mut writer = MappedLog::new(file, window, &path);
        writer.append(b"whole").unwrap();
        assert!(writer.append(&vec![7; MIN_WINDOW_BYTES as usize]).is_err());
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
