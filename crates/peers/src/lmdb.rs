//! LMDB: a B-tree of pages in a memory map, copied when they change; one writer, readers without locks.

#[cfg(feature = "peers")]
mod store;

use std::path::Path;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use workload::TargetError;

use crate::budget::{Budget, Log, Reads};
use crate::bundled::{self, log, of_pages, unequal};
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> = Variant::new::<Lmdb>(
    "lmdb",
    "LMDB, a B-tree in a memory map; keys of 1 to 511 bytes",
    "# Whether pages are written through the map: faster, and a stray pointer of the program can damage them.\n\
     write_map = false\n",
)
.limited(&[Limit::NotDeterministic]);

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    write_map: bool,
}

struct Lmdb(Params);

/// Whether the system may read pages around the one that a get needs: not where the design reads its blocks one by one,
/// which it does where they do not fit into memory.
fn reads_ahead(budget: &Budget) -> bool {
    budget.reads == Reads::Mapped
}

impl Build<Engine> for Lmdb {
    type Params = Params;

    fn build(params: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self(params)))))
    }
}

impl Peer for Lmdb {
    fn identify(&self) -> Result<Identity, Missing> {
        // The library tells its version when it runs.
        bundled::identify("")
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        let mut lines = vec![match budget.log {
            Log::Sync => log(budget, "every commit is synced; LMDB has no log"),
            _ => log(budget, "MDB_NOSYNC: commits reach the operating system; LMDB has no log"),
        }];
        if !reads_ahead(budget) {
            lines.push("reads of what was asked for alone: MDB_NORDAHEAD".to_owned());
        }
        if self.0.write_map {
            lines.push("besides: MDB_WRITEMAP".to_owned());
        }
        lines.push(unequal(
            "cache: LMDB reads the memory map, so the page cache of the system is its cache, without a limit",
        ));
        lines.push(unequal("a put by itself is a transaction, which copies the path to its page"));
        lines.extend(of_pages(budget, "LMDB"));
        lines
    }

    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        bundled::open!(store::LmdbStore, directory, (budget, self.0.write_map))
    }
}
