//! A log being written.

use std::path::Path;

use storage::{Purpose, Storage, WriteFile};

use super::record::header;
use super::{WalMode, log_path};
use crate::error::Result;

/// A log open for appending; without a log there is no file and nothing happens.
pub(crate) struct LogFile {
    file: Option<Box<dyn WriteFile>>,
}

impl LogFile {
    /// Begins log `number` under `seal`. Where acknowledged writes must survive power loss, so does the log's name.
    pub(crate) fn create(
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
        if mode.syncs_at_rotation {
            file.sync()?;
            storage.sync_directory(directory)?;
        }
        Ok(Self { file: Some(file) })
    }

    /// The bytes written so far.
    pub(crate) fn len(&self) -> u64 {
        self.bytes().unwrap_or(0)
    }

    /// The bytes of the log, if there is one.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.file.as_ref().map(|file| file.len())
    }

    /// Appends framed records.
    pub(crate) fn append(&mut self, records: &[u8]) -> Result<()> {
        match &mut self.file {
            Some(file) if !records.is_empty() => Ok(file.append(records)?),
            _ => Ok(()),
        }
    }

    /// Makes everything appended durable.
    pub(crate) fn sync(&mut self) -> Result<()> {
        match &mut self.file {
            Some(file) => Ok(file.sync()?),
            None => Ok(()),
        }
    }
}
