//! canopydb: a B-tree of pages in Rust with a log and checkpoints; readers see versions.

#[cfg(feature = "peers")]
mod store;

use std::path::Path;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::budget::{Budget, Log};
use crate::bundled::{self, cache, log, memtable, of_pages, unequal, without_maps};
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> =
    Variant::new::<Canopydb>("canopydb", "canopydb, a B-tree in Rust with a log and checkpoints", "")
        .limited(&[Limit::NotDeterministic]);

struct Canopydb;

/// It has none: the budget says it all.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<Engine> for Canopydb {
    type Params = Params;

    fn build(_: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self))))
    }
}

impl Peer for Canopydb {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::identify(env!("PEERS_CANOPYDB"))
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        let mut lines = vec![
            memtable(budget, "checkpoint_target_size: what changed is written back when it is so much"),
            format!(
                "{} frozen memtables: stall_memory_limit and throttle_memory_limit {}",
                budget.frozen_memtables,
                format_bytes(budget.all_memtable_bytes())
            ),
            cache(budget, "page_cache_size"),
            log(
                budget,
                match budget.log {
                    Log::None => "use_wal off",
                    Log::Buffered => "commit without sync, wal_background_sync_interval none",
                    Log::Sync => "default_commit_sync",
                    Log::Interval { .. } => "wal_background_sync_interval",
                },
            ),
        ];
        lines.push(unequal("a put by itself is a transaction"));
        lines.extend(of_pages(budget, "canopydb"));
        lines.extend(without_maps(budget, "canopydb"));
        lines
    }

    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        bundled::open!(store::CanopydbStore, directory, budget)
    }
}
