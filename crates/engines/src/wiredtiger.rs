//! Adapter for `WiredTiger`, a B-tree of pages. Older versions of the library also have an LSM-tree of such B-trees.
//!
//! The C interface of `WiredTiger` consists of structures of function pointers, and their layout changes from version
//! to version. The adapter is therefore compiled against the header of the linked library, and the library is not
//! loaded by path.

#[cfg(feature = "wiredtiger")]
mod store;

use std::path::PathBuf;

use catalog::{Build, Limit, Variant};
use serde::{Deserialize, Serialize};
use types::quantity::format_bytes;
use workload::TargetError;

use crate::bundled::{
    cache, log, memtable, mismatch, without_blob_files, without_codec, without_filters, without_interval,
};
use crate::engine::{Engine, Identity, Missing};
use crate::library::Wanted;
use crate::opening::Opening;
use crate::options::{Codec, EngineOptions, Log, Reads};
use crate::store::Store;

pub(crate) const VARIANT: Variant<dyn Engine> = Variant::new::<WiredTiger>(
    "wiredtiger",
    "WiredTiger, a B-tree, or in versions before 12 also an LSM-tree of B-trees",
    "# Kind of table. \"row\" is a B-tree, and \"lsm\" is an LSM-tree of B-trees.\n\
     type = \"row\"\n",
)
.limited(&[Limit::NotDeterministic]);

/// The shared library of the Snappy extension, which comes with `WiredTiger`.
const SNAPPY: Wanted = Wanted {
    name: "libwiredtiger_snappy.so",
    variable: "LSMBENCH_WIREDTIGER_SNAPPY",
    advice: "build WiredTiger with Snappy, or install a package of WiredTiger with Snappy",
    required: &["wiredtiger_extension_init"],
    namespace: "__wt_",
    has_fast_checksums: false,
};

/// Returns the path of the Snappy extension. `None` if the design does not use Snappy, or the extension is not
/// installed.
fn snappy(settings: &EngineOptions) -> Option<PathBuf> {
    SNAPPY.find("").ok().filter(|_| settings.codec == Codec::Snappy)
}

/// The kind of the table that contains all entries of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TableType {
    #[default]
    Row,
    Lsm,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    r#type: TableType,
}

struct WiredTiger(Params);

impl Build<dyn Engine> for WiredTiger {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Engine>, String> {
        Ok(Box::new(Self(params)))
    }
}

impl WiredTiger {
    fn is_lsm(&self) -> bool {
        self.0.r#type == TableType::Lsm
    }

    /// Returns the configuration string with which the store creates its table.
    fn table(&self, settings: &EngineOptions) -> String {
        let codec = if snappy(settings).is_some() { ",block_compressor=snappy" } else { "" };
        let pages = format!("key_format=u,value_format=u,leaf_page_max={}{codec}", settings.block_bytes);
        if !self.is_lsm() {
            return pages;
        }
        let bits = settings.filter_bits_per_key.round() as u64;
        let bloom = if bits > 0 {
            format!("bloom=true,bloom_bit_count={}", bits.clamp(2, 1000))
        } else {
            "bloom=false".to_owned()
        };
        format!("type=lsm,{pages},lsm=(chunk_size={},{bloom})", settings.memtable_bytes.max(512 << 10))
    }

    /// Returns the configuration string with which the store opens its connection.
    fn connection(settings: &EngineOptions) -> String {
        let log = match settings.log {
            Log::None => "log=(enabled=false)",
            Log::Sync => "log=(enabled=true),transaction_sync=(enabled=true,method=fsync)",
            Log::Buffered | Log::Interval { .. } => {
                "log=(enabled=true),transaction_sync=(enabled=true,method=none)"
            }
        };
        let direct = if settings.reads == Reads::Direct { ",direct_io=[data]" } else { "" };
        let extension =
            snappy(settings).map_or_else(String::new, |path| format!(",extensions=[\"{}\"]", path.display()));
        // WiredTiger does not start with a cache of less than 1 MiB.
        let cache = settings.cache_bytes.max(8 << 20);
        format!("create,cache_size={cache},session_max=1024,{log}{direct}{extension}")
    }
}

impl Engine for WiredTiger {
    fn identify(&self) -> Result<Identity, Missing> {
        match cfg!(feature = "wiredtiger") {
            // The library reports its version when it runs.
            true => Ok(Identity::default()),
            false => Err(Missing::NotBuilt { feature: "wiredtiger" }),
        }
    }

    fn mapping(&self, settings: &EngineOptions) -> Vec<String> {
        let mut lines = vec![
            cache(settings, &format!("wiredtiger_open {}", Self::connection(settings))),
            format!("blocks of {}: create {}", format_bytes(settings.block_bytes), self.table(settings)),
        ];
        match settings.log {
            Log::None => lines.push(log(settings, "no WAL; only a checkpoint makes writes durable")),
            Log::Sync => lines.push(log(settings, "transaction_sync fsync")),
            Log::Buffered => lines
                .push(log(settings, "transaction_sync none; each commit writes its record without a sync")),
            Log::Interval { .. } => lines.extend(without_interval(settings, "WiredTiger")),
        }
        if self.is_lsm() {
            lines.push(memtable(settings, "chunk_size"));
            lines.extend(without_filters(settings, "WiredTiger"));
            lines.extend(without_blob_files(settings, "WiredTiger"));
        } else {
            lines.push(mismatch(
                "memtable, filters: a row store has neither, and keeps unwritten changes in its cache",
            ));
        }
        lines.push(mismatch(
            "cache: the cache of WiredTiger also contains unwritten changes, and the page cache of the \
             kernel also contains the files of WiredTiger",
        ));
        lines.push(mismatch(format_args!(
            "{} background threads: WiredTiger chooses the number of its threads",
            settings.background_threads
        )));
        match snappy(settings) {
            Some(_) => lines
                .push("compression snappy: block_compressor snappy, from the Snappy extension".to_owned()),
            None => lines.extend(without_codec(settings, "WiredTiger without the extension of this codec")),
        }
        lines
    }

    #[cfg(feature = "wiredtiger")]
    fn open(&self, opening: &Opening) -> Result<Box<dyn Store>, TargetError> {
        let Opening { directory, options: settings, .. } = opening;
        let store =
            store::WiredTigerStore::open(directory, &Self::connection(settings), &self.table(settings))?;
        Ok(Box::new(store))
    }

    #[cfg(not(feature = "wiredtiger"))]
    fn open(&self, _: &Opening) -> Result<Box<dyn Store>, TargetError> {
        Err(Missing::NotBuilt { feature: "wiredtiger" }.into())
    }
}
