//! Adapter for Fjall 2, the previous major version of Fjall. The published figures of Fjall (`experiments/fjall21`) are
//! about version 2.1, which no longer builds with current dependencies. The adapter therefore uses 2.11, the last minor
//! version.

#[cfg(feature = "peers")]
mod store;

use catalog::{Limit, Variant};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::bundled::{
    self, cache, log, memtable, mismatch, without_blob_files, without_filters, without_maps,
};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{Codec, EngineOptions, Log, Reads};
use crate::store::Store;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::<dyn Engine>::plain(
    "fjall2",
    "Fjall 2, the previous major version (2.11, because 2.1 no longer builds)",
    || Box::new(Fjall2),
)
.limited(&[Limit::NotDeterministic]);

struct Fjall2;

/// The smallest total size of all memtables that Fjall accepts as a limit, in bytes.
const LEAST_WRITE_BUFFER_BYTES: u64 = 1 << 20;

/// Returns the total size of all memtables at which writers wait, in bytes. Fjall makes a memtable immutable at half of
/// this limit. With the default limit of 64 MiB, a large memtable would therefore become immutable too early.
fn write_buffer_bytes(settings: &EngineOptions) -> u64 {
    settings.all_memtable_bytes().max(LEAST_WRITE_BUFFER_BYTES)
}

/// Returns the message about the number of immutable memtables, and about the option that limits them.
fn write_buffer(settings: &EngineOptions) -> String {
    let (bytes, count) = (write_buffer_bytes(settings), settings.frozen_memtables);
    let line = format!("{count} immutable memtables: max_write_buffer_size {}", format_bytes(bytes));
    match bytes > settings.all_memtable_bytes() {
        true => mismatch(format_args!("{line}, the smallest value that Fjall accepts")),
        false => line,
    }
}

impl Engine for Fjall2 {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::PEERS.identify(env!("PEERS_FJALL2"))
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            memtable(settings, "max_memtable_size"),
            cache(settings, "cache_size"),
            format!("blocks of {} bytes: block_size", settings.block_bytes),
            format!(
                "{} background threads: one of flush_workers, the others of compaction_workers",
                settings.background_threads
            ),
        ];
        let bits = format!("filters with {} bits per key", settings.filter_bits_per_key);
        match settings.filter_bits_per_key.fract() {
            0.0 => lines.push(format!("{bits}: bloom_filter_bits")),
            _ => lines.push(mismatch(format_args!("{bits}: Fjall rounds to whole bits (bloom_filter_bits)"))),
        }
        lines.extend(without_filters(settings, "Fjall"));
        lines.extend(without_blob_files(settings, "Fjall"));
        match settings.codec {
            Codec::None => lines.push("compression none: compression None".to_owned()),
            Codec::Lz4 => lines.push("compression lz4: compression Lz4".to_owned()),
            _ => lines.push(mismatch(format_args!(
                "compression {}: Fjall has only LZ4, so it runs without compression",
                settings.codec
            ))),
        }
        match settings.log {
            Log::Buffered => {
                lines.push(log(settings, "each write copies its record to the operating system"));
            }
            Log::Sync => lines.push(log(settings, "persist(SyncData) after every write")),
            Log::Interval { .. } => lines.push(log(settings, "fsync_ms")),
            Log::None => lines.push(mismatch(
                "WAL mode \"none\": Fjall cannot disable its journal, so it runs with manual_journal_persist",
            )),
        }
        lines.push(write_buffer(settings));
        if settings.reads == Reads::Direct {
            lines.push(mismatch("direct I/O: Fjall does not support it"));
        }
        lines.extend(without_maps(settings, "Fjall"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("peers", store::Fjall2Store, directory, (settings, write_buffer_bytes(settings)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memtables_have_a_cap_that_lets_the_one_that_is_written_fill() {
        let large =
            EngineOptions { memtable_bytes: 128 << 20, frozen_memtables: 1, ..EngineOptions::default() };
        assert_eq!(write_buffer_bytes(&large), 256 << 20);
        assert_eq!(write_buffer(&large), "1 immutable memtables: max_write_buffer_size 256MiB");
        let small = EngineOptions { memtable_bytes: 64 << 10, ..EngineOptions::default() };
        assert_eq!(write_buffer_bytes(&small), LEAST_WRITE_BUFFER_BYTES);
        assert!(write_buffer(&small).starts_with("mismatch: 2 immutable memtables: "));
    }
}
