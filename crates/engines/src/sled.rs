//! Adapter for sled, a lock-free B-tree over a log of page fragments, in Rust.

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

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::<dyn Engine>::plain(
    "sled",
    "sled, a lock-free B-tree over a log, in Rust; a scan may see only a part of a batch",
    || Box::new(Sled),
)
.limited(&[Limit::NotDeterministic]);

struct Sled;

impl Engine for Sled {
    fn identify(&self) -> Result<Identity, Missing> {
        bundled::PEERS.identify(env!("PEERS_SLED"))
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    /// Returns which writes survive `kill -9` of the process. Records that are not synced stay in the memory of the
    /// process.
    fn survival(&self, log: Log) -> Option<Survival> {
        Some(Survival::of_sync(log))
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![cache(settings, "cache_capacity")];
        lines.push(match settings.log {
            Log::Sync => log(settings, "flush() after every write"),
            Log::Interval { .. } => log(settings, "flush_every_ms"),
            Log::None => {
                log(settings, "flush_every_ms none; WAL records stay in the process until a segment is full")
            }
            Log::Buffered => mismatch(
                "WAL mode \"buffered\": sled keeps WAL records in the process for up to 500 ms (its \
                 default), so a crash of the process loses these records",
            ),
        });
        lines.push(mismatch(
            "a scan of sled is not a consistent snapshot, so a scan may see a part of a batch",
        ));
        lines.extend(of_pages(settings, "sled"));
        lines.extend(without_maps(settings, "sled"));
        lines
    }

    fn ranges_are_of_one_moment(&self) -> bool {
        false
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("peers", store::SledStore, directory, settings)
    }
}
