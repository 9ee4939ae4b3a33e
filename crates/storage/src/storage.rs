//! The trait for storage. A file has one writer, which appends to the file, and any number of readers.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use types::Bytes;

/// A storage of files. Implementations use each path unchanged.
///
/// Invariants:
/// 1. After an append has returned, a reader that opens the file reads the appended bytes unchanged. If the file is a
///    [`Purpose::Table`], this is guaranteed only after the writer was synced or dropped. If the file is a
///    [`Purpose::Log`], zeros may follow the appended bytes until the writer is dropped. If the process dies before
///    that, the zeros remain.
/// 2. Synced bytes survive a crash if [`sync_directory`](Self::sync_directory) made the file's name durable. Other
///    bytes may survive completely, partially, or not at all.
/// 3. [`rename`](Self::rename) replaces its target atomically.
/// 4. A file never changes while it has readers. A call that replaces or removes a file only removes its name. The
///    file is deleted when its last name and its last reader are gone.
/// 5. If one call reads several parts of a file, each part has the result or the error of a separate read.
pub trait Storage: Send + Sync {
    /// Creates a file. If a file with this name exists, the name is first removed from the old file. A crash may
    /// therefore leave neither the old nor the new file. To replace a file atomically, write the new file under
    /// another name, and then rename it.
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError>;

    /// Opens a file for reading.
    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError>;

    /// Renames a file atomically. If a file with the new name exists, the renamed file replaces it.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError>;

    /// Removes the name of a file. Open readers and other names of the file keep the content.
    fn remove(&self, path: &Path) -> Result<(), StorageError>;

    /// Adds a second name to a file, without copying the content. If the new name exists, the error has the kind
    /// [`io::ErrorKind::AlreadyExists`].
    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError>;

    /// Returns the sorted names of the files in a directory, without directories. The result omits names that are not
    /// UTF-8, because no store writes such names.
    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError>;

    /// Creates a directory and its missing parents, and makes their names durable.
    fn create_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Makes creations, renames and removals in a directory durable.
    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Locks a file until the returned guard is dropped. If the file does not exist, the call creates it. If this
    /// process or another process has locked the file, the error has the kind [`io::ErrorKind::WouldBlock`].
    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError>;

    /// Locks an existing file like [`lock`](Self::lock), but creates no file. Returns `None` if the file does not
    /// exist. If possible, a back end locks without write access, so that the call also works in read-only
    /// directories.
    fn lock_existing(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>, StorageError> {
        match self.open(path, Purpose::Manifest) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.and_then(|_| self.lock(path)).map(Some),
        }
    }

    /// Sets whether callers wait as long as the modeled device needs for their calls. If callers do not wait, the back
    /// end only adds up the device time. Back ends without a device model ignore this call.
    fn set_waiting(&self, _is_waiting: bool) {}

    /// Returns the total time of the modeled device so far. Returns `None` if the back end has no device model.
    fn device_time(&self) -> Option<DeviceTime> {
        None
    }
}

/// The total time that a modeled device needed for all calls, in nanoseconds. Each call counts with the time that it
/// would take on an idle device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTime {
    /// The total device time of reads, in nanoseconds.
    pub read_ns: u64,
    /// The total device time of writes and syncs, in nanoseconds.
    pub write_ns: u64,
}

impl DeviceTime {
    /// Returns the device time that was added since the value `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { read_ns: self.read_ns - earlier.read_ns, write_ns: self.write_ns - earlier.write_ns }
    }
}

/// The purpose of a file. Back ends treat SSTables and WALs differently, and count the calls of each purpose
/// separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// An SSTable, which is written once from front to back, and then read at random.
    Table,
    /// A write-ahead log (WAL), which grows by small appends. After a crash, the WAL is read once from front to back.
    Log,
    /// The manifest and other small files.
    Manifest,
}

impl Purpose {
    /// All purposes, in the order of their declaration.
    pub const ALL: [Self; 3] = [Self::Table, Self::Log, Self::Manifest];
}

/// A file that is written from front to back.
///
/// If a call returns an error, every later append and every later sync of the file fails. The reason is that the
/// kernel reports a lost write to only one call. Without this rule, a later sync could succeed although data is lost.
pub trait WriteFile: Send {
    /// Appends bytes. After an error, any part of these bytes may be in the file.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Prepares the file for `bytes` more bytes, so that later appends wait neither for the file system nor for the
    /// device. The call may have no effect. If the preparation fails, the appends repeat it and report its errors.
    fn reserve(&mut self, _bytes: u64) {}

    /// Makes all appended bytes durable. After an error, only the data before the last successful sync is guaranteed to
    /// be durable.
    fn sync(&mut self) -> Result<(), StorageError>;

    /// Returns the number of bytes that successful calls have appended.
    fn len(&self) -> u64;

    /// Returns whether the file has no appended bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A file that any number of threads may read, at any offset.
pub trait ReadFile: Send + Sync {
    /// Reads exactly `len` bytes at `offset`.
    ///
    /// # Errors
    /// The range extends beyond the end of the file, or reading fails. In the first case, the error has the kind
    /// [`io::ErrorKind::UnexpectedEof`], and no memory is allocated.
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError>;

    /// Reads several parts of the file. A part is a pair of offset and length. Returns the results in the order of
    /// the parts.
    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        parts.iter().map(|(offset, len)| self.read(*offset, *len)).collect()
    }

    /// Returns the number of parts that [`read_many`](Self::read_many) reads concurrently. With 1, `read_many` is not
    /// faster than separate reads.
    fn queue_depth(&self) -> usize {
        1
    }

    /// Returns the content of the whole file, if this reader keeps the file mapped into memory. Reads of a mapped file
    /// make no copies.
    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    /// Announces that a part of the file will be read completely, so that the back end can fetch the whole part in
    /// advance.
    fn expect(&self, offset: u64, len: usize) {
        let _ = (offset, len);
    }

    /// Returns whether the byte at `offset` is in memory, so that an access to the mapping does not wait for a device.
    /// Returns `true` if this is unknown.
    fn is_in_memory(&self, offset: u64) -> bool {
        let _ = offset;
        true
    }

    /// Returns the length of the file at the time when it was opened.
    fn len(&self) -> u64;

    /// Returns whether the file was empty when it was opened.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The error of a storage call, with the operation, the file and the cause.
#[derive(Debug, Error)]
#[error("cannot {operation} {}: {source}", path.display())]
pub struct StorageError {
    /// The operation as a verb, such as `read`, `append to` or `sync`.
    pub operation: &'static str,
    /// The path of the file or directory.
    pub path: PathBuf,
    /// The error of the operating system.
    #[source]
    pub source: io::Error,
}

impl StorageError {
    /// Creates an error of the operation `operation` on the file or directory `path`.
    pub fn new(operation: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self { operation, path: path.into(), source }
    }

    /// Returns the kind of the operating system's error.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

impl From<StorageError> for types::Problem {
    fn from(error: StorageError) -> Self {
        Self::new(error.to_string())
    }
}

/// Returns an error if a read of `len` bytes at `offset` extends beyond the end of a file of `file_len` bytes.
pub(crate) fn check_bounds(path: &Path, offset: u64, len: usize, file_len: u64) -> Result<(), StorageError> {
    if offset.checked_add(len as u64).is_some_and(|end| end <= file_len) {
        return Ok(());
    }
    let message =
        format!("a read requested {len} bytes at offset {offset}, but the file has {file_len} bytes");
    Err(StorageError::new("read", path, io::Error::new(io::ErrorKind::UnexpectedEof, message)))
}
