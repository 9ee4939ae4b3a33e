//! Adapter for LMDB, a copy-on-write B-tree of pages in a memory map, with one writer and lock-free readers.

#[cfg(feature = "peers")]
mod store;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use workload::TargetError;

use crate::bundled::{self, log, mismatch, of_pages};
use crate::engine::{Engine, Identity, Missing};
use crate::opening::Opening;
use crate::options::{EngineOptions, Log};
use crate::store::Store;
use crate::survival::Survival;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<Lmdb>(
    "lmdb",
    "LMDB, a B-tree in a memory map; keys have 1 to 511 bytes",
    "# Whether LMDB writes pages through the memory map. Writes through the map are faster, but a stray\n\
     # pointer of the program can corrupt the pages.\n\
     write_map = false\n",
)
.limited(&[Limit::NotDeterministic]);

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    write_map: bool,
}

struct Lmdb(Params);

impl Build<dyn Engine> for Lmdb {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Engine>, String> {
        Ok(Box::new(Self(params)))
    }
}

impl Engine for Lmdb {
    fn identify(&self) -> Result<Identity, Missing> {
        // The library reports its version when it runs.
        bundled::PEERS.identify("")
    }

    fn makes_checkpoints(&self) -> bool {
        true
    }

    fn deletes_ranges(&self) -> bool {
        true
    }

    fn puts_if_absent(&self) -> bool {
        true
    }

    /// Returns [`Survival::Acknowledged`], because every commit passes its pages to the kernel, even without a sync.
    fn survival(&self, _: Log) -> Option<Survival> {
        Some(Survival::Acknowledged)
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![match settings.log {
            Log::Sync => log(settings, "LMDB has no WAL and syncs every commit"),
            _ => log(
                settings,
                "MDB_NOSYNC; LMDB has no WAL, and a commit passes its pages to the kernel without a \
                sync",
            ),
        }];
        if !settings.reads.has_readahead() {
            lines.push("no read-ahead: MDB_NORDAHEAD".to_owned());
        }
        if self.0.write_map {
            lines.push("also: MDB_WRITEMAP".to_owned());
        }
        lines.push(mismatch(
            "cache: LMDB reads a memory map, so its cache is the page cache of the kernel, without a limit",
        ));
        lines.push(mismatch(
            "each single put is a separate transaction, which copies all pages from the root to the leaf",
        ));
        lines.extend(of_pages(settings, "LMDB"));
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        bundled::open!("peers", store::LmdbStore, directory, (settings, self.0.write_map))
    }
}
