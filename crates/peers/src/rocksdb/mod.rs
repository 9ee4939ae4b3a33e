//! `RocksDB`, and whatever else has its C interface: `SpeedB`, `TerarkDB`, `ToplingDB`.
//!
//! The library is loaded when a store is opened, by its path, so that any builds of any versions from 5.18 on can
//! run beside each other. Source: `include/rocksdb/c.h` of `RocksDB` 5.18, 7.8 and 11.8.

mod api;
mod options;
mod store;

use std::path::Path;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use workload::TargetError;

use crate::budget::Budget;
use crate::library::Wanted;
use crate::peer::{Engine, Identity, Missing, Peer, Store};

pub(crate) const VARIANT: Variant<Engine> = Variant::new::<RocksDb>(
    "rocksdb",
    "RocksDB, or any library with its C interface, loaded by path",
    "# The shared library; without one, what LSMBENCH_ROCKSDB names, or the system's librocksdb.so.\n\
     library = \"\"\n\
     # What it is called in results, where rocksdb is not enough.\n\
     label = \"\"\n\
     # How levels are kept: leveled or universal.\n\
     compaction = \"leveled\"\n\
     # The kind of block cache: lru, or hyper-clock where the library has it.\n\
     cache = \"lru\"\n\
     # Whether it counts what it does, which costs it some per cent; bytes per flush and compaction come of it.\n\
     statistics = false\n\
     # Further options as its options files spell them, as in max_bytes_for_level_base=64M;num_levels=5. They win.\n\
     options = \"\"\n",
)
.limited(&[Limit::NotDeterministic]);

/// Where a library comes from.
const WANTED: Wanted = Wanted {
    name: "librocksdb.so",
    variable: "LSMBENCH_ROCKSDB",
    advice: "build RocksDB with cmake -DROCKSDB_BUILD_SHARED=ON, and name the library in engine.library or \
             LSMBENCH_ROCKSDB (Debian's package librocksdb-dev runs too, with assertions on)",
    required: api::REQUIRED,
};

/// How levels are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Style {
    #[default]
    Leveled,
    Universal,
}

/// The kind of block cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CacheKind {
    #[default]
    Lru,
    HyperClock,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    library: String,
    label: String,
    compaction: Style,
    cache: CacheKind,
    statistics: bool,
    options: String,
}

struct RocksDb(Params);

impl Build<Engine> for RocksDb {
    type Params = Params;

    fn build(params: Params) -> Result<Box<Engine>, String> {
        Ok(Box::new(Engine::Peer(Box::new(Self(params)))))
    }
}

impl Peer for RocksDb {
    fn identify(&self) -> Result<Identity, Missing> {
        WANTED.identify(&self.0.library)
    }

    fn mapping(&self, budget: &Budget) -> Vec<String> {
        options::mapping(&self.0, budget)
    }

    fn open(&self, directory: &Path, budget: &Budget) -> Result<Box<dyn Store>, TargetError> {
        let library = WANTED.find(&self.0.library)?;
        let setup = store::Setup {
            options: options::text(&self.0, budget),
            log: budget.log,
            statistics: self.0.statistics,
            hyper_clock: (self.0.cache == CacheKind::HyperClock && budget.cache_bytes > 0).then_some(budget),
        };
        Ok(Box::new(store::RocksDbStore::open(&library, directory, &setup)?))
    }
}
