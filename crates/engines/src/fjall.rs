//! Adapter for Fjall 3, an LSM-tree in Rust.

#[cfg(feature = "peers")]
mod store;

use catalog::{Limit, Variant};
use workload::TargetError;

use crate::bundled::{self, cache, log, memtable, mismatch, without_filters, without_interval, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{Codec, EngineOptions, Log, Reads, ValuePlace};
use crate::store::Store;

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::<dyn Engine>::plain("fjall", "Fjall 3, an LSM-tree in Rust", || Box::new(Fjall))
        .limited(&[Limit::NotDeterministic]);

struct Fjall;

impl Engine for Fjall {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::PEERS.identify(env!("PEERS_FJALL"))
    }

    /// Returns `false`, because a snapshot can see a part of a batch. The reason is in lsm-tree 3.1.10
    /// (`upgrade_version_with_seqno`): a finishing flush or compaction raises the visible sequence number past a batch
    /// that is still being applied.
    fn ranges_are_of_one_moment(&self) -> bool {
        false
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            memtable(settings, "max_memtable_size"),
            cache(settings, "cache_size"),
            format!(
                "filters with {} bits per key: filter_policy BitsPerKey on all levels",
                settings.filter_bits_per_key
            ),
            format!(
                "blocks of {} bytes, restart interval {}: data_block_size_policy, data_block_restart_interval_policy",
                settings.block_bytes, settings.restart_interval
            ),
            format!("{} background threads: worker_threads", settings.background_threads),
        ];
        lines.extend(without_filters(settings, "Fjall"));
        match &settings.values {
            ValuePlace::Inline => {}
            values @ ValuePlace::BlobFiles { .. } => lines.push(format!(
                "values {values}: with_kv_separation, with separation_threshold, file_target_size, staleness_threshold"
            )),
            ValuePlace::Other(label) => {
                lines.push(mismatch(format_args!("values {label}: Fjall keeps values with their keys")));
            }
        }
        match settings.codec {
            Codec::None => lines.push("compression none: data_block_compression_policy None".to_owned()),
            Codec::Lz4 => lines.push("compression lz4: data_block_compression_policy Lz4".to_owned()),
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
            Log::None => lines.push(mismatch(
                "WAL mode \"none\": Fjall cannot disable its journal, so it runs with manual_journal_persist",
            )),
            Log::Interval { .. } => lines.extend(without_interval(settings, "Fjall")),
        }
        lines.push(mismatch(
            "a scan of Fjall may see a part of a batch while a flush or a compaction finishes",
        ));
        lines.push(mismatch(format_args!(
            "{} immutable memtables: Fjall stalls writers at four immutable memtables and does not limit their bytes",
            settings.frozen_memtables
        )));
        if settings.reads == Reads::Direct {
            lines.push(mismatch("direct I/O: Fjall does not support it"));
        }
        lines.extend(without_maps(settings, "Fjall"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("peers", store::FjallStore, directory, settings)
    }
}
