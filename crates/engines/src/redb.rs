//! Adapter for redb, a copy-on-write B-tree of pages in Rust, with one writer and lock-free readers.

#[cfg(feature = "peers")]
mod store;

use catalog::{Limit, Variant};
use workload::TargetError;

use crate::bundled::{self, cache, log, mismatch, of_pages, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log};
use crate::store::Store;
use crate::survival::Survival;

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::<dyn Engine>::plain("redb", "redb, a copy-on-write B-tree in Rust", || Box::new(Redb))
        .limited(&[Limit::NotDeterministic]);

struct Redb;

impl Engine for Redb {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::PEERS.identify(env!("PEERS_REDB"))
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    /// Returns which writes survive `kill -9` of the process. A commit without a sync stays in the memory of the
    /// process until a later sync.
    fn survival(&self, log: Log) -> Option<Survival> {
        Some(Survival::of_sync(log))
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![cache(settings, "set_cache_size")];
        lines.push(match settings.log {
            Log::Sync => log(settings, "Durability::Immediate; redb has no WAL"),
            Log::None => log(settings, "Durability::None"),
            _ => mismatch(format_args!(
                "WAL mode \"{}\": redb has no WAL; with Durability::None, commits stay in the process until \
                 a durable commit",
                settings.log
            )),
        });
        if settings.log != Log::Sync {
            lines.push(mismatch(
                "bytes on disk: redb reuses a replaced page only after a durable commit, so its file grows \
                 faster than the files of other engines",
            ));
        }
        lines.push(mismatch(
            "each single put is a separate transaction, which copies all pages from the root to the leaf",
        ));
        lines.extend(of_pages(settings, "redb"));
        lines.extend(without_maps(settings, "redb"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("peers", store::RedbStore, directory, settings)
    }
}
