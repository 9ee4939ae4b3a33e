//! Files that are written through the page cache with write(2).

use std::fs::File;
use std::io::Write;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::aligned::ALIGNMENT;
use crate::fuse::Fuse;
use crate::posix::create_new;
use crate::storage::{Purpose, StorageError, WriteFile};

/// Creates a file that is written through the page cache with write(2).
pub(crate) fn create(path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
    let file = create_new(path, 0).map_err(|error| StorageError::new("create", path, error))?;
    let begun = (purpose == Purpose::Table).then_some(0);
    Ok(Box::new(Appender { file, fuse: Fuse::new(path), len: 0, begun }))
}

/// Whenever the writer has appended this number of bytes to an SSTable, it asks the kernel to start writing them to the
/// device, before any sync.
const WRITEBACK_BYTES: u64 = 256 << 10;

/// A file that is written through the page cache with write(2).
struct Appender {
    file: File,
    fuse: Fuse,
    len: u64,
    /// The offset up to which the writer has already asked the kernel to write the file back, before any sync. `None`
    /// if the writer leaves all writeback to the sync or to the kernel, because the file will not be synced soon.
    begun: Option<u64>,
}

impl WriteFile for Appender {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        self.fuse.attempt("append to", || self.file.write_all(bytes))?;
        self.len += bytes.len() as u64;
        // Only whole pages are written early, because a partial page would have to be written again.
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

/// Asks the kernel to start writing a part of a file to the device, as a sync would do. If this fails, the later sync
/// writes all data.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn begin_writeback(file: &File, offset: u64, len: u64) {
    let (offset, len) = (offset.cast_signed(), len.cast_signed());
    // SAFETY: the call takes only numbers. The descriptor is open as long as the file is borrowed.
    unsafe { libc::sync_file_range(file.as_raw_fd(), offset, len, libc::SYNC_FILE_RANGE_WRITE) };
}

/// Does nothing, because this kernel cannot start to write a part of a file to the device. The later sync writes all
/// data.
#[cfg(not(target_os = "linux"))]
fn begin_writeback(_: &File, _: u64, _: u64) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn after_a_failed_write_the_file_takes_no_more() {
        // `/dev/full` is a device that is always full.
        let file = File::options().write(true).open("/dev/full").unwrap();
        let mut writer = Appender { file, fuse: Fuse::new(Path::new("/dev/full")), len: 0, begun: None };
        assert_eq!(writer.append(b"x").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(writer.append(b"").unwrap_err().kind(), io::ErrorKind::Other);
        assert_eq!(writer.sync().unwrap_err().to_string().split(": ").next(), Some("cannot sync /dev/full"));
        assert_eq!(writer.len(), 0);
    }
}
