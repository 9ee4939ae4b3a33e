//! Adapter for canopydb, a B-tree of pages in Rust with a WAL and checkpoints. Readers use multi-version snapshots.

#[cfg(feature = "peers")]
mod store;

use catalog::{Limit, Variant};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::bundled::{self, cache, log, memtable, mismatch, of_pages, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log};
use crate::store::Store;

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::<dyn Engine>::plain("canopydb", "canopydb, a B-tree in Rust with a WAL and checkpoints", || {
        Box::new(Canopydb)
    })
    .limited(&[Limit::NotDeterministic]);

struct Canopydb;

impl Engine for Canopydb {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::PEERS.identify(env!("PEERS_CANOPYDB"))
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    fn deletes_ranges(&self) -> bool {
        true
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            memtable(settings, "checkpoint_target_size; a checkpoint starts at this size of changed data"),
            format!(
                "{} immutable memtables: stall_memory_limit and throttle_memory_limit {}",
                settings.frozen_memtables,
                format_bytes(settings.all_memtable_bytes())
            ),
            cache(settings, "page_cache_size"),
            log(
                settings,
                match settings.log {
                    Log::None => "use_wal off",
                    Log::Buffered => "commits without a sync, and wal_background_sync_interval is not set",
                    Log::Sync => "default_commit_sync",
                    Log::Interval { .. } => "wal_background_sync_interval",
                },
            ),
        ];
        lines.push(mismatch("each single put is a separate transaction"));
        lines.extend(of_pages(settings, "canopydb"));
        lines.extend(without_maps(settings, "canopydb"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("peers", store::CanopydbStore, directory, settings)
    }
}
