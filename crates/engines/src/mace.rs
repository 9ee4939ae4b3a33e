//! Mace: a B+-tree over a log-structured store in Rust, with transactions.

#[cfg(feature = "more-peers")]
mod store;

use catalog::{Limit, Variant};
use workload::TargetError;

use crate::bundled::{self, cache, log, memtable, unequal, without_interval, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::entry_limits::EntryLimits;
use crate::opening::Opening;
use crate::options::{Codec, EngineOptions, Log, Reads};
use crate::store::Store;
use crate::survival::Survival;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::<dyn Engine>::plain(
    "mace",
    "Mace, a B+-tree over a log-structured store in Rust; values are not empty",
    || Box::new(Mace),
)
.limited(&[Limit::NotDeterministic]);

/// The largest key, in bytes.
const MOST_KEY_BYTES: usize = 64 << 10;

/// The largest value, in bytes. The buffer of the WAL has 16 MiB, and a record must fit into it.
const MOST_VALUE_BYTES: usize = 15 << 20;

/// The sizes of keys and values. Mace stores a delete as an empty value.
fn limits() -> EntryLimits {
    EntryLimits { key_bytes: 1..=MOST_KEY_BYTES, value_bytes: 1..=MOST_VALUE_BYTES }
}

struct Mace;

impl Engine for Mace {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::MORE_PEERS.identify(env!("PEERS_MACE"))
    }

    fn makes_checkpoints(&self) -> bool {
        true
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    /// Every commit passes its record to the kernel.
    fn survival(&self, _: Log) -> Option<Survival> {
        Some(Survival::Acknowledged)
    }

    fn entry_limits(&self, _: &EngineOptions) -> EntryLimits {
        limits()
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            memtable(settings, "checkpoint_size, the size of changed pages at which Mace writes them back"),
            format!(
                "{} immutable memtables: pool_capacity, for all changed pages",
                settings.frozen_memtables
            ),
            cache(settings, "cache_capacity, for pages"),
        ];
        match settings.log {
            Log::Sync => lines.push(log(settings, "sync_on_write")),
            Log::Buffered => {
                lines.push(log(settings, "sync_on_write off; a commit only reaches the operating system"))
            }
            Log::None => {
                lines.push(unequal(
                    "log none: Mace cannot disable its WAL, so it runs with sync_on_write off",
                ));
            }
            Log::Interval { .. } => lines.extend(without_interval(settings, "Mace")),
        }
        match settings.codec {
            Codec::None => lines.push("compression none: enable_compression off".to_owned()),
            Codec::Zstd { level } => lines.push(unequal(format_args!(
                "compression zstd level {level}: enable_compression, with the level that Mace chooses"
            ))),
            _ => lines.push(unequal(format_args!(
                "compression {}: Mace has only Zstandard, so it runs without compression",
                settings.codec
            ))),
        }
        lines.push(unequal(
            "cache: Mace has a second cache of the same size, for large values and old versions",
        ));
        lines.push(unequal(format_args!(
            "filters, blocks, {} background threads: Mace is a B+-tree, which has none of these",
            settings.background_threads
        )));
        lines.push(unequal(
            "each single put is a separate transaction; a transaction that conflicts with another one runs again",
        ));
        lines.push(unequal("Mace stores values of 1 KiB and more apart from the pages"));
        if settings.reads == Reads::Direct {
            lines.push(unequal("direct I/O: Mace does not support it"));
        }
        lines.extend(without_maps(settings, "Mace"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("more-peers", store::MaceStore, directory, (settings, limits()))
    }
}
