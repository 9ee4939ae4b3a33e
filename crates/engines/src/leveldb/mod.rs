//! Adapter for `LevelDB`, a shared library that is loaded when a store is opened. Source: `include/leveldb/c.h` of
//! `LevelDB` 1.23.

mod store;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use workload::TargetError;

use crate::bundled::{cache, log, memtable, mismatch, without_blob_files, without_filters, without_interval};
use crate::engine::{Engine, Identity, Missing};
use crate::library::Wanted;
use crate::opening::Opening;
use crate::options::{Codec, EngineOptions, Log, Reads};
use crate::store::Store;
use crate::survival::Survival;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<LevelDb>(
    "leveldb",
    "LevelDB, a shared library that is loaded from a path",
    "# Path of the shared library. An empty path selects the library that the environment variable\n\
     # LSMBENCH_LEVELDB names, or else the system's libleveldb.so.\n\
     library = \"\"\n\
     # Name of the engine in results. Set a name if \"leveldb\" does not distinguish two libraries.\n\
     label = \"\"\n",
)
.limited(&[Limit::NotDeterministic]);

/// The name of the shared library of `LevelDB`, and instructions to get the library.
const WANTED: Wanted = Wanted {
    name: "libleveldb.so",
    variable: "LSMBENCH_LEVELDB",
    advice: "build LevelDB with cmake -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON, and name the \
    library in engine.library or LSMBENCH_LEVELDB (Debian's package libleveldb1d also works, but it has \
    assertions)",
    required: store::REQUIRED,
    namespace: "leveldb::",
    // A build of LevelDB uses the checksum instruction only if the separate library libcrc32c is installed.
    has_fast_checksums: false,
};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    library: String,
    label: String,
}

struct LevelDb(Params);

impl Build<dyn Engine> for LevelDb {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Engine>, String> {
        Ok(Box::new(Self(params)))
    }
}

impl Engine for LevelDb {
    fn identify(&self) -> Result<Identity, Missing> {
        WANTED.identify(&self.0.library)
    }

    fn compacts_on_request(&self) -> bool {
        true
    }

    /// Returns [`Survival::Acknowledged`], because `LevelDB` writes its WAL in every WAL mode.
    fn survival(&self, _: Log) -> Option<Survival> {
        Some(Survival::Acknowledged)
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            memtable(settings, "write_buffer_size"),
            cache(settings, "cache, an LRU"),
            format!("blocks of {} bytes: block_size", settings.block_bytes),
            format!("restart interval {}: block_restart_interval", settings.restart_interval),
            format!("all SSTables open: max_open_files {}", store::MAX_OPEN_FILES),
        ];
        let bits = format!("filters with {} bits per key", settings.filter_bits_per_key);
        match settings.filter_bits_per_key.fract() {
            0.0 => lines.push(format!("{bits}: filter_policy bloom")),
            _ => lines.push(mismatch(format_args!(
                "{bits}: the adapter rounds to whole bits, because LevelDB accepts only these; 0 bits mean \
                 no filter"
            ))),
        }
        lines.extend(without_filters(settings, "LevelDB"));
        lines.extend(without_blob_files(settings, "LevelDB"));
        match &settings.codec {
            Codec::None => lines.push("compression none: kNoCompression".to_owned()),
            Codec::Snappy => lines.push("compression snappy: kSnappyCompression".to_owned()),
            codec => lines.push(mismatch(format_args!(
                "compression {codec}: LevelDB has only Snappy, so it runs without compression"
            ))),
        }
        match settings.log {
            Log::Buffered => lines.push(log(settings, "WriteOptions.sync off")),
            Log::Sync => lines.push(log(settings, "WriteOptions.sync")),
            Log::None => lines.push(mismatch("WAL mode \"none\": LevelDB cannot disable its WAL")),
            Log::Interval { .. } => lines.extend(without_interval(settings, "LevelDB")),
        }
        lines.push(mismatch(format_args!(
            "{} immutable memtables, {} background threads: LevelDB supports only one of each",
            settings.frozen_memtables, settings.background_threads
        )));
        if settings.reads != Reads::Mapped {
            lines.push(mismatch(
                "reads without memory maps: LevelDB always reads SSTables through memory maps",
            ));
        }
        lines
    }

    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        let library = WANTED.find(&self.0.library)?;
        Ok(Box::new(store::LevelDbStore::open(&library, directory, settings)?))
    }
}
