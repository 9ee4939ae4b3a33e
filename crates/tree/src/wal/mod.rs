//! The write-ahead log (WAL). Writes in the WAL survive a crash before their memtable is flushed.
//!
//! Each WAL file contains the writes of one memtable, except in a store with column families (see `families`). A record
//! contains one commit, so a batch is replayed completely or not at all.

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
pub(crate) use replay::{
    LOG_TEMPORARY, LogContent, ReplayStart, is_of_other_store, make_durable, replay, replay_records,
};

/// The catalog of all WAL modes. The first WAL mode in the list is the baseline.
pub static CATALOG: Catalog<dyn WalPolicy> = Catalog::new(
    catalog::origin!(),
    "wal",
    "the WAL mode, which decides when a write is acknowledged and which crashes it survives",
    &[none::VARIANT, buffered::VARIANT, sync::VARIANT, group::VARIANT, interval::VARIANT],
);

/// Returns how many bytes of a new WAL file are durable in the WAL mode `mode`.
pub(crate) fn synced_when_new(mode: WalMode) -> u64 {
    if mode.syncs_at_rotation { HEADER_BYTES as u64 } else { 0 }
}

/// Recomputes the checksums of a WAL file, for tests of corrupt files. The checksums cover `seal`, a number that
/// identifies the file and its store. See [`crate::reseal`].
pub(crate) fn reseal(bytes: &mut [u8], seal: u64) {
    record::reseal(bytes, seal);
}

/// Returns the path of the WAL file `number` in `directory`.
pub(crate) fn log_path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:08}.wal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_modes_are_rejected() {
        let unlogged = WalMode { has_log: false, ..WalMode::SYNC };
        assert!(unlogged.check().unwrap_err().contains("has_log = false"));
        assert!(WalMode::interval(std::time::Duration::ZERO).check().unwrap_err().contains("period"));
    }
}
