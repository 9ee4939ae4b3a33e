//! A WAL file to which the tree appends records.

use std::path::Path;

use storage::{Purpose, Storage, WriteFile};

use super::record::header;
use super::{WalMode, log_path};
use crate::error::Result;

/// A WAL file that is open for appending. In the WAL mode "none", no file exists, and every call does nothing.
pub(crate) struct LogFile {
    file: Option<Box<dyn WriteFile>>,
}

impl LogFile {
    /// Creates the WAL file `number`. All its checksums cover `seal`, a number that identifies the file and its store.
    /// If the WAL mode syncs at rotations, the function also makes the file and its directory entry durable.
    pub(crate) fn create(
        storage: &dyn Storage,
        directory: &Path,
        number: u64,
        seal: u64,
        mode: WalMode,
    ) -> Result<Self> {
        let mut log = Self::create_unsynced(storage, directory, number, seal, mode)?;
        log.sync_new(storage, directory, mode)?;
        Ok(log)
    }

    /// Creates the WAL file `number` without syncs. All its checksums cover `seal`, a number that identifies the file
    /// and its store. Call [`sync_new`](Self::sync_new) before the first append.
    ///
    /// # Errors
    /// If the file cannot be created, or if its header cannot be written. A part of the file may then exist.
    pub(crate) fn create_unsynced(
        storage: &dyn Storage,
        directory: &Path,
        number: u64,
        seal: u64,
        mode: WalMode,
    ) -> Result<Self> {
        if !mode.has_log {
            return Ok(Self { file: None });
        }
        let mut file = storage.create(&log_path(directory, number), Purpose::Log)?;
        file.append(&header(number, seal))?;
        Ok(Self { file: Some(file) })
    }

    /// Makes a new WAL file and its directory entry durable, if the WAL mode syncs at rotations.
    pub(crate) fn sync_new(&mut self, storage: &dyn Storage, directory: &Path, mode: WalMode) -> Result<()> {
        if mode.syncs_at_rotation {
            self.sync()?;
            storage.sync_directory(directory)?;
        }
        Ok(())
    }

    /// Returns the number of bytes written to the WAL file, or 0 in the WAL mode "none".
    pub(crate) fn len(&self) -> u64 {
        self.bytes().unwrap_or(0)
    }

    /// Returns the number of bytes written to the WAL file, or `None` in the WAL mode "none".
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.file.as_ref().map(|file| file.len())
    }

    /// Appends records to the WAL file. Each record is already encoded with its checksums.
    pub(crate) fn append(&mut self, records: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) if !records.is_empty() => Ok(file.append(records)?),
            _ => Ok(()),
        }
    }

    /// Reserves space for the next `bytes` bytes of the WAL file, if the storage supports this. Appends to reserved
    /// space need no work of the kernel.
    pub(crate) fn reserve(&mut self, bytes: u64) {
        if let Some(file) = &mut self.file {
            file.reserve(bytes);
        }
    }

    /// Makes all appended records of the WAL file durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        match &mut self.file {
            Some(file) => Ok(file.sync()?),
            None => Ok(()),
        }
    }
}
