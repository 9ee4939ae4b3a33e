//! sled: a lock-free B-tree over a log of page fragments, in Rust.

#[cfg(feature = "peers")]
mod store;

use std::path::Path;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use workload::TargetError;

use crate::budget::{Budget, Log};
use crate::bundled::{self, cache, log, of_pages, unequal, without_maps};
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> = Variant::new::<Sled>(
    "sled",
    "sled, a lock-free B-tree over a log, in Rust; ranges may see half a batch",
    "",
)
.limited(&[Limit::NotDeterministic]);

struct Sled;

/// It has none: the budget says it all.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<Engine> for Sled {
    type Params = Params;

    fn build(_: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self))))
    }
}

impl Peer for Sled {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::identify(env!("PEERS_SLED"))
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        let mut lines = vec![cache(budget, "cache_capacity")];
        lines.push(match budget.log {
            Log::Sync => log(budget, "flush() behind every write"),
            Log::Interval { .. } => log(budget, "flush_every_ms"),
            Log::None => log(budget, "flush_every_ms none: the log stays in the process until a segment is full"),
            Log::Buffered => unequal(
                "log buffered: sled keeps the log in the process for up to 500 ms, its default, and the end of the process loses it",
            ),
        });
        lines.push(unequal("a range of sled is not of one moment: it may see half a batch"));
        lines.extend(of_pages(budget, "sled"));
        lines.extend(without_maps(budget, "sled"));
        lines
    }

    fn ranges_are_of_one_moment(&self) -> bool {
        false
    }

    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        bundled::open!(store::SledStore, directory, budget)
    }
}
