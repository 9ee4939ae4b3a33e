//! Adapter for `SQLite`, a B-tree of pages in C, with a write-ahead log. A store is one table of keys and values
//! without row IDs.

#[cfg(feature = "more-peers")]
mod store;

use catalog::{Limit, Variant};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::bundled::{self, cache, log, mismatch, without_codec, without_interval};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log, Reads};
use crate::store::Store;
use crate::survival::Survival;

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::<dyn Engine>::plain("sqlite", "SQLite, a B-tree in C; one table without row numbers", || {
        Box::new(Sqlite)
    })
    .limited(&[Limit::NotDeterministic]);

struct Sqlite;

/// Returns the page size of `SQLite` in bytes: the largest power of two that is at most the block size, from 512 bytes
/// to 64 KiB.
fn page_bytes(settings: &EngineOptions) -> u64 {
    let bytes = settings.block_bytes.clamp(512, 64 << 10);
    1 << bytes.ilog2()
}

/// Returns the number of pages in the WAL at which a commit copies all pages of the WAL into the database file.
fn checkpoint_pages(settings: &EngineOptions) -> u64 {
    (settings.memtable_bytes / page_bytes(settings)).max(1)
}

impl Engine for Sqlite {
    fn identify(&self) -> Result<Identity, Missing> {
        // The library reports its version when it runs.
        bundled::MORE_PEERS.identify("")
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    fn makes_checkpoints(&self) -> bool {
        true
    }

    fn deletes_ranges(&self) -> bool {
        true
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    /// Returns [`Survival::Acknowledged`], because every commit passes its pages to the kernel.
    fn survival(&self, _: Log) -> Option<Survival> {
        Some(Survival::Acknowledged)
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            cache(settings, "cache_size of each connection"),
            format!("blocks of {}: page_size {}", format_bytes(settings.block_bytes), page_bytes(settings)),
            format!(
                "memtable of {}: wal_autocheckpoint {} pages, the WAL size at which a commit copies pages into \
                 the database file",
                format_bytes(settings.memtable_bytes),
                checkpoint_pages(settings)
            ),
        ];
        match settings.log {
            Log::Sync => lines.push(log(settings, "journal_mode WAL, synchronous FULL")),
            Log::Buffered => lines.push(log(settings, "journal_mode WAL, synchronous OFF")),
            Log::None => lines.push(mismatch(
                "WAL mode \"none\": SQLite is unsafe without a journal, so it runs with journal_mode WAL, \
                 synchronous OFF",
            )),
            Log::Interval { .. } => lines.extend(without_interval(settings, "SQLite")),
        }
        if settings.reads == Reads::Mapped {
            lines.push(
                "memory-mapped files: mmap_size, at most 2 GiB; SQLite reads the rest with pread".to_owned(),
            );
        }
        if settings.reads == Reads::Direct {
            lines.push(mismatch("direct I/O: SQLite does not support it"));
        }
        lines.push(mismatch(format_args!(
            "filters, {} background threads: SQLite is a B-tree, which has none of these",
            settings.background_threads
        )));
        lines.push(mismatch("each thread has its own connection with its own page cache"));
        lines.push(mismatch(
            "each single put is a separate transaction, and every call runs a prepared SQL statement",
        ));
        lines.extend(without_codec(settings, "SQLite"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        let pages = (page_bytes(settings), checkpoint_pages(settings));
        bundled::open!("more-peers", store::SqliteStore, directory, (settings, pages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_power_of_two_that_sqlite_accepts() {
        let of = |block_bytes| page_bytes(&EngineOptions { block_bytes, ..EngineOptions::default() });
        assert_eq!([1, 512, 4096, 6000, 1 << 20].map(of), [512, 512, 4096, 4096, 65_536]);
        assert_eq!(checkpoint_pages(&EngineOptions::default()), 4096);
        let small = EngineOptions { memtable_bytes: 100, ..EngineOptions::default() };
        assert_eq!(checkpoint_pages(&small), 1);
    }
}
