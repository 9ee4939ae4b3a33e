//! Fjall 3: an LSM-tree in Rust.

#[cfg(feature = "peers")]
mod store;

use std::path::Path;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use workload::TargetError;

use crate::budget::{Budget, Codec, Log, Reads};
use crate::bundled::{self, cache, log, memtable, unequal, without_interval, without_maps, without_ribbons};
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> =
    Variant::new::<Fjall>("fjall", "Fjall 3, an LSM-tree in Rust", "").limited(&[Limit::NotDeterministic]);

struct Fjall;

/// It has none: the budget says it all.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<Engine> for Fjall {
    type Params = Params;

    fn build(_: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self))))
    }
}

impl Peer for Fjall {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::identify(env!("PEERS_FJALL"))
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        let mut lines = vec![
            memtable(budget, "max_memtable_size"),
            cache(budget, "cache_size"),
            format!("filters {} bits: filter_policy BitsPerKey on all levels", budget.filter_bits_per_key),
            format!(
                "blocks {} bytes, whole keys every {}: data_block_size_policy, data_block_restart_interval_policy",
                budget.block_bytes, budget.restart_interval
            ),
            format!("{} background threads: worker_threads", budget.background_threads),
        ];
        lines.extend(without_ribbons(budget, "Fjall"));
        match budget.codec {
            Codec::None => lines.push("compression none: data_block_compression_policy None".to_owned()),
            Codec::Lz4 => lines.push("compression lz4: data_block_compression_policy Lz4".to_owned()),
            _ => lines.push(unequal(format_args!(
                "compression {}: Fjall has LZ4 alone, and runs without",
                budget.codec
            ))),
        }
        match budget.log {
            Log::Buffered => lines.push(log(budget, "the journal is written to the system at every write")),
            Log::Sync => lines.push(log(budget, "persist(SyncData) behind every write")),
            Log::None => lines
                .push(unequal("log none: Fjall always writes its journal, here with manual_journal_persist")),
            Log::Interval { .. } => lines.extend(without_interval(budget, "Fjall")),
        }
        lines.push(unequal(format_args!(
            "{} frozen memtables: writers wait behind four of Fjall's, and nothing in it reads a cap on their bytes",
            budget.frozen_memtables
        )));
        if budget.reads == Reads::Direct {
            lines.push(unequal("direct I/O: Fjall has none"));
        }
        lines.extend(without_maps(budget, "Fjall"));
        lines
    }

    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        bundled::open!(store::FjallStore, directory, budget)
    }
}
