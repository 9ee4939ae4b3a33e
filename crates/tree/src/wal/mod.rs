//! The write-ahead log: what a write survives before its memtable is flushed.
//!
//! One log covers one memtable. A record holds one commit, whole: a batch is replayed entirely or not.

mod log;
mod mode;
mod record;
mod replay;

use std::path::{Path, PathBuf};

pub(crate) use log::LogFile;
pub use mode::{CATALOG, WalMode};
pub(crate) use record::{HEADER_BYTES, LogPlace, frame};
pub(crate) use replay::{LogContent, replay};

/// How much of a new log is durable.
pub(crate) fn synced_when_new(mode: WalMode) -> u64 {
    if mode.syncs_at_rotation() { HEADER_BYTES as u64 } else { 0 }
}

/// Puts the checksums of log `number` right: see [`crate::reseal`].
pub(crate) fn reseal(bytes: &mut [u8], seal: u64) {
    record::reseal(bytes, seal);
}

/// The file of a log.
pub(crate) fn log_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:08}.wal"))
}
