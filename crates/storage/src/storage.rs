//! The seam of storage: files that are appended to and files that are read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use types::Bytes;

/// A place where files live. All paths are handed through as they are.
///
/// Laws:
/// 1. Bytes appended are read back as they were: by files opened after the append returned, or, of a
///    [`Purpose::Table`], after its writer was synced or dropped. Zeros may follow those of a
///    [`Purpose::Log`] until its writer is dropped, and where that never happened.
/// 2. Bytes synced, under a name made durable by [`sync_directory`](Self::sync_directory), survive a crash;
///    others may be there, be gone, or be there in part.
/// 3. [`rename`](Self::rename) replaces its target in one step.
/// 4. A file is never changed under its readers: what replaces or removes it takes its name alone. It goes
///    when its last name and its last reader are gone.
/// 5. Parts of a file that are read together are each answered as if read alone, errors included.
pub trait Storage: Send + Sync {
    /// Creates a file. One of that name loses the name first, so that a crash may leave neither; what must
    /// be replaced in one step is written under another name and renamed.
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError>;

    /// Opens a file for reading.
    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError>;

    /// Gives a file another name in one step, replacing one of that name.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError>;

    /// Removes a name; readers and other names of the file keep its content.
    fn remove(&self, path: &Path) -> Result<(), StorageError>;

    /// Gives a file a second name: the content is shared, nothing is copied. A name that is taken is an
    /// error of kind [`io::ErrorKind::AlreadyExists`].
    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError>;

    /// The names of the files in a directory, sorted. Directories are left out, and so are names that are
    /// not UTF-8: no store writes such.
    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError>;

    /// Creates a directory and those above it, where they are not there yet, and makes their names durable.
    fn create_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Makes creations, renames and removals in a directory durable.
    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Locks a file, creating it if it is not there, until the guard is dropped. A second lock of the same
    /// file, by this process or another, is an error of kind [`io::ErrorKind::WouldBlock`].
    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError>;

    /// As [`lock`](Self::lock) where the file is there, but without changing anything; `None` where it is not. Back
    /// ends that can do so without writing, do: a directory that cannot be written to is no obstacle there.
    fn lock_existing(&self, path: &Path) -> Result<Option<Box<dyn Send + Sync>>, StorageError> {
        match self.open(path, Purpose::Manifest) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.and_then(|_| self.lock(path)).map(Some),
        }
    }

    /// Says whether callers wait as long as a modelled device takes, or only have that time added up. A back
    /// end that models no device takes the time it takes.
    fn set_waiting(&self, _is_waiting: bool) {}

    /// The time that a modelled device took so far; `None` where none is modelled.
    fn device_time(&self) -> Option<DeviceTime> {
        None
    }
}

/// How long a modelled device took for what was asked of it, each call by itself, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTime {
    /// Reads.
    pub read_ns: u64,
    /// Writes and syncs.
    pub write_ns: u64,
}

impl DeviceTime {
    /// What was added since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { read_ns: self.read_ns - earlier.read_ns, write_ns: self.write_ns - earlier.write_ns }
    }

    /// All of it.
    pub fn total_ns(self) -> u64 {
        self.read_ns + self.write_ns
    }
}

/// What a file is for: back ends treat tables and logs differently, counters keep them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A sorted table: written once from front to back, then read at random.
    Table,
    /// A write-ahead log: appended in small pieces, read once from front to back after a crash.
    Log,
    /// The manifest and other small files.
    Manifest,
}

impl Purpose {
    /// All purposes, in the order of their declaration.
    pub const ALL: [Self; 3] = [Self::Table, Self::Log, Self::Manifest];
}

/// A file being written, from front to back.
///
/// After an error the file is broken: every further append and sync fails. The system reports a lost write
/// once, to one call, and then forgets it, so that a second sync would promise what is not there.
pub trait WriteFile: Send {
    /// Appends bytes. After an error any part of them may be in the file.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Makes all appended bytes durable. After an error nothing since the last sync that succeeded may be
    /// assumed durable.
    fn sync(&mut self) -> Result<(), StorageError>;

    /// The bytes appended so far by calls that succeeded.
    fn len(&self) -> u64;

    /// Whether nothing was appended.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A file being read, at any place, by any number of threads.
pub trait ReadFile: Send + Sync {
    /// Reads exactly `len` bytes at `offset`.
    ///
    /// # Errors
    /// Reading beyond the end is an error of kind [`io::ErrorKind::UnexpectedEof`], found out before
    /// memory is allocated.
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError>;

    /// Reads several parts, each given by its offset and length; the answers stand in the same order.
    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        parts.iter().map(|(offset, len)| self.read(*offset, *len)).collect()
    }

    /// How many parts [`read_many`](Self::read_many) has under way at a time. At 1 it gains nothing over
    /// one read after the other.
    fn queue_depth(&self) -> usize {
        1
    }

    /// The whole file, where it stands in memory for as long as this does; reads copy nothing then.
    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    /// Tells that a part is about to be read from end to end, so that it can be fetched at once.
    fn expect(&self, offset: u64, len: usize) {
        let _ = (offset, len);
    }

    /// Whether the byte at `offset` is in memory, so that what is used where it stands there waits for no device; `true`
    /// where nothing is known of it.
    fn is_in_memory(&self, offset: u64) -> bool {
        let _ = offset;
        true
    }

    /// The length of the file when it was opened.
    fn len(&self) -> u64;

    /// Whether the file was empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A call to storage that failed: which call, on which file, and why.
#[derive(Debug, Error)]
#[error("cannot {operation} {}: {source}", path.display())]
pub struct StorageError {
    /// The call, as a verb: `read`, `append to`, `sync`.
    pub operation: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

impl StorageError {
    /// An error of `operation` on `path`.
    pub fn new(operation: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self { operation, path: path.into(), source }
    }

    /// What kind of error the system reported.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

impl From<StorageError> for types::Problem {
    fn from(error: StorageError) -> Self {
        Self::new(error.to_string())
    }
}

/// Refuses to read what does not lie inside a file of `file_len` bytes.
pub(crate) fn check_bounds(path: &Path, offset: u64, len: usize, file_len: u64) -> Result<(), StorageError> {
    if offset.checked_add(len as u64).is_some_and(|end| end <= file_len) {
        return Ok(());
    }
    let message = format!("{len} bytes at {offset} were asked for, the file has {file_len}");
    Err(StorageError::new("read", path, io::Error::new(io::ErrorKind::UnexpectedEof, message)))
}
