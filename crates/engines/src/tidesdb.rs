//! Adapter for `TidesDB`, an LSM-tree of B-trees in C, with transactions and a value log.

#[cfg(feature = "tidesdb")]
mod store;
mod terms;

use catalog::{Limit, Variant};
use workload::TargetError;

use crate::bundled::{cache, log, memtable, mismatch, without_codec, without_filters, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log, Reads, ValuePlace};
use crate::store::Store;
use terms::{compaction_threads, false_positives};

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::<dyn Engine>::plain("tidesdb", "TidesDB, an LSM-tree of B-trees in C with a value log", || {
        Box::new(TidesDb)
    })
    .limited(&[Limit::NotDeterministic]);

struct TidesDb;

impl Engine for TidesDb {
    #[cfg(feature = "tidesdb")]
    fn identify(&self) -> Result<Identity, Missing> {
        Ok(Identity { version: Some(::tidesdb::TIDESDB_LINKED_VERSION.to_owned()), ..Identity::default() })
    }

    #[cfg(not(feature = "tidesdb"))]
    fn identify(&self) -> Result<Identity, Missing> {
        Err(Missing::NotBuilt { feature: "tidesdb" })
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    fn makes_checkpoints(&self) -> bool {
        true
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            memtable(settings, "memtable_write_buffer_size"),
            cache(settings, "block_cache_size"),
            format!("blocks of {} bytes: btree_klog_block_size", settings.block_bytes),
            match settings.filter_bits_per_key {
                bits if bits > 0.0 => {
                    format!(
                        "filters with {bits} bits per key: bloom_fpr {:.4}, the equivalent rate",
                        false_positives(bits)
                    )
                }
                _ => "filters with 0 bits per key: enable_bloom_filter off".to_owned(),
            },
            format!(
                "{} background threads: 1 of num_flush_threads, {} of num_compaction_threads",
                settings.background_threads,
                compaction_threads(settings)
            ),
        ];
        lines.extend(without_filters(settings, "TidesDB"));
        if settings.values != ValuePlace::Inline {
            let values = &settings.values;
            lines.push(mismatch(format_args!(
                "values {values}: TidesDB keeps large values in a value log with its own size limit"
            )));
        }
        match settings.log {
            Log::None => {
                lines.push(mismatch(
                    "WAL mode \"none\": TidesDB cannot disable its WAL, whose records stay in the process",
                ));
            }
            Log::Buffered => {
                lines.push(log(
                    settings,
                    "SyncMode Interval of one day, so each commit writes its record and no commit syncs",
                ));
            }
            Log::Sync => lines.push(log(settings, "SyncMode Full")),
            Log::Interval { .. } => lines.push(log(settings, "SyncMode Interval")),
        }
        lines.push(mismatch(format_args!(
            "{} immutable memtables: TidesDB limits immutable memtables and runs that wait for a compaction \
             together, and the limit stays at 16",
            settings.frozen_memtables
        )));
        lines.push(mismatch("each single put is a separate transaction"));
        lines.push(mismatch("memtable size: TidesDB also counts the nodes, about 100 bytes per entry"));
        lines.push(mismatch("values: TidesDB stores values of 1 KiB and more in a value log"));
        lines.push(mismatch(
            "reads: the Rust crate of TidesDB copies each key and value once more than the C interface",
        ));
        lines.extend(without_codec(settings, "TidesDB without system libraries"));
        if settings.reads == Reads::Direct {
            lines.push(mismatch("direct I/O: TidesDB does not support it"));
        }
        lines.extend(without_maps(settings, "TidesDB"));
        lines
    }

    #[cfg(feature = "tidesdb")]
    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        Ok(Box::new(store::TidesDbStore::open(directory, settings)?))
    }

    #[cfg(not(feature = "tidesdb"))]
    fn open(&self, _: &Opening) -> Result<Box<dyn Store>, TargetError> {
        Err(Missing::NotBuilt { feature: "tidesdb" }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_become_a_rate_of_false_positives() {
        assert!((false_positives(10.0) - 0.0082).abs() < 1e-4, "{}", false_positives(10.0));
        let lines = TidesDb.mapping(&EngineOptions::default());
        assert!(
            lines.iter().any(|line| line.starts_with("filters with 10 bits per key: bloom_fpr 0.0082")),
            "{lines:?}"
        );
    }
}
