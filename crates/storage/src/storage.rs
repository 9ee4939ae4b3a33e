//! The storage trait: files that are appended to and files that are read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use types::Bytes;

/// A store of files. All paths are passed through unchanged.
///
/// Invariants:
/// 1. Appended bytes are read back unchanged by files opened after the append returned. For a [`Purpose::Table`], this
///    holds after its writer was synced or dropped. Zeros may follow the bytes of a [`Purpose::Log`] until its writer
///    is dropped, and forever if the writer was never dropped.
/// 2. Synced bytes survive a crash if [`sync_directory`](Self::sync_directory) made their name durable. Other bytes may
///    survive completely, partially, or not at all.
/// 3. [`rename`](Self::rename) replaces its target atomically.
/// 4. A file never changes under its readers. A call that replaces or removes a file only takes its name. The file is
///    deleted when its last name and its last reader are gone.
/// 5. Parts of a file that are read together are each answered as if read separately, errors included.
pub trait Storage: Send + Sync {
    /// Creates a file. An existing file of that name loses the name first, so a crash may leave neither file. To
    /// replace a file atomically, write the new file under another name and rename it.
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError>;

    /// Opens a file for reading.
    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError>;

    /// Renames a file atomically, replacing a file of the new name.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError>;

    /// Removes the name of a file. Open readers and other names of the file keep the content.
    fn remove(&self, path: &Path) -> Result<(), StorageError>;

    /// Adds a second name to a file without copying its content. An existing name is an error of kind
    /// [`io::ErrorKind::AlreadyExists`].
    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError>;

    /// Names of the files in a directory, sorted. Directories are omitted. Names that are not UTF-8 are also omitted,
    /// because no store writes such names.
    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError>;

    /// Creates a directory and its missing parents, and makes their names durable.
    fn create_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Makes creations, renames and removals in a directory durable.
    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Locks a file until the guard is dropped. A missing file is created. A second lock of the same file, by this
    /// process or another process, is an error of kind [`io::ErrorKind::WouldBlock`].
    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError>;

    /// Locks an existing file like [`lock`](Self::lock), but creates no file. `None` if the file is missing. If
    /// possible, back ends lock without write access, which also works in read-only directories.
    fn lock_existing(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>, StorageError> {
        match self.open(path, Purpose::Manifest) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.and_then(|_| self.lock(path)).map(Some),
        }
    }

    /// Sets whether callers wait for the time of a modelled device. Otherwise the back end only adds up this time. Back
    /// ends without a device model ignore this call.
    fn set_waiting(&self, _is_waiting: bool) {}

    /// Time charged by a modelled device so far. `None` without a device model.
    fn device_time(&self) -> Option<DeviceTime> {
        None
    }
}

/// Time charged by a modelled device, as the sum over isolated calls, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTime {
    /// Total device time of reads, in nanoseconds.
    pub read_ns: u64,
    /// Total device time of writes and syncs, in nanoseconds.
    pub write_ns: u64,
}

impl DeviceTime {
    /// Difference since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { read_ns: self.read_ns - earlier.read_ns, write_ns: self.write_ns - earlier.write_ns }
    }
}

/// Purpose of a file. Back ends treat SSTables and WALs differently, and each purpose has its own counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An SSTable: written once from front to back, then read at random.
    Table,
    /// A write-ahead log: appended in small pieces, read once from front to back after a crash.
    Log,
    /// The manifest and other small files.
    Manifest,
}

impl Purpose {
    /// All purposes, in declaration order.
    pub const ALL: [Self; 3] = [Self::Table, Self::Log, Self::Manifest];
}

/// A file that is written from front to back.
///
/// After an error the file is broken: every further append and sync fails. The kernel reports a lost write only once,
/// to one call. A later sync would otherwise succeed although data are lost.
pub trait WriteFile: Send {
    /// Appends bytes. After an error, any part of these bytes may be in the file.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Makes all appended bytes durable. After an error, only data up to the last successful sync are known to be
    /// durable.
    fn sync(&mut self) -> Result<(), StorageError>;

    /// Number of bytes appended by successful calls.
    fn len(&self) -> u64;

    /// Whether the file has no appended bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A file that is read at any offset, by any number of threads.
pub trait ReadFile: Send + Sync {
    /// Reads exactly `len` bytes at `offset`.
    ///
    /// # Errors
    /// A read beyond the end is an error of kind [`io::ErrorKind::UnexpectedEof`], detected before memory is
    /// allocated.
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError>;

    /// Reads several parts, each given by its offset and length. Returns the answers in the order of the parts.
    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        parts.iter().map(|(offset, len)| self.read(*offset, *len)).collect()
    }

    /// Number of parts that [`read_many`](Self::read_many) reads concurrently. At 1 it is no faster than separate
    /// reads.
    fn queue_depth(&self) -> usize {
        1
    }

    /// The whole file, if it is mapped for the lifetime of this reader. Reads then copy nothing.
    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    /// Announces that a part will be read completely, so that it can be fetched at once.
    fn expect(&self, offset: u64, len: usize) {
        let _ = (offset, len);
    }

    /// Whether the byte at `offset` is in memory, so that an access in place does not wait for a device. Returns `true`
    /// if this is unknown.
    fn is_in_memory(&self, offset: u64) -> bool {
        let _ = offset;
        true
    }

    /// Length of the file when it was opened.
    fn len(&self) -> u64;

    /// Whether the file was empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A failed call to storage: the operation, the file and the cause.
#[derive(Debug, Error)]
#[error("cannot {operation} {}: {source}", path.display())]
pub struct StorageError {
    /// Operation as a verb: `read`, `append to`, `sync`.
    pub operation: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// Error from the operating system.
    #[source]
    pub source: io::Error,
}

impl StorageError {
    /// An error of `operation` on `path`.
    pub fn new(operation: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self { operation, path: path.into(), source }
    }

    /// Kind of the system's error.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

impl From<StorageError> for types::Problem {
    fn from(error: StorageError) -> Self {
        Self::new(error.to_string())
    }
}

/// Rejects a read outside of a file of `file_len` bytes.
pub(crate) fn check_bounds(path: &Path, offset: u64, len: usize, file_len: u64) -> Result<(), StorageError> {
    if offset.checked_add(len as u64).is_some_and(|end| end <= file_len) {
        return Ok(());
    }
    let message = format!("a read requested {len} bytes at {offset}, but the file has {file_len} bytes");
    Err(StorageError::new("read", path, io::Error::new(io::ErrorKind::UnexpectedEof, message)))
}
