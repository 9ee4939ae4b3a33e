//! Storage with seeded faults. Each fault breaks one invariant, and the check must detect the fault.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use types::Bytes;

use crate::{Memory, Purpose, ReadFile, Storage, StorageError, WriteFile};

/// The fault of the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Fault: long appends lose their last byte.
    DropsTheTailOfAppends,
    /// Fault: appended bytes reach the file only when the file is synced or dropped.
    WritesLate,
    /// Fault: reads beyond the end of the file return zeros.
    ReadsZerosBeyondTheEnd,
    /// Fault: an empty file cannot be opened.
    RefusesEmptyFiles,
    /// Fault: the padding of the last block stays in the file.
    LeavesPadding,
    /// Fault: creating a file truncates the existing file with the same name.
    TruncatesInPlace,
    /// Fault: a rename to an existing name fails.
    RenamesToFreeNamesOnly,
    /// Fault: a reader opens the file again for each read.
    ReopensToRead,
    /// Fault: a hard link is a copy of the file.
    LinksByCopy,
    /// Fault: names are listed in reverse order.
    ListsBackwards,
    /// Fault: a missing file opens as an empty file.
    OpensWhatIsMissing,
    /// Fault: a lock can be taken twice.
    LocksTwice,
    /// Fault: all readers of a file share one position.
    SharesACursor,
    /// Fault: a call that reads several parts returns them in the order of the file, instead of the order of the
    /// request.
    SortsAnswers,
    /// Fault: if one part cannot be read, the call does not read the later parts.
    GivesUpAtAnError,
    /// Fault: a mapping lacks the last byte of the file.
    MapsTooLittle,
}

impl Fault {
    /// Every fault, with the name of the invariant whose check must detect the fault.
    pub(crate) const ALL: [(Self, &'static str); 16] = [
        (Self::DropsTheTailOfAppends, "a read must return the appended bytes"),
        (Self::WritesLate, "appended bytes must be readable at once; in SSTables, only after a sync"),
        (Self::ReadsZerosBeyondTheEnd, "a read beyond the end of a file must fail"),
        (Self::RefusesEmptyFiles, "an empty file must be supported"),
        (Self::LeavesPadding, "file sizes must be exact, also near block boundaries"),
        (
            Self::TruncatesInPlace,
            "creating a file under an existing name must not change the old file for its open readers",
        ),
        (Self::RenamesToFreeNamesOnly, "a rename must replace an existing file"),
        (Self::ReopensToRead, "an open file must stay readable after its removal"),
        (Self::LinksByCopy, "hard links to a file must share its content"),
        (Self::ListsBackwards, "a directory must list its files in the order of their names"),
        (Self::OpensWhatIsMissing, "a call for a missing file must return an error"),
        (Self::LocksTwice, "a lock must have at most one holder"),
        (Self::SharesACursor, "concurrent reads must return the appended bytes"),
        (Self::SortsAnswers, "a read of several parts must equal single reads"),
        (Self::GivesUpAtAnError, "a read of several parts must equal single reads"),
        (Self::MapsTooLittle, "a memory map of a file must contain the appended bytes"),
    ];
}

/// A storage of files in memory with one seeded fault.
pub(crate) struct Canary {
    pub(crate) fault: Fault,
    sound: Arc<Memory>,
}

impl Canary {
    pub(crate) fn new(fault: Fault) -> Self {
        Self { fault, sound: Arc::new(Memory::mapped()) }
    }

    fn content(&self, path: &Path) -> Result<Bytes, StorageError> {
        let file = self.sound.open(path, Purpose::Log)?;
        file.read(0, file.len() as usize)
    }
}

impl Storage for Canary {
    fn create(&self, path: &Path, purpose: Purpose) -> Result<Box<dyn WriteFile>, StorageError> {
        if self.fault == Fault::TruncatesInPlace
            && let Ok(old) = self.sound.open(path, purpose)
        {
            // The link is changed as well, so other readers and other links see the change.
            let link = path.with_file_name("link");
            if !old.is_empty() && self.sound.remove(&link).is_ok() {
                self.sound.create(&link, purpose)?;
            }
        }
        let inner = self.sound.create(path, purpose)?;
        Ok(Box::new(CanaryWriter { fault: self.fault, inner, late: Vec::new() }))
    }

    fn open(&self, path: &Path, purpose: Purpose) -> Result<Arc<dyn ReadFile>, StorageError> {
        let opened = self.sound.open(path, purpose);
        let inner = match (self.fault, opened) {
            (Fault::OpensWhatIsMissing, Err(_)) => {
                self.sound.create(Path::new("/nothing"), purpose)?;
                self.sound.open(Path::new("/nothing"), purpose)?
            }
            (Fault::RefusesEmptyFiles, Ok(file)) if file.is_empty() => {
                return Err(StorageError::new("map", path, ErrorKind::InvalidInput.into()));
            }
            (_, opened) => opened?,
        };
        let (path, sound) = (path.to_owned(), Arc::clone(&self.sound));
        Ok(Arc::new(CanaryFile { fault: self.fault, inner, path, sound, cursor: AtomicU64::new(0) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), StorageError> {
        if self.fault == Fault::RenamesToFreeNamesOnly && self.sound.open(to, Purpose::Log).is_ok() {
            return Err(StorageError::new("rename", to, ErrorKind::AlreadyExists.into()));
        }
        self.sound.rename(from, to)
    }

    fn remove(&self, path: &Path) -> Result<(), StorageError> {
        self.sound.remove(path)
    }

    fn hard_link(&self, existing: &Path, new: &Path) -> Result<(), StorageError> {
        if self.fault == Fault::LinksByCopy {
            return self.sound.create(new, Purpose::Log)?.append(&self.content(existing)?);
        }
        self.sound.hard_link(existing, new)
    }

    fn list(&self, directory: &Path) -> Result<Vec<String>, StorageError> {
        let mut names = self.sound.list(directory)?;
        if self.fault == Fault::ListsBackwards {
            names.reverse();
        }
        Ok(names)
    }

    fn create_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.sound.create_directory(directory)
    }

    fn sync_directory(&self, directory: &Path) -> Result<(), StorageError> {
        self.sound.sync_directory(directory)
    }

    fn lock(&self, path: &Path) -> Result<Box<dyn Send + Sync>, StorageError> {
        match self.sound.lock(path) {
            Err(error) if self.fault == Fault::LocksTwice && error.kind() == ErrorKind::WouldBlock => {
                Ok(Box::new(()))
            }
            locked => locked,
        }
    }
}

struct CanaryWriter {
    fault: Fault,
    inner: Box<dyn WriteFile>,
    late: Vec<u8>,
}

impl WriteFile for CanaryWriter {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError> {
        match self.fault {
            Fault::DropsTheTailOfAppends if bytes.len() > 1000 => {
                self.inner.append(&bytes[..bytes.len() - 1])
            }
            Fault::WritesLate => {
                self.late.extend_from_slice(bytes);
                Ok(())
            }
            _ => self.inner.append(bytes),
        }
    }

    fn sync(&mut self) -> Result<(), StorageError> {
        self.inner.append(&std::mem::take(&mut self.late))?;
        self.inner.sync()
    }

    fn len(&self) -> u64 {
        self.inner.len() + self.late.len() as u64
    }
}

impl Drop for CanaryWriter {
    fn drop(&mut self) {
        let _ = self.inner.append(&self.late);
        if self.fault == Fault::LeavesPadding {
            let len = self.inner.len() as usize;
            let _ = self.inner.append(&vec![0; len.next_multiple_of(4096) - len]);
        }
    }
}

struct CanaryFile {
    fault: Fault,
    inner: Arc<dyn ReadFile>,
    path: PathBuf,
    sound: Arc<Memory>,
    cursor: AtomicU64,
}

impl ReadFile for CanaryFile {
    fn read(&self, offset: u64, len: usize) -> Result<Bytes, StorageError> {
        match self.fault {
            Fault::ReopensToRead => self.sound.open(&self.path, Purpose::Log)?.read(offset, len),
            Fault::ReadsZerosBeyondTheEnd => {
                let read = self.inner.read(offset, len);
                read.or_else(
                    |error| if len < 10_000 { Ok(Bytes::copy_from(&vec![0; len])) } else { Err(error) },
                )
            }
            Fault::SharesACursor => {
                self.cursor.store(offset, Ordering::SeqCst);
                thread::yield_now();
                let offset = self.cursor.load(Ordering::SeqCst).min(self.inner.len() - len as u64);
                self.inner.read(offset, len)
            }
            _ => self.inner.read(offset, len),
        }
    }

    fn read_many(&self, parts: &[(u64, usize)]) -> Vec<Result<Bytes, StorageError>> {
        let mut parts = parts.to_vec();
        if self.fault == Fault::SortsAnswers {
            parts.sort_unstable();
        }
        let mut has_failed = false;
        let mut read = |(offset, len): (u64, usize)| {
            let answer = self.read(offset, if has_failed { usize::MAX } else { len });
            has_failed |= answer.is_err() && self.fault == Fault::GivesUpAtAnError;
            answer
        };
        parts.into_iter().map(&mut read).collect()
    }

    fn mapped(&self) -> Option<&[u8]> {
        let all = self.inner.mapped()?;
        if self.fault == Fault::MapsTooLittle { all.split_last().map(|(_, rest)| rest) } else { Some(all) }
    }

    fn len(&self) -> u64 {
        self.inner.len()
    }
}
