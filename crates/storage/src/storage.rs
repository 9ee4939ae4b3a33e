//! The seam of storage: files that are appended to and files that are read.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use types::Bytes;

/// A place where files live. All paths are handed through as they are.
///
/// Laws:
/// 1. Bytes appended are read back as they were, by files opened after the append returned.
/// 2. Bytes synced, under a name made durable by [`sync_directory`](Self::sync_directory), survive a crash;
///    others may be there, be gone, or be there in part.
/// 3. [`rename`](Self::rename) replaces its target in one step.
pub trait Storage: Send + Sync {
    /// Creates a file, replacing one of that name.
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError>;

    /// Opens a file for reading.
    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError>;

    /// Gives a file another name in one step, replacing one of that name.
    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError>;

    /// Removes a file; one that is open can still be read.
    fn remove(&self, path: &Path) -> Result<(), StorageError>;

    /// Gives a file a second name: the content is shared, nothing is copied.
    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError>;

    /// The names of the files in a directory, sorted.
    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError>;

    /// Creates a directory and those above it, where they are not there yet.
    fn create_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Makes creations, renames and removals in a directory durable.
    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError>;

    /// Locks a file, creating it if it is not there, until the guard is dropped. A second lock of the same
    /// file, by this process or another, is an error of kind [`io::ErrorKind::WouldBlock`].
    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError>;
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
pub trait WriteFile: Send {
    /// Appends bytes. After an error nothing is known about the bytes of this call, and the file takes no
    /// more.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError>;

    /// Makes all appended bytes durable. After an error nothing may be assumed durable, not even by a
    /// second call that succeeds.
    fn sync(&mut self) -> Result<(), StorageError>;

    /// The bytes appended so far.
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
