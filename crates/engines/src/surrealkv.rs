//! Adapter for `SurrealKV`, an LSM-tree in Rust. Every read and every write of `SurrealKV` is a transaction, and its
//! commits are asynchronous.

#[cfg(feature = "more-peers")]
mod store;
mod terms;

use catalog::{Limit, Variant};
use workload::TargetError;

use crate::bundled::{self, cache, log, memtable, mismatch, without_filters, without_interval, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::entry_limits::EntryLimits;
use crate::opening::Opening;
use crate::options::{Codec, EngineOptions, Log, Reads, ValuePlace};
use crate::store::Store;
use crate::survival::Survival;
use terms::{BACKGROUND_THREADS, stall_threshold};

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::<dyn Engine>::plain(
    "surrealkv",
    "SurrealKV, an LSM-tree in Rust; its commits are asynchronous, and the adapter waits for each of them",
    || Box::new(SurrealKv),
)
.limited(&[Limit::NotDeterministic]);

/// The only compression level at which `SurrealKV` uses Zstandard.
const ZSTD_LEVEL: i32 = 3;

struct SurrealKv;

impl Engine for SurrealKv {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::MORE_PEERS.identify(env!("PEERS_SURREALKV"))
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

    /// Returns [`Survival::Acknowledged`], because `SurrealKV` writes its WAL in every WAL mode.
    fn survival(&self, _: Log) -> Option<Survival> {
        Some(Survival::Acknowledged)
    }

    fn entry_limits(&self, _: &EngineOptions) -> EntryLimits {
        EntryLimits { key_bytes: 1..=usize::MAX, ..EntryLimits::default() }
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            memtable(settings, "max_memtable_size"),
            format!(
                "{} immutable memtables: memtable_stall_threshold={}",
                settings.frozen_memtables,
                stall_threshold(settings)
            ),
            cache(settings, "block_cache_capacity"),
            format!(
                "blocks of {} bytes, restart interval {}: block_size, block_restart_interval",
                settings.block_bytes, settings.restart_interval
            ),
        ];
        let bits = format!("filters with {} bits per key", settings.filter_bits_per_key);
        match settings.filter_bits_per_key.fract() {
            0.0 => lines.push(format!("{bits}: RibbonFilter, which is a Bloom filter in blocks of 64 bytes")),
            _ => lines.push(mismatch(format_args!(
                "{bits}: the adapter rounds to whole bits, because SurrealKV accepts only these"
            ))),
        }
        lines.extend(without_filters(settings, "SurrealKV"));
        match &settings.values {
            ValuePlace::Inline => {}
            values @ ValuePlace::BlobFiles { stale_share, .. } => {
                lines.push(format!(
                    "values {values}: enable_vlog, with vlog_value_threshold and vlog_max_file_size"
                ));
                lines.push(mismatch(format_args!(
                    "stale share {stale_share}: SurrealKV relocates no values, and deletes a file of its value log \
                     when no SSTable refers to this file or to an older file"
                )));
            }
            ValuePlace::Other(label) => {
                lines.push(mismatch(format_args!("values {label}: SurrealKV keeps values with their keys")));
            }
        }
        lines.push(codec(&settings.codec));
        match settings.log {
            Log::Buffered => {
                lines.push(log(settings, "Durability::Eventual, which passes every commit to the kernel"));
            }
            Log::Sync => lines.push(log(settings, "Durability::Immediate")),
            Log::None => lines.push(mismatch(
                "WAL mode \"none\": SurrealKV cannot disable its WAL, so it runs with Durability::Eventual",
            )),
            Log::Interval { .. } => lines.extend(without_interval(settings, "SurrealKV")),
        }
        let threads = format!(
            "{} background threads: SurrealKV flushes with one thread and compacts with one thread",
            settings.background_threads
        );
        lines.push(match settings.background_threads {
            BACKGROUND_THREADS => threads,
            _ => mismatch(threads),
        });
        lines.push(mismatch(
            "each single put is a separate transaction. A task in another thread (of the runtime tokio) writes the \
             WAL and the memtable, and the caller waits for this task",
        ));
        lines.push(mismatch(
            "concurrent writes of one key: SurrealKV rejects the later write, and the adapter repeats it",
        ));
        if settings.reads == Reads::Direct {
            lines.push(mismatch("direct I/O: SurrealKV does not support it"));
        }
        lines.extend(without_maps(settings, "SurrealKV"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("more-peers", store::SurrealKvStore, directory, settings)
    }
}

/// Returns the mapping line of the compression.
fn codec(codec: &Codec) -> String {
    match codec {
        Codec::None => "compression none: without_compression".to_owned(),
        Codec::Snappy => "compression snappy: compression_per_level SnappyCompression".to_owned(),
        Codec::Zstd { level: ZSTD_LEVEL } => {
            format!("compression {codec}: compression_per_level ZstdCompression")
        }
        Codec::Zstd { .. } => {
            mismatch(format_args!("compression {codec}: SurrealKV always uses level {ZSTD_LEVEL}"))
        }
        Codec::Lz4 | Codec::Other(_) => mismatch(format_args!(
            "compression {codec}: SurrealKV has only Snappy and Zstandard, so it runs without compression"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the mapping lines of a design that begin with `start`.
    fn lines(settings: &EngineOptions, start: &str) -> Vec<String> {
        SurrealKv.mapping(settings).into_iter().filter(|line| line.starts_with(start)).collect()
    }

    #[test]
    fn settings_that_surrealkv_lacks_are_mismatches() {
        let usual = EngineOptions::default();
        assert_eq!(lines(&usual, "2 immutable"), ["2 immutable memtables: memtable_stall_threshold=3"]);
        assert_eq!(lines(&usual, "2 background").len(), 1);
        let other = EngineOptions {
            background_threads: 4,
            filter_bits_per_key: 6.5,
            codec: Codec::Zstd { level: 9 },
            log: Log::None,
            ..EngineOptions::default()
        };
        for start in
            ["4 background threads", "filters with 6.5 bits", "compression zstd level 9", "WAL mode \"none\""]
        {
            assert_eq!(lines(&other, &mismatch(start)).len(), 1, "{start}");
        }
        assert_eq!(
            lines(&EngineOptions { codec: Codec::Zstd { level: 3 }, ..usual }, "compression zstd").len(),
            1
        );
    }
}
