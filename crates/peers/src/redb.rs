//! redb: a B-tree of pages in Rust, copied when they change; one writer, readers without locks.

#[cfg(feature = "peers")]
mod store;

use std::path::Path;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use workload::TargetError;

use crate::budget::{Budget, Log};
use crate::bundled::{self, cache, log, of_pages, unequal, without_maps};
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> =
    Variant::new::<Redb>("redb", "redb, a copy-on-write B-tree in Rust", "")
        .limited(&[Limit::NotDeterministic]);

struct Redb;

/// It has none: the budget says it all.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<Engine> for Redb {
    type Params = Params;

    fn build(_: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self))))
    }
}

impl Peer for Redb {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::identify(env!("PEERS_REDB"))
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        let mut lines = vec![cache(budget, "set_cache_size")];
        lines.push(match budget.log {
            Log::Sync => log(budget, "Durability::Immediate; redb has no log"),
            Log::None => log(budget, "Durability::None"),
            _ => unequal(format_args!(
                "log {}: Durability::None, which keeps commits in the process until one is durable: redb has no log",
                budget.log
            )),
        });
        if budget.log != Log::Sync {
            lines.push(unequal(
                "bytes on disk: pages that are replaced without durability are free only behind a durable commit, so \
                 that the file grows as no log of the others does",
            ));
        }
        lines.push(unequal("a put by itself is a transaction, which copies the path to its page"));
        lines.extend(of_pages(budget, "redb"));
        lines.extend(without_maps(budget, "redb"));
        lines
    }

    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        bundled::open!(store::RedbStore, directory, budget)
    }
}
