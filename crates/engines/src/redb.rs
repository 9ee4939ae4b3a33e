//! redb: a copy-on-write B-tree of pages in Rust, with one writer and lock-free readers.

#[cfg(feature = "peers")]
mod store;

use catalog::{Limit, Variant};
use workload::TargetError;

use crate::bundled::{self, cache, log, of_pages, unequal, without_maps};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log};
use crate::store::Store;

pub(crate) const VARIANT: Variant<dyn Engine> =
    Variant::<dyn Engine>::plain("redb", "redb, a copy-on-write B-tree in Rust", || Box::new(Redb))
        .limited(&[Limit::NotDeterministic]);

struct Redb;

impl Engine for Redb {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::identify(env!("PEERS_REDB"))
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![cache(settings, "set_cache_size")];
        lines.push(match settings.log {
            Log::Sync => log(settings, "Durability::Immediate; redb has no log"),
            Log::None => log(settings, "Durability::None"),
            _ => unequal(format_args!(
                "log {}: Durability::None, which keeps commits in the process until one is durable: redb has no log",
                settings.log
            )),
        });
        if settings.log != Log::Sync {
            lines.push(unequal(
                "bytes on disk: pages that are replaced without durability are free only behind a durable commit, so \
                 that the file grows as no log of the others does",
            ));
        }
        lines.push(unequal("a single put is a transaction, which copies the path to its page"));
        lines.extend(of_pages(settings, "redb"));
        lines.extend(without_maps(settings, "redb"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!(store::RedbStore, directory, settings)
    }
}
