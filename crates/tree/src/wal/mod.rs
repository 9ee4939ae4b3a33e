//! The write-ahead log: what a write survives before its memtable is flushed.
//!
//! One log covers one memtable. A record holds one commit, whole: a batch is replayed entirely or not.

mod buffered;
pub mod conformance;
mod group;
mod interval;
mod log;
mod mode;
mod none;
mod record;
mod replay;
mod sync;

use std::path::{Path, PathBuf};

use catalog::Catalog;

pub(crate) use log::LogFile;
pub use mode::{CommitSync, WalMode, WalPolicy};
pub(crate) use record::{HEADER_BYTES, LogPlace, frame};
pub(crate) use replay::{LogContent, replay};

/// All modes. The first is the baseline.
pub static CATALOG: Catalog<dyn WalPolicy> = Catalog::new(
    catalog::origin!(),
    "wal",
    "when a write is acknowledged, and so what it survives",
    &[none::VARIANT, buffered::VARIANT, sync::VARIANT, group::VARIANT, interval::VARIANT],
);

/// The durable length of a new log, in bytes.
pub(crate) fn synced_when_new(mode: WalMode) -> u64 {
    if mode.syncs_at_rotation { HEADER_BYTES as u64 } else { 0 }
}

/// Puts the checksums of log `number` right: see [`crate::reseal`].
pub(crate) fn reseal(bytes: &mut [u8], seal: u64) {
    record::reseal(bytes, seal);
}

/// The file of a log.
pub(crate) fn log_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:08}.wal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_modes_are_rejected() {
        let unlogged = WalMode { has_log: false, ..WalMode::SYNC };
        assert!(unlogged.check().unwrap_err().contains("without a log"));
        assert!(WalMode::interval(std::time::Duration::ZERO).check().unwrap_err().contains("period"));
    }
}
